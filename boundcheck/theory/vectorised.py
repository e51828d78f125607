"""Floating evaluation of expressions over arrays, and a scope mask that is exact.

All expressions of a statement become one list of operations. What depends on scalars alone is computed once; the
rest is walked for each block of a size that stays in cache, every common subexpression once.

The mask: every slack is computed in floats together with a bound on its rounding error (theory.rounding), and only
the points whose slack is within that bound of zero are decided exactly. Where no such bound is known, or an
intermediate value could leave the normal floats, every point is decided exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from boundcheck.theory.inputs import Inputs, to_float
from boundcheck.theory.program import Builder, Node
from boundcheck.theory.rounding import Rounding, exponents_are_safe
from boundcheck.theory.scope import check_domain, difference, holds

if TYPE_CHECKING:
    from fractions import Fraction

    from boundcheck.theory.statement import Statement

__all__ = ["FloatProgram", "evaluate_arrays"]

BLOCK = 16384  # float64 elements of one block: the few temporaries alive at once stay in a 1 MB cache

Step = tuple[int, Callable[[list[Any]], Any], tuple[int, ...]]


class FloatProgram:
    """Several values as one list of float operations."""

    def __init__(self, nodes: Sequence[Node], roots: Sequence[int]) -> None:
        self.nodes = tuple(nodes)
        self.roots = tuple(roots)
        self._used = _reachable(self.nodes, self.roots)

    def bind(self, scalars: Mapping[str, float], arrays: Sequence[str]) -> Callable[[Mapping[str, Any]], list[Any]]:
        """A function from the arrays of a block (symbol name -> float64) to the values of the roots.

        It is called under np.errstate(all="ignore"); a value that depends on scalars alone stays a scalar.
        """
        table: list[Any] = [None] * len(self.nodes)
        moving: list[int] = []
        for i in self._used:
            node = self.nodes[i]
            if node.op == "sym":
                if node.data in arrays:
                    moving.append(i)
                else:
                    table[i] = np.float64(scalars[node.data])
            elif any(table[a] is None for a in node.args):
                moving.append(i)
            else:
                table[i] = _apply(node, [table[a] for a in node.args])
        steps = self._steps(moving, table)

        def run(block: Mapping[str, Any]) -> list[Any]:
            values = list(table)
            for i, step, finished in steps:
                values[i] = block[self.nodes[i].data] if step is _SYMBOL else step(values)
                for done in finished:
                    values[done] = None
            return [values[r] for r in self.roots]

        return run

    def _steps(self, moving: list[int], table: list[Any]) -> list[Step]:
        """Operations in order, each with the nodes that nothing needs after it."""
        fused: dict[int, tuple[Callable[[list[Any]], Any], tuple[int, ...]]] = {}
        for i in moving:
            fused[i] = self._operation(self.nodes[i], table)
        needed = set(self.roots)
        for i in reversed(moving):
            if i in needed:
                needed.update(fused[i][1])
        order = [i for i in moving if i in needed]
        last: dict[int, int] = {}
        for i in order:
            for a in fused[i][1]:
                last[a] = i
        finished: dict[int, list[int]] = {}
        for a, i in last.items():
            if a not in self.roots:
                finished.setdefault(i, []).append(a)
        return [(i, fused[i][0], tuple(finished.get(i, ()))) for i in order]

    def _operation(self, node: Node, table: list[Any]) -> tuple[Callable[[list[Any]], Any], tuple[int, ...]]:
        """What computes a node from the table, and the moving nodes that it reads."""
        if node.op == "sym":
            return _SYMBOL, ()
        read = tuple(a for a in node.args if table[a] is None)
        if node.op == "mul":
            return _product_step(read, [table[a] for a in node.args if table[a] is not None]), read
        if node.op == "div" and table[node.args[1]] is not None:
            inner, inverse = self.nodes[node.args[0]], np.float64(1) / table[node.args[1]]
            if inner.op == "mul":  # one multiplication by a scalar for the whole quotient
                read = tuple(a for a in inner.args if table[a] is None)
                return _product_step(read, [table[a] for a in inner.args if table[a] is not None] + [inverse]), read
            return _product_step(read, [inverse]), read
        if node.op == "add":
            return _sum_step(node, table), read
        return (lambda values: _apply(node, [values[a] for a in node.args])), read


def _symbol(values: list[Any]) -> Any:
    return values


_SYMBOL = _symbol  # marks a step that takes an array of the block


def _product_step(read: tuple[int, ...], scalars: list[Any]) -> Callable[[list[Any]], Any]:
    factor = math.prod(scalars[1:], start=scalars[0]) if scalars else None
    first, rest = read[0], read[1:]

    def step(values: list[Any]) -> Any:
        total = values[first]
        owned = False
        for a in rest:
            total = np.multiply(total, values[a], out=total) if owned else np.multiply(total, values[a])
            owned = True
        if factor is None:
            return total
        return np.multiply(total, factor, out=total) if owned else np.multiply(total, factor)

    return step


def _sum_step(node: Node, table: list[Any]) -> Callable[[list[Any]], Any]:
    terms = list(zip(node.args, node.data, strict=True))
    constant = [table[a] * s for a, s in terms if table[a] is not None]
    offset = sum(constant[1:], start=constant[0]) if constant else None
    (first, sign), *rest = sorted(((a, s) for a, s in terms if table[a] is None), key=lambda t: -t[1])

    def step(values: list[Any]) -> Any:
        if offset is None:
            total, owned = (values[first], False) if sign > 0 else (-values[first], True)
        else:
            total, owned = (values[first] + offset if sign > 0 else offset - values[first]), True
        for a, s in rest:
            operate = np.add if s > 0 else np.subtract
            total = operate(total, values[a], out=total) if owned else operate(total, values[a])
            owned = True
        return total

    return step


def _reachable(nodes: Sequence[Node], roots: Sequence[int]) -> list[int]:
    """The nodes that the roots need, arguments first."""
    used = set(roots)
    for i in reversed(range(len(nodes))):  # arguments have smaller numbers than their users
        if i in used:
            used.update(nodes[i].args)
    return sorted(used)


_UFUNC: dict[str, Callable[..., Any]] = {
    "abs": np.abs,
    "exp": np.exp,
    "log": np.log,
    "floor": np.floor,
    "ceiling": np.ceil,
    "pow": np.power,
    "div": np.divide,
    "min": lambda *args: _fold(np.minimum, args),
    "max": lambda *args: _fold(np.maximum, args),
    "mul": lambda *args: _fold(np.multiply, args),
}


def _fold(operate: Callable[[Any, Any], Any], args: Sequence[Any]) -> Any:
    total = args[0]
    for arg in args[1:]:
        total = operate(total, arg)
    return total


def _apply(node: Node, args: list[Any]) -> Any:
    if node.op == "num":
        return np.float64(to_float(node.data))
    if node.op == "pi":
        return np.float64(math.pi)
    if node.op == "add":
        return _fold(np.add, [a if s > 0 else -a for a, s in zip(args, node.data, strict=True)])
    if node.op == "powi":
        return _integer_power(args[0], node.data)
    if node.op == "root":
        p, q = node.data
        if q == 2:
            return _integer_power(np.sqrt(args[0]), p)
        return np.power(args[0], p / q)
    return _UFUNC[node.op](*args)


def _integer_power(base: Any, k: int) -> Any:
    if k > 16:
        return np.power(base, np.float64(k))
    result = None
    square = base
    while k:
        if k & 1:
            result = square if result is None else result * square
        k >>= 1
        square = square * square if k else square
    return result


class _Mask:
    """One relation over arrays: decided in floats where the rounding error allows, exactly elsewhere.

    factor: the rounding error of the margin is at most factor times its magnitude; None: not known.
    """

    def __init__(self, relation: Any, inputs: Inputs, factor: float | None) -> None:
        self.relation = relation
        self.undecided = 0
        self._inputs = inputs
        self._factor = factor
        self._names = sorted(s.name for s in relation.free_symbols)
        self._known: dict[tuple[Fraction, ...], bool] = {}
        self._constant = None if set(self._names) & set(inputs.sources) else self._exactly(0)

    def block(self, start: int, count: int, margin: Any, size: Any) -> Any:
        """Whether the relation holds at `count` points from flat index `start`."""
        if self._constant is not None:
            return np.full(count, self._constant)
        if self._factor is None:
            answer = np.zeros(count, dtype=bool)
            clear: Any = answer
        else:
            clear = np.abs(margin) > self._factor * size
            if clear.ndim == 0:  # the arrays cancel out of the margin
                clear, margin = np.full(count, clear), np.full(count, margin)
            answer = np.full(count, isinstance(self.relation, sp.Ne)) if self._is_equality() else margin > 0
        if not clear.all():
            for i in np.flatnonzero(~clear):
                answer[i] = self._exactly(start + int(i))
        return answer

    def _is_equality(self) -> bool:
        return isinstance(self.relation, sp.Eq | sp.Ne)

    def _exactly(self, i: int) -> bool:
        values = self._inputs.at(i, self._names)
        key = tuple(values.values())
        if key not in self._known:
            found = holds(self.relation, values)
            self.undecided += found is None
            self._known[key] = found is True
        return self._known[key]


@lru_cache(maxsize=512)
def _programs(
    bound: Any, trivial: Any, relations: tuple[Any, ...], nonnegative: frozenset[str]
) -> tuple[FloatProgram, tuple[tuple[int, int, float | None], ...]]:
    """The program of bound, trivial value, margins and magnitudes; (margin, magnitude, factor) of each relation."""
    builder = Builder()
    roots = [builder.add(bound), builder.add(bound if trivial is None else trivial)]
    rows: list[tuple[int, int, float | None]] = []
    rounding = Rounding(builder, nonnegative)
    for relation in relations:
        margin = builder.add(difference(relation))
        found = rounding.tolerance(margin)
        rows.append((margin, margin, None) if found is None else (margin, found[0], found[1]))
        roots += rows[-1][:2]
    return FloatProgram(builder.nodes, roots), tuple(rows)


def evaluate_arrays(
    statement: Statement, values: Mapping[str, Any], *, refuse: bool = True
) -> tuple[Any, Any, Any, str]:
    """(value, in_scope, vacuous, note) over the broadcast shape; see `evaluation.Evaluation`.

    Raises BadInput naming the first entry that its declaration rules out; with refuse=False points that break a
    domain relation such as mu <= L are out of scope instead.
    """
    inputs = Inputs(statement, values)
    given = set(inputs.floats)
    domain = [r for r in statement.domain if {s.name for s in r.free_symbols} <= given]
    relations = (*domain, *(c.relation for c in statement.conditions))
    program, rows = _programs(statement.bound, statement.trivial, relations, inputs.nonnegative)
    value = np.empty(inputs.size)
    in_scope = np.ones(inputs.size, dtype=bool)
    below = np.ones(inputs.size, dtype=bool)
    if not inputs.size:
        return value.reshape(inputs.shape), in_scope.reshape(inputs.shape), ~below.reshape(inputs.shape), ""
    masks: list[_Mask] = []
    for relation, (margin, size, factor) in zip(relations, rows, strict=True):
        ranges = {s.name: inputs.range(s.name) for s in relation.free_symbols}
        safe = factor is not None and exponents_are_safe(program.nodes, (margin, size), ranges)
        masks.append(_Mask(relation, inputs, factor if safe else None))
    scalars = {name: v for name, v in inputs.floats.items() if name not in inputs.sources}
    with np.errstate(all="ignore"):
        run = program.bind(scalars, list(inputs.sources))
        for start in range(0, inputs.size, BLOCK):
            here = slice(start, min(start + BLOCK, inputs.size))
            found = run(inputs.block(here))
            value[here] = found[0]
            for j, mask in enumerate(masks):
                answer = mask.block(start, here.stop - start, found[2 * j + 2], found[2 * j + 3])
                if j < len(domain) and refuse and not answer.all():
                    check_domain(statement, inputs.at(start + int(np.argmin(answer))))
                in_scope[here] &= answer
            if statement.trivial is not None:
                below[here] = found[0] < found[1]
    undecided = sum(mask.undecided for mask in masks)
    note = f"At {undecided} points the scope stays undecided; they count as out of scope." if undecided else ""
    return value.reshape(inputs.shape), in_scope.reshape(inputs.shape), ~below.reshape(inputs.shape), note
