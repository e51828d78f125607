"""Quadratic functions with exact coefficients: where they are bounded below, and their exact minimum.

An inequality "left(x) <= right(x) + constant for all x" between quadratic functions holds exactly when the difference
right - left is bounded below by minus that constant. For one such inequality over all of R^d this is the S-lemma with
nothing lost: the homogeneous (d+1) x (d+1) matrix of the difference is positive semidefinite exactly when its block Q
is, its linear part lies in the range of Q and the Schur complement of Q is at least 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq, fmpq_mat

from boundcheck.certified.definite import is_positive_semidefinite
from boundcheck.core.linalg import fraction, rational, solve_any

Affine = tuple[fmpq_mat, fmpq_mat]  # (A, b) of a gradient A x - b


@dataclass(frozen=True)
class Form:
    """x'q x - 2 l'x + k: q (d, d) symmetric, l (d, 1)."""

    q: fmpq_mat
    l: fmpq_mat  # noqa: E741  (the letter of the formula)
    k: fmpq

    def __add__(self, other: Form) -> Form:
        return Form(self.q + other.q, self.l + other.l, self.k + other.k)

    def __sub__(self, other: Form) -> Form:
        return Form(self.q - other.q, self.l - other.l, self.k - other.k)

    def times(self, factor: Fraction) -> Form:
        """This function, multiplied."""
        by = rational(factor)
        return Form(self.q * by, self.l * by, self.k * by)

    def at(self, x: fmpq_mat) -> Fraction:
        """The value at x (d, 1)."""
        return fraction((x.transpose() * self.q * x)[0, 0] - 2 * (self.l.transpose() * x)[0, 0] + self.k)

    def minimiser(self) -> fmpq_mat | None:
        """A point where it is least, or None where it is unbounded below."""
        return solve_any(self.q, self.l) if is_positive_semidefinite(self.q) else None

    def minimum(self) -> Fraction | None:
        """Its least value, or None where it is unbounded below."""
        x = self.minimiser()
        return None if x is None else fraction(self.k - (self.l.transpose() * x)[0, 0])


def square(a: fmpq_mat, b: fmpq_mat) -> Form:
    """|a x - b|^2 for a symmetric a."""
    return Form(a * a, a * b, (b.transpose() * b)[0, 0])


def gap(a: fmpq_mat, b: fmpq_mat, minimiser: fmpq_mat) -> Form:
    """F(x) - F* of the objective with gradient a x - b, a minimiser (d, 1) given."""
    half = fmpq(1, 2)
    return Form(a * half, b * half, (b.transpose() * minimiser)[0, 0] * half)


def weighted(terms: Iterable[tuple[Fraction, Form]]) -> Form:
    """The sum of the forms times their weights; at least one term."""
    parts = [form.times(w) for w, form in terms]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def weighted_map(terms: Iterable[tuple[Fraction, Affine]]) -> Affine:
    """The sum of the maps (A, b) times their weights; at least one term."""
    (w, (a, b)), *rest = terms
    a, b = a * rational(w), b * rational(w)
    for w, (a_i, b_i) in rest:
        a, b = a + a_i * rational(w), b + b_i * rational(w)
    return a, b


def least_constant(left: Form, right: Form) -> Fraction | None:
    """The least c >= 0 with left(x) <= right(x) + c for all x, exactly; None if there is none."""
    least = (right - left).minimum()
    return None if least is None else max(Fraction(0), -least)
