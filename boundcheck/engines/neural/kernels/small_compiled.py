"""Passes through small layers of one model, on a processor.

Between passes that fill the caches a call of torch takes many times as long as such a layer's work, for its code has
left them, too. What is compiled here is a few lines of code for each.
"""

from __future__ import annotations

from typing import Any

from boundcheck.engines.neural.kernels.words import WORDS, put, put_more, stamp, tiles
from boundcheck.engines.sampled.jit import bare

__all__ = ["dense", "dense_back", "looked_up", "looked_up_back"]


def _make_dense(version: int) -> Any:
    def dense(
        lanes: Any, x: Any, weight: Any, bias: Any, y: Any, turned: Any, found: Any, samples: Any, inputs: Any,
        outputs: Any,
    ) -> None:  # fmt: skip
        """y (samples, outputs) = x W' + b; x: (samples, inputs), weight: (outputs, inputs), bias: empty or (outputs,).

        turned, found: room for as many rows as there are inputs and samples, of outputs rounded up to whole words;
        turned begins as zeros. All arrays are flat.
        """
        _, one = version, x.dtype.type(1)
        words = (outputs + lanes - 1) // lanes
        wide = words * lanes
        for o in range(outputs):
            for k in range(inputs):
                turned[k * wide + o] = weight[o * inputs + k]
        for j in range(0, words, WORDS):
            tiles(
                samples, min(WORDS, words - j), x, 0, inputs, 1, 0, turned, j * lanes, wide, 0, found, j * lanes, wide,
                inputs, 1, 0,
            )  # fmt: skip
        for b in range(samples):
            put(found, b * wide, y, b * outputs, outputs, one)
            put_more(bias, 0, y, b * outputs, len(bias), one)

    return dense


def _make_dense_back(version: int) -> Any:
    def dense_back(
        g: Any, x: Any, weight: Any, into: Any, slope: Any, gx: Any, samples: Any, inputs: Any, outputs: Any,
        adding: Any,
    ) -> None:  # fmt: skip
        """gx (samples, inputs) = g W, or empty, into (+)= g' x and slope (+)= the sum of g; into may be W itself."""
        _, one = version, g.dtype.type(1)
        gx[:] = 0.0
        if not adding:
            slope[:] = 0.0
        for b in range(samples):
            put_more(g, b * outputs, slope, 0, len(slope), one)
            if len(gx):
                for o in range(outputs):
                    put_more(weight, o * inputs, gx, b * inputs, inputs, g[b * outputs + o])
        if not adding:
            into[:] = 0.0
        for o in range(outputs):
            for b in range(samples):
                put_more(x, b * inputs, into, o * inputs, inputs, g[b * outputs + o])

    return dense_back


def _make_looked_up(version: int) -> Any:
    def looked_up(symbols: Any, weight: Any, y: Any, width: Any) -> bool:
        """y (symbols, width): the rows of weight (.., width) of the symbols; False where a symbol has none."""
        _, one = version, y.dtype.type(1)
        for k in range(len(symbols)):
            if not 0 <= symbols[k] < len(weight) // width:
                return False
            put(weight, symbols[k] * width, y, k * width, width, one)
        return True

    return looked_up


def _make_looked_up_back(version: int) -> Any:
    def looked_up_back(symbols: Any, gy: Any, into: Any, width: Any, adding: Any) -> None:
        """into (.., width) (+)= the rows of gy, each at its symbol."""
        _, one = version, gy.dtype.type(1)
        if not adding:
            into[:] = 0.0
        for k in range(len(symbols)):
            put_more(gy, k * width, into, symbols[k] * width, width, one)

    return looked_up_back


dense = bare(_make_dense(stamp()))
dense_back = bare(_make_dense_back(stamp()))
looked_up = bare(_make_looked_up(stamp()))
looked_up_back = bare(_make_looked_up_back(stamp()))
