"""Convex piecewise quadratic functions on the line, by their slopes: in fractions, doubles and balls."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

from flint import arb, ctx

from boundcheck.core.linalg import nearest_float, rational
from boundcheck.errors import BadInput


def number(value: Fraction, like: Any) -> Any:
    """A fraction as a number of the kind of `like`: a Fraction, a float or an arb at the working precision."""
    if isinstance(like, Fraction):
        return value
    return arb(rational(value)) if isinstance(like, arb) else nearest_float(value)


def ends(x: arb) -> tuple[Fraction, Fraction]:
    """The two ends of a finite ball, exactly."""
    return _dyadic(x.lower()), _dyadic(x.upper())


def _dyadic(x: arb) -> Fraction:
    mantissa, exponent = x.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


@dataclass(frozen=True)
class Slope:
    """A nondecreasing continuous function, linear between its knots and constant beyond them.

    knots: increasing, at least 1. values: the slope at each knot. It is the derivative of a convex function that is
    quadratic between the knots and linear beyond, so that its gradients are bounded. Raises BadInput.
    """

    knots: tuple[Fraction, ...]
    values: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        if not self.knots or len(self.knots) != len(self.values):
            raise BadInput(f"{len(self.knots)} knots have {len(self.values)} slopes; as many are needed, at least 1.")
        if any(b <= a for a, b in pairwise(self.knots)):
            raise BadInput(f"the knots {[str(k) for k in self.knots]} are not allowed; they must increase.")
        if any(b < a for a, b in pairwise(self.values)):
            raise BadInput(
                f"the slopes {[str(v) for v in self.values]} are not allowed; they must not fall, so that the function "
                "is convex."
            )

    @cached_property
    def _floats(self) -> list[float]:
        return [nearest_float(k) for k in self.knots]

    @cached_property
    def rates(self) -> tuple[Fraction, ...]:
        """The curvature on each piece, the two beyond the outer knots included; one more than there are knots."""
        steps = zip(pairwise(self.values), pairwise(self.knots), strict=True)
        return (Fraction(0), *((d - c) / (b - a) for (c, d), (a, b) in steps), Fraction(0))

    @cached_property
    def _areas(self) -> list[Fraction]:
        """The integral of the slope from the first knot to each knot."""
        found = [Fraction(0)]
        for (c, d), (a, b) in zip(pairwise(self.values), pairwise(self.knots), strict=True):
            found.append(found[-1] + (c + d) / 2 * (b - a))
        return found

    def _numbers(self, like: Any) -> tuple[Any, Any, Any, Any]:
        """Knots, values, rates and areas as numbers of the kind of `like`, kept for each kind and precision."""
        if isinstance(like, Fraction):
            return self.knots, self.values, self.rates, self._areas
        key = ctx.prec if isinstance(like, arb) else 0
        if key not in self._lifted:
            parts = (self.knots, self.values, self.rates, self._areas)
            self._lifted[key] = tuple([number(v, like) for v in part] for part in parts)  # pyright: ignore
        return self._lifted[key]

    @cached_property
    def _lifted(self) -> dict[int, tuple[Any, Any, Any, Any]]:
        return {}

    def _piece(self, x: Any) -> int | None:
        """The piece that x lies in, counted from 0 on the left; None for a ball that may meet several."""
        if isinstance(x, Fraction):
            return bisect_right(self.knots, x)
        k = bisect_right(self._floats, float(x))
        if isinstance(x, arb):
            knots = self._numbers(x)[0]
            return k if (k == 0 or x >= knots[k - 1]) and (k == len(knots) or x <= knots[k]) else None
        return k

    def at(self, x: Any) -> Any:
        """The slope at x; of a ball, an enclosure."""
        k = self._piece(x)
        if k is None:
            low, high = ends(x)
            return number(self.at(low), x).union(number(self.at(high), x))
        j = max(k - 1, 0)
        knots, values, rates, _ = self._numbers(x)
        return values[j] + rates[k] * (x - knots[j]) if self.rates[k] else values[j]

    def area(self, x: Any) -> Any:
        """The integral of the slope from the first knot to x; of a ball, an enclosure."""
        k = self._piece(x)
        if k is None:  # the mean value theorem
            low, high = ends(x)
            middle = (low + high) / 2
            return number(self.area(middle), x) + self.at(x) * (x - number(middle, x))
        j = max(k - 1, 0)
        knots, values, rates, areas = self._numbers(x)
        step = x - knots[j]
        linear = areas[j] + values[j] * step
        return linear + rates[k] * step * step / 2 if self.rates[k] else linear

    @property
    def steepest(self) -> Fraction:
        """The Lipschitz constant of the slope."""
        return max(self.rates)

    @property
    def bound(self) -> Fraction:
        """The largest absolute value of the slope."""
        return max(abs(self.values[0]), abs(self.values[-1]))

    @cached_property
    def zeros(self) -> tuple[Fraction | None, Fraction | None] | None:
        """The ends of the interval on which the slope is 0, None for an end at infinity; None where it is nowhere 0."""
        if self.values[0] > 0 or self.values[-1] < 0:
            return None
        low = None if self.values[0] == 0 else self._reaches(next(k for k, v in enumerate(self.values) if v >= 0))
        last = len(self.values) - 1
        high = None if self.values[last] == 0 else self._leaves(next(k for k, v in enumerate(self.values) if v > 0))
        return low, high

    def _reaches(self, k: int) -> Fraction:
        """Where the slope, below 0 at knot k - 1 and not at knot k, becomes 0."""
        return self.knots[k] if not self.values[k] else self.knots[k - 1] - self.values[k - 1] / self.rates[k]

    def _leaves(self, k: int) -> Fraction:
        """Where the slope, above 0 at knot k and not at knot k - 1, ceases to be 0."""
        return self.knots[k - 1] - self.values[k - 1] / self.rates[k]

    def nearest_zero(self, x: Any) -> Any:
        """The minimiser nearest to x; of a ball, an enclosure. Raises BadInput where there is none."""
        if self.zeros is None:
            raise BadInput("the function falls or rises everywhere, so that it has no minimiser.")
        if isinstance(x, arb):
            found = [number(self.nearest_zero(v), x) for v in ends(x)]
            return found[0].union(found[1])
        low, high = self.zeros
        if low is not None and x <= low:
            return number(low, x)
        return number(high, x) if high is not None and x >= high else x


def mixed(parts: Iterable[tuple[Fraction, Slope]]) -> Slope:
    """The sum of slopes with weights of at least 0."""
    pairs = list(parts)
    knots = sorted({k for _, s in pairs for k in s.knots})
    return Slope(tuple(knots), tuple(sum((w * s.at(k) for w, s in pairs), Fraction(0)) for k in knots))
