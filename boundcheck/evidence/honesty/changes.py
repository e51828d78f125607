"""All ways to change a proposition of a derivation in one place: a constant, an exponent, a sign, an index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.proof.vectors import Inner, Vector, VectorEquality

CONSTANT, EXPONENT, SIGN, HYPOTHESIS, SHIFT = "constant", "exponent", "sign", "hypothesis", "index shift"
KINDS = (CONSTANT, EXPONENT, SIGN, HYPOTHESIS, SHIFT)
FACTOR = sp.Rational(101, 100)  # what a constant is multiplied by; 0 becomes 1/100

Change = tuple[str, Any]  # (kind, the changed proposition)


def changes(claim: Any) -> Iterator[Change]:
    """Every proposition that differs from `claim` in one place, with the kind of the change."""
    if isinstance(claim, VectorEquality):
        for kind, left in _of_vector(claim.left):
            yield kind, VectorEquality(left, claim.right)
        for kind, right in _of_vector(claim.right):
            yield kind, VectorEquality(claim.left, right)
    elif isinstance(claim, sp.And | sp.Implies):
        yield from _in_arguments(claim, changes, claim.func)
    elif isinstance(claim, sp.Rel):
        yield from _in_arguments(claim, _of_number, lambda *sides: claim.func(*sides, evaluate=False))


def _in_arguments(expr: Any, inside: Any, build: Any) -> Iterator[Change]:
    for place, argument in enumerate(expr.args):
        for kind, changed in inside(argument):
            yield kind, build(*expr.args[:place], changed, *expr.args[place + 1 :])


def _of_vector(vector: Vector) -> Iterator[Change]:
    for place, (atom, coefficient) in enumerate(vector.terms):
        others = Vector((*vector.terms[:place], *vector.terms[place + 1 :]))
        yield SIGN, others - Vector(((atom, coefficient),))
        for kind, changed in _of_number(coefficient):
            yield kind, others + Vector.of({atom: changed})
        for kind, changed in _of_atom(atom):
            yield kind, others + Vector.of({changed: coefficient})


def _of_number(expr: Any) -> Iterator[Change]:
    if expr.is_Rational:
        yield CONSTANT, expr * FACTOR if expr != 0 else FACTOR - 1
    elif isinstance(expr, Inner):
        yield from _in_arguments(expr, _of_atom, expr.func)
    elif isinstance(expr, sp.Pow):
        base, exponent = expr.args
        yield EXPONENT, base ** (exponent + 1)
        for kind, changed in _of_number(base):
            yield kind, changed**exponent
    elif isinstance(expr, sp.Sum | AppliedUndef):
        yield from _of_atom(expr)
    elif isinstance(expr, sp.Add):
        for place, term in enumerate(expr.args):
            yield SIGN, expr.func(*expr.args[:place], -term, *expr.args[place + 1 :])
        yield from _in_arguments(expr, _of_number, expr.func)
    elif expr.args and not isinstance(expr, sp.Derivative):
        yield from _in_arguments(expr, _of_number, expr.func)


def _of_atom(atom: Any) -> Iterator[Change]:
    if isinstance(atom, AppliedUndef):
        indices: Any = atom.args
        for place, index in enumerate(indices):
            yield SHIFT, atom.func(*indices[:place], index + 1, *indices[place + 1 :])
    elif isinstance(atom, sp.Sum):
        limits: Any = atom.limits
        (own, low, high), *outer = limits
        yield SHIFT, sp.Sum(atom.function, (own, low, high + 1), *outer)
        inside = _of_number if atom.function.is_real else _of_atom
        for kind, changed in inside(atom.function):
            yield kind, sp.Sum(changed, *limits)
