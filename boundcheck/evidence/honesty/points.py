"""Truth of a claim of the kit at explicit numbers and vectors, in fractions: shares no code with the kernel's own.

A counterexample gives each number, each vector (in the plane) and each vector with an index explicitly, so that anybody
can recompute it. Inner products are those of the plane; as expectations they are those of two equally likely outcomes.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isqrt
from typing import Any

import sympy as sp

from boundcheck.evidence.honesty.notation import INTEGERS
from boundcheck.proof.vectors import Inner, Vector, VectorEquality

Plane = tuple[Fraction, Fraction]
INDICES = range(7)  # a claim with the index m is checked for these values
_NUMBERS = (
    *(Fraction(k, 100) for k in (0, 1, 10, 25, 50, 75, 90, 100, 100, 101, 150, 200, 300, -50, -100, -300)),
    *(Fraction(t) for t in ("1/3", "2/3", "4", "5", "9", "10", "100")),
)
_PLACES = tuple(Fraction(k, 2) for k in (0, 0, 2, 2, -2, 4, 1, -1, -4, 6))


class NoValue(ArithmeticError):
    """The expression has no rational value at the point."""


class Point:
    """Values of numbers and vectors; vectors that `given` defines step by step are computed."""

    def __init__(self, values: Mapping[str, Any], given: Sequence[Any] = ()) -> None:
        self.values = dict(values)
        self.rules = {
            type(g.left.terms[0][0]): g for g in given if isinstance(g, VectorEquality) and len(g.left.terms) == 1
        }

    def number(self, expr: Any, bound: Mapping[Any, int]) -> Fraction:
        """The value of a scalar expression; raises NoValue."""
        if expr in bound:
            return Fraction(bound[expr])
        if expr.is_Rational:
            return Fraction(int(expr.p), int(expr.q))
        if expr.is_Symbol:
            return Fraction(self.values[expr.name])
        if isinstance(expr, Inner):
            a, b = (self.atom(x, bound) for x in expr.args)
            return a[0] * b[0] + a[1] * b[1]
        if isinstance(expr, sp.Sum):
            parts = (self.number(expr.function, inside) for inside in self._terms(expr, bound))
            return sum(parts, Fraction(0))
        parts = [self.number(a, bound) for a in expr.args]
        if isinstance(expr, sp.Add):
            return sum(parts, Fraction(0))
        if isinstance(expr, sp.Mul):
            product = Fraction(1)
            for part in parts:
                product *= part
            return product
        if isinstance(expr, sp.Pow):
            return _power(*parts)
        if isinstance(expr, sp.Min | sp.Max):
            return min(parts) if isinstance(expr, sp.Min) else max(parts)
        if isinstance(expr, sp.Abs):
            return abs(parts[0])
        raise NoValue(str(expr))

    def _terms(self, expr: Any, bound: Mapping[Any, int]) -> Any:
        ((own, low, high),) = expr.limits
        ends = [self.number(e, bound) for e in (low, high)]
        if any(e.denominator != 1 for e in ends):
            raise NoValue(str(expr))
        return ({**bound, own: k} for k in range(int(ends[0]), int(ends[1]) + 1))

    def atom(self, atom: Any, bound: Mapping[Any, int]) -> Plane:
        """The value of a vector atom."""
        if isinstance(atom, sp.Sum):
            parts = [self.atom(atom.function, inside) for inside in self._terms(atom, bound)]
            return sum((p[0] for p in parts), Fraction(0)), sum((p[1] for p in parts), Fraction(0))
        if atom.is_Symbol:
            return _plane(self.values[atom.name])
        place = self.number(atom.args[0], bound)
        if place.denominator != 1 or place < 0:
            raise NoValue(str(atom))
        if place > 0 and type(atom) in self.rules:
            return self.vector(self.rules[type(atom)].right, {**bound, sp.Symbol("m", real=True): int(place) - 1})
        listed = self.values[type(atom).__name__]
        if int(place) >= len(listed):
            raise NoValue(str(atom))
        return _plane(listed[int(place)])

    def vector(self, vector: Vector, bound: Mapping[Any, int]) -> Plane:
        """The value of a combination of atoms."""
        first = second = Fraction(0)
        for atom, coefficient in vector.terms:
            factor, value = self.number(coefficient, bound), self.atom(atom, bound)
            first, second = first + factor * value[0], second + factor * value[1]
        return first, second

    def holds(self, claim: Any) -> bool:
        """Whether the claim is true, for each value of the index where it has one; raises NoValue."""
        index = sp.Symbol("m", real=True)
        sides = (claim.left, claim.right) if isinstance(claim, VectorEquality) else claim.args
        if isinstance(claim, VectorEquality):
            free = any(index in e.free_symbols for side in sides for term in side.terms for e in term)
            at = [{index: k} for k in INDICES[:-1]] if free else [{}]
            return all(self.vector(sides[0], b) == self.vector(sides[1], b) for b in at)
        at = [{index: k} for k in INDICES[:-1]] if index in claim.free_symbols else [{}]
        return all(_compare(claim, *(self.number(s, b) for s in sides)) for b in at)


def _plane(value: Any) -> Plane:
    first, second = value
    return Fraction(first), Fraction(second)


def _compare(claim: Any, left: Fraction, right: Fraction) -> bool:
    if isinstance(claim, sp.Le | sp.Lt):
        return left < right or (left == right and isinstance(claim, sp.Le))
    if isinstance(claim, sp.Ge | sp.Gt):
        return left > right or (left == right and isinstance(claim, sp.Ge))
    return left == right


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if base == 0 and exponent <= 0:
        raise NoValue("0 to a power that is not positive")
    if exponent.denominator == 2:
        if base < 0:
            raise NoValue("root of a negative number")
        top, bottom = isqrt(base.numerator), isqrt(base.denominator)
        if top**2 != base.numerator or bottom**2 != base.denominator:
            raise NoValue("irrational root")
        return Fraction(top, bottom) ** exponent.numerator
    if exponent.denominator != 1 or abs(exponent) > 64:
        raise NoValue("power")
    return base**exponent.numerator


def refuted(claim: Any, given: Sequence[Any], values: Mapping[str, Any]) -> bool:
    """Whether every hypothesis holds and the claim fails at the point."""
    point = Point(values, given)
    try:
        return all(point.holds(g) for g in given) and not point.holds(claim)
    except (NoValue, KeyError):
        return False


def search(claim: Any, given: Sequence[Any], rng: random.Random, tries: int) -> dict[str, Any] | None:
    """A counterexample among random points, or None where none was met."""
    for _ in range(tries):
        values = _draw((claim, *given), rng)
        if refuted(claim, given, values):
            return values
    return None


def _draw(relations: Sequence[Any], rng: random.Random) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for atom in sorted({a for r in relations for a in _atoms(r)}, key=sp.default_sort_key):
        if not atom.is_Symbol:
            values[type(atom).__name__] = [_place(rng) for _ in range(INDICES[-1] + 4)]
        elif atom.is_real and atom.name != "m" and not atom.name.startswith("_"):
            values[atom.name] = str(rng.randint(0, 5) if atom.name in INTEGERS else rng.choice(_NUMBERS))
        elif not atom.is_real:
            values[atom.name] = _place(rng)
    return values


def _place(rng: random.Random) -> list[str]:
    return [str(rng.choice(_PLACES)), str(rng.choice(_PLACES))]


def _atoms(claim: Any) -> set[Any]:
    parts: list[Any] = [claim]
    if isinstance(claim, VectorEquality):
        parts = [e for side in (claim.left, claim.right) for term in side.terms for e in term]
    found: set[Any] = set()
    for part in parts:
        found |= part.atoms(sp.Symbol)
        found |= {f for f in part.atoms(sp.core.function.AppliedUndef) if not isinstance(f, Inner)}
    return found
