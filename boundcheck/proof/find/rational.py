"""Rational points of relations, found by trying simple numbers in exact arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.theory.decide import enclose, sign

NUMBERS = tuple(
    map(
        Fraction,
        ("1", "1/2", "0", "2", "1/4", "3", "1/10", "4", "1/100", "9", "12", "1/1000", "10", "1/1000000", "100", "-1"),
    )
)
INTEGERS = tuple(map(Fraction, (1, 2, 0, 3, 4, 8, 10, 100, 1000, 10**6, -1)))
STEPS = 60  # changes of the point
STARTS = ((0,), (1,), (1, 2, -1, 3, -2))
SIGNS: dict[type, tuple[int, ...]] = {  # of left side - right side
    sp.Le: (-1, 0), sp.Lt: (-1,), sp.Ge: (0, 1), sp.Gt: (1,), sp.Eq: (0,), sp.Ne: (-1, 1)
}  # fmt: skip


def holds(relation: Any, gap: Any, values: Mapping[str, Fraction]) -> bool:
    """Whether the relation, with this difference of its sides, is true at the point; False where that is not known."""
    try:
        return sign(gap, values) in SIGNS[type(relation)]
    except BadInput:  # no value there
        return False


def rational_points(relations: Sequence[Any], integers: frozenset[str]) -> Iterator[dict[str, Fraction]]:
    """Points at which every relation holds exactly: one with as many zeros as may be, one with ones, and a mixed one.

    relations: SymPy relations; an equation `symbol == expression` gives the symbol its value.
    """
    for starts in STARTS:
        with suppress(ValueError):  # a value that is put in makes an argument of Min or Max infinite
            if (found := _point(relations, integers, starts)) is not None:
                yield found


def _point(relations: Sequence[Any], integers: frozenset[str], starts: Sequence[int]) -> dict[str, Fraction] | None:
    if not all(_met(r) for r in relations):
        return None
    rest = [r for r in relations if r.free_symbols]
    defined: dict[Any, Any] = {}
    while (own := next((r for r in rest if _defines(r)), None)) is not None:
        symbol, value = own.args
        rest = [r.xreplace({symbol: value}) for r in rest if r is not own]
        defined = {s: x.xreplace({symbol: value}) for s, x in defined.items()} | {symbol: value}
        if not all(_met(r) for r in rest):
            return None
        rest = [r for r in rest if r.free_symbols]
    free = {s for r in rest for s in r.free_symbols} | {s for x in defined.values() for s in x.free_symbols}
    search = _Search(rest, sorted(s.name for s in free), integers, starts)
    return _complete(search.point, defined, integers) if search.met() else None


def _met(relation: Any) -> bool:
    """Whether a relation without symbols holds; True for others."""
    if relation in (sp.true, sp.false):
        return relation is sp.true
    return bool(relation.free_symbols) or holds(relation, relation.lhs - relation.rhs, {})


def _defines(relation: Any) -> bool:
    return isinstance(relation, sp.Eq) and bool(relation.lhs.is_Symbol) and not relation.rhs.has(relation.lhs)


class _Search:
    """Start with some values, in turn, and mend the first relation that fails by changing one of its symbols."""

    def __init__(
        self, relations: Sequence[Any], names: Sequence[str], integers: frozenset[str], starts: Sequence[int]
    ) -> None:
        self.integers = integers
        self.point = {n: Fraction(starts[k % len(starts)]) for k, n in enumerate(names)}
        self.relations = [(r, sorted(s.name for s in r.free_symbols), r.lhs - r.rhs) for r in relations]
        self.about = {n: [i for i, (_, own, _) in enumerate(self.relations) if n in own] for n in names}

    def met(self) -> bool:
        """Whether a point that meets all relations was reached."""
        failing = {i for i in range(len(self.relations)) if not self._holds(i, self.point)}
        recent: list[tuple[str, Fraction]] = []
        for _ in range(STEPS):
            if not failing:
                return True
            best: tuple[int, str, Fraction] | None = None
            for name in self.relations[min(failing)][1]:
                for value in self._values(name, min(failing)):
                    if value == self.point[name] or (name, value) in recent:
                        continue
                    trial = self.point | {name: value}
                    if not self._holds(min(failing), trial):
                        continue
                    more = sum((not self._holds(i, trial)) - (i in failing) for i in self.about[name])
                    if best is None or more < best[0]:
                        best = more, name, value
            if best is None:
                return False
            _, name, value = best
            recent = [*recent[-6:], (name, self.point[name])]
            self.point[name] = value
            failing = {i for i in failing if i not in self.about[name]} | {
                i for i in self.about[name] if not self._holds(i, self.point)
            }
        return False

    def _holds(self, place: int, point: Mapping[str, Fraction]) -> bool:
        relation, _, gap = self.relations[place]
        return holds(relation, gap, point)

    def _values(self, name: str, place: int) -> Sequence[Fraction]:
        """What an equation gives, else simple numbers."""
        symbol = sp.Symbol(name, real=True)
        relation: Any = self.relations[place][0]
        if not isinstance(relation, sp.Eq):
            return INTEGERS if name in self.integers else NUMBERS
        values = {
            sp.Symbol(n, real=True): sp.Rational(x.numerator, x.denominator) for n, x in self.point.items() if n != name
        }
        sides: Any = relation.args
        gap = (sides[0] - sides[1]).xreplace(values)
        if not gap.is_polynomial(symbol) or not gap.has(symbol):
            return NUMBERS
        roots: Any = sp.roots(sp.Poly(gap, symbol))
        return [
            Fraction(int(r.p), int(r.q)) for r in roots if r.is_Rational and (name not in self.integers or r.q == 1)
        ]


def _complete(
    point: dict[str, Fraction], defined: Mapping[Any, Any], integers: frozenset[str]
) -> dict[str, Fraction] | None:
    """The point with the values of the symbols that equations define; None where one is no rational number."""
    full = dict(point)
    for symbol, expression in defined.items():
        try:
            low, high = enclose(expression, point)
        except BadInput:
            return None
        if low != high or (symbol.name in integers and low.denominator != 1):
            return None
        full[symbol.name] = low
    return full
