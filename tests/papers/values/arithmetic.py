"""Arithmetic of the value tables: formulas as text, in exact fractions, and with 60 digits where a value is irrational.

A formula is an expression in the symbols of a statement, such as "5*gap_0/(eta_l*E*R) + 255*a*G2", or a relation of
two. A name that the paper's table defines (`LET`) stands for that formula; `name(R=0, eta_l=x)` is the same formula
with other values of these symbols. Functions are those below and those that the table defines (`FUNCTIONS`).
A root, an exponential, a logarithm or a power that is no fraction raises `Irrational`, and the formula is computed once
more with 60-digit numbers.
"""

import ast
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import mpmath

DIGITS = 60
_decimals = False  # whether the formula at hand is computed with DIGITS digits


class Irrational(Exception):
    """A value that is no fraction."""


def root(x: Any, degree: int) -> Any:
    """The real root of a number that is not negative."""
    if _decimals:
        return mpmath.root(mpmath.mpf(x), degree)
    x = Fraction(x)
    parts = [round(mpmath.root(part, degree)) for part in (x.numerator, x.denominator)]
    found = Fraction(int(parts[0]), int(parts[1]))
    if found**degree != x:
        raise Irrational
    return found


def sqrt(x: Any) -> Any:
    """The square root."""
    return root(x, 2)


def _irrational(of: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose values are no fractions."""

    def computed(*x: Any) -> Any:
        if not _decimals:
            raise Irrational
        return of(*x)

    return computed


exp, log = _irrational(mpmath.exp), _irrational(mpmath.log)


def power(x: Any, y: Any) -> Any:
    """x to a power that need not be whole."""
    return x ** int(y) if y == int(y) else _irrational(mpmath.power)(x, y)


def whole(n: Any) -> Any:
    """An exact whole number."""
    return mpmath.mpf(n) if _decimals else Fraction(n)


def q(over: int, under: int) -> Any:
    """The constant over/under."""
    return whole(over) / under


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "sqrt": sqrt,
    "cbrt": lambda x: root(x, 3),
    "exp": exp,
    "log": log,
    "ceil": lambda x: whole(mpmath.ceil(x) if _decimals else math.ceil(x)),
    "floor": lambda x: whole(mpmath.floor(x) if _decimals else math.floor(x)),
    "power": power,
    "whole": whole,
    "abs": abs,
    "min": min,
    "max": max,
}


class _Put(ast.NodeTransformer):
    """Puts in what names stand for, makes whole numbers exact, and powers a function."""

    def __init__(self, let: Mapping[str, str], here: Mapping[str, ast.expr]) -> None:
        self.let, self.here = let, here

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.here:
            return self.here[node.id]
        return self._named(node.id, {}) if node.id in self.let else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        assert isinstance(node.func, ast.Name)
        if node.func.id in self.let:
            assert not node.args, ast.unparse(node)
            return self._named(node.func.id, {str(k.arg): self.visit(k.value) for k in node.keywords})
        return ast.Call(node.func, [self.visit(a) for a in node.args], [])

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        assert isinstance(node.value, int), "a table holds whole numbers and their quotients"
        return ast.Call(ast.Name("whole", ast.Load()), [node], [])

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = self.visit(node.left), self.visit(node.right)
        if isinstance(node.op, ast.Pow):
            return ast.Call(ast.Name("power", ast.Load()), [left, right], [])
        return ast.BinOp(left, node.op, right)

    def _named(self, name: str, here: Mapping[str, ast.expr]) -> ast.expr:
        return _Put(self.let, {**self.here, **here}).visit(ast.parse(self.let[name], mode="eval").body)


class Formula:
    """A formula of a table; symbols: the names in it.

    let, functions: what other names stand for.
    """

    def __init__(self, text: str, let: Mapping[str, str], functions: Mapping[str, Callable[..., Any]]) -> None:
        self.functions = {**FUNCTIONS, **functions}
        body = _Put(let, {}).visit(ast.parse(text, mode="eval").body)
        sides = [body.left, *body.comparators] if isinstance(body, ast.Compare) else [body]
        put = [ast.fix_missing_locations(ast.Expression(side)) for side in sides]
        self.relation = _relation(body)
        self.codes = [compile(side, text, "eval") for side in put]
        names = {node.id for side in put for node in ast.walk(side) if isinstance(node, ast.Name)}
        self.symbols = names - set(self.functions)

    def value(self, point: Mapping[str, Fraction]) -> Any:
        """The value at a point, a Fraction or a number of 60 digits; (left, relation, right) of a relation."""
        global _decimals
        chosen = {name: point[name] for name in self.symbols}
        try:
            return self._sides(chosen, Fraction)
        except Irrational:
            _decimals = True
            try:
                with mpmath.workdps(DIGITS):
                    return self._sides(
                        {n: mpmath.mpf(v.numerator) / v.denominator for n, v in chosen.items()}, mpmath.mpf
                    )
            finally:
                _decimals = False

    def _sides(self, chosen: Mapping[str, Any], kind: type) -> Any:
        found = [eval(code, {**self.functions}, chosen) for code in self.codes]
        # a float in a table would hide an error below 1e-16
        assert not any(isinstance(v, float) for v in found), "a table holds fractions, not floats"
        sides = [kind(v) for v in found]
        return (sides[0], self.relation, sides[1]) if self.relation else sides[0]


def _relation(body: ast.expr) -> str:
    signs = {ast.LtE: "<=", ast.Lt: "<", ast.GtE: ">=", ast.Gt: ">", ast.Eq: "=="}
    return signs[type(body.ops[0])] if isinstance(body, ast.Compare) else ""
