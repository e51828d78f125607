"""Vectors of any dimension as linear combinations of named atoms, and their inner products as scalar expressions.

The atoms are symbols, functions of an index (the iterate after m local steps), and sums of such over an index.
`inner` is expanded bilinearly into atoms `Inner(a, b)`, so two ways to write a squared norm give one expression.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from boundcheck.errors import BadInput


class Inner(sp.Function):
    """The inner product of two vector atoms: real, symmetric, and at least 0 for an atom with itself."""

    @classmethod
    def eval(cls, *args: Any) -> Any:
        first, second = args
        if sp.default_sort_key(first) > sp.default_sort_key(second):
            return cls(second, first)
        return None

    def _eval_is_real(self) -> bool:
        return True


@dataclass(frozen=True)
class Vector:
    """sum of coefficient * atom; terms hold (atom, coefficient) sorted by atom, zero coefficients left out."""

    terms: tuple[tuple[Any, Any], ...]

    @staticmethod
    def of(terms: Mapping[Any, Any]) -> Vector:
        """From a map atom -> coefficient."""
        kept = {a: sp.factor(c) for a, c in terms.items()}
        return Vector(
            tuple(sorted(((a, c) for a, c in kept.items() if c != 0), key=lambda t: sp.default_sort_key(t[0])))
        )

    def __add__(self, other: Vector) -> Vector:
        total = dict(self.terms)
        for atom, coefficient in other.terms:
            total[atom] = total.get(atom, sp.Integer(0)) + coefficient
        return Vector.of(total)

    def __sub__(self, other: Vector) -> Vector:
        return self + other * -1

    def __neg__(self) -> Vector:
        return self * -1

    def __mul__(self, factor: Any) -> Vector:
        return Vector.of({a: c * sp.sympify(factor, strict=True) for a, c in self.terms})

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Vector:
        return self * (1 / sp.sympify(divisor, strict=True))

    def at(self, index: Any, value: Any) -> Vector:
        """The vector with the index symbol replaced."""
        return Vector.of({a.subs(index, value): c.subs(index, value) for a, c in self.terms})

    def map(self, image: Callable[[Any], Vector]) -> Vector:
        """The linear map that sends each atom to `image(atom)`."""
        total = Vector(())
        for atom, coefficient in self.terms:
            total = total + image(atom) * coefficient
        return total

    def __str__(self) -> str:
        if not self.terms:
            return "0"
        return " + ".join(str(a) if c == 1 else f"({c})*{a}" for a, c in self.terms)


@dataclass(frozen=True)
class VectorEquality:
    """Two vectors are equal. As a fact it rewrites its left side, which is one atom, into its right side."""

    left: Vector
    right: Vector

    def __str__(self) -> str:
        return f"{self.left} == {self.right}"

    def rewriting(self) -> tuple[Any, Vector]:
        """(atom, vector); raises BadInput where the left side is not a single atom or occurs on the right.

        The atom's factor must be a number: one that vanishes somewhere would leave the atom free there.
        """
        if len(self.left.terms) != 1:
            raise BadInput(f"the vector equality '{self}' must have a single atom on its left to be used.")
        atom, coefficient = self.left.terms[0]
        if not coefficient.is_Rational:
            raise BadInput(
                f"the vector equality '{self}' must have a number as the factor of its left side to be used."
            )
        if any(a == atom for a, _ in self.right.terms):
            raise BadInput(f"the vector equality '{self}' has {atom} on both sides.")
        return atom, self.right / coefficient


def vector(name: str, *index: Any) -> Vector:
    """The vector atom `name`, or `name(index)`."""
    atom = sp.Function(name)(*[sp.sympify(i, strict=True) for i in index]) if index else sp.Symbol(name)
    return Vector(((atom, sp.Integer(1)),))


def inner(u: Vector, v: Vector) -> Any:
    """The inner product as a SymPy expression in `Inner` atoms."""
    return sp.expand(sum((c * d * Inner(a, b) for a, c in u.terms for b, d in v.terms), sp.Integer(0)))


def norm2(u: Vector) -> Any:
    """The squared Euclidean norm."""
    return inner(u, u)
