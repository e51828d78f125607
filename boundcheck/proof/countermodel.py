"""Exact counterexamples to claims about vectors: numbers, and vectors of the plane, for which the facts hold.

Points are drawn at random and moved towards those that break the claim most, in floating point. What comes out is made
rational and checked apart from the search, in exact arithmetic: every fact holds for every value of its indices, also
beyond those written out, and the claim fails for one. A function of an index has its explicit values and is constant
from the last one on. Inner products are those of the plane, which a claim about vectors of any dimension, or about
expectations, must allow for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.errors import BadInput
from boundcheck.proof.exact import holds
from boundcheck.proof.gram import Combine
from boundcheck.proof.grounding import NotExplicit, Window, exact_number
from boundcheck.proof.identity import Decide, Identity
from boundcheck.proof.language import has_terms, scalars, symbols_of
from boundcheck.proof.random_points import Search
from boundcheck.proof.rules import (
    Accumulation,
    CauchySchwarz,
    Jensen,
    PartialSum,
    SumOver,
    Telescoping,
    Triangle,
    Young,
)
from boundcheck.proof.scalar import decide
from boundcheck.proof.step import Context, Finding, Status
from boundcheck.proof.vectors import Inner, Vector, VectorEquality

Plane = tuple[Fraction, Fraction]
SIZES = ((1, 2, 3, 2), (2, 1, 2, 3), (2, 2, 2, 2), (3, 2, 1, 1), (2, 3, 3, 4), (0, 1, 0, 2))  # of the integers, in turn
WINDOW = 2  # values of an unbounded index beyond the integers
MOST = 150  # explicit relations

# methods that conclude from what the step uses alone, so that a counterexample to that refutes the step
FROM_FACTS_ALONE: tuple[type, ...] = (
    *(Combine, Decide, Identity, Young, Jensen, Triangle),
    *(CauchySchwarz, SumOver, PartialSum, Telescoping, Accumulation),
)


class Model:
    """Explicit values: symbol -> fraction, and ground term -> fraction or vector of the plane (0 if not listed)."""

    def __init__(self, window: Window, numbers: Mapping[Any, Fraction], terms: Mapping[Any, Any]) -> None:
        self.numbers = {s: _rational(v) for s, v in numbers.items()}
        self.window = Window(window.last, {**window.values, **self.numbers})
        self.terms = dict(terms)

    def _vector(self, atom: Any) -> Plane:
        return self.terms.get(atom, (Fraction(0), Fraction(0)))

    def _at(self, expr: Any) -> Any:
        """An explicit expression with the values of its terms put in."""
        products = {
            p: _rational(sum((x * y for x, y in zip(*map(self._vector, p.args), strict=True)), Fraction(0)))
            for p in expr.atoms(Inner)
        }
        others = [f for f in expr.atoms(AppliedUndef) if not isinstance(f, Inner) and f.is_real]
        return expr.xreplace(products | {f: _rational(self.terms.get(f, Fraction(0))) for f in others})

    def number(self, expr: Any) -> Fraction:
        """The value of an expression without sums and vectors, where it is rational; raises NotExplicit."""
        return exact_number(self._at(expr))

    def true(self, claim: Any, indices: Mapping[Any, Any], open_: Sequence[Any]) -> bool | None:
        """Whether the claim holds at these indices, and for all values beyond the window of the open ones.

        None where that is not shown.
        """
        explicit = self.window.explicit(claim, indices)
        if isinstance(explicit, VectorEquality):
            if open_ and any(symbols_of(explicit) & {i} for i in open_):
                raise NotExplicit(f"an equation of vectors in {open_}")
            return all(self._coordinates(explicit.left)[k] == self._coordinates(explicit.right)[k] for k in (0, 1))
        sides: list[Any] = [self._at(side) for side in explicit.args]
        relation = explicit.func(*sides, evaluate=False)
        if not relation.free_symbols:
            return holds(relation, {})
        if not relation.free_symbols <= set(open_):
            return None
        beyond = {str(i): sp.Ge(i, self.window.last + 1, evaluate=False) for i in open_}
        integers = Context(integers=frozenset(i.name for i in open_), seconds=1.0)
        return True if decide(relation, beyond, integers).status is Status.PROVED else None

    def _coordinates(self, vector: Vector) -> list[Fraction]:
        total = [Fraction(0), Fraction(0)]
        for atom, coefficient in vector.terms:
            factor, value = self.number(coefficient), self._vector(atom)
            total = [t + factor * x for t, x in zip(total, value, strict=True)]
        return total

    def refutes(self, claim: Any, facts: Mapping[str, Any], setting: Context) -> dict[Any, Any] | None:
        """The values of the indices at which the claim fails, where every fact holds; None where one is not shown."""
        signs = [sp.Ge(s, 0) for s in self.numbers if s.name in setting.quantities]
        if any(s.name in setting.integers and v.q != 1 for s, v in self.numbers.items()):
            return None
        for fact in (*signs, *facts.values()):
            if fact in (sp.true, sp.false):
                if fact is sp.false:
                    return None
                continue
            for indices, open_ in self.window.cases(fact, setting, self.number):
                if self.true(fact, indices, open_) is not True:
                    return None
        for indices, open_ in self.window.cases(claim, setting, self.number):
            if not open_ and self.true(claim, indices, open_) is False:
                return dict(indices)
        return None

    def words(self, indices: Mapping[Any, Any]) -> dict[str, str]:
        """Name -> value, as a witness has it."""
        found = {str(s): str(v) for s, v in {**self.window.values, **indices}.items()}
        for term, value in sorted(self.terms.items(), key=lambda item: sp.default_sort_key(item[0])):
            found[str(term)] = f"({value[0]}, {value[1]})" if isinstance(value, tuple) else str(value)
        if any(isinstance(t, AppliedUndef) for t in self.terms):
            found["other values"] = f"0 up to {self.window.last}, beyond as there"
        return found


def refuted(claim: Any, facts: Mapping[str, Any], setting: Context) -> Finding | None:
    """REFUTED with an exact counterexample, or None where none was found.

    It shows that the claim does not follow from the facts and the ranges of the indices; where it might follow from
    more than these, ask nothing.
    """
    if not any(has_terms(p) for p in (claim, *facts.values())):
        found = decide(claim, scalars(facts), setting) if isinstance(claim, sp.Rel) else None
        return found if found is not None and found.status is Status.REFUTED else None
    try:
        for model in _models(claim, facts, setting):
            indices = model.refutes(claim, facts, setting)
            if indices is not None:
                note = "the witness meets every fact that the step uses and breaks the claim, recomputed with fractions"
                return Finding(
                    Status.REFUTED, "exact vectors", witness=model.words(indices), note=note, claim=str(claim)
                )
    except (NotExplicit, BadInput):
        return None
    return None


def _models(claim: Any, facts: Mapping[str, Any], setting: Context) -> Iterator[Model]:
    """Rational points at which the facts hold and the claim fails, as far as floating point shows."""
    every = [claim, *facts.values()]
    indices = {symbol for symbol, _ in setting.ranges}
    about = {s for p in every for s in symbols_of(p)} | {s for _, r in setting.ranges for s in r.free_symbols}
    integers = sorted((s for s in about - indices if s.name in setting.integers), key=str)
    for sizes in SIZES if integers else SIZES[:1]:
        values = {s: sp.Integer(sizes[k % len(sizes)]) for k, s in enumerate(integers)}
        window = Window(max((int(v) for v in values.values()), default=0) + WINDOW, values)
        try:
            known = [g for p in facts.values() for g in _explicit(p, window, setting)]
            wanted = _explicit(claim, window, setting)
        except NotExplicit:
            if not integers:
                raise
            continue  # with other integers there may be an explicit form
        if not wanted:
            continue
        if len(known) + len(wanted) > MOST:
            raise NotExplicit(f"{len(known) + len(wanted)} relations")
        for numbers, terms in Search(known, wanted, setting.quantities).points():
            yield Model(window, numbers, terms)


def _explicit(claim: Any, window: Window, setting: Context) -> list[Any]:
    """The claim at all values of its indices in the window, and at one beyond."""
    beyond = sp.Integer(window.last + 1)
    cases = window.cases(claim, setting, exact_number)
    return [window.explicit(claim, {**at, **dict.fromkeys(left, beyond)}) for at, left in cases]


def _rational(value: Any) -> Any:
    return sp.Rational(value.numerator, value.denominator)
