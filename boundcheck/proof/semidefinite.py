"""Positive semidefinite matrices: exact LDL^T with decided pivots, and multipliers by semidefinite programming."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.core.extras import needed_for
from boundcheck.proof.polynomial import rational_parts


def gram_matrix(form: Mapping[Any, Any]) -> tuple[list[Any], list[list[Any]]]:
    """The atoms and the symmetric matrix M with `sum M_ij <x_i, x_j>` equal to the form (Inner atom -> coefficient)."""
    atoms = sorted({a for product in form for a in product.args}, key=sp.default_sort_key)
    place = {a: i for i, a in enumerate(atoms)}
    matrix = [[sp.Integer(0)] * len(atoms) for _ in atoms]
    for product, value in form.items():
        i, j = (place[a] for a in product.args)
        if i == j:
            matrix[i][i] += value
        else:
            matrix[i][j] += value / 2
            matrix[j][i] += value / 2
    return atoms, matrix


def semidefinite(form: Mapping[Any, Any], shown: Callable[[Any], bool]) -> list[Any] | None:
    """The pivots of an LDL^T elimination when the form's matrix is positive semidefinite, else None.

    A pivot must be positive, but where its row holds nothing else it need only be at least 0.
    `shown(relation)` decides signs of symbolic entries; None also means that a sign was not shown.
    """
    _, matrix = gram_matrix(form)
    left = set(range(len(matrix)))
    pivots: list[Any] = []
    while left:
        vanishing = {i for i in left if all(matrix[i][j] == 0 for j in left)}
        left -= vanishing
        if not left:
            break
        # a zero on the diagonal of a row that does not vanish rules semidefiniteness out
        if any(matrix[i][i] == 0 or (matrix[i][i].is_Rational and matrix[i][i] < 0) for i in left):
            return None
        alone = [i for i in sorted(left) if all(matrix[i][j] == 0 for j in left if j != i)]
        if alone:
            if not all(shown(sp.Ge(matrix[i][i], 0)) for i in alone):
                return None
            pivots += [matrix[i][i] for i in alone]
            left -= set(alone)
            continue
        pivot = next((i for i in sorted(left) if shown(sp.Gt(matrix[i][i], 0))), None)
        if pivot is None:
            return None
        pivots.append(matrix[pivot][pivot])
        left.remove(pivot)
        for i in left:
            for j in left:
                entry = matrix[i][j] - matrix[i][pivot] * matrix[pivot][j] / matrix[pivot][pivot]
                matrix[i][j] = sp.Integer(0) if rational_parts(entry)[0] == 0 else sp.factor(entry)
    return pivots


DENOMINATORS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 30, 60, 120, 1000, 10**6)


def find_multipliers(goal: Mapping[Any, Any], facts: Mapping[str, Mapping[Any, Any]]) -> Iterator[dict[str, Any]]:
    """Rational lambda_k >= 0 for which goal - sum lambda_k fact_k looks positive semidefinite, simplest first.

    Forms are maps Inner atom -> rational. The margin is maximised by clarabel, and the multipliers rounded to small
    denominators; the caller checks each in exact arithmetic.
    """
    import numpy as np

    atoms = sorted({a for form in (goal, *facts.values()) for p in form if p != 1 for a in p.args},
                   key=sp.default_sort_key)  # fmt: skip
    if not atoms or not facts:
        return
    if any(form.get(sp.Integer(1), 0) != 0 for form in (goal, *facts.values())):
        return
    place = {a: i for i, a in enumerate(atoms)}

    def dense(form: Mapping[Any, Any]) -> Any:
        matrix = np.zeros((len(atoms), len(atoms)))
        for product, value in form.items():
            if product == 1:
                continue
            i, j = (place[a] for a in product.args)
            matrix[i, j] += float(value) / 2
            matrix[j, i] += float(value) / 2
        return matrix

    values = _clarabel(dense(goal), [dense(f) for f in facts.values()])
    if values is None:
        return
    tried: set[tuple[Fraction, ...]] = set()
    for bottom in DENOMINATORS:
        rounded = tuple(max(Fraction(0), Fraction(round(v * bottom), bottom)) for v in values)
        if rounded not in tried:
            tried.add(rounded)
            yield {k: sp.Rational(v.numerator, v.denominator) for k, v in zip(facts, rounded, strict=True)}


def _clarabel(goal: Any, facts: list[Any]) -> list[float] | None:
    """lambda >= 0 with the largest t <= 1 such that goal - sum lambda_k fact_k - t*I is positive semidefinite."""
    import importlib

    import numpy as np
    from scipy.sparse import csc_matrix

    with needed_for("the search for a semidefinite certificate"):
        clarabel: Any = importlib.import_module("clarabel")  # its stubs lack the solver
    size, count = goal.shape[0], len(facts)

    def upper(matrix: Any) -> Any:
        scale = np.sqrt(2.0)
        return np.array([matrix[i, j] * (1.0 if i == j else scale) for j in range(size) for i in range(j + 1)])

    columns = [upper(f) for f in facts] + [upper(np.eye(size))]
    rows = np.column_stack(columns)
    signs = np.zeros((count + 1, count + 1))
    signs[:count, :count] = -np.eye(count)
    signs[count, count] = 1.0
    matrix = csc_matrix(np.vstack([signs, rows]))
    right = np.concatenate([np.zeros(count), [1.0], upper(goal)])
    cost = np.concatenate([np.zeros(count), [-1.0]])
    cones: list[Any] = [clarabel.NonnegativeConeT(count + 1), clarabel.PSDTriangleConeT(size)]
    settings: Any = clarabel.DefaultSettings()
    settings.verbose = False
    solver: Any = clarabel.DefaultSolver(csc_matrix((count + 1, count + 1)), cost, matrix, right, cones, settings)
    solution = solver.solve()
    if "Solved" not in str(solution.status):
        return None
    return [float(v) for v in solution.x[:count]]
