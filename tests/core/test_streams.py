"""The generator against published vectors, and the draws against what they promise."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from boundcheck.core import streams
from boundcheck.errors import BadInput

ONES = 0xFFFFFFFF


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [  # known-answer vectors of the Random123 distribution, philox4x32 with 10 rounds
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((ONES, ONES, ONES, ONES), (ONES, ONES), (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_philox_known_answers(
    counter: tuple[int, int, int, int], key: tuple[int, int], expected: tuple[int, int, int, int]
) -> None:
    assert tuple(int(w) for w in streams.philox(counter, key)) == expected


def test_words_are_the_blocks_in_order() -> None:
    seed = 0x299F31D0A4093822  # the key of the third vector
    expected = [0xD16CFE0994FDCCEB, 0x5001E42024126EA1]
    block = 0x243F6A88
    got = streams.words([seed], 0x03707344, 0x85A308D3, 0x13198A2E, 2 * block, 2)
    assert got.tolist() == [expected]
    assert streams.words([seed], 0x03707344, 0x85A308D3, 0x13198A2E, 2 * block + 1, 1).tolist() == [expected[1:]]


def test_words_do_not_depend_on_how_they_are_asked_for() -> None:
    seeds = np.array([0, 1, 2**32, 2**64 - 1], dtype=np.uint64)
    whole = streams.words(seeds, streams.ORDER, 7, 3, 0, 11)
    assert whole.shape == (4, 11)
    for s, seed in enumerate(seeds):
        for first, count in ((0, 1), (1, 4), (4, 7), (10, 1)):
            part = streams.words([seed], streams.ORDER, 7, 3, first, count)
            assert np.array_equal(part[0], whole[s, first : first + count])
    assert len(np.unique(whole)) == whole.size


def test_every_field_of_the_counter_matters() -> None:
    base = streams.words([5], streams.ORDER, 7, 3, 0, 2)
    for other in (
        streams.words([6], streams.ORDER, 7, 3, 0, 2),
        streams.words([5 + 2**32], streams.ORDER, 7, 3, 0, 2),
        streams.words([5], streams.COHORT, 7, 3, 0, 2),
        streams.words([5], streams.ORDER, 8, 3, 0, 2),
        streams.words([5], streams.ORDER, 7, 4, 0, 2),
    ):
        assert not np.any(base == other)


@pytest.mark.parametrize("bound", [1, 2, 3, 10, 2**24])
def test_below_is_the_exact_floor(bound: int) -> None:
    edges = [0, 1, 2**32 - 1, 2**32, 2**63, 2**64 - 1, 0xD16CFE0994FDCCEB]
    for value in range(1, min(bound, 4)):  # both sides of the places where the result changes
        smallest = -(-(value << 64) // bound)
        edges += [smallest - 1, smallest]
    got = streams.below(np.array(edges, dtype=np.uint64), bound)
    assert got.tolist() == [int(Fraction(u * bound, 2**64)) for u in edges]
    assert got.max() == bound - 1


def test_shuffle_follows_its_definition_by_hand() -> None:
    for seed in range(20):
        u = [int(w) for w in streams.words([seed], streams.ORDER, 2, 1, 4, 3)[0]]
        places = ["a", "b", "c", "d"]
        for t, word in enumerate(u):
            j = t + word * (4 - t) // 2**64
            places[t], places[j] = places[j], places[t]
        got = streams.shuffle([seed], streams.ORDER, 2, 1, 4, 4, first=4)[0]
        assert ["abcd"[i] for i in got] == places
        assert np.array_equal(streams.shuffle([seed], streams.ORDER, 2, 1, 4, 2, first=4)[0], got[:2])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: streams.shuffle([0], streams.COHORT, 0, 0, 3, 4), "4 out of 3"),
        (lambda: streams.shuffle([0], streams.COHORT, 0, 0, 2**24 + 1, 1), "at most 16777216"),
        (lambda: streams.check_seed(-1), "seed = -1"),
        (lambda: streams.check_seed(2**64), f"seed = {2**64}"),
    ],
)
def test_impossible_draws_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        call()
    assert streams.check_seed(2**64 - 1) == 2**64 - 1
