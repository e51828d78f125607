"""What hand-written numba kernels share: random numbers of xoshiro256++, and blocks of seeds, one for each thread."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np


def random_numbers() -> tuple[Any, Any]:
    """draw(s, k), a number below k from the state s of four words, and seeded(seed, s), which sets the state."""
    from numba import njit, uint64

    @njit(nogil=True)
    def rotl(x, k):
        return (x << uint64(k)) | (x >> uint64(64 - k))

    @njit(nogil=True)
    def draw(s, k):
        result = rotl(s[0] + s[3], 23) + s[0]
        t = s[1] << uint64(17)
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotl(s[3], 45)
        return np.int64(((result >> uint64(32)) * uint64(k)) >> uint64(32))

    @njit(nogil=True)
    def seeded(seed, s):
        z = uint64(seed) * uint64(0x9E3779B97F4A7C15)
        for i in range(4):  # splitmix64
            z += uint64(0x9E3779B97F4A7C15)
            w = z
            w = (w ^ (w >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
            w = (w ^ (w >> uint64(27))) * uint64(0x94D049BB133111EB)
            s[i] = w ^ (w >> uint64(31))

    return draw, seeded


def in_blocks(call: Callable[[int, int], None], seeds: int, threads: int) -> None:
    """call(first, last) for blocks of seeds, side by side; with one thread in this one."""
    if threads == 1:
        call(0, seeds)
        return
    cuts = [seeds * i // threads for i in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        for job in [pool.submit(call, first, last) for first, last in pairwise(cuts)]:
            job.result()
