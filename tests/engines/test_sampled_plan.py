"""The plan of a run: what it may depend on, and the compiled draws against the definition of the streams."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from boundcheck.core import streams
from boundcheck.engines.simulate.drawing import draw_cohorts, draw_sparse, draw_visits, draw_words
from boundcheck.errors import BadInput
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Average, Constant, Epochs, Full, GradientSteps, InverseCycle, Uniform
from tests.engines.drawn_plans import plan

HALF = Fraction(1, 2)


def test_the_plan_is_the_methods_own() -> None:
    method = Method("m", Uniform(2), Epochs(3, 2), Constant(Fraction(1, 8)))
    drawn = plan(method, (4, 1, 3), 9, 6)
    assert drawn.cohorts.shape == (6, 2)
    assert drawn.order(0, 0).shape == (3, 4)
    # a longer run, another batch or other work on the other clients change nothing that was drawn
    other = Method("other", Uniform(2), Epochs(2, 1), InverseCycle(HALF, 2), aggregation=Average())
    longer = plan(other, (4, 5, 3), 9, 60)
    assert np.array_equal(longer.cohorts[:6], drawn.cohorts)
    assert np.array_equal(longer.order(5, 0), drawn.order(5, 0)[:2])
    full = Method("fedavg", Full(), GradientSteps(2), Constant(HALF))
    assert plan(full, (1, 1), 0, 3).order(0, 1).shape == (0, 1)
    with pytest.raises(BadInput, match="seed = -1"):
        plan(method, (4, 1, 3), -1, 6)


def test_compiled_draws_are_the_streams_bit_for_bit() -> None:
    sizes = np.array([3, 1, 2, 5, 4, 6, 7, 3])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    seeds = np.array([5, 2**64 - 1], dtype=np.uint64)
    first, rounds, m, epochs = 2**32 - 7, 4, 3, 2
    cohorts = np.zeros((2, rounds, m), dtype=np.uint32)
    draw_cohorts(seeds, first, rounds, len(sizes), cohorts)
    entry = cohorts.astype(np.int64)
    used = epochs * sizes
    place = (np.cumsum(used[entry].ravel()) - used[entry].ravel()).reshape(entry.shape)
    sequence = np.zeros(int(used[entry].sum()), dtype=np.uint32)
    counts = np.full((2, rounds), m)
    draw_visits(
        seeds, first, rounds, False, entry, counts, place, np.arange(8), offsets[:-1].copy(), sizes, used, sequence
    )  # fmt: skip
    for r in range(rounds):
        expected = streams.shuffle(seeds, streams.COHORT, first + r, 0, len(sizes), m)
        assert np.array_equal(cohorts[:, r], expected)
        for s, seed in enumerate(seeds):
            for p, c in enumerate(expected[s]):
                n, at = int(sizes[c]), int(place[s, r, p])
                for e in range(epochs):
                    order = streams.shuffle([seed], streams.ORDER, first + r, int(c), n, n, e * (n - 1))[0]
                    assert sequence[at + e * n : at + (e + 1) * n].tolist() == [int(offsets[c]) + int(i) for i in order]


def test_sparse_cohorts_are_those_of_the_shuffle() -> None:
    seeds = np.array([5, 2**64 - 1], dtype=np.uint64)
    for n, m in ((1, 1), (7, 3), (6, 6), (40, 39), (5000, 60), (2**24, 3)):
        cohorts = np.zeros((2, 3, m), dtype=np.uint32)
        draw_sparse(seeds, 4, 3, n, cohorts)
        for r in range(3):
            chosen = streams.choose(seeds, streams.COHORT, 4 + r, n, m)
            assert np.array_equal(cohorts[:, r], chosen)
            if n <= 5000:
                assert np.array_equal(chosen, streams.shuffle(seeds, streams.COHORT, 4 + r, 0, n, m))
    with pytest.raises(BadInput, match="3 out of 2"):
        streams.choose(seeds, streams.COHORT, 0, 2, 3)


def test_compiled_words_are_the_streams_bit_for_bit() -> None:
    seeds = np.array([7, 2**63], dtype=np.uint64)
    counts = np.array([[700, 0, 900], [3, 1, 2]])  # more words than are made at once
    clients = np.arange(2 * 3 * 900).reshape(2, 3, 900)
    for along in (False, True):
        out = np.zeros((2, 3, 900), dtype=np.uint64)
        draw_words(seeds, 2, 3, along, clients, counts, streams.EPOCHS, out)
        for s, r, p in ((0, 0, 0), (0, 0, 699), (0, 2, 899), (0, 2, 450), (1, 0, 2), (1, 2, 1)):
            where = (0, p) if along else (int(clients[s, r, p]), 0)
            expected = streams.words(seeds[s : s + 1], streams.EPOCHS, 2 + r, where[0], where[1], 1)[0, 0]
            assert out[s, r, p] == expected


def test_events_are_cut_at_their_probabilities() -> None:
    at = streams.cuts((Fraction(1, 4), Fraction(0), Fraction(1, 4), Fraction(1, 2)))
    assert at.tolist() == [2**62, 2**62, 2**63]
    words = np.array([0, 2**62 - 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1], dtype=np.uint64)
    assert streams.pick(words, at).tolist() == [0, 0, 2, 2, 3, 3]
    assert streams.pick(words, streams.cuts((Fraction(1),))).tolist() == [0] * 6
