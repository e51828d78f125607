"""Hypotheses on vectors that cannot all be met, shown by an exact certificate.

No vectors and numbers meet hypotheses p_k >= 0 (or p_k > 0) where

    sum_k c_k * w_k * p_k + sum_j w_j * sum_ab S_j[a, b] <a, b> == -t,   c_k >= 0, t >= 0,

every weight w is a product of what is at least 0, every matrix S_j is positive semidefinite over vectors a, b that are
atoms times monomials, and t > 0 or c_k > 0 for a product of factors that are positive. The numbers come from a
semidefinite programme and are rounded; `Contradiction.verify` checks the identity, the signs and the matrices in exact
arithmetic and knows nothing of the search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.core.extras import needed_for
from boundcheck.proof.polynomial import direction, rational_parts
from boundcheck.proof.semidefinite import DENOMINATORS, semidefinite
from boundcheck.proof.vectors import Inner, is_nonnegative_atom

MAX_TERMS = 400  # products of hypotheses and weights in one programme
MAX_VECTORS = 20  # atoms times monomials in one matrix
SMALL = 1e-7  # multipliers below this are left out

Signed = Callable[[Any], int]


@dataclass(frozen=True)
class Hypotheses:
    """Relations as polynomials in inner products and in variables that stand for every other term.

    gaps: name -> (polynomial, strict); positive: what is at least 0 besides -> whether it is positive.
    """

    gaps: Mapping[str, tuple[Any, bool]]
    positive: Mapping[Any, bool]

    @staticmethod
    def of(relations: Mapping[str, Any], quantities: frozenset[str], sign: Signed) -> Hypotheses:
        """From relations (name -> SymPy relation).

        sign: +1, -1, or 0 where it is not known, of a denominator; a relation with such a denominator is left out.
        """
        names = _Names(quantities)
        gaps: dict[str, tuple[Any, bool]] = {}
        for name, relation in relations.items():
            if relation in (sp.true, sp.false):
                gaps |= {name: (sp.Integer(-1), False)} if relation is sp.false else {}
                continue
            gap, op = direction(relation)
            top, bottom = rational_parts(gap)
            factor = sign(bottom)
            if factor == 0 or op == "!=":
                continue
            poly = sp.expand(names.flat(top) * factor)
            gaps[name] = (poly, op == ">")
            if op == "==":
                gaps[f"{name}, turned"] = (-poly, False)
        positive = dict.fromkeys(names.nonnegative, False)
        for poly, strict in gaps.values():
            for symbol in poly.free_symbols:  # a bound of one variable from below by a number that is at least 0
                slope, rest = poly.coeff(symbol, 1), poly.coeff(symbol, 0)
                alone = poly == sp.expand(slope * symbol + rest) and slope.is_Rational and rest.is_Rational
                if alone and slope > 0 and rest <= 0:
                    positive[symbol] = positive.get(symbol, False) or strict or bool(rest < 0)
        return Hypotheses(gaps, positive)

    def weights(self) -> Iterator[tuple[Any, bool]]:
        """Weights to try: 1, each variable that is known to be at least 0, and squares; whether they are positive."""
        yield sp.Integer(1), True
        yield from sorted(self.positive.items(), key=lambda item: sp.default_sort_key(item[0]))
        variables = {s for poly, _ in self.gaps.values() for w, _ in _monomials(poly) for s in w.free_symbols}
        yield from ((s**2, False) for s in sorted(variables, key=sp.default_sort_key) if s.is_real)

    def at_least_0(self, weight: Any) -> bool:
        """Whether a monomial is at least 0 by its even powers and by the factors that are."""
        return all(
            (base.is_Rational and base >= 0) or base in self.positive or (power.is_Integer and power % 2 == 0)
            for base, power in (factor.as_base_exp() for factor in sp.Mul.make_args(weight))
        )


class _Names:
    """A variable for every term that is neither a polynomial nor an inner product; the same for the same term."""

    def __init__(self, quantities: frozenset[str]) -> None:
        self.quantities = quantities
        self.known: dict[Any, Any] = {}
        self.nonnegative: list[Any] = []

    def flat(self, expr: Any) -> Any:
        if expr.is_Rational or isinstance(expr, Inner):
            return expr
        if expr.is_Add or expr.is_Mul:
            return expr.func(*[self.flat(arg) for arg in expr.args])
        if expr.is_Pow and expr.exp.is_Integer and expr.exp > 0:
            return self.flat(expr.base) ** expr.exp
        if expr not in self.known:
            self.known[expr] = expr if expr.is_Symbol else sp.Dummy("term", real=True)
            root = expr.is_Pow and expr.exp.is_Rational and expr.exp > 0 and expr.exp.q != 1
            if root or isinstance(expr, sp.Abs) or is_nonnegative_atom(expr, self.quantities):
                self.nonnegative.append(self.known[expr])
        return self.known[expr]


Scaled = tuple[Any, Any]  # a vector atom times a monomial


@dataclass(frozen=True)
class Contradiction:
    """A certificate: terms (coefficient, name of the hypothesis or "", weight) and matrices.

    matrices: (weight, vectors, entries): the vectors are (atom, monomial), the entries (row, column, value) of the
    upper triangle; rest: the number t.
    """

    terms: tuple[tuple[Fraction, str, Any], ...]
    matrices: tuple[tuple[Any, tuple[Scaled, ...], tuple[tuple[int, int, Fraction], ...]], ...]
    rest: Fraction

    def verify(self, hypotheses: Hypotheses) -> bool:
        """Whether it contradicts these hypotheses: identity, signs and matrices in exact arithmetic."""
        total, firm = _rational(self.rest), self.rest > 0
        if self.rest < 0:
            return False
        for coefficient, name, weight in self.terms:
            if coefficient < 0 or not hypotheses.at_least_0(weight) or (name and name not in hypotheses.gaps):
                return False
            poly, strict = hypotheses.gaps[name] if name else (sp.Integer(1), False)
            own = strict and (weight == 1 or hypotheses.positive.get(weight, False))
            firm = firm or (own and coefficient > 0)
            total += _rational(coefficient) * weight * poly
        for weight, vectors, entries in self.matrices:
            # a form in atoms of its own for every vector: two multiples of one atom are two vectors here
            place = [sp.Dummy() for _ in vectors]
            form: dict[Any, Any] = {}
            for i, j, value in entries:
                product = Inner(place[i], place[j])
                form[product] = form.get(product, sp.Integer(0)) + _rational(value) * (1 if i == j else 2)
                (a, first), (b, second) = vectors[i], vectors[j]
                total += _rational(value) * (1 if i == j else 2) * weight * first * second * Inner(a, b)
            if not hypotheses.at_least_0(weight) or semidefinite(form, _is_true) is None:
                return False
        return firm and sp.expand(total) == 0

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return {
            "kind": "contradiction",
            "terms": [[str(c), name, str(weight)] for c, name, weight in self.terms],
            "matrices": [
                [str(weight), [str(m * a) for a, m in vectors], [[i, j, str(v)] for i, j, v in entries]]
                for weight, vectors, entries in self.matrices
            ],
            "rest": str(self.rest),
        }


def _rational(value: Fraction) -> Any:
    return sp.Rational(value.numerator, value.denominator)


def _is_true(relation: Any) -> bool:
    """Decides signs of numbers."""
    return relation is sp.true


def find_contradiction(hypotheses: Hypotheses) -> Contradiction | None:
    """A verified certificate that the hypotheses cannot all be met, or None where none was found."""
    weights = list(hypotheses.weights())
    for some, scaled in (([weights[0]], False), (weights, False), (weights, True)):
        terms = [
            (name, weight, sp.expand(poly * weight), strict and firm)
            for name, (poly, strict) in hypotheses.gaps.items()
            for weight, firm in some
        ]
        if len(terms) > MAX_TERMS:
            return None
        for found in _Programme(hypotheses, terms, scaled).solutions():
            if found.verify(hypotheses):
                return found
    return None


class _Programme:
    """The unknowns: a multiplier of each term and of each monomial that is at least 0, matrices, and what is left."""

    def __init__(self, hypotheses: Hypotheses, terms: Sequence[tuple[str, Any, Any, bool]], scaled: bool) -> None:
        rows = [_monomials(poly) for _, _, poly, _ in terms]
        cells = {cell for row in rows for cell in row}
        free = sorted({w for w, product in cells if product is None and w != 1 and hypotheses.at_least_0(w)},
                      key=sp.default_sort_key)  # fmt: skip
        self.names = [*((name, weight) for name, weight, _, _ in terms), *(("", w) for w in free)]
        rows += [{(w, None): Fraction(1)} for w in free]
        self.multipliers = len(rows)
        self.matrices = _matrices(cells, hypotheses, scaled)
        self.entries: list[tuple[int, int, int]] = []  # matrix, row, column
        for number, (weight, vectors) in enumerate(self.matrices):
            for j, (b, second) in enumerate(vectors):
                for i, (a, first) in enumerate(vectors[: j + 1]):
                    self.entries.append((number, i, j))
                    rows.append({(weight * first * second, Inner(a, b)): Fraction(1 if i == j else 2)})
        rows.append({(sp.Integer(1), None): Fraction(1)})
        places = {cell: k for k, cell in enumerate(dict.fromkeys(c for row in rows for c in row))}
        # the identity, cell by cell, and that what makes it strict adds up to 1
        self.equations = [[Fraction(0)] * (len(rows) + 1) for _ in range(len(places) + 1)]
        for k, row in enumerate(rows):
            for cell, value in row.items():
                self.equations[places[cell]][k] = value
        for k, (*_, strict) in enumerate(terms):
            self.equations[-1][k] = Fraction(strict)
        self.equations[-1][-2:] = [Fraction(1), Fraction(1)]

    def solutions(self) -> Iterator[Contradiction]:
        values = self._search()
        if values is None:
            return
        single = [*range(self.multipliers), len(values) - 1]
        inside = range(self.multipliers, len(values) - 1)
        # what is solved for comes first: entries of matrices, which are far from singular, and large multipliers
        order = [*inside, *sorted(single, key=lambda k: -values[k])]
        large = [k for k in order if k in inside or values[k] > SMALL]
        for columns in (large, order):
            for bottom in DENOMINATORS:
                exact = self._exact(columns, values, bottom)
                if exact is None:
                    break
                if min(exact[k] for k in single) >= 0:
                    yield self._certificate(exact)

    def _certificate(self, values: Sequence[Fraction]) -> Contradiction:
        terms = tuple((c, *name) for c, name in zip(values, self.names, strict=False) if c != 0)
        found: list[tuple[Any, tuple[Scaled, ...], tuple[tuple[int, int, Fraction], ...]]] = []
        inside = list(zip(self.entries, values[self.multipliers :], strict=False))
        for number, (weight, vectors) in enumerate(self.matrices):
            entries = tuple((i, j, value) for (n, i, j), value in inside if n == number and value != 0)
            if entries:
                found.append((weight, vectors, entries))
        return Contradiction(terms, tuple(found), values[-1])

    def _exact(self, columns: Sequence[int], values: Sequence[float], bottom: int) -> list[Fraction] | None:
        """A solution of the equations near the values, in these unknowns; None where there is none."""
        import flint

        width = len(columns)
        matrix = flint.fmpq_mat(len(self.equations), width + 1)
        for i, line in enumerate(self.equations):
            for j, k in enumerate([*columns, len(line) - 1]):
                matrix[i, j] = flint.fmpq(line[k].numerator, line[k].denominator)
        reduced, rank = matrix.rref()
        pivots = [next(j for j in range(width + 1) if reduced[i, j] != 0) for i in range(rank)]
        if width in pivots:
            return None
        chosen = {j: Fraction(round(values[columns[j]] * bottom), bottom) for j in set(range(width)) - set(pivots)}
        exact = [Fraction(0)] * len(values)
        for j, value in chosen.items():
            exact[columns[j]] = value
        for i, pivot in enumerate(pivots):
            line = {j: Fraction(int(reduced[i, j].p), int(reduced[i, j].q)) for j in (*chosen, width)}
            exact[columns[pivot]] = line[width] - sum((line[j] * v for j, v in chosen.items()), Fraction(0))
        return exact

    def _search(self) -> list[float] | None:
        """Approximate unknowns for which every matrix is as positive definite as possible."""
        import importlib

        import numpy as np
        from scipy.sparse import csc_matrix, lil_matrix

        with needed_for("the search for a contradiction"):
            clarabel: Any = importlib.import_module("clarabel")  # its stubs lack the solver
        count = len(self.equations[0]) - 1
        single = [*range(self.multipliers), count - 1]
        height = len(self.equations) + len(single) + 1 + len(self.entries)
        left: Any = lil_matrix((height, count + 1))
        right = np.zeros(height)
        for i, line in enumerate(self.equations):
            for k, value in enumerate(line[:-1]):
                if value != 0:
                    left[i, k] = float(value)
            right[i] = float(line[-1])
        row = len(self.equations)
        cones: list[Any] = [clarabel.ZeroConeT(row), clarabel.NonnegativeConeT(len(single) + 1)]
        for k in single:
            left[row, k] = -1.0
            row += 1
        left[row, count], right[row] = 1.0, 1.0  # the margin, at most 1
        row += 1
        for k, (_, i, j) in enumerate(self.entries, start=self.multipliers):
            left[row, k] = -1.0 if i == j else -float(np.sqrt(2.0))
            if i == j:
                left[row, count] = 1.0
            row += 1
        cones += [clarabel.PSDTriangleConeT(len(vectors)) for _, vectors in self.matrices]
        cost = np.zeros(count + 1)
        cost[count] = -1.0
        settings: Any = clarabel.DefaultSettings()
        settings.verbose = False
        empty = csc_matrix((count + 1, count + 1))
        solver: Any = clarabel.DefaultSolver(empty, cost, csc_matrix(left), right, cones, settings)
        solution = solver.solve()
        if "Solved" not in str(solution.status) or solution.x[count] < -SMALL:
            return None
        return [float(v) for v in solution.x[:count]]


def _matrices(
    cells: set[tuple[Any, Any]], hypotheses: Hypotheses, scaled: bool
) -> list[tuple[Any, tuple[Scaled, ...]]]:
    """(weight, vectors) of the matrices that the identity may have: the atoms that occur with each weight.

    scaled: with the weight 1, also the atoms times the variables that multiply one of their products.
    """
    found: dict[Any, dict[Scaled, None]] = {sp.Integer(1): {}}
    for weight, product in sorted((c for c in cells if c[1] is not None), key=str):
        if hypotheses.at_least_0(weight):
            found.setdefault(weight, {}).update(dict.fromkeys((atom, sp.Integer(1)) for atom in product.args))
        for factor in sp.Mul.make_args(weight) if scaled else ():
            base, _ = factor.as_base_exp()
            if base.is_Symbol:
                more = [(atom, m) for atom in product.args for m in (sp.Integer(1), base)]
                found[sp.Integer(1)].update(dict.fromkeys(more))
    return [(w, tuple(vectors)) for w, vectors in found.items() if 0 < len(vectors) <= MAX_VECTORS]


def _monomials(poly: Any) -> dict[tuple[Any, Any], Fraction]:
    """(monomial of numbers, inner product or None) -> coefficient."""
    found: dict[tuple[Any, Any], Fraction] = {}
    terms: Any = sp.Add.make_args(sp.expand(poly))
    for term in terms:
        number, rest = term.as_coeff_Mul()
        factors = sp.Mul.make_args(rest)
        products = [f for f in factors if isinstance(f, Inner)]
        alone = products[0] if len(products) == 1 and not rest.as_independent(products[0])[0].has(Inner) else None
        weight = sp.Mul(*(f for f in factors if f is not alone))
        key = (weight, alone)
        found[key] = found.get(key, Fraction(0)) + Fraction(int(number.p), int(number.q))
    return {key: value for key, value in found.items() if value != 0}
