"""Spreading rows over clients."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

from boundcheck.core import streams

__all__ = ["DATA", "SPLIT", "equal_parts", "permutation", "split_random", "split_sorted"]

# Purposes of the counter-based streams (see `core.streams`); engines use the small numbers.
SPLIT = 1000
DATA = 1001


def permutation(count: int, seed: int) -> list[int]:
    """A uniformly random order of 0..count-1, a function of the seed alone."""
    return [int(i) for i in streams.shuffle([streams.check_seed(seed)], SPLIT, 0, 0, count, count)[0]]


def equal_parts(order: Sequence[int], clients: int) -> list[list[int]]:
    """Consecutive pieces whose sizes differ by at most 1, the larger ones first."""
    size, extra = divmod(len(order), clients)
    cuts = [i * size + min(i, extra) for i in range(clients + 1)]
    return [list(order[low:high]) for low, high in itertools.pairwise(cuts)]


def split_random(count: int, clients: int, seed: int) -> list[list[int]]:
    """Rows 0..count-1 in random order, dealt into equal pieces."""
    return equal_parts(permutation(count, seed), clients)


def split_sorted(values: Sequence[Fraction], clients: int) -> list[list[int]]:
    """Rows by increasing value (ties by row number), dealt into equal pieces."""
    return equal_parts(sorted(range(len(values)), key=lambda j: (values[j], j)), clients)
