"""The largest admissible value of a symbol, and the best value of a free one.

Every condition and domain relation becomes the sign of one expression in the symbol. The places where such a sign
can change (breakpoints) are found exactly (theory.breakpoints); between neighbours nothing changes, so that one
exact decision an interval settles the feasible set. The answer is its supremum from within: the breakpoint itself
where it is rational and in scope, otherwise a rational less than a relative 1e-12 below it that is in scope.
A condition that an expression is a whole number (n divides T) restricts an integer symbol to a residue class or to
the divisors of a number (theory.whole).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from boundcheck.core.numbers import format_short, round_down, round_up
from boundcheck.errors import BadInput
from boundcheck.theory.decide import Point
from boundcheck.theory.evaluation import needed_symbols
from boundcheck.theory.program import names_of, text_of
from boundcheck.theory.relations import AnyStatement, Breakpoint, Relation, holds, stored_breakpoints
from boundcheck.theory.scope import read_values, require, scope_symbols
from boundcheck.theory.whole import Unsolved, Whole, is_whole, whole_numbers

if TYPE_CHECKING:
    from boundcheck.theory.symbols import Symbol


DIGITS = 13  # significant digits of an irrational answer: relative 1e-12


class NothingAllowed(BadInput):
    """The hypotheses leave no value of the symbol at these constants."""


class _Feasible:
    """The set of values of one symbol that domain and conditions allow, the others fixed."""

    def __init__(self, statement: AnyStatement, symbol: Symbol, values: Mapping[str, Fraction]) -> None:
        self.statement = statement
        self.symbol = symbol
        self.values = dict(values)
        self.relations: list[Any] = []
        self.whole: Whole | None = Whole()
        self._restricted = False
        self.names: list[str] = []
        named = [("the domain", r) for r in statement.domain]
        named += [(f"condition '{c.name}'", c.relation) for c in statement.conditions]
        for where, relation in named:
            used = names_of(relation)
            if symbol.name in used:
                if used - {symbol.name} <= set(values):
                    self.relations.append(relation)
                    self.names.append(where)
                    if symbol.integer and is_whole(relation, symbol.expr):
                        self._restrict(relation)
            elif used <= set(values) and not holds(relation, values):
                raise NothingAllowed(
                    f"{statement.best_id}: no {symbol.name} is allowed, since {where} ({text_of(relation)}) "
                    f"does not hold at {self.given()}."
                )

    def _restrict(self, relation: Any) -> None:
        if self._restricted:
            raise BadInput(
                f"{self.statement.best_id}: the largest {self.symbol.name} is not found: it has two conditions of the "
                f"form {text_of(relation)}."
            )
        self._restricted = True
        self.whole = whole_numbers(relation, self.symbol.expr, self.values)

    def given(self) -> str:
        """The fixed values, for messages."""
        return ", ".join(f"{name} = {format_short(value)}" for name, value in self.values.items()) or "any values"

    def admits(self, value: Fraction) -> bool:
        """Whether the value is within its domain and every relation is known to hold there."""
        if not self.symbol.admits(value):
            return False
        values = {**self.values, self.symbol.name: value}
        return all(holds(r, values) for r in self.relations)

    def supremum(self) -> Fraction:
        """The largest allowed value. Raises NothingAllowed, or BadInput where there is no upper limit."""
        if self.whole is None:
            raise self._nothing()
        found: list[Breakpoint] = []
        for relation in self.relations:
            if not (self.symbol.integer and is_whole(relation, self.symbol.expr)):
                found += _breakpoints(relation, self.symbol.name, self.values)
        if self.whole.divided is not None:
            found.append(Breakpoint.at(Fraction(self.whole.divided)))
        for end in (self.symbol.low, self.symbol.high):
            if end is not None:
                found.append(Breakpoint.at(end))
        points = _distinct(found)
        if not points:
            if self.admits(Fraction(self.whole.start)):
                raise self._unlimited()
            raise self._nothing()
        beyond = Fraction(math.floor(points[-1].high)) + 1
        if self.symbol.integer:
            beyond = Fraction(self.whole.at_most(math.ceil(beyond) + self.whole.period) or 0)
        if beyond > points[-1].high and self.admits(beyond):
            raise self._unlimited()
        for below, point in zip([None, *points[:-1]][::-1], points[::-1], strict=True):
            answer = self._highest_whole(below, point) if self.symbol.integer else self._highest(below, point)
            if answer is not None:
                return answer
        raise self._nothing()

    def _highest(self, below: Breakpoint | None, point: Breakpoint) -> Fraction | None:
        """The largest allowed value in (below, point]."""
        if point.exact is not None and self.admits(point.exact):
            return point.exact
        floor = point.low - 1 if below is None else below.high
        inner = (floor + point.low) / 2
        if not floor < inner < point.low or not self.admits(inner):
            return None
        # the whole open interval is allowed; go up to the breakpoint
        top = point.low
        below_top = round_down(top, DIGITS) if point.exact is None else top - abs(top) / 10**12
        if not inner < below_top < top:  # close to 0, or a narrow interval
            below_top = top - (top - inner) / 10**12
        return below_top if self.admits(below_top) else inner

    def _highest_whole(self, below: Breakpoint | None, point: Breakpoint) -> Fraction | None:
        """The largest allowed integer in (below, point]."""
        candidate = None if self.whole is None else self.whole.at_most(math.floor(point.high))
        for _ in range(2):  # the first may be the excluded breakpoint, or beyond an irrational one
            if candidate is None or self.whole is None or (below is not None and candidate <= below.high):
                return None
            if self.admits(Fraction(candidate)):
                return Fraction(candidate)
            candidate = self.whole.at_most(candidate - 1)
        return None

    def _unlimited(self) -> BadInput:
        return BadInput(
            f"{self.statement.best_id}: no condition limits {self.symbol.name} from above at {self.given()}."
        )

    def _nothing(self) -> NothingAllowed:
        kind = f"positive {self.symbol.name}" if self.symbol.low == 0 and self.symbol.low_open else self.symbol.name
        shown = "; ".join(text_of(r) for r in self.relations)
        return NothingAllowed(
            f"{self.statement.best_id}: no {kind} satisfies {' and '.join(self.names) or 'its domain'}"
            f"{f' ({shown})' if shown else ''} at {self.given()}."
        )


def _breakpoints(relation: Any, name: str, values: Mapping[str, Fraction]) -> list[Breakpoint]:
    """See `theory.breakpoints`, which is needed for a relation that has no roots stored."""
    if isinstance(relation, Relation):
        return stored_breakpoints(relation.roots[name], values)
    from boundcheck.theory.breakpoints import breakpoints

    return breakpoints(relation, name, values)


def _distinct(found: Sequence[Breakpoint]) -> list[Breakpoint]:
    """Sorted, those that cannot be separated merged (a rational one is kept)."""
    result: list[Breakpoint] = []
    for point in sorted(found, key=lambda p: (p.low, p.exact is None)):
        if result and point.low <= result[-1].high:
            if result[-1].exact is None and point.exact is not None:
                result[-1] = point
            continue
        result.append(point)
    return result


def largest(statement: AnyStatement, name: str, values: Mapping[str, Any]) -> Fraction:
    """The largest value of a symbol that domain and conditions allow at the other constants.

    Exact where the binding relation has a rational root there, otherwise a decimal of 13 significant digits
    below the root (relative 1e-12); in either case the returned value is in scope, decided exactly. Where the allowed
    set has gaps it is the top of its highest part; where a strict condition excludes the top itself, the answer lies
    a relative 1e-12 below. A value given for the symbol itself is not used. Conditions on the statement's index count
    only where it is given.
    Raises NothingAllowed where no value is allowed, BadInput where no relation limits it from above or a value is
    missing, UnknownName.
    """
    symbol = statement.symbol(name)
    others = {key: value for key, value in values.items() if key != name}
    needed = [n for n in scope_symbols(statement) if n not in (name, statement.metric.index)]
    require(statement, others, needed, f"the largest {name}")
    return _Feasible(statement, symbol, read_values(statement, others)).supremum()


_GRID = 400  # points of the search
_ZOOMS = 8  # each leaves three steps of the last grid
_FAR = 15  # an unlimited domain is searched from 10^-15 to 10^15


class _Axis:
    """The part of a symbol's domain that is searched, on a logarithmic scale where it has no negative numbers."""

    def __init__(self, symbol: Symbol, label: str, whole: Whole) -> None:
        if symbol.low is None:
            raise BadInput(f"{label}: the best {symbol.name} is not searched, since it has no least value.")
        self.symbol = symbol
        self.whole = whole  # the integers that a condition leaves
        self.log = symbol.low >= 0 and (symbol.high is None or symbol.low == 0 or symbol.high > 100 * symbol.low)
        low, high = float(symbol.low), math.inf if symbol.high is None else float(symbol.high)
        self.outer_low = max(low, 10.0**-_FAR) if self.log else low
        self.outer_high = min(high, 10.0**_FAR) if self.log else min(high, low + 10.0**_FAR)
        self.low, self.high = self._scale(self.outer_low), self._scale(self.outer_high)

    def _scale(self, value: float) -> float:
        return math.log(value) if self.log else value

    def points(self) -> list[float]:
        """A grid of the current range, within the domain."""
        share = [j / (_GRID - 1) for j in range(_GRID)]
        raw = [self.low * (1 - t) + self.high * t for t in share]
        values = [math.exp(v) if self.log else v for v in raw]
        values = [min(max(v, self.outer_low), self.outer_high) for v in values]
        if self.symbol.integer:
            values = [float(v) for v in map(self.whole.at_most, map(round, values)) if v is not None]
        return [v for v in sorted(set(values)) if self.symbol.admits(Fraction(v))]

    def zoom(self, center: float) -> None:
        """Narrow the range to three steps around a grid point."""
        step = 1.5 * (self.high - self.low) / (_GRID - 1)
        middle = self._scale(center)
        self.low = max(middle - step, self._scale(self.outer_low))
        self.high = min(middle + step, self._scale(self.outer_high))

    def escapes(self, value: float) -> bool:
        """Whether the search ended where only its own reach, not the domain, stopped it."""
        near = 1e-6
        above = value >= self.outer_high * (1 - near) and self.symbol.high is None
        low = self.symbol.low
        below = self.log and low == 0 and value <= self.outer_low * (1 + near) and not self.symbol.integer
        return above or below


