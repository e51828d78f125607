"""Search, in floating point, for points at which facts hold and a claim fails; what it finds is checked elsewhere.

The relations are explicit: numbers, and inner products of vectors of the plane. Equations that give one term by others
are put in. The other terms are drawn from a few simple values, many points at once, and the best points are varied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.errors import BadInput
from boundcheck.proof.vectors import Inner, Vector, VectorEquality, substitute
from boundcheck.theory.decide import enclose

DRAWN = 1500  # points
VARIED = 400  # points in each of the rounds that vary the best ones
ROUNDS = 12
BEST = 20
OFFERED = 4  # points of one draw that are handed on
BOTTOM = 1000  # largest denominator of a rational value
CLOSE = 1e-9
CLEAR = 1e-7  # by how much, relative to its sides, the claim must fail

_NUMBERS = (
    0,
    0.01,
    0.1,
    0.25,
    1 / 3,
    0.5,
    2 / 3,
    0.75,
    0.9,
    1,
    1,
    1,
    1.01,
    1.5,
    2,
    2,
    3,
    4,
    5,
    9,
    10,
    -0.5,
    -1,
    -3,
    100,
)
_PLACES = (0, 0, 0, 1, 1, 1, -1, -1, 2, -2, 0.5, -0.5, 3, -3, 4, 5, 10, 0.1)

Point = tuple[dict[Any, Fraction], dict[Any, Any]]  # symbols, terms


class NotExplicit(Exception):
    """The claim has no explicit form here: a real index, a derivative, an open end, or too many terms."""


def exact_number(expr: Any) -> Any:
    """The value of an expression of rational numbers, where it is rational; raises NotExplicit."""
    try:
        low, high = enclose(expr, {})
    except BadInput as error:
        raise NotExplicit(str(expr)) from error
    if low != high:
        raise NotExplicit(f"{expr} is not rational")
    return low


class Search:
    """Points at which these explicit facts hold and one of the claims fails.

    quantities: names of numbers that are at least 0.
    """

    def __init__(self, facts: Sequence[Any], claims: Sequence[Any], quantities: frozenset[str]) -> None:
        self.quantities = quantities
        self.vectors: dict[Any, Vector] = {}
        self.numbers: dict[Any, Any] = {}
        kept = [self._with_rules(f) for f in facts if isinstance(f, VectorEquality) and not self._vector_rule(f)]
        for fact in facts:
            if not isinstance(fact, VectorEquality) and not self._number_rule(fact):
                kept.append(fact)
        self.facts, self.claims = [self._with_rules(f) for f in kept], [self._with_rules(c) for c in claims]
        self.equations = any(isinstance(f, sp.Eq | VectorEquality) for f in self.facts)

    def _with_rules(self, claim: Any) -> Any:
        for atom, value in self.vectors.items():
            claim = substitute(claim, {atom: value})
        for atom, value in self.numbers.items():
            claim = _put(claim, atom, value)
        return claim

    def _vector_rule(self, fact: VectorEquality) -> bool:
        known: Any = self._with_rules(fact)
        rest = known.left - known.right
        first = [atom for atom, _ in known.left.terms]
        terms = sorted(rest.terms, key=lambda t: t[0] not in first)
        for atom, coefficient in terms:
            if coefficient.is_Rational or len(terms) == 1:
                self.vectors[atom] = Vector(tuple(t for t in rest.terms if t[0] != atom)) / -coefficient
                return True
        return not terms

    def _number_rule(self, fact: Any) -> bool:
        known = self._with_rules(fact)
        if not isinstance(known, sp.Eq):
            return False
        for own, value in (known.args, known.args[::-1]):
            plain = own.is_Symbol or (isinstance(own, AppliedUndef) and not isinstance(own, Inner))
            if plain and not value.has(own):
                self.numbers[own] = value
                return True
        return False

    def points(self) -> Iterator[Point]:
        """Rational points, the best first."""
        import numpy as np

        rng = np.random.default_rng(25)
        drawn = self._draw(rng, np)
        score, hits = self._scores(drawn, np)
        yield from self._rational(drawn, score, hits, np)
        if self.equations:  # which a point that is varied no longer meets
            return
        for _ in range(ROUNDS):
            best = np.argsort(-score)[:BEST]
            parents = {a: v[np.resize(best, VARIED)] for a, v in drawn.items()}
            scale = 10.0 ** -rng.uniform(0, 3, VARIED)
            drawn = {}
            for atom, values in parents.items():
                noise = rng.standard_normal(values.shape) * (rng.random(values.shape) < 0.5)
                varied = values + noise * (scale if values.ndim == 1 else scale[:, None])
                varied[:BEST] = values[:BEST]
                drawn[atom] = abs(varied) if self._nonnegative(atom) else varied
            score, hits = self._scores(drawn, np)
            yield from self._rational(drawn, score, hits, np)

    def _nonnegative(self, atom: Any) -> bool:
        return bool(atom.is_Symbol) and atom.name in self.quantities

    def _free(self) -> tuple[list[Any], list[Any]]:
        """The vectors and the numbers that are drawn."""
        texts = [*self.facts, *self.claims, *(VectorEquality(v, v) for v in self.vectors.values())]
        texts += [sp.Eq(v, 0, evaluate=False) for v in self.numbers.values()]
        atoms: set[Any] = set()
        numbers: set[Any] = set()
        for claim in texts:
            if isinstance(claim, VectorEquality):
                atoms |= {a for side in (claim.left, claim.right) for a, _ in side.terms}
                parts = [c for side in (claim.left, claim.right) for _, c in side.terms]
            elif claim in (sp.true, sp.false):
                continue
            else:
                parts = list(claim.args)
            for part in parts:
                atoms |= {a for p in part.atoms(Inner) for a in p.args}
                numbers |= {s for s in part.free_symbols if s.is_real}
                numbers |= {f for f in part.atoms(AppliedUndef) if f.is_real and not isinstance(f, Inner)}
        key = sp.default_sort_key
        return sorted(atoms - set(self.vectors), key=key), sorted(numbers - set(self.numbers), key=key)

    def _draw(self, rng: Any, np: Any) -> dict[Any, Any]:
        vectors, numbers = self._free()
        found: dict[Any, Any] = {}
        for atom in vectors:
            found[atom] = rng.choice(_PLACES, (DRAWN, 2))
            found[atom][: DRAWN // 2, 1] = 0  # half of the points lie on a line
        for atom in numbers:
            found[atom] = rng.choice(_NUMBERS, DRAWN)
            if self._nonnegative(atom):
                found[atom] = abs(found[atom])
        return found

    def _scores(self, drawn: dict[Any, Any], np: Any) -> tuple[Any, Any]:
        """By how much the worst of facts and failure of the claim is met, and which points meet all."""
        count = max((len(v) for v in drawn.values()), default=1)
        values = _Values(self, drawn, np)
        with np.errstate(all="ignore"):
            failing = np.max([np.broadcast_to(-values.slack(c), (count,)) for c in self.claims], axis=0)
            strict = any(isinstance(c, sp.Lt | sp.Gt) for c in self.claims)
            met = [np.broadcast_to(values.slack(f), (count,)) for f in self.facts]
            hits = failing >= (0 if strict else CLEAR)
            for fact, slack in zip(self.facts, met, strict=True):
                hits &= slack > CLOSE if isinstance(fact, sp.Lt | sp.Gt | sp.Ne) else slack >= -CLOSE
            score = np.min([failing, *met], axis=0)
        return np.where(np.isfinite(score), score, -np.inf), hits

    def _rational(self, drawn: dict[Any, Any], score: Any, hits: Any, np: Any) -> Iterator[Point]:
        for k in np.flatnonzero(hits)[np.argsort(-score[hits])][:OFFERED]:
            try:
                yield self._exact({a: v[k] for a, v in drawn.items()})
            except NotExplicit:
                continue

    def _exact(self, drawn: dict[Any, Any]) -> Point:
        """The point with rational values for what was drawn, and for what follows from that."""
        terms: dict[Any, Any] = {}
        for atom, value in drawn.items():
            plane = getattr(value, "shape", ()) == (2,)
            terms[atom] = tuple(map(_fraction, value)) if plane else _fraction(value)

        def number(expr: Any) -> Fraction:
            put: dict[Any, Any] = {}
            for product in expr.atoms(Inner):
                a, b = (vector(x) for x in product.args)
                put[product] = _rational(a[0] * b[0] + a[1] * b[1])
            for atom in expr.free_symbols | expr.atoms(AppliedUndef):
                if atom.is_real and not isinstance(atom, Inner):
                    put[atom] = _rational(scalar(atom))
            return exact_number(expr.xreplace(put))

        def scalar(atom: Any) -> Fraction:
            if atom not in terms:
                terms[atom] = number(self.numbers[atom]) if atom in self.numbers else Fraction(0)
            return terms[atom]

        def vector(atom: Any) -> Any:
            if atom not in terms:
                parts = [(number(c), vector(a)) for a, c in self.vectors[atom].terms] if atom in self.vectors else []
                terms[atom] = tuple(sum((c * v[k] for c, v in parts), Fraction(0)) for k in (0, 1))
            return terms[atom]

        for atom in self.vectors:
            vector(atom)
        for atom in self.numbers:
            scalar(atom)
        numbers = {a: v for a, v in terms.items() if a.is_Symbol and a.is_real}
        return numbers, {a: v for a, v in terms.items() if a not in numbers}


class _Values:
    """Values of explicit expressions at many points."""

    def __init__(self, search: Search, drawn: dict[Any, Any], np: Any) -> None:
        self.search, self.np, self.known = search, np, dict(drawn)

    def slack(self, claim: Any) -> Any:
        """By how much the claim holds, relative to its sides; negative where it fails."""
        if claim in (sp.true, sp.false):
            return 1.0 if claim is sp.true else -1.0
        if isinstance(claim, VectorEquality):
            left, right = self._combination(claim.left), self._combination(claim.right)
            return -self._relative(abs(left - right).sum(axis=-1), abs(left).sum(axis=-1), abs(right).sum(axis=-1))
        left, right = (self.number(side) for side in claim.args)
        gap = right - left if isinstance(claim, sp.Le | sp.Lt) else left - right
        if isinstance(claim, sp.Eq | sp.Ne):
            gap = -abs(gap) if isinstance(claim, sp.Eq) else abs(gap)
        return self._relative(gap, left, right)

    def _relative(self, gap: Any, left: Any, right: Any) -> Any:
        return gap / (abs(left) + abs(right) + CLOSE)

    def _combination(self, vector: Vector) -> Any:
        total: Any = self.np.zeros((1, 2))
        for atom, coefficient in vector.terms:
            factor = self.np.asarray(self.number(coefficient))
            total = total + (factor[..., None] if factor.ndim else factor) * self.vector(atom)
        return total

    def vector(self, atom: Any) -> Any:
        """Coordinates of a vector."""
        if atom not in self.known:
            self.known[atom] = self._combination(self.search.vectors.get(atom, Vector(())))
        return self.known[atom]

    def number(self, expr: Any) -> Any:
        """The value of an expression of numbers."""
        np = self.np
        if expr.is_Rational:
            return float(expr)
        if expr in self.known:
            return self.known[expr]
        if expr in self.search.numbers:
            found = self.number(self.search.numbers[expr])
        elif isinstance(expr, Inner):
            a, b = (self.vector(x) for x in expr.args)
            found = (a * b).sum(axis=-1)
        else:
            parts = [self.number(a) for a in expr.args]
            if isinstance(expr, sp.Add):
                found = sum(parts)
            elif isinstance(expr, sp.Mul):
                found = np.prod(np.broadcast_arrays(*parts), axis=0)
            elif isinstance(expr, sp.Pow):
                found = np.power(np.asarray(parts[0], float), parts[1])
            elif isinstance(expr, sp.Min | sp.Max):
                found = (np.minimum if isinstance(expr, sp.Min) else np.maximum).reduce(np.broadcast_arrays(*parts))
            else:
                found = abs(parts[0]) if isinstance(expr, sp.Abs) else np.nan
        self.known[expr] = found
        return found


def _put(claim: Any, atom: Any, value: Any) -> Any:
    if isinstance(claim, VectorEquality):
        sides = (Vector.of({a: c.xreplace({atom: value}) for a, c in side.terms}) for side in (claim.left, claim.right))
        return VectorEquality(*sides)
    if claim in (sp.true, sp.false):
        return claim
    return claim.func(*(side.xreplace({atom: value}) for side in claim.args), evaluate=False)


def _fraction(value: Any) -> Fraction:
    return Fraction(float(value)).limit_denominator(BOTTOM)


def _rational(value: Fraction) -> Any:
    return sp.Rational(value.numerator, value.denominator)
