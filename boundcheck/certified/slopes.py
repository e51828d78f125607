"""Piecewise quadratic functions on the line, by their slopes: in fractions, doubles and balls."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from itertools import pairwise
from typing import Any

from flint import arb, ctx

from boundcheck.core.linalg import rational
from boundcheck.core.numbers import ball_ends, nearest_float
from boundcheck.errors import BadInput


def number(value: Fraction, like: Any) -> Any:
    """A fraction as a number of the kind of `like`: a Fraction, a float or an arb at the working precision."""
    if isinstance(like, Fraction):
        return value
    return arb(rational(value)) if isinstance(like, arb) else nearest_float(value)


@dataclass(frozen=True)
class Slope:
    """A continuous function that is linear between its knots and beyond them: the derivative of a piecewise quadratic.

    knots: increasing, at least 1. values: the slope at each knot. beyond: the curvature below the first knot and that
    above the last. A curvature below 0 makes the function nonconvex. Raises BadInput.
    """

    knots: tuple[Fraction, ...]
    values: tuple[Fraction, ...]
    beyond: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))

    def __post_init__(self) -> None:
        if not self.knots or len(self.knots) != len(self.values):
            raise BadInput(f"{len(self.knots)} knots have {len(self.values)} slopes; as many are needed, at least 1.")
        if any(b <= a for a, b in pairwise(self.knots)):
            raise BadInput(f"the knots {[str(k) for k in self.knots]} are not allowed; they must increase.")

    @cached_property
    def _floats(self) -> list[float]:
        return [nearest_float(k) for k in self.knots]

    @cached_property
    def rates(self) -> tuple[Fraction, ...]:
        """The curvature on each piece, the two beyond the outer knots included; one more than there are knots."""
        steps = zip(pairwise(self.values), pairwise(self.knots), strict=True)
        return (self.beyond[0], *((d - c) / (b - a) for (c, d), (a, b) in steps), self.beyond[1])

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
            low, high = ball_ends(x)
            inside = (value for k, value in zip(self.knots, self.values, strict=True) if low < k < high)
            return reduce(arb.union, (number(v, x) for v in (self.at(low), *inside, self.at(high))))
        j = max(k - 1, 0)
        knots, values, rates, _ = self._numbers(x)
        return values[j] + rates[k] * (x - knots[j]) if self.rates[k] else values[j]

    def area(self, x: Any) -> Any:
        """The integral of the slope from the first knot to x; of a ball, an enclosure."""
        k = self._piece(x)
        if k is None:  # the mean value theorem
            low, high = ball_ends(x)
            middle = (low + high) / 2
            return number(self.area(middle), x) + self.at(x) * (x - number(middle, x))
        j = max(k - 1, 0)
        knots, values, rates, areas = self._numbers(x)
        step = x - knots[j]
        linear = areas[j] + values[j] * step
        return linear + rates[k] * step * step / 2 if self.rates[k] else linear

    def root(self, value: Fraction) -> Fraction:
        """Where a slope that increases everywhere has this value."""
        k = bisect_right(self.values, value)
        j = max(k - 1, 0)
        return self.knots[j] + (value - self.values[j]) / self.rates[k]

    @property
    def steepest(self) -> Fraction:
        """The Lipschitz constant of the slope."""
        return max(map(abs, self.rates))

    @property
    def flattest(self) -> Fraction:
        """The least curvature: the function is convex where it is at least 0."""
        return min(self.rates)

    @property
    def bound(self) -> Fraction | None:
        """The largest absolute value of the slope; None where it is unbounded."""
        return None if any(self.beyond) else max(map(abs, self.values))

    @cached_property
    def minima(self) -> tuple[tuple[Fraction | None, Fraction | None], ...]:
        """The intervals of minimisers from left to right, None for an end at infinity; empty if there is none."""
        (before, after), (first, *_, last) = self.beyond, (self.values[0], *self.values)
        if min(before, after) < 0 or (not before and first > 0) or (not after and last < 0):
            return ()
        heights = [self.area(next((v for v in own if v is not None), self.knots[0])) for own in self.critical]
        found: list[tuple[Fraction | None, Fraction | None]] = []
        for own, height in zip(self.critical, heights, strict=True):
            if height == min(heights):
                joins = bool(found) and found[-1][1] == own[0]
                found[-1:] = [(found[-1][0], own[1])] if joins else [*found[-1:], own]
        return tuple(found)

    @cached_property
    def critical(self) -> tuple[tuple[Fraction | None, Fraction | None], ...]:
        """Where the slope is 0: on each piece nowhere, at one point, or all over; as intervals, see `minima`."""
        found: list[tuple[Fraction | None, Fraction | None]] = []
        for k, (rate, ends) in enumerate(zip(self.rates, pairwise((None, *self.knots, None)), strict=True)):
            j = max(k - 1, 0)
            if rate:
                zero = self.knots[j] - self.values[j] / rate
                if all(end is None or (zero - end) * side >= 0 for end, side in zip(ends, (1, -1), strict=True)):
                    found.append((zero, zero))
            elif not self.values[j]:
                found.append(ends)
        return tuple(found)

    def nearest_minimiser(self, x: Any) -> Any:
        """The minimiser nearest to x, the lower of two; of a ball, an enclosure. Raises BadInput if there is none."""
        if not self.minima:
            raise BadInput("the function is unbounded below or has no minimiser.")
        if isinstance(x, arb):  # the nearest point of a set on the line does not fall with x
            found = [number(self.nearest_minimiser(v), x) for v in ball_ends(x)]
            return found[0].union(found[1])
        return min((_nearest(low, high, x) for low, high in self.minima), key=lambda v: abs(v - x))

    @cached_property
    def quasi_convexity(self) -> Fraction | None:
        """The largest mu with f'(x)(x - p) >= f(x) - f(p) + mu/2 (x - p)^2, p the minimiser nearest to x, for all x.

        None where the minimisers are no interval, or the whole line. Both sides are quadratic on each piece, so that
        their least ratio is at a knot, at infinity or next to the minimisers.
        """
        if len(self.minima) != 1 or self.minima[0] == (None, None):
            return None
        found: list[Fraction] = []
        for end, side in zip(self.minima[0], (-1, 1), strict=True):
            if end is not None:
                own = [k for k in self.knots if (k - end) * side > 0]
                beside = len(own) if side < 0 else -1 - len(own)
                found += [self.rates[0 if side < 0 else -1], self.rates[beside]]
                found += [2 * (self.at(k) * (k - end) - self.area(k) + self.area(end)) / (k - end) ** 2 for k in own]
        return min(found)


def _nearest(low: Fraction | None, high: Fraction | None, x: Any) -> Any:
    if low is not None and x <= low:
        return number(low, x)
    return number(high, x) if high is not None and x >= high else x


def mixed(parts: Iterable[tuple[Fraction, Slope]]) -> Slope:
    """The sum of slopes with weights."""
    pairs = list(parts)
    knots = sorted({k for _, s in pairs for k in s.knots})
    values = (sum((w * s.at(k) for w, s in pairs), Fraction(0)) for k in knots)
    before, after = (sum((w * s.beyond[side] for w, s in pairs), Fraction(0)) for side in (0, 1))
    return Slope(tuple(knots), tuple(values), (before, after))