def best(statement: AnyStatement, name: str, values: Mapping[str, Any]) -> Fraction:
    """The value of a symbol, in scope (decided exactly), at which the bound is least.

    Numerical: a grid over the domain (10^-15 to 10^15 where it is unlimited) that is narrowed around its best
    point, then a real symbol is pushed to the edge of the scope where that lowers the bound further. It finds the
    minimum of a bound with one valley, to about six digits. Raises NothingAllowed where no grid point is in scope,
    BadInput where the bound falls without end or the symbol cannot be searched, UnknownName.
    """
    label, symbol = statement.best_id, statement.symbol(name)
    if name not in names_of(statement.bound):
        raise BadInput(f"{label}: the bound does not depend on {name}.")
    fixed = {key: value for key, value in values.items() if key != name}
    require(statement, fixed, [n for n in needed_symbols(statement) if n != name], f"the best {name}")
    exact = read_values(statement, fixed)
    axis = _Axis(symbol, label, _whole(statement, symbol, exact))
    found = _search(statement, axis, exact)
    if axis.escapes(found):
        direction = "grows" if found > 1 else "falls"
        raise BadInput(f"{label}: the bound has no best {name}; it keeps falling as that {direction}.")
    return Fraction(found) if symbol.integer else _polish(statement, symbol, Fraction(found), exact)


