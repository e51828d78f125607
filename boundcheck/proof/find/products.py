"""Certificates: a polynomial written as a nonnegative combination of products of hypotheses.

    goal == sum_k c_k * product of factors_k,   c_k >= 0 (any sign where a factor is an equation)

A linear programme finds which products are needed; the coefficients come from an exact linear solve, and the
identity is checked again in exact arithmetic by `Products.verify`, which knows nothing of the search.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

MAX_PRODUCTS = 3000  # columns of the linear programme; above this it would take longer than the solvers
Powers = tuple[int, ...]


@dataclass(frozen=True)
class Products:
    """A certificate for `goal >= 0`, or `goal > 0` where `strict`.

    factors: (polynomial, op, origin) with op among >=, >, ==, and "any" for a variable that multiplies an equation;
    terms: (coefficient, indices of its factors).
    """

    goal: Any
    strict: bool
    factors: tuple[tuple[Any, str, str], ...]
    terms: tuple[tuple[Fraction, tuple[int, ...]], ...]

    def verify(self, goal: Any, strict: bool, hypotheses: Sequence[tuple[Any, str]]) -> bool:
        """Whether this is a certificate for `goal >= 0` (`> 0` if strict) from the hypotheses (polynomial, op).

        Uses exact rational polynomial arithmetic only; every factor must be one of the hypotheses.
        """
        if self.goal != goal or self.strict is not strict or not self._well_formed(hypotheses):
            return False
        gens = _generators([self.goal, *(f for f, _, _ in self.factors)])
        ring = _Ring(gens)
        total = ring.poly(self.goal)
        positive = False
        for coefficient, indices in self.terms:
            ops = [self.factors[i][1] for i in indices]
            if "==" not in ops and (coefficient < 0 or "any" in ops):
                return False
            positive = positive or (coefficient > 0 and all(op == ">" for op in ops))
            product = ring.constant(coefficient)
            for i in indices:
                product = product * ring.poly(self.factors[i][0])
            total = total - product
        return total == 0 and (positive or not self.strict)

    def _well_formed(self, hypotheses: Sequence[tuple[Any, str]]) -> bool:
        """Whether the factors are hypotheses that say something of a sign, and the terms name such factors."""
        known = {(f, op) for f, op in hypotheses if op in (">=", ">", "==")}
        if any((not f.is_Symbol) if op == "any" else (f, op) not in known for f, op, _ in self.factors):
            return False
        places = range(len(self.factors))
        terms: Any = self.terms  # of any type, where it was not made here
        return all(isinstance(c, Fraction) and all(i in places for i in indices) for c, indices in terms)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return {
            "kind": "products",
            "goal": f"{self.goal} {'>' if self.strict else '>='} 0",
            "factors": [
                {"factor": str(f) if op == "any" else f"{f} {op} 0", "from": origin} for f, op, origin in self.factors
            ],
            "terms": [[str(c), list(indices)] for c, indices in self.terms],
        }


class _Ring:
    """Polynomials over the rationals in flint, made from SymPy expressions."""

    def __init__(self, gens: Sequence[Any]) -> None:
        import flint

        self.gens = tuple(gens)
        self._flint = flint
        names = [f"x{i}" for i in range(len(gens))] or ["x0"]
        self._context: Any = flint.fmpq_mpoly_ctx.get(names, "degrevlex")
        self._known: dict[Any, Any] = {}

    def constant(self, value: Fraction) -> Any:
        whole = self._flint.fmpq(value.numerator, value.denominator)
        return self._context.from_dict({tuple(0 for _ in self.gens) or (0,): whole})

    def poly(self, expr: Any) -> Any:
        if expr not in self._known:
            import sympy as sp

            if not self.gens:
                return self.constant(Fraction(int(expr.p), int(expr.q)))
            terms = sp.Poly(expr, *self.gens, domain="QQ").terms()
            data = {powers: self._flint.fmpq(int(c.p), int(c.q)) for powers, c in terms if c != 0}
            self._known[expr] = self._context.from_dict(data)
        return self._known[expr]


def _generators(polys: Sequence[Any]) -> list[Any]:
    return sorted({s for p in polys for s in p.free_symbols}, key=lambda s: s.name)


def find_products(
    goal: Any, strict: bool, constraints: Sequence[tuple[Any, str, str]], extra_degree: int = 1
) -> Products | None:
    """A verified certificate for `goal >= 0` (`> 0` if strict) from (polynomial, op, origin) constraints, or None.

    Products up to the degree of the goal plus `extra_degree` are tried, lowest degree first. Constraints with op !=
    are of no use and ignored.
    """
    usable = _distinct([c for c in constraints if c[1] in (">=", ">", "==") and c[0].free_symbols])
    gens = _generators([goal, *(c[0] for c in usable)])
    equations = [c for c in usable if c[1] == "=="]
    variables = [(gen, "any", "") for gen in gens] if equations else []
    usable = [*equations, *variables, *(c for c in usable if c[1] != "==")]
    ring = _Ring(gens)
    target = ring.poly(goal)
    low = max(1, target.total_degree())
    factors = [ring.poly(c[0]) for c in usable]
    degrees = [int(f.total_degree()) for f in factors]
    for degree in range(low, low + extra_degree + 1):
        columns = list(products_up_to(factors, degrees, [c[1] for c in usable], degree, ring.constant(Fraction(1))))
        if len(columns) > MAX_PRODUCTS:
            return None
        free = [any(usable[i][1] == "==" for i in indices) for indices, _ in columns]
        firm = [all(usable[i][1] == ">" for i in indices) for indices, _ in columns]
        solution = combination_of(
            [dict(p.to_dict()) for _, p in columns], free, firm if strict else None, target.to_dict()
        )
        if solution is None:
            continue
        found = _assemble(goal, strict, usable, [(c, columns[k][0]) for k, c in solution])
        if found.verify(goal, strict, [(f, op) for f, op, _ in constraints]):
            return found
    return None


def _distinct(constraints: Sequence[tuple[Any, str, str]]) -> list[tuple[Any, str, str]]:
    kept: dict[Any, tuple[Any, str, str]] = {}
    order = {"==": 0, ">": 1, ">=": 2}
    for c in constraints:
        if c[0] not in kept or order[c[1]] < order[kept[c[0]][1]]:
            kept[c[0]] = c
    return list(kept.values())


def _assemble(
    goal: Any, strict: bool, usable: Sequence[tuple[Any, str, str]], terms: Sequence[tuple[Fraction, tuple[int, ...]]]
) -> Products:
    used = sorted({i for _, indices in terms for i in indices})
    place = {i: k for k, i in enumerate(used)}
    return Products(
        goal,
        strict,
        tuple(usable[i] for i in used),
        tuple((c, tuple(place[i] for i in indices)) for c, indices in terms),
    )


def products_up_to(
    factors: Sequence[Any], degrees: Sequence[int], ops: Sequence[str], degree: int, one: Any
) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Products of total degree at most `degree`; at most one equation in each, and variables after one only."""
    count = 0
    stack: list[tuple[tuple[int, ...], Any, int, bool]] = [((), one, 0, False)]
    while stack:
        indices, poly, used, has_equation = stack.pop()
        yield indices, poly
        count += 1
        if count > MAX_PRODUCTS:
            return
        for i in range(indices[-1] if indices else 0, len(factors)):
            equation = ops[i] == "=="
            fits = not has_equation if equation else ops[i] != "any" or has_equation
            if used + degrees[i] <= degree and fits:
                stack.append(((*indices, i), poly * factors[i], used + degrees[i], has_equation or equation))


