"""Cutting a model into tau blocks of coordinates, by layer or by channel, for partial averaging.

S. Lee, A. K. Sahu, C. He, S. Avestimehr, Partial Model Averaging in Federated Learning, compare both ("Model
Partitioning" in the appendix, Tables 5 and 6) and leave open how layers or channels are dealt; what is done here:

layer    the layers in their order, cut into tau pieces of consecutive layers so that the sum of the squared sizes is
         least (the first such cut); the parameters of one layer stay together, each layer of a deep LSTM is one
channel  every array is cut along its output channels (units of an LSTM with their four gates, an embedding's
         coordinates) into tau pieces of consecutive channels, sizes within 1; block k has the k-th piece of every array

A block is a tuple of ranges (begin, end), increasing and not touching. The blocks hold every coordinate exactly once.
Where tau is above the number of layers, or above the channels of every array, some blocks are empty: nothing is
averaged at their turn, and every coordinate still is once in tau rounds.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from boundcheck.errors import BadInput, UnknownName
from boundcheck.networks.functional import Network, Slot

Ranges = tuple[tuple[int, int], ...]
MOST = 100_000  # blocks


def partition(network: Network, by: str, tau: int) -> tuple[Ranges, ...]:
    """The coordinates of tau blocks; by: a key of `PARTITIONS`. Raises UnknownName, BadInput for tau below 1."""
    if by not in PARTITIONS:
        raise UnknownName("the partition of the model", by, PARTITIONS)
    if not 1 <= tau <= MOST:
        raise BadInput(f"tau = {tau} is not allowed; it must be from 1 to {MOST}.")
    return PARTITIONS[by](network, tau)


def coordinates(block: Ranges) -> NDArray[np.int64]:
    """The coordinates of a block, increasing."""
    found = [np.arange(begin, end, dtype=np.int64) for begin, end in block]
    return np.concatenate(found) if found else np.empty(0, dtype=np.int64)


def layers(network: Network) -> tuple[tuple[int, int], ...]:
    """Where each layer with parameters begins and ends in the flat vector, in their order."""
    grouped = itertools.groupby(network.slots, key=lambda slot: slot.layer)
    own = [list(slots) for _, slots in grouped]
    return tuple((slots[0].offset, slots[-1].offset + slots[-1].size) for slots in own)


def _by_layer(network: Network, tau: int) -> tuple[Ranges, ...]:
    found = layers(network)
    count = min(tau, len(found))
    cuts = _balanced([end - begin for begin, end in found], count)
    blocks = [((found[low][0], found[high - 1][1]),) for low, high in itertools.pairwise(cuts)]
    return (*blocks, *((),) * (tau - count))


def _balanced(sizes: list[int], count: int) -> list[int]:
    """Where `count` nonempty pieces of consecutive sizes begin and end, with the least sum of squares of their sums."""
    total = np.concatenate([[0.0], np.cumsum(np.array(sizes, dtype=np.float64))])  # below 2^53: exact
    costs, came = (total[1:] - total[0]) ** 2, list[NDArray[np.int64]]()
    costs = np.concatenate([[np.inf], costs])  # of the first e sizes in one piece
    for _ in range(count - 1):
        steps = [costs[:end] + (total[end] - total[:end]) ** 2 for end in range(1, len(total))]
        best = [int(np.argmin(step)) for step in steps]
        came.append(np.array([0, *best]))
        costs = np.array([np.inf, *(step[k] for step, k in zip(steps, best, strict=True))])
    cuts = [len(sizes)]
    for backward in reversed(came):
        cuts.append(int(backward[cuts[-1]]))
    return [0, *reversed(cuts)]


def _by_channel(network: Network, tau: int) -> tuple[Ranges, ...]:
    return tuple(_merged(_pieces(network.slots, k, tau)) for k in range(tau))


def _pieces(slots: Iterable[Slot], k: int, tau: int) -> Iterable[tuple[int, int]]:
    """The k-th piece of every array, as increasing ranges."""
    for slot in slots:
        shape, axis, gates = slot.shape, slot.axis, slot.gates
        if not shape:  # a single number goes with the last piece
            shape, axis = (1,), 0
        units, inner = shape[axis] // gates, math.prod(shape[axis + 1 :])
        low, high = units * k // tau, units * (k + 1) // tau
        for outer in range(math.prod(shape[:axis]) * gates):
            base = slot.offset + outer * units * inner
            yield base + low * inner, base + high * inner


def _merged(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """The same coordinates without empty or touching ranges."""
    found: list[tuple[int, int]] = []
    for begin, end in ranges:
        if begin == end:
            continue
        if found and found[-1][1] == begin:
            found[-1] = (found[-1][0], end)
        else:
            found.append((begin, end))
    return tuple(found)


PARTITIONS: Mapping[str, Callable[[Network, int], tuple[Ranges, ...]]] = {
    "layer": _by_layer,
    "channel": _by_channel,
}
