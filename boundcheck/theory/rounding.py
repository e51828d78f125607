"""How far a float evaluation of an expression can be from its exact value.

Each expression v gets a size m (an expression) and a count c with |computed - exact| <= c u m to first order,
u = 2^-53, in whatever order sums and products are carried out (NumPy's powers, exponentials and logarithms count as
right to 4 units). m is v itself wherever v comes from numbers >= 0 without a subtraction. A tolerance is 2 (c + 1) u m,
which covers the higher orders: where a divisor, logarithm or exponent is itself known to less than a quarter, m is
infinite.
"""

from __future__ import annotations

from collections.abc import Set
from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.theory.printed import Greatest, Least, Modulus, Power, Renamed

UNIT = 2.0**-53
_ELEMENTARY = 4  # units in the last place of NumPy's pow, exp and log

Bound = tuple[Any, int]


class Rounding:
    """Bounds of the rounding errors of renamed expressions.

    nonnegative: names of symbols whose domain has no negative number. exact: names of symbols whose floats are their
    values.
    """

    def __init__(self, renamed: Renamed, nonnegative: Set[str], exact: Set[str]) -> None:
        named = list(zip(renamed.names, renamed.symbols, strict=True))
        self._nonnegative = {symbol for name, symbol in named if name in nonnegative}
        self._counts = {symbol: int(name not in exact) for name, symbol in named}
        self._renamed = renamed
        self._found: dict[Any, Bound | None] = {}

    def tolerance(self, expr: Any) -> Any:
        """An expression that the error is at most; None where no bound is known (floor and ceiling)."""
        found = self._bound(expr)
        return None if found is None else sp.Float(2 * (found[1] + 1) * UNIT) * found[0]

    def _bound(self, expr: Any) -> Bound | None:
        if expr not in self._found:
            self._found[expr] = self._new_bound(expr)
        return self._found[expr]

    def _new_bound(self, expr: Any) -> Bound | None:
        if expr.is_Rational:
            return abs(expr), int(not (_is_float(expr.p) and _is_float(expr.q) and _is_float(Fraction(expr.p, expr.q))))
        power = next((p for p in self._renamed.powers if p.symbol == expr), None)
        if power is not None:
            return self._power(power)
        if not expr.args:
            return self._abs(expr), self._counts.get(expr, 1)  # 1: pi and e
        parts = [self._bound(a) for a in expr.args]
        known = [p for p in parts if p is not None]
        if len(known) < len(parts) or isinstance(expr, sp.floor | sp.ceiling):
            return None
        sizes, counts = [m for m, _ in known], [c for _, c in known]
        if isinstance(expr, sp.Add):
            return sp.Add(*sizes), max(counts) + len(counts)
        if isinstance(expr, sp.Mul):
            return sp.Mul(*sizes), sum(counts) + len(counts) + 1
        if isinstance(expr, Least | Greatest):
            return (expr if sizes == list(expr.args) else Greatest(*sizes)), max(counts)
        if isinstance(expr, Modulus):
            return sizes[0], counts[0]
        if isinstance(expr, sp.log):
            size = self._guarded(sizes[0] / self._abs(expr.args[0]), 4 * (counts[0] + 1))
            return size + Modulus(expr), counts[0] + _ELEMENTARY
        return self._plain_power(expr, sizes[0], counts[0])

    def _plain_power(self, expr: Any, size: Any, count: int) -> Bound:
        """base^(p/q), q 1 or 2, by a root and multiplications; the base has the given size and count."""
        base, p, q = expr.base, int(expr.exp.p), int(expr.exp.q)
        relative = size == base
        if q == 2:
            # |sqrt a - sqrt b| <= |a - b| / sqrt(max(a, b))
            root = sp.sqrt(base)
            size = root if relative else size / base * root
            base, count = root, count + 2
        steps = abs(p) * (count + 1) + 2
        if relative:
            return expr, steps
        if p > 0:
            return size**p, steps
        return Modulus(expr) * self._guarded(size / self._abs(base), 4 * steps), steps

    def _power(self, power: Power) -> Bound | None:
        base, exponent = self._bound(power.base), self._bound(power.exponent)
        if base is None or exponent is None:
            return None
        size, share = self._abs(power.base), sp.S.Zero
        if power.base is sp.E:
            base, share = (size, 0), exponent[0] if exponent[1] else share
        elif exponent[1]:
            share = (size + 1 / size) * exponent[0]  # size + 1/size is at least |log(size)|, and cheaper
        if base[1]:
            share += self._abs(power.exponent) * base[0] / size
        count = base[1] + exponent[1]
        growth = 1 + self._guarded(share, 4 * (count + 1))
        return self._abs(power.symbol) * growth, count + _ELEMENTARY

    def _guarded(self, share: Any, loss: int) -> Any:
        """share / max(0, 1 - loss u share): infinite where an error of that relative size is not small."""
        return share if share.is_Rational else share / Greatest(0, 1 - sp.Float(loss * UNIT) * share)

    def _abs(self, expr: Any) -> Any:
        return expr if self._not_negative(expr) else Modulus(expr)

    def _not_negative(self, expr: Any) -> bool:
        if expr.is_number:
            return bool(expr >= 0)
        if expr.is_Symbol:
            power = next((p for p in self._renamed.powers if p.symbol == expr), None)
            return expr in self._nonnegative if power is None else self._not_negative(power.base)
        each = [self._not_negative(a) for a in expr.args]
        if isinstance(expr, sp.Pow):
            exponent: Any = expr.exp
            return each[0] or exponent.q == 2 or exponent.p % 2 == 0
        if isinstance(expr, Greatest):
            return any(each)
        return isinstance(expr, Modulus) or (all(each) and not isinstance(expr, sp.log))


def _is_float(value: Any) -> bool:
    try:
        return Fraction(float(value)) == value
    except OverflowError:
        return False