def combination_of(
    columns: Sequence[Mapping[Powers, Any]],
    free: Sequence[bool],
    firm: Sequence[bool] | None,
    target: Mapping[Powers, Any],
) -> list[tuple[int, Fraction]] | None:
    """Coefficients c with sum c_k column_k == target, found by a linear programme and then solved exactly."""
    import numpy as np
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    rows = {powers: r for r, powers in enumerate(sorted({p for c in [*columns, target] for p in c}))}
    entries = [(rows[p], k, float(v.p) / float(v.q)) for k, column in enumerate(columns) for p, v in column.items()]
    right = np.zeros(len(rows))
    for powers, value in target.items():
        right[rows[powers]] = float(value.p) / float(value.q)
    height, values = len(rows), [e[2] for e in entries]
    at = [e[0] for e in entries], [e[1] for e in entries]
    cost = np.array([0.0 if f else 1.0 for f in free])
    if firm is not None:  # a strict inequality needs a product of strict factors: reward one, up to a bounded weight
        cost = cost - np.array([1.5 if f else 0.0 for f in firm])
    bounds = [(-1e6, 1e6) if f else (0.0, 1e6) for f in free]
    matrix = coo_array((values, at), shape=(height, len(columns)))
    answer = linprog(cost, A_eq=matrix.tocsr(), b_eq=right, bounds=bounds, method="highs-ds")
    if answer.status != 0:
        return None
    support = [k for k, c in enumerate(answer.x) if abs(c) > 1e-9]
    return _exact(columns, support, target, rows)


def _exact(
    columns: Sequence[Mapping[Powers, Any]],
    support: Sequence[int],
    target: Mapping[Powers, Any],
    rows: Mapping[Any, int],
) -> list[tuple[int, Fraction]] | None:
    import flint

    matrix = flint.fmpq_mat(len(rows), len(support) + 1)
    for j, k in enumerate(support):
        for powers, value in columns[k].items():
            matrix[rows[powers], j] = value
    for powers, value in target.items():
        matrix[rows[powers], len(support)] = value
    reduced, rank = matrix.rref()
    solution: dict[int, Fraction] = {}
    for r in range(rank):
        pivot = next(j for j in range(len(support) + 1) if reduced[r, j] != 0)
        if pivot == len(support):
            return None
        value = reduced[r, len(support)]
        solution[support[pivot]] = Fraction(int(value.p), int(value.q))
    return sorted((k, c) for k, c in solution.items() if c != 0)
