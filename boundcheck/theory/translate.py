"""SymPy expressions as nodes of a program, the one place that reads SymPy's trees for numbers; and as text."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

import sympy as sp
from sympy.printing.str import StrPrinter

from boundcheck.errors import BadInput

_FUNCTIONS: dict[Any, str] = {
    sp.Min: "min",
    sp.Max: "max",
    sp.Abs: "abs",
    sp.exp: "exp",
    sp.log: "log",
    sp.floor: "floor",
    sp.ceiling: "ceiling",
}


class _Builder(Protocol):
    """What a `theory.program.Builder` does here; each gives the index of a node."""

    def node(self, op: str, args: tuple[int, ...] = (), data: Any = None) -> int: ...
    def number(self, value: Fraction) -> int: ...
    def symbol(self, name: str) -> int: ...
    def product(self, factors: Sequence[int]) -> int: ...
    def add(self, expr: Any) -> int: ...


@lru_cache(maxsize=4096)
def sympified(expr: Any) -> Any:
    """The SymPy expression of a number or expression; raises SympifyError for text."""
    return sp.sympify(expr, strict=True)


def node_of(builder: _Builder, expr: Any) -> int:
    """The node of a SymPy expression, its parts before it. Raises BadInput for a function that has no rule here."""
    if expr.is_Rational:
        return builder.number(Fraction(int(expr.p), int(expr.q)))
    if expr.is_Symbol:
        return builder.symbol(expr.name)
    if expr is sp.pi:
        return builder.node("pi")
    if expr is sp.E:
        return builder.node("exp", (builder.number(Fraction(1)),))
    if isinstance(expr, sp.Add):
        return _sum(builder, expr)
    if isinstance(expr, sp.Mul):
        return _product(builder, expr)
    if isinstance(expr, sp.Pow):
        return _power(builder, expr.base, expr.exp)
    name = _FUNCTIONS.get(expr.func)
    if name is None:
        raise BadInput(
            f"{expr} cannot be evaluated: {expr.func.__name__} has no rule; use exact rationals, "
            "+, *, /, powers, sqrt, Min, Max, Abs, exp, log, floor and ceiling."
        )
    return builder.node(name, tuple(builder.add(a) for a in sorted(expr.args, key=sp.default_sort_key)))


def _sum(builder: _Builder, expr: Any) -> int:
    args: list[int] = []
    signs: list[int] = []
    for term in expr.args:
        coefficient, _ = term.as_coeff_Mul()
        negative = bool(coefficient.is_Rational and coefficient < 0)
        args.append(builder.add(-term if negative else term))
        signs.append(-1 if negative else 1)
    return builder.node("add", tuple(args), tuple(signs))


def _product(builder: _Builder, expr: Any) -> int:
    top: list[int] = []
    bottom: list[int] = []
    for factor in expr.args:
        if isinstance(factor, sp.Pow) and factor.exp.is_Rational and factor.exp < 0:
            bottom.append(builder.add(1 / factor))
        else:
            top.append(builder.add(factor))
    numerator = builder.product(top)
    return builder.node("div", (numerator, builder.product(bottom))) if bottom else numerator


def _power(builder: _Builder, base: Any, exponent: Any) -> int:
    if base is sp.E:
        return builder.node("exp", (builder.add(exponent),))
    if not exponent.is_Rational:
        return builder.node("pow", (builder.add(base), builder.add(exponent)))
    if exponent < 0:
        return builder.node("div", (builder.number(Fraction(1)), builder.add(base**-exponent)))
    p, q = int(exponent.p), int(exponent.q)
    if q == 1:
        return builder.node("powi", (builder.add(base),), p)
    return builder.node("root", (builder.add(base),), (p, q))


def negative_last(terms: Sequence[Any]) -> list[Any]:
    """1 - x rather than -x + 1."""
    return sorted(terms, key=lambda t: bool(t.could_extract_minus_sign()))


class _Text(StrPrinter):
    def _as_ordered_terms(self, expr: Any, order: Any = None) -> list[Any]:
        return negative_last(super()._as_ordered_terms(expr, order=order))


@lru_cache(maxsize=1 << 12, typed=True)  # the same conditions are told at many constants
def expr_text(expr: Any) -> str:
    """One line for terminals, in the ASCII names that users type."""
    if getattr(expr, "is_Relational", False):
        operator = {"==": "=", "!=": "!="}.get(expr.rel_op, expr.rel_op)
        return f"{expr_text(expr.lhs)} {operator} {expr_text(expr.rhs)}"
    text = str(_Text().doprint(expr))
    for name, short in (("Min(", "min("), ("Max(", "max("), ("Abs(", "abs("), ("ceiling(", "ceil(")):
        text = text.replace(name, short)
    return text
