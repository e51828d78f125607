"""Finite sums over an index m = 0, ..., P-1 with symbolic P, brought to one form.

`total` is linear, takes factors that do not depend on the index out, those of an inner product included, and evaluates
sums of polynomials in the index; each closed form G is checked by G(0) == 0 and G(m+1) - G(m) == g(m), which is its
proof by induction.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.proof.vectors import Inner, Vector


def closed_form(term: Any, index: Any, count: Any) -> Any:
    """The sum of a polynomial in the index over 0 <= index < count, proved by induction on the count."""
    if not term.is_polynomial(index):
        raise BadInput(f"the sum of {term} over {index} has no closed form here; the term must be a polynomial in it.")
    free = sp.Dummy("count", real=True)
    degree = int(sp.degree(term, index)) if term.has(index) else 0
    unknown: Any = sp.symbols(f"c1:{degree + 2}", cls=sp.Dummy)
    guess: Any = sum((c * free**k for k, c in enumerate(unknown, start=1)), sp.Integer(0))
    growth = sp.expand(guess.subs(free, index + 1) - guess.subs(free, index) - term)
    solution = sp.solve(sp.Poly(growth, index).coeffs(), unknown, dict=True)
    result = guess.subs(solution[0])
    if result.subs(free, 0) != 0 or sp.expand(result.subs(free, index + 1) - result.subs(free, index) - term) != 0:
        raise BadInput(f"the closed form {result} of the sum of {term} fails its induction step.")
    return sp.factor(result.subs(free, count))


def total(expr: Any, index: Any, count: Any) -> Any:
    """The sum of a scalar expression over 0 <= index < count, as a combination of elementary sums."""
    result = sp.Integer(0)
    expr, count = sp.sympify(expr, strict=True), sp.sympify(count, strict=True)
    for term in sp.Add.make_args(sp.expand(expr)):
        outside, inside = term.as_independent(index, as_Add=False)
        powers, rest = inside.as_independent(*_functions(inside, index), as_Add=False)
        if rest == 1:
            result += outside * closed_form(powers, index, count)
        elif powers == 1 and isinstance(rest, Inner) and sum(a.has(index) for a in rest.args) == 1:
            result += outside * Inner(*(_sum(a, index, count) if a.has(index) else a for a in rest.args))
        else:
            result += outside * _sum(powers * rest, index, count)
    return sp.expand(result)


def _sum(term: Any, index: Any, count: Any) -> Any:
    """An elementary sum with a bound index of our own, so that equal sums are equal expressions."""
    depth = max((_depth(s) for s in term.atoms(sp.Sum)), default=0)
    own = sp.Symbol(f"_i{depth}", real=True)
    if own in term.free_symbols | count.free_symbols:
        raise BadInput(f"the name '{own}' in {term} is one of the checker's own; rename the symbol.")
    return sp.Sum(term.subs(index, own), (own, 0, count - 1))


def _depth(expr: Any) -> int:
    return 1 + max((_depth(s) for s in expr.function.atoms(sp.Sum)), default=0)


def _functions(expr: Any, index: Any) -> list[Any]:
    found = expr.atoms(sp.Function, sp.Sum)
    return [f for f in found if f.has(index)] or [sp.Dummy()]


def vector_total(vector: Vector, index: Any, count: Any) -> Vector:
    """The sum of a vector over 0 <= index < count; its coefficients must not depend on the index."""
    terms: dict[Any, Any] = {}
    count = sp.sympify(count, strict=True)
    for atom, coefficient in vector.terms:
        if coefficient.has(index):
            raise BadInput(f"the coefficient {coefficient} of {atom} depends on the index {index} of the sum.")
        if atom.has(index):
            terms[_sum(atom, index, count)] = coefficient
        else:
            terms[atom] = terms.get(atom, sp.Integer(0)) + coefficient * count
    return Vector.of(terms)
