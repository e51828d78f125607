"""Multipliers of facts for a claim that is linear in inner products, sums and named quantities.

A claim `gap >= 0` follows from facts `gap_k >= 0` when gap - sum_k lambda_k gap_k is at least 0 by its form, with every
lambda_k >= 0. The lambda_k are looked for as exact solutions of linear equations over the rational functions of the
other symbols, with as few terms left over as possible; for facts with coefficients that are numbers also by a
semidefinite programme. Nothing here is trusted: what is found is written as a line, which the verifier checks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any
from zlib import crc32

import flint
import sympy as sp

from boundcheck.verify import boundcheck_verify as v

ONE = -1  # stands for the part of a relation without a term
MOST_SYSTEMS = 4000  # systems of equations that are tried at a point
DENOMINATORS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 30, 60, 120, 1000, 10**6)
Row = dict[int, Any]  # term -> coefficient, a value of the verifier


@dataclass
class Linear:
    """The claim and the facts as linear forms.

    gap: of the claim; facts: name -> form; soft: terms that are at least 0, and ONE; mixed: other inner products.
    """

    gap: Row
    facts: dict[str, Row]
    soft: list[int]
    mixed: list[int]

    def __post_init__(self) -> None:
        self.terms = list(dict.fromkeys(n for row in (self.gap, *self.facts.values()) for n in row))
        rows = [self.gap, *self.facts.values()]
        self._at = {(k, n): _somewhere(x) for k, row in enumerate(rows) for n, x in row.items()}

    def solvable(self, terms: Sequence[int]) -> bool:
        """Whether multipliers at one generic point leave nothing over of these terms; False where a pole is met."""
        rows = [[self._at.get((k, n), Fraction(0)) for k in (*range(1, len(self.facts) + 1), 0)] for n in terms]
        if not rows or any(x is None for row in rows for x in row):
            return not rows
        matrix = [[flint.fmpq(x.numerator, x.denominator) for x in row if x is not None] for row in rows]
        return flint.fmpq_mat([row[:-1] for row in matrix]).rank() == flint.fmpq_mat(matrix).rank()

    def solution(self, terms: Sequence[int]) -> dict[str, str] | None:
        """The multipliers as text that leave nothing over of these terms; free ones are 0."""
        unknown = [sp.Dummy(f"m{k}") for k in range(len(self.facts))]
        equations = []
        for n in terms:
            row = sum(
                (x * _expression(f[n]) for x, f in zip(unknown, self.facts.values(), strict=True) if n in f), sp.S.Zero
            )
            equation = row - _expression(self.gap.get(n, v.ZERO))
            if equation != 0:
                equations.append(equation)
        found: Any = sp.linsolve(equations, unknown) if equations else ()
        for values in found:
            numbers = [x.xreplace(dict.fromkeys(unknown, sp.S.Zero)) for x in values]
            return {k: _text(x) for k, x in zip(self.facts, numbers, strict=True) if x != 0}
        return None if equations else {}

    def candidates(self) -> Iterator[dict[str, str]]:
        """Yield multipliers to try, those first that leave few terms over."""
        tried = 0
        for form in ([], self.mixed):  # what is left of the mixed products must belong to a semidefinite form
            for count in range(len(self.soft) + 1):
                for left_out in combinations(self.soft, count):
                    tried += 1
                    terms = [n for n in self.terms if n not in form and n not in left_out]
                    if tried <= MOST_SYSTEMS and self.solvable(terms):
                        found = self.solution(terms)
                        if found is not None:
                            yield found
            if not self.mixed:
                break
        yield from self._semidefinite()

    def _semidefinite(self) -> Iterator[dict[str, str]]:
        """Rational multipliers for which what is left looks positive semidefinite, simplest first."""
        rows = [self.gap, *self.facts.values()]
        numbers = [{n: v.number_of(x) for n, x in row.items()} for row in rows]
        if not self.facts or any(c is None or v.ATOMS[n][0] != "<>" for row in numbers for n, c in row.items()):
            return
        values = _programme(numbers[0], numbers[1:])
        tried: set[tuple[Fraction, ...]] = set()
        for bottom in DENOMINATORS if values else ():
            rounded = tuple(max(Fraction(0), Fraction(round(x * bottom), bottom)) for x in values or ())
            if rounded not in tried:
                tried.add(rounded)
                yield {k: str(x) for k, x in zip(self.facts, rounded, strict=True) if x}


def row_of(value: Any, is_term: Any) -> Row | None:
    """A value as a linear form in terms; None where it is not linear in them."""
    found: Row = {}
    if any(is_term(n) for k in value[1] for m, _ in v.BASES[k] for n, _ in m):
        return None
    for monomial, c in value[0].items():
        own = [(n, e) for n, e in monomial if is_term(n)]
        if len(own) > 1 or any(e != 1 for _, e in own):
            return None
        term = own[0][0] if own else ONE
        rest = tuple(x for x in monomial if x[0] != term)
        found[term] = v.plus(found.get(term, ({}, value[1])), ({rest: c}, value[1]))
    return {n: x for n, x in found.items() if x[0]}


def shortfall(multipliers: Mapping[str, str], rest: Any, reason: str, row: Row | None) -> str:
    """The combination that came nearest, what it leaves over, and why that is not shown to be at least 0."""
    used = " + ".join(f"{m} times '{fact}'" for fact, m in multipliers.items())
    nearest = f"the nearest combination is {used}" if used else "no combination of the facts was found"
    if not rest[0]:
        return f"{nearest}; {reason}"
    named = {n: "" if n == ONE else f"*{v.name_of(n)}" for n in row or {}}
    left = [f"({_text(_expression(x))}){named[n]}" for n, x in (row or {}).items()] or [v.written(rest)]
    return f"{nearest}; it leaves {' + '.join(left)}, which is not shown to be at least 0 ({reason})"


def _number(n: int) -> Fraction:
    return Fraction(2 + crc32(v.name_of(n).encode()) % 9973, 7)


def _somewhere(value: Any) -> Fraction | None:
    """The value at one generic point, the same for all values; None at a pole."""

    def poly(p: Any) -> Fraction:
        total = Fraction(0)
        for m, c in p.items():
            one = Fraction(c)
            for n, e in m:
                one *= _number(n) ** e
            total += one
        return total

    result = poly(value[0])
    for k, e in value[1].items():
        bottom = poly(dict(v.BASES[k]))
        if not bottom:
            return None
        result /= bottom**e
    return result


def _expression(value: Any) -> Any:
    """A value as a rational function of symbols, one an atom."""

    def poly(p: Any) -> Any:
        return sp.Add(*(sp.Rational(c) * sp.Mul(*(sp.Symbol(f"a{n}") ** e for n, e in m)) for m, c in p.items()))

    return poly(value[0]) / sp.Mul(*(poly(dict(v.BASES[k])) ** e for k, e in value[1].items()))


def _text(expr: Any) -> str:
    """Such a rational function as the verifier reads it, numerator and denominator in factors."""
    names = {s: sp.Symbol(v.name_of(int(s.name[1:]))) for s in expr.free_symbols}
    return str(sp.factor(expr).xreplace(names))


def _programme(goal: Mapping[int, Any], facts: Sequence[Mapping[int, Any]]) -> list[float] | None:
    """lambda >= 0 with the largest t <= 1 such that goal - sum lambda_k fact_k - t*I is positive semidefinite."""
    import importlib

    import numpy as np
    from scipy.sparse import csc_matrix

    clarabel: Any = importlib.import_module("clarabel")  # its stubs lack the solver
    atoms = sorted({a for row in (goal, *facts) for n in row for a in v.ATOMS[n][1:]})
    place = {a: i for i, a in enumerate(atoms)}
    size, count = len(atoms), len(facts)

    def upper(row: Mapping[int, Any]) -> Any:
        matrix = np.zeros((size, size))
        for n, value in row.items():
            i, j = (place[a] for a in v.ATOMS[n][1:])
            matrix[i, j] += float(value) / 2
            matrix[j, i] += float(value) / 2
        return np.array([matrix[i, j] * (1.0 if i == j else np.sqrt(2.0)) for j in range(size) for i in range(j + 1)])

    unit = {v.atom(("<>", a, a), v.INSIDE[a], v.INSIDE[a]): 1 for a in atoms}
    signs = np.zeros((count + 1, count + 1))
    signs[:count, :count] = -np.eye(count)
    signs[count, count] = 1.0
    matrix = csc_matrix(np.vstack([signs, np.column_stack([upper(f) for f in (*facts, unit)])]))
    right = np.concatenate([np.zeros(count), [1.0], upper(goal)])
    cost = np.concatenate([np.zeros(count), [-1.0]])
    cones: list[Any] = [clarabel.NonnegativeConeT(count + 1), clarabel.PSDTriangleConeT(size)]
    settings: Any = clarabel.DefaultSettings()
    settings.verbose = False
    solver: Any = clarabel.DefaultSolver(csc_matrix((count + 1, count + 1)), cost, matrix, right, cones, settings)
    solution = solver.solve()
    return [float(x) for x in solution.x[:count]] if "Solved" in str(solution.status) else None
