"""An expression as a flat list of operations, each common subexpression once.

The exact decisions (`decide`) and the vectorised evaluation (`evaluation`) walk the same list.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy as sp

from boundcheck.errors import BadInput


@dataclass(frozen=True)
class Node:
    """One operation on earlier nodes.

    op: num (data: Fraction), sym (data: name), pi, add (data: a sign for each argument), mul, div, powi (data: integer
    exponent >= 2), root (data: (p, q), the q-th root raised to p), pow, min, max, abs, exp, log, floor, ceiling.
    """

    op: str
    args: tuple[int, ...] = ()
    data: Any = None


@dataclass(frozen=True)
class Program:
    """nodes: arguments before their users; root: the value; symbols: names that it needs."""

    nodes: tuple[Node, ...]
    root: int
    symbols: frozenset[str]


class Builder:
    """Translates SymPy expressions into nodes, sharing equal ones."""

    def __init__(self, nodes: tuple[Node, ...] = ()) -> None:
        self.nodes: list[Node] = list(nodes)
        self._index = {node: i for i, node in enumerate(nodes)}
        self._seen: dict[Any, int] = {}

    def node(self, op: str, args: tuple[int, ...] = (), data: Any = None) -> int:
        """The index of this operation; a new node only where there is none like it."""
        node = Node(op, args, data)
        if node not in self._index:
            self._index[node] = len(self.nodes)
            self.nodes.append(node)
        return self._index[node]

    def number(self, value: Fraction) -> int:
        """A constant."""
        return self.node("num", (), value)

    def difference(self, left: int, right: int) -> int:
        """left - right."""
        return self.node("add", (left, right), (1, -1))

    def add(self, expr: Any) -> int:
        """Translate a SymPy expression. Raises BadInput for a function that has no rule here."""
        if expr not in self._seen:
            self._seen[expr] = self._translate(expr)
        return self._seen[expr]

    def _translate(self, expr: Any) -> int:
        if expr.is_Rational:
            return self.number(Fraction(int(expr.p), int(expr.q)))
        if expr.is_Symbol:
            return self.node("sym", (), expr.name)
        if expr is sp.pi:
            return self.node("pi")
        if expr is sp.E:
            return self.node("exp", (self.number(Fraction(1)),))
        if isinstance(expr, sp.Add):
            return self._sum(expr)
        if isinstance(expr, sp.Mul):
            return self._product(expr)
        if isinstance(expr, sp.Pow):
            return self._power(expr.base, expr.exp)
        name = _FUNCTIONS.get(expr.func)
        if name is None:
            raise BadInput(
                f"{expr} cannot be evaluated: {expr.func.__name__} has no rule; use exact rationals, "
                "+, *, /, powers, sqrt, Min, Max, Abs, exp, log, floor and ceiling."
            )
        return self.node(name, tuple(self.add(a) for a in sorted(expr.args, key=sp.default_sort_key)))

    def _sum(self, expr: Any) -> int:
        args: list[int] = []
        signs: list[int] = []
        for term in expr.args:
            coefficient, _ = term.as_coeff_Mul()
            negative = bool(coefficient.is_Rational and coefficient < 0)
            args.append(self.add(-term if negative else term))
            signs.append(-1 if negative else 1)
        return self.node("add", tuple(args), tuple(signs))

    def _product(self, expr: Any) -> int:
        top: list[int] = []
        bottom: list[int] = []
        for factor in expr.args:
            if isinstance(factor, sp.Pow) and factor.exp.is_Rational and factor.exp < 0:
                bottom.append(self.add(1 / factor))
            else:
                top.append(self.add(factor))
        numerator = self._times(top)
        return self.node("div", (numerator, self._times(bottom))) if bottom else numerator

    def _times(self, factors: list[int]) -> int:
        if not factors:
            return self.number(Fraction(1))
        return factors[0] if len(factors) == 1 else self.node("mul", tuple(factors))

    def _power(self, base: Any, exponent: Any) -> int:
        if base is sp.E:
            return self.node("exp", (self.add(exponent),))
        if not exponent.is_Rational:
            return self.node("pow", (self.add(base), self.add(exponent)))
        if exponent < 0:
            return self.node("div", (self.number(Fraction(1)), self.add(base**-exponent)))
        p, q = int(exponent.p), int(exponent.q)
        if q == 1:
            return self.node("powi", (self.add(base),), p)
        return self.node("root", (self.add(base),), (p, q))


_FUNCTIONS: dict[Any, str] = {
    sp.Min: "min",
    sp.Max: "max",
    sp.Abs: "abs",
    sp.exp: "exp",
    sp.log: "log",
    sp.floor: "floor",
    sp.ceiling: "ceiling",
}


@lru_cache(maxsize=4096)
def compile_expression(expr: Any) -> Program:
    """The nodes of a SymPy expression, kept for the next call."""
    builder = Builder()
    root = builder.add(sp.sympify(expr, strict=True))
    names = frozenset(node.data for node in builder.nodes if node.op == "sym")
    return Program(tuple(builder.nodes), root, names)
