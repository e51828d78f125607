"""The compiled way back through a dense layer of one model, on a processor.

A large weight does not stay in the caches from one product to the next: here each piece of it is read once, for the
gradient in what came in and for its own.
"""

from __future__ import annotations

from typing import Any

from boundcheck.engines.neural.kernels.words import WORDS, ahead, inner, stamp, tiles
from boundcheck.engines.sampled.jit import bare

__all__ = ["back"]

ROWS = 30  # of a weight at a time, whose words stay in the first cache


@inner
def _panels(a: Any, rows: Any, columns: Any, wide: Any, panels: Any, back: Any) -> None:
    """a (rows, columns) as panels (.., rows, wide), the last of them narrower, or the other way."""
    for q in range(0, columns, wide):
        some = min(wide, columns - q)
        for s in range(rows):
            one = a[s * columns + q : s * columns + q + some]
            other = panels[q * rows + s * some : q * rows + (s + 1) * some]
            if back:
                for c in range(some):
                    one[c] = other[c]
            else:
                for c in range(some):
                    other[c] = one[c]


def _make_back(version: int, whole: int) -> Any:
    def back(
        lanes: Any, g: Any, x: Any, weight: Any, into: Any, gx: Any, given: Any, found: Any, wanted: Any, adding: Any,
        samples: Any, inputs: Any, outputs: Any,
    ) -> None:  # fmt: skip
        """gx (samples, inputs) = g W, if wanted, and into (outputs, inputs) (+)= g' x; into may be W itself.

        g: (samples, outputs), x: (samples, inputs), all flat; inputs: a multiple of lanes. given, found: room for x
        and gx.
        """
        _ = version
        wide = WORDS * lanes
        _panels(x, samples, inputs, wide, given, False)
        for r in range(0, outputs, whole):
            some = min(whole, outputs - r)
            for q in range(0, inputs, wide):
                words = min(WORDS, (inputs - q) // lanes)
                for i in range(r, r + some):
                    for place in range(i * inputs + q + wide, i * inputs + min(q + 2 * wide, inputs), lanes):
                        ahead(weight, place)
                if wanted:
                    tiles(
                        samples, words, g, r, outputs, 1, 0, weight, r * inputs + q, inputs, 0, found, q * samples,
                        words * lanes, some, 1, r > 0,
                    )  # fmt: skip
                tiles(
                    some, words, g, r, 1, outputs, 0, given, q * samples, words * lanes, 0, into, r * inputs + q,
                    inputs, samples, 1, adding,
                )  # fmt: skip
        if wanted:
            _panels(gx, samples, inputs, wide, found, True)

    return back


back = bare(_make_back(stamp(), ROWS))
