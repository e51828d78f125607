"""Filters of a convolution from torch's order (outputs, inputs, k, k) to that of the compiled passes and back.

All arrays are flat; places: k k. Outputs go `TOGETHER` at a time, so that neither side is read or written far apart;
where both sides have their rows in one piece, whole squares of words are turned.
"""

from __future__ import annotations

from typing import Any

from boundcheck.engines.neural.kernels.words import stamp, turned_square
from boundcheck.engines.sampled.jit import bare

__all__ = ["laid_out", "put_back", "turned"]

TOGETHER = 16


def _laid_out(weight: Any, places: Any, inputs: Any, outputs: Any, wide: Any, found: Any) -> None:
    """found (places, inputs, wide) of weight (outputs, inputs, places)."""
    row = inputs * places
    for first in range(0, outputs, TOGETHER):
        end = min(first + TOGETHER, outputs)
        for i in range(inputs):
            for p in range(places):
                into, of = (p * inputs + i) * wide, i * places + p
                for o in range(first, end):
                    found[into + o] = weight[o * row + of]


def _put_back(found: Any, places: Any, inputs: Any, outputs: Any, wide: Any, weight: Any, adding: Any) -> None:
    """weight (outputs, inputs, places) (+)= found (places, inputs, wide)."""
    row = inputs * places
    for first in range(0, outputs, TOGETHER):
        end = min(first + TOGETHER, outputs)
        for i in range(inputs):
            for p in range(places):
                of, into = (p * inputs + i) * wide, i * places + p
                if adding:
                    for o in range(first, end):
                        weight[o * row + into] += found[of + o]
                else:
                    for o in range(first, end):
                        weight[o * row + into] = found[of + o]


def _make_turned(version: int) -> Any:
    def turned(
        lanes: Any, filters: Any, places: Any, inputs: Any, outputs: Any, wide: Any, narrow: Any, flipped: Any,
        found: Any,
    ) -> None:  # fmt: skip
        """found (places, outputs, narrow) of filters (places, inputs, wide); flipped: the last place first."""
        _ = version
        for p in range(places):
            of, into = p * inputs * wide, (places - 1 - p if flipped else p) * outputs * narrow
            for i in range(0, inputs, lanes):
                for o in range(0, outputs, lanes):
                    rows, columns = min(lanes, inputs - i), min(lanes, outputs - o)
                    if rows == lanes and columns == lanes:
                        turned_square(filters, of + i * wide + o, wide, found, into + o * narrow + i, narrow)
                        continue
                    for c in range(o, o + columns):
                        for r in range(i, i + rows):
                            found[into + c * narrow + r] = filters[of + r * wide + c]

    return turned


laid_out, put_back = bare(_laid_out), bare(_put_back)
turned = bare(_make_turned(stamp()))
