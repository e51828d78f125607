"""Conditions that an expression is a whole number, such as floor(T/n) = T/n: which integers meet them."""

from __future__ import annotations

import bisect
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from boundcheck.errors import BadInput
from boundcheck.theory.decide import Point

_MOST = 10**24  # numbers up to here are factorised at once


@dataclass(frozen=True)
class Whole:
    """The integers start + period * j for every integer j, or, where `divided` is given, its positive divisors."""

    start: int = 0
    period: int = 1
    divided: int | None = None

    def at_most(self, limit: int) -> int | None:
        """The largest member that is at most the limit; None if there is none."""
        if self.divided is None:
            return limit - (limit - self.start) % self.period
        divisors = _divisors(self.divided)
        known = bisect.bisect_right(divisors, limit)
        return divisors[known - 1] if known else None


class Unsolved(BadInput):
    """Where an expression is whole is not found."""


@lru_cache(maxsize=64)
def _divisors(number: int) -> list[int]:
    import sympy as sp

    return [int(d) for d in sp.divisors(number)]


def is_whole(relation: Any, symbol: Any) -> bool:
    """Whether the relation says that an expression with the symbol is a whole number."""
    import sympy as sp

    if not isinstance(relation, sp.Eq):
        return False
    return any(
        isinstance(rounded, sp.floor | sp.ceiling) and rounded.args[0] == plain and plain.has(symbol)
        for rounded, plain in ((relation.lhs, relation.rhs), (relation.rhs, relation.lhs))
    )


def whole_numbers(relation: Any, symbol: Any, values: Mapping[str, Fraction]) -> Whole | None:
    """The integers at which such a relation holds, the other symbols fixed; None where there are none.

    Raises Unsolved where the expression is neither a + b * symbol nor c / symbol with rational a, b, c at these
    values, or c is too long to be factorised.
    """
    import sympy as sp

    expr = relation.rhs if isinstance(relation.lhs, sp.floor | sp.ceiling) else relation.lhs
    product = sp.expand(expr * symbol)
    slope = sp.diff(expr, symbol) if expr.is_polynomial(symbol) else None
    if slope is not None and not slope.has(symbol):
        return _class_of(_exact(slope, symbol, values), _exact(expr.xreplace({symbol: sp.S.Zero}), symbol, values))
    if product.has(symbol):
        raise _unsolved(symbol)
    top = _exact(product, symbol, values)
    if top == 0:
        return Whole()
    if top.denominator != 1:
        return None
    if abs(top) > _MOST:
        raise _unsolved(symbol)
    return Whole(divided=abs(top.numerator))


def _class_of(slope: Fraction, offset: Fraction) -> Whole | None:
    """The integers v with slope * v + offset whole."""
    common = math.lcm(slope.denominator, offset.denominator)
    step, rest = int(slope * common), int(offset * common)
    shared = math.gcd(step, common)
    if rest % shared:
        return None
    period = common // shared
    return Whole(-(rest // shared) * pow(step // shared, -1, period) % period, period)


def _exact(expr: Any, symbol: Any, values: Mapping[str, Fraction]) -> Fraction:
    value = Point(expr, values).exact()
    if value is None:
        raise _unsolved(symbol)
    return value


def _unsolved(symbol: Any) -> Unsolved:
    return Unsolved(f"the largest {symbol} is not found: where an expression with {symbol} is whole is not solved for.")
