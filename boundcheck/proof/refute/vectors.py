"""Candidates for witnesses of claims about vectors: values of numbers, and vectors of the plane.

Claims are taken at explicit integers: sums written out, indices replaced, ranges enumerated.
A function of an index has explicit values up to the last of a window, and keeps that value beyond it. So a claim for
all values of an unbounded index is one claim for each value in the window, and one with the index left in it for all
values beyond.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import ceil, floor
from time import process_time
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.errors import BadInput
from boundcheck.proof.contexts import context, declared
from boundcheck.proof.find.rational import rational_points
from boundcheck.proof.language import symbols_of
from boundcheck.proof.step import Context
from boundcheck.proof.vectors import Inner, Vector, VectorEquality, inner
from boundcheck.theory.decide import enclose

SIZES = ((1, 2, 3, 2), (2, 1, 2, 3), (2, 2, 2, 2), (3, 2, 1, 1), (2, 3, 3, 4), (0, 1, 0, 2))  # of the integers, in turn
WINDOW = 2  # values of an unbounded index beyond the integers
RELATIONS = 150  # explicit ones, at most
SECONDS = 5.0  # processor time, since a true claim has no witness
MOST = 12  # values of one index, or terms of one sum, that are written out

Numbers = Mapping[Any, Any]  # symbol -> rational number


OPPOSITE: dict[Any, tuple[Any, ...]] = {
    sp.Le: (sp.Gt,),
    sp.Lt: (sp.Ge,),
    sp.Ge: (sp.Lt,),
    sp.Gt: (sp.Le,),
    sp.Eq: (sp.Gt, sp.Lt),
    sp.Ne: (sp.Eq,),
}


class NotExplicit(Exception):
    """The claim has no explicit form here: a real index, a derivative, an open end, or too many terms."""


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
                end = _exact(relation.rhs.xreplace({**self.values, **chosen}))
                if isinstance(relation, sp.Ge | sp.Gt):
                    low.append(ceil(end) if isinstance(relation, sp.Ge) else floor(end) + 1)
                else:
                    high.append(floor(end) if isinstance(relation, sp.Le) else ceil(end) - 1)
        return max(low, default=None), min(high, default=None)


def _exact(expr: Any) -> Fraction:
    try:
        low, high = enclose(expr, {})
    except BadInput as error:
        raise NotExplicit(str(expr)) from error
    if low != high:
        raise NotExplicit(f"{expr} is not rational")
    return low


Point = dict[str, Any]  # as the record has it: "numbers" and "functions"


class _Coordinates:
    """Explicit claims as relations of numbers: each vector by its coordinates, each value of a function by a name."""

    def __init__(self, plane: bool) -> None:
        self.plane, self.own = plane, dict[Any, tuple[Any, ...]]()

    def _of(self, term: Any) -> tuple[Any, ...]:
        if term not in self.own:
            count = 2 if self.plane and not term.is_real else 1
            self.own[term] = tuple(sp.Symbol(f"_t{len(self.own)}_{k}", real=True) for k in range(count))
        return self.own[term]

    def _number(self, expr: Any) -> Any:
        products = _ordered(expr, Inner)
        expr = expr.xreplace(
            {p: sp.Add(*(x * y for x, y in zip(*map(self._of, p.args), strict=True))) for p in products}
        )
        return expr.xreplace({f: self._of(f)[0] for f in _ordered(expr, AppliedUndef)})

    def relations(self, claim: Any) -> list[Any]:
        """The claim as relations that hold together."""
        if claim in (sp.true, sp.false):
            return [] if claim is sp.true else [sp.Lt(sp.Integer(0), 0, evaluate=False)]
        if not isinstance(claim, VectorEquality):
            return [claim.func(*(self._number(side) for side in claim.args), evaluate=False)]
        sides = [[sp.Integer(0)] * (1 + self.plane) for _ in range(2)]
        for side, vector in zip(sides, (claim.left, claim.right), strict=True):
            for atom, factor in vector.terms:
                for k, x in enumerate(self._of(atom)):
                    side[k] += self._number(factor) * x
        return [sp.Eq(left, right, evaluate=False) for left, right in zip(*sides, strict=True) if left != right]

    def point(self, values: Mapping[str, Fraction], given: Numbers) -> Point:
        """A point with these coordinates: functions through their values, and 0 elsewhere."""
        numbers: dict[str, Any] = {n: str(x) for n, x in values.items() if not n.startswith("_t")} | {
            str(s): str(x) for s, x in given.items()
        }
        tables: dict[str, dict[tuple[int, ...], Any]] = {}
        for term, names in self.own.items():
            found = [str(values.get(s.name, 0)) for s in names]
            value = found if len(found) == 2 and found[1] != "0" else found[0]
            if isinstance(term, AppliedUndef):
                rows = tables.setdefault(type(term).__name__, {})
                rows[tuple(int(str(a)) for a in term.args)] = found if len(found) == 2 else value
            else:
                numbers[str(term.name)] = value
        functions = {name: [list("xyz"[: len(next(iter(rows)))]), _through(rows)] for name, rows in tables.items()}
        return {"numbers": numbers, "functions": functions}


def points(claim: Any, facts: Mapping[str, Any], setting: Context) -> Iterator[Point]:
    """Points at which the facts hold and the claim fails, at the explicit indices; on a line, then in the plane."""
    every = [claim, *facts.values()]
    indices = {symbol for symbol, _ in setting.ranges}
    about = {s for p in every for s in symbols_of(p)} | {s for _, r in setting.ranges for s in r.free_symbols}
    integers = sorted((s for s in about - indices if s.name in setting.integers), key=str)
    until = process_time() + SECONDS
    signs = [sp.Ge(s, 0, evaluate=False) for s in sorted(about, key=str) if s.name in setting.quantities]
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
        if len(known) + len(wanted) > RELATIONS:
            raise NotExplicit(f"{len(known) + len(wanted)} relations")
        for plane in (False, True):
            names = _Coordinates(plane)
            met = [r for g in known for r in names.relations(g)] + signs
            failing = [o for one in wanted for r in names.relations(one) for o in opposites(r)]
            if plane and all(len(own) == 1 for own in names.own.values()):
                continue
            for one in failing:
                if process_time() > until:
                    return
                yield from (names.point(found, values) for found in rational_points([one, *met], frozenset()))


def _ordered(expr: Any, kind: Any) -> list[Any]:
    """The atoms of this kind in an order that does not depend on hashes, since names are given in it."""
    return sorted(expr.atoms(kind), key=sp.default_sort_key)


def opposites(relation: Any) -> list[Any]:
    """The relations one of which holds where this one fails."""
    return [o(relation.lhs, relation.rhs, evaluate=False) for o in OPPOSITE[type(relation)]]


def _explicit(claim: Any, window: Window, setting: Context) -> list[Any]:
    """The claim at all values of its indices in the window, and at one beyond."""
    beyond = sp.Integer(window.last + 1)
    cases = window.cases(claim, setting)
    return [window.explicit(claim, {**at, **dict.fromkeys(left, beyond)}) for at, left in cases]


def _through(rows: Mapping[tuple[int, ...], Any]) -> Any:
    """An expression with these values at these arguments, constant or linear where that is enough."""
    values = list(rows.values())
    if isinstance(values[0], list):
        parts = [_through({k: x[n] for k, x in rows.items()}) for n in (0, 1)]
        return parts if parts[1] != "0" else parts[0]
    if len(set(values)) == 1:
        return values[0]
    if all(len(k) == 1 for k in rows):
        (first,), (second,) = list(rows)[:2]
        slope = (Fraction(rows[second,]) - Fraction(rows[first,])) / (second - first)
        start = Fraction(rows[first,]) - slope * first
        if all(Fraction(x) == start + slope * k for (k,), x in rows.items()):
            return f"({start}) + ({slope})*x" if start else f"({slope})*x"
    terms: list[str] = []
    for at, value in rows.items():
        here = "*".join(f"max(0, 1 - max({x} - {k}, {k} - {x}))" for x, k in zip("xyz", at, strict=False))
        terms += [f"({value})*{here}"] if value != "0" else []
    return " + ".join(terms)
