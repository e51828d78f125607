"""Values of a statement over arrays in floats, and a scope mask that is exact.

All expressions of a statement become one program, which is walked block by block (`theory.walk`). A relation is decided
by the float of its slack wherever that is further from 0 than its error bound: the one of the block, else that of the
point. All other points are decided exactly (`theory.decide`), and so is whether the bound is below its trivial value.
The bound itself is evaluated in rigorous balls wherever a float has left its range or lost digits by underflow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import sympy as sp

from boundcheck.core.numbers import as_fraction, nearest_float
from boundcheck.errors import BadInput, Mistakes
from boundcheck.theory.balls import ends
from boundcheck.theory.choices import choice_relations
from boundcheck.theory.decide import Point, Undefined
from boundcheck.theory.program import Builder, Node
from boundcheck.theory.relations import difference, holds
from boundcheck.theory.scope import check_domain
from boundcheck.theory.walk import BLOCK, UNIT, Step, Walk, order_of, whole_nodes

if TYPE_CHECKING:
    from boundcheck.theory.relations import AnyStatement
    from boundcheck.theory.symbols import Symbol


CHUNK = 2**19  # points whose slacks are kept at once
NEGLIGIBLE = 2.0**-1000  # an absolute error by underflow that is not worth an exact evaluation
_LOST = 2.0**-60  # the same, relatively


class Inputs:
    """The given values, checked and broadcast against each other.

    scalars: those of single numbers, exactly. arrays: the others as given, flat. floats: all as floats; inexact: names
    of those that these do not hold exactly. Raises BadInput for all entries outside their domains at once.
    """

    def __init__(self, statement: AnyStatement, values: Mapping[str, Any]) -> None:
        self.label = statement.best_id
        self.scalars: dict[str, Fraction] = {}
        self.arrays: dict[str, Any] = {}
        self.floats: dict[str, Any] = {}
        self.inexact: set[str] = set()
        mistakes = Mistakes()
        for name, value in values.items():
            with mistakes.noting():
                self._read(statement.symbol(name), value)
        mistakes.raise_all()
        try:
            self.shape = np.broadcast_shapes(*(a.shape for a in self.arrays.values()))
        except ValueError:
            shapes = ", ".join(f"{name} {a.shape}" for name, a in self.arrays.items())
            raise BadInput(f"{self.label}: the arrays do not broadcast against each other: {shapes}.") from None
        self.size = math.prod(self.shape)
        for name in self.arrays:
            for table in (self.arrays, self.floats):
                table[name] = np.broadcast_to(table[name], self.shape).reshape(-1)

    def _read(self, symbol: Symbol, value: Any) -> None:
        name = symbol.name
        if not isinstance(value, list | tuple | range) and not getattr(value, "ndim", 0):
            exact = symbol.check(as_fraction(value, name), self.label)
            self.scalars[name], self.floats[name] = exact, np.float64(nearest_float(exact))
            if not math.isfinite(self.floats[name]) or exact != Fraction(float(self.floats[name])):
                self.inexact.add(name)
            return
        source = value if isinstance(value, np.ndarray) else _array(value)
        if source.dtype.kind in "OU":
            found = [as_fraction(_item(v), name) for v in source.reshape(-1)]
            floats = np.array([nearest_float(v) for v in found], dtype=np.float64).reshape(source.shape)
            source = np.empty(source.shape, dtype=object)
            source.reshape(-1)[:] = found
            self.inexact.add(name)
        elif source.dtype.kind in "iuf" and source.dtype.itemsize <= 8:
            floats = source  # becomes float64 block by block
            if source.dtype.kind != "f" and source.size and max(-int(source.min()), int(source.max())) > 2**53:
                self.inexact.add(name)
        else:
            raise BadInput(f"{self.label}: {name} is an array of {source.dtype}, which holds no real numbers.")
        for i in self._suspects(symbol, floats):
            entry = as_fraction(_item(source.reshape(-1)[i]), f"{name}[{i}]")
            if not symbol.admits(entry):
                symbol.check(entry, f"{self.label}, entry {i}")
        self.arrays[name], self.floats[name] = source, floats

    def _suspects(self, symbol: Symbol, floats: np.ndarray) -> Any:
        """The flat indices of all entries that may be outside the domain; the others are inside for certain."""
        if not floats.size:
            return ()
        if symbol.name in self.inexact:
            return range(floats.size)
        low, low_ties = _end(symbol.low, -math.inf, is_open=symbol.low_open)
        high, high_ties = _end(symbol.high, math.inf, is_open=symbol.high_open)
        above, below = (np.greater_equal if low_ties else np.greater), (np.less_equal if high_ties else np.less)
        suspect: Any = np.False_
        if not (above(floats.min(), low) and below(floats.max(), high)):  # also where one is nan
            suspect = ~(above(floats, low) & below(floats, high))
        if symbol.integer and floats.dtype.kind == "f":
            suspect = suspect | (np.floor(floats) != floats)
        return np.flatnonzero(suspect)

    def at(self, i: int, names: Sequence[str] | None = None) -> dict[str, Fraction]:
        """The values (of some symbols) at one flat index, exactly."""
        return {
            name: self.scalars[name] if name in self.scalars else as_fraction(_item(self.arrays[name][i]), name)
            for name in (self.floats if names is None else names)
        }

    def of_arrays(self, here: Any) -> dict[str, Any]:
        """The floats of the arrays at a range or list of flat indices."""
        return {name: self.floats[name][here] for name in self.arrays}


def _array(value: Sequence[Any]) -> np.ndarray:
    if any(isinstance(v, list | tuple | range) or getattr(v, "ndim", 0) for v in value):
        raise BadInput("a list of lists is not read; give a NumPy array for more than one dimension.")
    numeric = all(type(v) in (int, float) and abs(v) < 2**53 for v in value)
    return np.array([*value], dtype=np.float64 if numeric else object)


def _end(end: Fraction | None, infinite: float, *, is_open: bool) -> tuple[float, bool]:
    """(float end, whether a float equal to it is inside the domain for certain)."""
    if end is None:
        return infinite, False
    near = nearest_float(end)
    return near, not is_open and math.isfinite(near) and Fraction(near) == end


def _item(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


class _Formula(NamedTuple):
    """One relation, or the bound, and the node of its slack or value; names: its symbols, sorted."""

    expr: Any
    names: tuple[str, ...]
    root: int


class _Programs(NamedTuple):
    """The operations of a statement. fixed, steps: those of numbers alone and the others, see `order_of`."""

    nodes: tuple[Node, ...]
    whole: frozenset[int]
    roots: tuple[int, ...]
    fixed: list[Step]
    steps: list[Step]
    bound: _Formula
    relations: tuple[_Formula, ...]


@lru_cache(maxsize=512)
def _programs(bound: Any, relations: tuple[Any, ...], moving: frozenset[str], integers: frozenset[str]) -> _Programs:
    """moving: the symbols that are arrays; a relation without them is not part of the blocks."""
    builder = Builder()

    def formula(expr: Any, value: Any) -> _Formula:
        return _Formula(expr, tuple(sorted(s.name for s in expr.free_symbols)), builder.add(value))

    value = formula(bound, bound)
    rows = tuple(formula(relation, difference(relation)) for relation in relations)
    roots = (value.root, *(row.root for row in rows if moving & set(row.names)))
    whole = whole_nodes(builder.nodes, integers)
    return _Programs(tuple(builder.nodes), whole, roots, *order_of(builder.nodes, roots, moving), value, rows)


class _Exact:
    """A formula at single points, each different point once. decide: (expression, values) -> what is kept."""

    def __init__(self, inputs: Inputs, formula: _Formula, decide: Callable[[Any, Mapping[str, Fraction]], Any]) -> None:
        self.formula = formula
        self.undecided = 0
        self._inputs = inputs
        self._decide = decide
        self._known: dict[tuple[Fraction, ...], Any] = {}

    def at(self, i: int) -> Any:
        """What is decided at one flat index; False for None."""
        values = self._inputs.at(i, self.formula.names)
        key = tuple(values.values())
        if key not in self._known:
            found = self._decide(self.formula.expr, values)
            self.undecided += found is None
            self._known[key] = False if found is None else found
        return self._known[key]


class _Chunk:
    """The points of a range of flat indices, walked together; those that need it once more, by themselves."""

    def __init__(self, inputs: Inputs, programs: _Programs, before: Walk, here: slice, values: dict[int, Any]) -> None:
        self._start = here.start
        self._inputs, self._programs, self._before, self._values = inputs, programs, before, values
        moving = {root: value for root, value in values.items() if root not in before.values}
        self._walk = self._walked(programs.steps, inputs.of_arrays(here), moving)

    def _walked(
        self, steps: Sequence[Step], symbols: Mapping[str, Any], values: Mapping[int, Any], **more: bool
    ) -> Walk:
        nodes, whole = self._programs.nodes, self._programs.whole
        return Walk(nodes, whole, steps, symbols, self._inputs.inexact, self._before, values, **more)

    def _settled(self, root: int, unit: float, sure: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
        """The values of a node, and the points at which these are in doubt. sure: of values and their errors."""
        values, error = self._values[root], self._walk.error(root, unit)
        if root in self._before.values:
            values[:] = self._before.values[root]
        if sure(self._walk.least(root), error):
            return values, ()
        where = np.flatnonzero(~sure(values, error))
        doubtful = [where[:0]]
        for start in range(0, where.size, BLOCK):
            here = where[start : start + BLOCK]
            own = {} if root in self._before.values else {root: np.empty(here.size)}
            steps = order_of(self._programs.nodes, (root,), self._inputs.arrays.keys())[1]
            walk = self._walked(steps, self._inputs.of_arrays(self._start + here), own, by_point=True)
            values[here] = own.get(root, values[here])
            doubtful.append(here[~sure(values[here], walk.error(root, unit))])
        return values, np.concatenate(doubtful)

    def holds(self, exact: _Exact) -> Any:
        """Whether a relation holds at each point."""
        slack, doubtful = self._settled(exact.formula.root, UNIT, lambda value, error: np.abs(value) > error)
        expr = exact.formula.expr
        answer = np.full(slack.size, isinstance(expr, sp.Ne)) if isinstance(expr, sp.Eq | sp.Ne) else slack > 0
        for i in doubtful:
            answer[i] = exact.at(self._start + int(i))
        return answer

    def evaluate(self, exact: _Exact) -> Any:
        """Puts the value at each point in its place; gives those without a real one, which become nan."""
        value, doubtful = self._settled(exact.formula.root, 0.0, _nothing_lost)
        for i in doubtful:
            value[i] = exact.at(self._start + int(i))
        return [i for i in doubtful if math.isnan(value[i])]


def _nothing_lost(value: Any, error: Any) -> Any:
    return np.isfinite(value) & (error <= np.maximum(NEGLIGIBLE, _LOST * np.abs(value)))


def nearest_value(expr: Any, values: Mapping[str, Fraction]) -> float:
    """A float next to the value, infinite only where that is beyond the floats; nan where there is no real value."""
    try:
        ball = Point(expr, values).accurate_ball(64)
    except Undefined:
        return math.nan
    low, high = ends(ball, 96)
    if low is None or high is None:
        return math.inf * float(ball.mid().sgn())
    return nearest_float((low + high) / 2)


def evaluate_arrays(
    statement: AnyStatement, values: Mapping[str, Any], *, outside: Any = None
) -> tuple[Any, Any, Any, str]:
    """(value, in_scope, vacuous, note) over the broadcast shape; see `evaluation.Evaluation`.

    outside: None, or a flat array of False, one a point, in which points that break a domain relation such as mu <= L
    are marked; they are out of scope then. Raises BadInput naming the first entry that its declaration rules out, or
    that breaks a domain relation where `outside` is None.
    """
    inputs = Inputs(statement, values)
    given = set(inputs.floats)
    domain = [r for r in statement.domain if {s.name for s in r.free_symbols} <= given]
    relations = (*domain, *(c.relation for c in statement.conditions), *choice_relations(statement, given))
    below = () if statement.trivial is None else (sp.Lt(statement.bound, statement.trivial, evaluate=False),)
    integers = frozenset(s.name for s in statement.symbols if s.integer)
    programs = _programs(statement.bound, (*relations, *below), frozenset(inputs.arrays), integers)
    value = np.empty(inputs.size)
    in_scope, vacuous = np.ones(inputs.size, dtype=bool), np.zeros(inputs.size, dtype=bool)
    rows = [_Exact(inputs, row, holds) for row in programs.relations]
    bound = _Exact(inputs, programs.bound, nearest_value)
    constant = [None if set(inputs.arrays) & set(row.formula.names) or not inputs.size else row.at(0) for row in rows]
    slacks = {root: np.empty(min(CHUNK, inputs.size)) for root in programs.roots}
    undefined = 0
    with np.errstate(all="ignore"):
        before = Walk(programs.nodes, programs.whole, programs.fixed, inputs.floats, inputs.inexact)
    for start in range(0, inputs.size, CHUNK):
        here = slice(start, min(start + CHUNK, inputs.size))
        own = {root: slack[: here.stop - start] for root, slack in slacks.items()} | {programs.bound.root: value[here]}
        with np.errstate(all="ignore"):
            chunk = _Chunk(inputs, programs, before, here, own)
            without = chunk.evaluate(bound)
            answers = [chunk.holds(row) if fixed is None else fixed for row, fixed in zip(rows, constant, strict=True)]
        for j, answer in enumerate(answers):
            if j >= len(relations):
                vacuous[here] = np.logical_not(answer)
                continue
            in_scope[here] &= answer
            if j < len(domain) and not np.all(answer):
                if outside is None:
                    check_domain(statement, inputs.at(start + int(np.argmin(answer))))
                else:
                    outside[here] |= np.logical_not(answer)
        vacuous[here][without] = False
        undefined += len(without)
    note = _note(sum(row.undecided for row in rows[: len(relations)]), undefined)
    return value.reshape(inputs.shape), in_scope.reshape(inputs.shape), vacuous.reshape(inputs.shape), note


def _note(undecided: int, undefined: int) -> str:
    notes: list[str] = []
    if undecided:
        notes.append(f"At {undecided} points the scope stays undecided; they count as out of scope.")
    if undefined:
        notes.append(f"At {undefined} points the bound has no real value.")
    return " ".join(notes)