def _whole(statement: AnyStatement, symbol: Symbol, exact: Mapping[str, Fraction]) -> Whole:
    """The integers that a condition such as n divides T leaves at the fixed values; all where that is not solved."""
    for condition in statement.conditions:
        others = names_of(condition.relation) - {symbol.name}
        if symbol.integer and is_whole(condition.relation, symbol.expr) and others <= set(exact):
            try:
                return whole_numbers(condition.relation, symbol.expr, exact) or Whole()
            except Unsolved:
                continue
    return Whole()


def _search(statement: AnyStatement, axis: _Axis, exact: Mapping[str, Fraction]) -> float:
    import numpy as np

    from boundcheck.theory.arrays import evaluate_arrays

    least, where = math.inf, None
    for _ in range(_ZOOMS):
        points = axis.points()
        outside = np.zeros(len(points), dtype=bool)
        value, in_scope, _, _ = evaluate_arrays(statement, {**exact, axis.symbol.name: points}, outside=outside)
        for point, number, inside in zip(points, value.tolist(), in_scope.tolist(), strict=True):
            if inside and number < least:
                least, where = number, point
        if where is None:
            break
        axis.zoom(where)
    if where is None:
        raise NothingAllowed(
            f"{statement.best_id}: no searched value of {axis.symbol.name} is in scope at these constants."
        )
    return where


def _polish(statement: AnyStatement, symbol: Symbol, value: Fraction, exact: Mapping[str, Fraction]) -> Fraction:
    """A short decimal or the edge of the scope, wherever these do not raise the bound."""
    feasible = _Feasible(statement, symbol, exact)
    candidates = [rounding(value, digits) for digits in (13, 9, 6) for rounding in (round_down, round_up)]
    if feasible.relations:
        with suppress(BadInput):  # no upper edge: nothing to push to
            candidates.append(feasible.supremum())
    least = _bound(statement, {**exact, symbol.name: value})
    for candidate in candidates:
        if feasible.admits(candidate):
            bound = _bound(statement, {**exact, symbol.name: candidate})
            if bound <= least * (1 + Fraction(1, 10**9)):
                value, least = candidate, min(bound, least)
    return value


def _bound(statement: AnyStatement, values: Mapping[str, Any]) -> Fraction:
    low, high = Point(statement.bound, values).enclose(64)
    return (low + high) / 2
