"""Candidates for witnesses of claims about vectors: values of numbers, and vectors of the plane.

Claims are taken at explicit integers: sums written out, indices replaced, ranges enumerated.
A function of an index has explicit values up to the last of a window, and keeps that value beyond it. So a claim for
all values of an unbounded index is one claim for each value in the window, and one with the index left in it for all
values beyond.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.proof.contexts import context, declared
from boundcheck.proof.language import symbols_of
from boundcheck.proof.refute.search import NotExplicit, Search, exact_number
from boundcheck.proof.step import Context
from boundcheck.proof.vectors import Inner, Vector, VectorEquality, inner

SIZES = ((1, 2, 3, 2), (2, 1, 2, 3), (2, 2, 2, 2), (3, 2, 1, 1), (2, 3, 3, 4), (0, 1, 0, 2))  # of the integers, in turn
WINDOW = 2  # values of an unbounded index beyond the integers
RELATIONS = 150  # explicit ones, at most
MOST = 12  # values of one index, or terms of one sum, that are written out

Numbers = Mapping[Any, Any]  # symbol -> rational number


class Window:
    """The integers at which claims are taken.

    last: where functions of an index stop changing; values: symbol -> number, of all that is put in.
    """

    def __init__(self, last: int, values: Numbers) -> None:
        self.last, self.values = last, values

    def explicit(self, claim: Any, indices: Numbers) -> Any:
        """The claim with numbers for its symbols and indices, without sums; raises NotExplicit."""
        put = {**self.values, **indices}
        if isinstance(claim, VectorEquality):
            return VectorEquality(*(self._vector_of(side, put) for side in (claim.left, claim.right)))
        if not isinstance(claim, sp.Rel):
            raise NotExplicit(str(claim))
        return claim.func(*(self._number(side.xreplace(put)) for side in claim.args), evaluate=False)

    def _vector_of(self, vector: Vector, put: Numbers) -> Vector:
        total = Vector(())
        for atom, coefficient in vector.terms:
            total = total + self._vector(atom.xreplace(put)) * self._number(coefficient.xreplace(put))
        return total

    def _number(self, expr: Any) -> Any:
        if expr.is_Rational or expr.is_Symbol:
            return expr
        if isinstance(expr, Inner):
            return inner(*(self._vector(atom) for atom in expr.args))
        if isinstance(expr, sp.Sum):
            return sp.Add(*(self._number(term) for term in self._terms(expr)))
        if isinstance(expr, AppliedUndef):
            return expr.func(*(self._place(a) for a in expr.args))
        if isinstance(expr, sp.Derivative) or not expr.args:
            raise NotExplicit(str(expr))
        return expr.func(*(self._number(a) for a in expr.args))

    def _vector(self, atom: Any) -> Vector:
        if isinstance(atom, sp.Sum):
            return sum((self._vector(term) for term in self._terms(atom)), Vector(()))
        if isinstance(atom, AppliedUndef):
            atom = atom.func(*(self._place(a) for a in atom.args))
        return Vector(((atom, sp.Integer(1)),))

    def _terms(self, expr: Any) -> Iterator[Any]:
        own, low, high = expr.limits[-1]
        if not (low.is_Integer and high.is_Integer) or high < low - 1 or high - low > MOST:
            raise NotExplicit(str(expr))
        inside = expr.function if len(expr.limits) == 1 else expr.func(expr.function, *expr.limits[:-1])
        return (inside.xreplace({own: sp.Integer(k)}) for k in range(int(low), int(high) + 1))

    def _place(self, argument: Any) -> Any:
        if argument.is_Integer:
            return sp.Min(argument, self.last)
        free = argument.free_symbols
        beyond = argument.xreplace(dict.fromkeys(free, sp.Integer(self.last + 1)))
        # an index beyond the window, shifted by a number
        if len(free) == 1 and (argument - next(iter(free))).is_Integer and beyond >= self.last:
            return sp.Integer(self.last)
        raise NotExplicit(str(argument))

    def cases(self, claim: Any, setting: Context) -> Iterator[tuple[Numbers, list[Any]]]:
        """(values of the indices, those that are left for all values beyond the window) that make up the claim."""
        about = context([claim], setting)
        yield from self._cases([i for i in declared(setting) if i in about], {}, [], setting)

    def _cases(
        self, left: Sequence[Any], chosen: dict[Any, Any], open_: list[Any], setting: Context
    ) -> Iterator[tuple[Numbers, list[Any]]]:
        if not left:
            yield dict(chosen), list(open_)
            return
        index, *rest = left
        if index.name not in setting.integers:
            raise NotExplicit(f"{index} is a real variable")
        low, high = self._ends(index, chosen, setting)
        if low is None or (high is not None and high - low > MOST):
            raise NotExplicit(f"the range of {index}")
        for k in range(low, (max(self.last, low) if high is None else high) + 1):
            yield from self._cases(rest, {**chosen, index: sp.Integer(k)}, open_, setting)
        if high is None:
            yield from self._cases(rest, chosen, [*open_, index], setting)

    def _ends(self, index: Any, chosen: Numbers, setting: Context) -> tuple[int | None, int | None]:
        low: list[int] = []
        high: list[int] = []
        for symbol, relation in setting.ranges:
            if symbol == index:
                end = exact_number(relation.rhs.xreplace({**self.values, **chosen}))
                if isinstance(relation, sp.Ge | sp.Gt):
                    low.append(ceil(end) if isinstance(relation, sp.Ge) else floor(end) + 1)
                else:
                    high.append(floor(end) if isinstance(relation, sp.Le) else ceil(end) - 1)
        return max(low, default=None), min(high, default=None)


@dataclass(frozen=True)
class Model:
    """Explicit values: symbol -> number, and ground term -> number or vector of the plane (0 if not listed)."""

    numbers: Mapping[Any, Any]
    terms: Mapping[Any, Any]


def models(claim: Any, facts: Mapping[str, Any], setting: Context) -> Iterator[Model]:
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
        if len(known) + len(wanted) > RELATIONS:
            raise NotExplicit(f"{len(known) + len(wanted)} relations")
        for numbers, terms in Search(known, wanted, setting.quantities).points():
            yield Model({**window.values, **numbers}, terms)


def _explicit(claim: Any, window: Window, setting: Context) -> list[Any]:
    """The claim at all values of its indices in the window, and at one beyond."""
    beyond = sp.Integer(window.last + 1)
    cases = window.cases(claim, setting)
    return [window.explicit(claim, {**at, **dict.fromkeys(left, beyond)}) for at, left in cases]
