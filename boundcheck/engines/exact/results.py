"""Curves of runs without sampling error, in each arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb

from boundcheck.core.linalg import float_down, float_up, fraction, nearest_float, outward, precision
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.engines.summaries import LEAST_OF
from boundcheck.setting.metrics import is_signed

# Balls: the precision is doubled until every value is known to a relative 2^-GOOD_BITS (1e-12), or MAX_BITS.
FIRST_BITS = 128
MAX_BITS = 8192
GOOD_BITS = 41
NEGLIGIBLE = arb(10) ** -300

Columns = Mapping[str, Sequence[Any]]  # metric -> one number for each round of the grid


def curve_of(
    compute: Callable[[Arithmetic], Columns],
    arithmetic: Arithmetic,
    grid: Sequence[int],
    expectation: bool,
) -> Curve:
    """The curve of what `compute` finds in the arithmetic: floats, fractions (fmpq too), or balls.

    Balls are computed anew with more bits until all are known to a relative 1e-12; info["accuracy"] says what was
    reached.
    """

    def curve(values: Mapping[str, Any], info: Mapping[str, Any], **more: Any) -> Curve:
        return Curve(
            rounds=np.array(grid, dtype=np.int64),
            values={k: np.array(v, dtype=np.float64) for k, v in values.items()},
            arithmetic=arithmetic,
            expectation=expectation,
            info={"engine": "exact", **info},
            **more,
        )

    if arithmetic is Arithmetic.FLOAT64:
        with np.errstate(over="ignore", invalid="ignore"):
            columns = {k: [float(v) for v in own] for k, own in compute(arithmetic).items()}
        # inf - inf on the way of a diverging run is not a number; the run is infinite all the same
        return curve({k: [np.inf if np.isnan(x) else x for x in v] for k, v in columns.items()}, {})
    if arithmetic is Arithmetic.RATIONAL:
        exact = {k: tuple(map(_fraction, own)) for k, own in compute(arithmetic).items()}
        values = {k: [nearest_float(x) for x in v] for k, v in exact.items()}
        low = {k: np.array([float_down(x) for x in v], dtype=np.float64) for k, v in exact.items()}
        high = {k: np.array([float_up(x) for x in v], dtype=np.float64) for k, v in exact.items()}
        return curve(values, {}, exact=exact, low=low, high=high)
    bits = FIRST_BITS
    while True:
        with precision(bits):
            columns = compute(arithmetic)
            # a number below 1e-300 is as good as known: its enclosure in doubles is [0, tiny]
            good = min((_good(v) for own in columns.values() for v in own), default=GOOD_BITS)
            if good >= GOOD_BITS or bits >= MAX_BITS:
                triples = {
                    k: [outward(v, nonnegative=not is_signed(k.removeprefix(LEAST_OF))) for v in own]
                    for k, own in columns.items()
                }
                low, middle, high = (
                    {k: np.array([t[n] for t in own], dtype=np.float64) for k, own in triples.items()} for n in range(3)
                )
                reached = "relative 1e-12" if good >= GOOD_BITS else f"relative 2^{-max(good, 0)}"
                return curve(middle, {"bits": bits, "accuracy": reached}, low=low, high=high)
        bits *= 2


def _fraction(value: Any) -> Fraction:
    return value if isinstance(value, Fraction) else fraction(value)


def _good(value: arb) -> int:
    """Correct bits of a ball, at most GOOD_BITS; all of them where it is below 1e-300."""
    if value.is_zero() or value.abs_upper() < NEGLIGIBLE:
        return GOOD_BITS
    return min(GOOD_BITS, int(value.rel_accuracy_bits()))
