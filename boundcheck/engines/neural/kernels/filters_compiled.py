"""Filters of a convolution from torch's order (outputs, inputs, k, k) to that of the compiled passes and back.

All arrays are flat; places: k k. Outputs go `TOGETHER` at a time, so that neither side is read or written far apart.
"""

from __future__ import annotations

from typing import Any

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


def _turned(weight: Any, places: Any, inputs: Any, outputs: Any, narrow: Any, flipped: Any, found: Any) -> None:
    """found (places, outputs, narrow) of weight (outputs, inputs, places); flipped: the last place first."""
    for o in range(outputs):
        for p in range(places):
            into = ((places - 1 - p if flipped else p) * outputs + o) * narrow
            of = o * inputs * places + p
            for i in range(inputs):
                found[into + i] = weight[of + i * places]


laid_out, put_back, turned = bare(_laid_out), bare(_put_back), bare(_turned)
