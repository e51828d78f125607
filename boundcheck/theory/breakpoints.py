"""Where the sign of a relation can change as one symbol moves, the others fixed at exact values.

Minima, maxima and absolute values are replaced by each of their branches, which gives a superset of the places
where the sign changes; a caller decides every interval between them. A branch that is affine in the symbol
has its root in closed form; any other algebraic branch is brought to one rational polynomial by eliminating its
radicals with resultants, whose real roots are isolated exactly.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.theory.program import compile_expression
from boundcheck.theory.relations import Breakpoint, difference, real_roots, root_at

_MOST_DEGREE = 200


def breakpoints(relation: Any, name: str, values: Mapping[str, Fraction]) -> list[Breakpoint]:
    """A superset of the places where the relation's truth can change with symbol `name`.

    Raises BadInput where the symbol enters through exp, log, a symbolic power or a rounding function.
    """
    symbol = sp.Symbol(name, real=True)
    found: list[Breakpoint] = []
    for branch in _branches(difference(relation), symbol):
        root = _affine_root(branch, symbol)
        if root is not None:
            found += root_at(root, values)
        elif branch.has(symbol):
            found += _polynomial(branch, symbol, values)
    return found


def roots_of(relation: Any, name: str) -> tuple[tuple[Any, ...], ...] | None:
    """The breakpoints as expressions in the other symbols: roots, and polynomials by their coefficients.

    None where a branch is neither affine nor rational in the symbol, with coefficients without radicals.
    """
    symbol = sp.Symbol(name, real=True)
    found: list[tuple[Any, ...]] = []
    for branch in _branches(difference(relation), symbol):
        root = _affine_root(branch, symbol)
        if root is not None:
            found.append((root,))
        elif branch.has(symbol):
            for part in sp.fraction(sp.together(branch)):
                expanded = sp.expand(part)
                if not expanded.is_polynomial(symbol):
                    return None
                coefficients = sp.Poly(expanded, symbol).all_coeffs()[::-1] if expanded.has(symbol) else []
                if not all(compile_expression(c).is_rational for c in coefficients):
                    return None
                found += [tuple(coefficients)] if coefficients else []
    return tuple(found)


def _branches(expr: Any, symbol: Any) -> Iterator[Any]:
    """The expression with each Min, Max and Abs that contains the symbol (None: each at all) replaced by each of its
    arguments, and the differences between those arguments."""
    found: list[Any] = [
        e
        for e in sp.preorder_traversal(expr)
        if isinstance(e, sp.Min | sp.Max | sp.Abs) and (symbol is None or e.has(symbol))
    ]
    if not found:
        yield expr
        return
    first = min(found, key=lambda e: e.count_ops())  # innermost: no other switch inside
    options: tuple[Any, ...] = (first.args[0], -first.args[0]) if isinstance(first, sp.Abs) else first.args
    for option in options:
        yield from _branches(expr.xreplace({first: option}), symbol)
    for left, right in itertools.combinations(options, 2):
        yield left - right


def _affine_root(expr: Any, symbol: Any) -> Any:
    """The root of an expression that is affine in the symbol; None for another one, or where the symbol is missing."""
    slope = sp.diff(expr, symbol) if expr.has(symbol) and expr.is_polynomial(symbol) else None
    return None if slope is None or slope.has(symbol) else -expr.xreplace({symbol: sp.S.Zero}) / slope


def _polynomial(expr: Any, symbol: Any, values: Mapping[str, Fraction]) -> list[Breakpoint]:
    table = {s: sp.Rational(values[s.name].numerator, values[s.name].denominator) for s in expr.free_symbols - {symbol}}
    special = expr.xreplace(table)
    found: list[Breakpoint] = []
    for branch in _branches(special, None):
        for polynomial in _eliminate(branch, symbol):
            found += real_roots([Fraction(int(c.p), int(c.q)) for c in reversed(polynomial.all_coeffs())])
    return found


def _eliminate(expr: Any, symbol: Any) -> list[Any]:
    """Rational polynomials in the symbol whose roots contain every zero and pole of the expression, and every
    place where a radicand changes sign."""
    equations: list[tuple[Any, Any]] = []  # (new symbol, polynomial relation that it satisfies)
    results: list[Any] = []
    work: Any = sp.expand_power_base(expr)
    while True:
        radicals: list[Any] = [
            e
            for e in sp.preorder_traversal(work)
            if isinstance(e, sp.Pow) and e.exp.is_Rational and not e.exp.is_Integer
        ]
        if not radicals:
            break
        inner = min(radicals, key=lambda e: e.count_ops())
        new = sp.Dummy("r")
        equations.append((new, (inner.base, int(inner.exp.q))))
        root = inner.base ** sp.Rational(1, inner.exp.q)
        work = work.xreplace(
            {
                e: new ** int(e.exp * inner.exp.q)
                for e in radicals
                if e.base == inner.base and (e.exp * inner.exp.q).is_Integer
            }
            | {root: new}
        )
        results.append(inner.base)
    targets = [work, *results]
    return [p for t in targets for p in _clear(t, symbol, equations)]


def _clear(target: Any, symbol: Any, equations: list[tuple[Any, Any]]) -> Iterator[Any]:
    for part in sp.fraction(sp.together(target)):
        polynomial: Any = part
        for new, (base, q) in reversed(equations):
            if not polynomial.has(new):
                continue
            top, bottom = sp.fraction(sp.together(base))
            polynomial = sp.resultant(polynomial, sp.expand(bottom * new**q - top), new)
            if polynomial == 0:
                raise BadInput(f"the largest {symbol} is not found: its radicals cannot be distinguished.")
        polynomial = sp.expand(polynomial)
        if polynomial.has(symbol):
            yield _as_polynomial(polynomial, symbol)


def _as_polynomial(expr: Any, symbol: Any) -> Any:
    if not expr.is_polynomial(symbol):
        raise BadInput(f"the largest {symbol} is only found where it enters the conditions algebraically.")
    polynomial = sp.Poly(expr, symbol)
    if polynomial.degree() > _MOST_DEGREE or not all(c.is_Rational for c in polynomial.coeffs()):
        raise BadInput(f"the largest {symbol} is not found: the condition is of degree {polynomial.degree()} in it.")
    return polynomial
