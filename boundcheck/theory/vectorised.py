"""Floating evaluation of expressions over arrays, and a scope mask that is exact.

All expressions of a statement become one list of operations. What depends on scalars alone is computed once; the
rest is walked for each block of a size that stays in cache, every common subexpression once.

The mask: every slack is computed in floats together with a bound on its rounding error (theory.rounding), and only
the points whose slack is within that bound of zero are decided exactly; all of them where no such bound is known.
Whether the bound is below its trivial value is decided in the same way.

Where an intermediate value of a slack or of the bound could leave the normal floats, each block is walked once more
with checks (theory.floats), and the points at which one has left them are decided, or evaluated in rigorous balls.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import sympy as sp

from boundcheck.theory.balls import ends
from boundcheck.theory.choices import choice_relations
from boundcheck.theory.decide import Point, Undefined
from boundcheck.theory.floats import FloatProgram, strained
from boundcheck.theory.inputs import Inputs, to_float
from boundcheck.theory.intervals import highest
from boundcheck.theory.program import Builder, Node
from boundcheck.theory.rounding import UNIT, Rounding, exponents_are_safe
from boundcheck.theory.scope import check_domain, difference, holds

if TYPE_CHECKING:
    from fractions import Fraction

    from boundcheck.theory.relations import AnyStatement


BLOCK = 32768  # float64 elements of one block: few enough for the temporaries alive at once to stay in cache
_NEGLIGIBLE = 2.0**-1000  # an absolute error by underflow that is not worth an exact evaluation


class _Margin(NamedTuple):
    """One relation: the rounding error of the node `margin` is at most factor times the magnitude, node `size`.

    bare: the magnitude where nothing underflows. factor None: no such bound is known. names: the symbols, sorted.
    """

    relation: Any
    names: tuple[str, ...]
    margin: int
    size: int
    bare: int
    factor: float | None


class _Mask:
    """One relation over arrays: decided in floats where the rounding error allows, exactly elsewhere.

    The error is bounded over the whole array where that is possible (theory.intervals: one number, `everywhere`), and
    point by point where not, or where that bound does not settle a point.
    """

    def __init__(self, inputs: Inputs, row: _Margin, nodes: Sequence[Node]) -> None:
        self.row = row
        self.undecided = 0
        self._inputs = inputs
        self._nodes = nodes
        self._known: dict[tuple[Fraction, ...], bool] = {}
        self._constant = None if set(row.names) & set(inputs.sources) else self._exactly(0)
        ranges = {name: inputs.range(name) for name in row.names}
        self._factor = row.factor
        self._everywhere = math.inf
        self.by_point = False  # whether `block` needs the magnitude at every point
        self.safe = exponents_are_safe(nodes, (row.margin, row.size), ranges)
        if self._factor is None or self._constant is not None or not self.safe:
            return
        self._everywhere = self._factor * highest(nodes, row.size, {name: inputs.ends(name) for name in row.names})
        self.by_point = self._everywhere == math.inf
        self._size: Callable[[Mapping[str, Any]], list[Any]] | None = None

    def block(self, start: int, count: int, margin: Any, size: Any, arrays: Mapping[str, Any]) -> Any:
        """Whether the relation holds at `count` points from flat index `start`; one answer for all where no symbol of
        it is an array. size is not read unless `by_point`.
        """
        if self._constant is not None:
            return np.bool_(self._constant)
        if self._factor is None:
            return np.array([self._exactly(start + i) for i in range(count)])
        doubtful: Any = np.False_
        if not self.safe:
            symbols, roots = {**self._inputs.scalars, **arrays}, (self.row.margin, self.row.bare)
            (margin, size), doubtful = strained(self._nodes, roots, symbols, self._inputs.beyond)
        margin = np.broadcast_to(margin, count)  # the arrays may cancel out of it
        answer = np.full(count, isinstance(self.row.relation, sp.Ne)) if self._is_equality() else margin > 0
        distance = np.abs(margin)
        if np.min(distance) > self._everywhere:  # false for nan
            return answer
        known = self._everywhere < math.inf
        where = np.flatnonzero(~(distance > (self._everywhere if known else self._factor * size)) | doubtful)
        if known:
            size = self._sizes({name: values[where] for name, values in arrays.items()})
            where = where[~(distance[where] > self._factor * size)]
        for i in where:
            answer[i] = self._exactly(start + int(i))
        return answer

    def _sizes(self, arrays: Mapping[str, Any]) -> Any:
        """The magnitude at some points."""
        if self._size is None:
            self._size = FloatProgram(self._nodes, (self.row.size,)).bind(self._inputs.scalars, list(arrays))
        return self._size(arrays)[0]

    def _is_equality(self) -> bool:
        return isinstance(self.row.relation, sp.Eq | sp.Ne)

    def _exactly(self, i: int) -> bool:
        values = self._inputs.at(i, self.row.names)
        key = tuple(values.values())
        if key not in self._known:
            found = holds(self.row.relation, values)
            self.undecided += found is None
            self._known[key] = found is True
        return self._known[key]


class _Programs(NamedTuple):
    """The operations of a statement: its bound, how far underflow can move it (None: nowhere), and its relations."""

    nodes: tuple[Node, ...]
    bound: int
    names: tuple[str, ...]  # symbols of the bound
    lost: int | None
    rows: tuple[_Margin, ...]


@lru_cache(maxsize=512)
def _programs(bound: Any, trivial: Any, relations: tuple[Any, ...], nonnegative: frozenset[str]) -> _Programs:
    """trivial: None, or what the bound must be below; that becomes one more relation, the last."""
    builder = Builder()
    rounding = Rounding(builder, nonnegative)
    value = builder.add(bound)
    lost = rounding.underflow(value)
    rows: list[_Margin] = []
    below = () if trivial is None else (sp.Lt(bound, trivial, evaluate=False),)
    for relation in (*relations, *below):
        margin = builder.add(difference(relation))
        rows.append(
            _Margin(relation, _names(relation), margin, *(rounding.tolerance(margin) or (margin, margin, None)))
        )
    return _Programs(tuple(builder.nodes), value, _names(bound), lost, tuple(rows))


def _names(expr: Any) -> tuple[str, ...]:
    return tuple(sorted(s.name for s in expr.free_symbols))


class _Values:
    """The bound over the blocks; in balls wherever floats are no sure guide to it."""

    def __init__(self, statement: AnyStatement, inputs: Inputs, programs: _Programs) -> None:
        self._bound = statement.bound
        self._inputs = inputs
        self._programs = programs
        ranges = {name: inputs.range(name) for name in programs.names}
        self._safe = exponents_are_safe(programs.nodes, (programs.bound,), ranges)
        self._known: dict[tuple[Fraction, ...], float] = {}

    def block(self, start: int, count: int, value: Any, lost: Any, wanted: Any = None) -> Any:
        """The values at `count` points from flat index `start`, given the floats; nan where there is no real value.

        wanted: mask of the points whose values matter (None: all).
        """
        if self._safe:
            finite = np.isfinite(value)
            doubtful: Any = np.False_ if finite.all() else ~finite
            if self._programs.lost is not None and UNIT * np.max(lost) > _NEGLIGIBLE:
                error = UNIT * lost
                doubtful = doubtful | ((error > _NEGLIGIBLE) & (error > 2.0**-60 * np.abs(value)))
        else:
            symbols = self._inputs.scalars | self._inputs.block(slice(start, start + count))
            program = self._programs
            (value,), doubtful = strained(program.nodes, (program.bound,), symbols, self._inputs.beyond)
        if not np.any(doubtful):
            return value
        result = np.array(np.broadcast_to(value, count))
        where = np.broadcast_to(doubtful, count)
        for i in np.flatnonzero(where if wanted is None else where & wanted):
            result[i] = self._exactly(start + int(i))
        return result

    def _exactly(self, i: int) -> float:
        values = self._inputs.at(i, self._programs.names)
        key = tuple(values.values())
        if key not in self._known:
            self._known[key] = nearest_value(self._bound, values)
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


def evaluate_arrays(
    statement: AnyStatement, values: Mapping[str, Any], *, search: bool = False, outside: Any = None
) -> tuple[Any, Any, Any, str]:
    """(value, in_scope, vacuous, note) over the broadcast shape; see `evaluation.Evaluation`.

    Raises BadInput naming the first entry that its declaration rules out. search: points that break a domain relation
    such as mu <= L are out of scope instead, values out of scope may be off, and vacuous is False. outside: a flat
    array of False, one a point, in which such points are marked; they are out of scope, and nothing is raised.
    """
    inputs = Inputs(statement, values)
    given = set(inputs.floats)
    domain = [r for r in statement.domain if {s.name for s in r.free_symbols} <= given]
    chosen = choice_relations(statement, given)
    relations = (*domain, *(c.relation for c in statement.conditions), *chosen)
    trivial = None if search else statement.trivial
    programs = _programs(statement.bound, trivial, relations, inputs.nonnegative)
    value = np.empty(inputs.size)
    in_scope = np.ones(inputs.size, dtype=bool)
    vacuous = np.zeros(inputs.size, dtype=bool)
    if not inputs.size:
        return value.reshape(inputs.shape), in_scope.reshape(inputs.shape), vacuous.reshape(inputs.shape), ""
    masks = [_Mask(inputs, row, programs.nodes) for row in programs.rows]
    roots = [programs.bound, programs.bound if programs.lost is None else programs.lost]
    for mask in masks:
        slack = mask.row.margin if mask.safe else programs.bound  # what is not safe has a walk of its own
        roots += [slack, mask.row.size if mask.by_point else slack]
    floats = _Values(statement, inputs, programs)
    with np.errstate(all="ignore"):
        run = FloatProgram(programs.nodes, roots).bind(inputs.scalars, list(inputs.sources))
        for start in range(0, inputs.size, BLOCK):
            here = slice(start, min(start + BLOCK, inputs.size))
            count = here.stop - start
            arrays = inputs.block(here)
            found = run(arrays)
            for j, mask in enumerate(masks):
                answer = mask.block(start, count, found[2 * j + 2], found[2 * j + 3], arrays)
                if j < len(domain) and not search and not answer.all():
                    if outside is None:
                        check_domain(statement, inputs.at(start + int(np.argmin(answer))))
                    else:
                        outside[here] |= ~answer
                if j < len(relations):
                    in_scope[here] &= answer
                else:
                    vacuous[here] = ~answer
            value[here] = floats.block(start, count, found[0], found[1], in_scope[here] if search else None)
    undefined = np.isnan(value)
    if undefined.any():
        vacuous &= ~undefined
    note = _note(sum(m.undecided for m in masks[: len(relations)]), 0 if search else int(np.count_nonzero(undefined)))
    return value.reshape(inputs.shape), in_scope.reshape(inputs.shape), vacuous.reshape(inputs.shape), note


def _note(undecided: int, undefined: int) -> str:
    notes: list[str] = []
    if undecided:
        notes.append(f"At {undecided} points the scope stays undecided; they count as out of scope.")
    if undefined:
        notes.append(f"At {undefined} points the bound has no real value.")
    return " ".join(notes)
