"""Random plans as a pure function of (seed, purpose, round, client).

Every random choice of a run (cohorts, sample orders) is read from the counter-based generator
Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; SC 2011), so that no
choice depends on engine, batch, chunk or thread. In bits:

- key = (seed mod 2^32, seed div 2^32); counter = (block, round, client, purpose), 32 bits each;
- block B yields four 32-bit outputs r0..r3, that is the 64-bit words 2B = r0 2^32 + r1 and 2B + 1 = r2 2^32 + r3;
- a word u gives the integer floor(u k / 2^64) in 0..k-1. No word is rejected: each value's probability is
  within 2^-64 of 1/k, a relative error below 2^-40 because k is at most 2^24;
- a draw of `take` out of 0..size-1 is the forward Fisher-Yates shuffle stopped after `take` places: from the
  identity, place t swaps with t + (integer below size - t) for t = 0, 1, ...; the last place of a full
  shuffle needs no word;
- an event of probability p, or one of several with probabilities p_1, p_2, ..., is read from one word u by comparing
  it with p, p_1, p_1 + p_2, ... times 2^64, rounded down: each probability is met within 2^-64.

This file is the definition; engines that generate the words elsewhere must agree with it bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundcheck.errors import BadInput

COHORT = 0  # which clients take part in a round; the client field of the counter is 0
ORDER = 1  # in which order a client visits its samples in a round
EPOCHS = 2  # how much work a client does in a round, where that is random: word 0
SAMPLE = 3  # the samples that a client draws with replacement in a round, one word each
WARM_UP = 4  # clients whose gradients start the momentum, one word each; round and client are 0
GRADIENT_COHORT = 5  # whose gradients correct the local work of a round, where it is a cohort of its own; client is 0
HAND_OVER = 6  # which clients hold the models from a round on, model by model; client is 0
TIME = 7  # how long a piece of a client's work takes, one word each; round is 0
REFERENCE = (
    8  # what a method draws once a round, such as whether a point is the next reference point: word 0; client is 0
)
UNIFORM = 9  # uniform numbers of a client's visit, one word for each coordinate

MAX_BOUND = 1 << 24

Words = NDArray[np.uint64]

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_KEY_STEPS = (np.uint64(0x9E3779B9), np.uint64(0xBB67AE85))
_ROUNDS = 10


def philox(counter: tuple[Any, Any, Any, Any], key: tuple[Any, Any]) -> tuple[Words, Words, Words, Words]:
    """Philox4x32-10: four 32-bit outputs of each counter under each key.

    counter, key: array-likes of integers in 0..2^32-1 that broadcast together; the outputs are uint64 arrays
    of the common shape holding 32-bit values.
    """
    c0, c1, c2, c3 = (np.asarray(c, dtype=np.uint64) for c in counter)
    k0, k1 = (np.asarray(k, dtype=np.uint64) for k in key)
    for _ in range(_ROUNDS):
        p0, p1 = _MULTIPLIERS[0] * c0, _MULTIPLIERS[1] * c2
        c0, c1, c2, c3 = (p1 >> _HALF) ^ c1 ^ k0, p1 & _LOW, (p0 >> _HALF) ^ c3 ^ k1, p0 & _LOW
        k0, k1 = (k0 + _KEY_STEPS[0]) & _LOW, (k1 + _KEY_STEPS[1]) & _LOW
    return c0, c1, c2, c3


def check_seed(seed: int) -> int:
    """The seed, if it is one. Raises BadInput outside 0..2^64-1."""
    if not 0 <= seed < 1 << 64:
        raise BadInput(f"seed = {seed} is not allowed; seeds are integers from 0 to 2^64 - 1.")
    return seed


def words(seeds: ArrayLike, purpose: int, round_index: int, client: int, first: int, count: int) -> Words:
    """Words number first..first+count-1 of each seed's stream; shape (S, count), uint64.

    seeds: (S,) integers in 0..2^64-1. round_index, client, purpose and half the word numbers are below 2^32.
    """
    keys = np.asarray(seeds, dtype=np.uint64).reshape(-1, 1)
    blocks = np.arange(first // 2, (first + count + 1) // 2, dtype=np.uint64)
    r0, r1, r2, r3 = philox((blocks, round_index, client, purpose), (keys & _LOW, keys >> _HALF))
    pairs = np.stack([(r0 << _HALF) | r1, (r2 << _HALF) | r3], axis=-1).reshape(len(keys), -1)
    return pairs[:, first % 2 : first % 2 + count]


def below(word: Words, bound: ArrayLike) -> NDArray[np.int64]:
    """floor(word * bound / 2^64), elementwise; 1 <= bound <= 2^24."""
    k = np.asarray(bound, dtype=np.uint64)
    return (((word >> _HALF) * k + (((word & _LOW) * k) >> _HALF)) >> _HALF).astype(np.int64)


def shuffle_words(size: int, take: int) -> int:
    """How many words a draw of `take` out of `size` reads."""
    return min(take, size - 1)


def shuffle(
    seeds: ArrayLike, purpose: int, round_index: int, client: int, size: int, take: int, first: int = 0
) -> NDArray[np.int64]:
    """`take` distinct numbers out of 0..size-1 for each seed, in the order drawn; shape (S, take).

    first: number of the first word read (epochs of one visit read on: epoch e starts at e * shuffle_words).
    Raises BadInput for take outside 1..size and for more than 2^24 numbers.
    """
    if not 1 <= take <= size:
        raise BadInput(f"{take} out of {size} numbers cannot be drawn; 1 to {size} are allowed.")
    if size > MAX_BOUND:
        raise BadInput(f"{size} clients or samples are too many to shuffle; at most {MAX_BOUND} are allowed.")
    count = shuffle_words(size, take)
    u = words(seeds, purpose, round_index, client, first, count)
    rows = np.arange(len(u))
    places = np.tile(np.arange(size, dtype=np.int64), (len(u), 1))
    for t in range(count):
        other = t + below(u[:, t], size - t)
        held = places[rows, other]
        places[rows, other] = places[:, t]
        places[:, t] = held
    return places[:, :take]


def choose(seeds: ArrayLike, purpose: int, round_index: int, size: int, take: int) -> NDArray[np.int64]:
    """The numbers of `shuffle(seeds, purpose, round_index, 0, size, take)`, in memory that grows with `take` alone."""
    if not 1 <= take <= size <= MAX_BOUND:
        shuffle([0], purpose, round_index, 0, size, take)  # says what is wrong
    count = shuffle_words(size, take)
    u = words(seeds, purpose, round_index, 0, 0, count)
    others = np.arange(count) + below(u, size - np.arange(count))
    out = np.empty((len(u), take), dtype=np.int64)
    last = size - 1
    for s, row in enumerate(others):
        moved: dict[int, int] = {}  # places that do not hold their own number
        places: list[int] = row.tolist()
        for t, j in enumerate(places):
            out[s, t] = moved.get(j, j)
            moved[j] = moved.get(t, t)
        if take == size:
            out[s, -1] = moved.get(last, last)
    return out


def cuts(probabilities: Iterable[Fraction]) -> Words:
    """Where a word is cut to choose among events of these probabilities, which sum to 1: one number less than events.

    Increasing; event k is chosen by the words from cuts[k - 1] up to below cuts[k].
    """
    total, found = Fraction(0), list[int]()
    for p in probabilities:
        total += p
        found.append(min(int(total * 2**64), 2**64 - 1))
    return np.array(found[:-1], dtype=np.uint64)


def pick(word: Words, at: Words) -> NDArray[np.int64]:
    """The event that each word chooses, by the cuts of `cuts`."""
    return np.searchsorted(at, word, side="right").astype(np.int64)
