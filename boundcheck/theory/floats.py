"""Expressions as one list of float operations, walked over blocks of arrays."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

import numpy as np

from boundcheck.theory.inputs import to_float
from boundcheck.theory.program import Node

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


def strained(
    nodes: Sequence[Node], roots: Sequence[int], symbols: Mapping[str, Any], beyond: Set[str]
) -> tuple[list[Any], Any]:
    """(values, doubtful) of some nodes: where an intermediate value is not finite, has underflowed, or is within
    rounding of a jump of floor or ceiling, the values are doubtful.

    symbols: name -> float or float64 array; beyond: names of those with values that no normal float is near to. It
    is called under np.errstate(all="ignore").
    """
    values: dict[int, Any] = {}
    doubtful: Any = np.False_

    def tiny(found: Any, *, but: Any) -> Any:
        return (np.abs(found) < sys.float_info.min) & ~but

    for i in _reachable(nodes, roots):
        node = nodes[i]
        args = [values[a] for a in node.args]
        if node.op == "sym":
            found = np.asarray(symbols[node.data], dtype=np.float64)
            doubtful = doubtful | tiny(found, but=(found == 0) & (node.data not in beyond))
        elif node.op == "mul":  # every partial product is looked at
            found = args[0]
            for arg in args[1:]:
                product = found * arg
                doubtful = doubtful | tiny(product, but=(found == 0) | (arg == 0))
                found = product
        else:
            found = _apply(node, args)
        if node.op == "num":
            doubtful = doubtful | tiny(found, but=np.bool_(node.data == 0))
        elif node.op in ("div", "powi", "root", "pow"):
            doubtful = doubtful | tiny(found, but=args[0] == 0)
        elif node.op == "exp":
            doubtful = doubtful | tiny(found, but=np.False_)
        elif node.op in ("floor", "ceiling"):
            doubtful = doubtful | (np.abs(args[0] - np.rint(args[0])) <= 1e-9 * np.maximum(1.0, np.abs(args[0])))
        doubtful = doubtful | ~np.isfinite(found)
        values[i] = found
    return [values[root] for root in roots], doubtful
