"""Floating evaluation of a statement over arrays, and a scope mask that is exact.

Bound, slacks and the rounding error of each slack become one NumPy function (theory.printed, theory.rounding), which
is called for blocks of a size that stays in cache. Points whose slack is within its rounding error of zero are decided
exactly, and so is every point where no such error is known. Whether the bound is below its trivial value is decided in
the same way. Where an intermediate value leaves the normal floats, scope is decided exactly and the bound is evaluated
in rigorous balls.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import sympy as sp

from boundcheck.theory.balls import ends
from boundcheck.theory.choices import choice_relations
from boundcheck.theory.decide import Point, Undefined
from boundcheck.theory.inputs import Inputs, to_float
from boundcheck.theory.printed import Function, Renamed
from boundcheck.theory.rounding import Rounding
from boundcheck.theory.scope import check_domain, difference, holds

if TYPE_CHECKING:
    from fractions import Fraction

    from boundcheck.theory.statement import Statement

BLOCK = 32768  # points of one block: few enough for the temporaries alive at once to stay in cache
_NEGLIGIBLE = 2.0**-60  # relative movement of a value, by powers that vanish, that is not worth an exact evaluation


class _Row(NamedTuple):
    """A relation. tolerance: the rounding error of its slack at most, None where it is not known."""

    relation: Any
    names: tuple[str, ...]
    tolerance: Function | None


class _Plan(NamedTuple):
    """A statement as NumPy functions.

    floats: the bound, then the slack of each row with a tolerance. beyond: whether they use a constant that no float
    holds, so that nothing may be read from them. lost: how far they move, at most, where powers are taken as 0; printed
    when it is first needed.
    """

    floats: Function
    beyond: bool
    lost: Callable[[], Function]
    rows: tuple[_Row, ...]


@lru_cache(maxsize=512)
def _plan(
    bound: Any,
    relations: tuple[Any, ...],
    arrays: frozenset[str],
    nonnegative: frozenset[str],
    exact: frozenset[str],
) -> _Plan:
    renamed = Renamed(sorted({s.name for e in (bound, *relations) for s in e.free_symbols}))
    rounding = Rounding(renamed, nonnegative, exact)
    rows: list[_Row] = []
    floats = [renamed.add(bound)]
    for relation in relations:
        slack = renamed.add(difference(relation))
        error = None if arrays.isdisjoint(_names(relation)) else rounding.tolerance(slack)
        rows.append(_Row(relation, _names(relation), None if error is None else Function(renamed, [error], arrays)))
        floats += [] if error is None else [slack]
    return _Plan(
        Function(renamed, floats, arrays), renamed.beyond, cache(partial(_lost, renamed, floats, arrays)), tuple(rows)
    )


def _lost(renamed: Renamed, floats: Sequence[Any], arrays: frozenset[str]) -> Function:
    return Function(renamed, [renamed.lost(e) for e in floats], arrays)


def _names(expr: Any) -> tuple[str, ...]:
    return tuple(sorted(s.name for s in expr.free_symbols))


class _Exact:
    """Exact answers at single points, each combination of values once."""

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self._known: dict[tuple[Any, tuple[Fraction, ...]], Any] = {}
        self.undecided = 0

    def holds(self, row: _Row, i: int) -> bool:
        """Whether a relation holds at a flat index; False where that stays undecided, which is counted."""
        values = self._inputs.at(i, row.names)
        key = (row.relation, tuple(values.values()))
        if key not in self._known:
            found = holds(row.relation, values)
            self.undecided += found is None
            self._known[key] = found is True
        return self._known[key]

    def value(self, bound: Any, i: int) -> float:
        """The bound at a flat index, see `nearest_value`."""
        values = self._inputs.at(i, _names(bound))
        key = (bound, tuple(values.values()))
        if key not in self._known:
            self._known[key] = nearest_value(bound, values)
        return self._known[key]


def nearest_value(expr: Any, values: Mapping[str, Fraction]) -> float:
    """A float next to the value, infinite only where that is beyond the floats; nan where there is no real value."""
    try:
        ball = Point(expr, values).accurate_ball(64)
    except Undefined:
        return math.nan
    low, high = ends(ball, 96)
    if low is None or high is None:
        return math.inf * float(ball.mid().sgn())
    return to_float((low + high) / 2)


class _Relation:
    """One relation over arrays: decided in floats where the rounding error allows, exactly elsewhere.

    The error is bounded over the whole arrays, and point by point where that bound does not settle a point.
    """

    def __init__(self, row: _Row, inputs: Inputs, exact: _Exact) -> None:
        self.row = row
        self._exact = exact
        self._everywhere = math.inf if row.tolerance is None else row.tolerance.highest(inputs.ends)[0]
        self._equality = isinstance(row.relation, sp.Eq | sp.Ne)

    @cached_property
    def fixed(self) -> Any:
        """The answer where no symbol of the relation is an array."""
        return np.bool_(self._exact.holds(self.row, 0))

    def without_floats(self, here: slice) -> Any:
        """The answers where no rounding error is known."""
        return np.array([self._exact.holds(self.row, i) for i in range(here.start, here.stop)])

    def __call__(self, block: _Block, slack: Any, lost: Any) -> Any:
        """The answers at the points of a block. lost: how far the slack is off besides its rounding error, at most."""
        slack = np.broadcast_to(slack, block.count)
        answer, unsure = self._signs(slack, self._everywhere if lost is None else self._everywhere + lost)
        if self.row.tolerance is not None and unsure.any():
            where = slice(None) if unsure.all() else np.flatnonzero(unsure)
            (limit,), doubtful, _ = self.row.tolerance(block.at(where, self.row.tolerance.names))
            answer[where], unsure[where] = self._signs(slack[where], limit if lost is None else limit + lost[where])
            unsure[where] |= doubtful
        for i in np.flatnonzero(unsure):
            answer[i] = self._exact.holds(self.row, block.start + int(i))
        return answer

    def _signs(self, slack: Any, limit: Any) -> tuple[Any, Any]:
        """(answer, unsure) where each slack is off by at most the limit; nan is unsure."""
        above = slack > limit
        unsure = ~(above | (slack < -limit))
        if self._equality:
            above = np.full(len(slack), isinstance(self.row.relation, sp.Ne))
        return above, unsure


class _Block:
    """Floats of a plan at the points of one block.

    lost: how far each is off besides its rounding error, at most; None where powers vanish at no point.
    """

    def __init__(self, plan: _Plan, inputs: Inputs, here: slice) -> None:
        self.start, self.count = here.start, here.stop - here.start
        self._symbols = {**inputs.scalars, **inputs.block(here)}
        self.floats, doubtful, vanished = plan.floats(self._symbols)
        doubtful = doubtful | plan.beyond
        for name in inputs.beyond:
            doubtful = doubtful | ~_is_normal(self._symbols[name])
        self.lost: list[Any] = [None] * len(self.floats)
        if np.any(vanished) or np.any(doubtful):
            beyond = np.where(np.broadcast_to(doubtful, self.count), math.inf, 0.0)
            self.lost = [beyond.copy() for _ in self.floats]
        where = np.flatnonzero(np.broadcast_to(vanished, self.count))
        if len(where):
            lost_at = plan.lost()
            found, unknown, _ = lost_at(self.at(where, lost_at.names))
            for lost, moved in zip(self.lost, found, strict=True):
                lost[where] += np.where(unknown, math.inf, moved)

    def at(self, where: Any, names: Sequence[str]) -> dict[str, Any]:
        """Some symbols at some points."""
        found = {name: self._symbols[name] for name in names}
        return {name: v[where] if np.ndim(v) else v for name, v in found.items()}

    @np.errstate(invalid="ignore")
    def unsure(self) -> Any:
        """The indices of the points where the bound needs an exact evaluation."""
        if self.lost[0] is None:
            return ()
        lost = self.lost[0]
        return np.flatnonzero((lost > 0) & ~(lost < _NEGLIGIBLE * np.abs(self.floats[0])))


def _is_normal(values: Any) -> Any:
    return np.isfinite(values) & (np.abs(values) >= np.finfo(np.float64).smallest_normal)


def evaluate_arrays(
    statement: Statement, values: Mapping[str, Any], *, search: bool = False
) -> tuple[Any, Any, Any, str]:
    """(value, in_scope, vacuous, note) over the broadcast shape; see `evaluation.Evaluation`.

    Raises BadInput naming the first entry that its declaration rules out. search: points that break a domain relation
    such as mu <= L are out of scope instead, values out of scope may be off, and vacuous is False.
    """
    inputs = Inputs(statement, values)
    domain = [r for r in statement.domain if {s.name for s in r.free_symbols} <= inputs.given]
    scope = [*domain, *(c.relation for c in statement.conditions), *choice_relations(statement, inputs.given)]
    below = [] if search or statement.trivial is None else [sp.Lt(statement.bound, statement.trivial, evaluate=False)]
    arrays = frozenset(inputs.sources)
    plan = _plan(statement.bound, (*scope, *below), arrays, inputs.nonnegative, inputs.exact)
    value = np.empty(inputs.size)
    in_scope = np.ones(inputs.size, dtype=bool)
    vacuous = np.zeros(inputs.size, dtype=bool)
    if not inputs.size:
        return value.reshape(inputs.shape), in_scope.reshape(inputs.shape), vacuous.reshape(inputs.shape), ""
    exact, compared = _Exact(inputs), _Exact(inputs)
    every = [_Relation(row, inputs, exact if j < len(scope) else compared) for j, row in enumerate(plan.rows)]
    for start in range(0, inputs.size, BLOCK):
        here = slice(start, min(start + BLOCK, inputs.size))
        block = _Block(plan, inputs, here)
        slacks = zip(block.floats[1:], block.lost[1:], strict=True)
        for j, relation in enumerate(every):
            if relation.row.tolerance is not None:
                answer = relation(block, *next(slacks))
            elif arrays.isdisjoint(relation.row.names):
                answer = relation.fixed
            else:
                answer = relation.without_floats(here)
            if j < len(domain) and not search and not answer.all():
                check_domain(statement, inputs.at(start + int(np.argmin(answer))))
            if j < len(scope):
                in_scope[here] &= answer
            else:
                vacuous[here] = ~answer
        value[here] = block.floats[0]
        for i in block.unsure():
            if not search or in_scope[start + i]:
                value[start + i] = exact.value(statement.bound, start + int(i))
    undefined = np.isnan(value)
    if undefined.any():
        vacuous &= ~undefined
    note = _note(exact.undecided, 0 if search else int(np.count_nonzero(undefined)))
    return value.reshape(inputs.shape), in_scope.reshape(inputs.shape), vacuous.reshape(inputs.shape), note


def _note(undecided: int, undefined: int) -> str:
    notes: list[str] = []
    if undecided:
        notes.append(f"At {undecided} points the scope stays undecided; they count as out of scope.")
    if undefined:
        notes.append(f"At {undefined} points the bound has no real value.")
    return " ".join(notes)
