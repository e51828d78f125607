"""A polynomial as a nonnegative combination of products of hypotheses.

    goal == sum_k c_k * product of factors_k,   c_k >= 0 (any sign where a factor is an equation)

A linear programme finds which products are needed; the coefficients come from an exact linear solve.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

MAX_PRODUCTS = 3000  # columns of the linear programme
Powers = tuple[int, ...]


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
