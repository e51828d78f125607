"""A certificate that no plane separates labelled points.

With the signed rows z_j = y_j a_j, the sum of log(1 + exp(-<z_j, x>)) has a minimiser exactly where some lambda_j > 0
have sum lambda_j z_j = 0: otherwise, by Stiemke's lemma, some x has <z_j, x> >= 0 for all j and not always 0, and the
sum falls along it without end. The minimiser is the only one where the rows span the space.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import fmpq_mat
from numpy.typing import NDArray

from boundcheck.core.linalg import fraction, matrix, to_fractions

MAX_NUMBERS = 200_000  # entries of the rows
_LEAST = 1e-6  # of the smallest lambda_j, the largest being 1, that the search takes for positive


def vanishing_combination(rows: NDArray[np.float64]) -> tuple[Fraction, ...] | None:
    """Positive numbers, one for each of the rows (N, d), with which the rows sum to 0 exactly, where they span R^d.

    A linear programme finds them in floating point; d of them are then solved for in exact arithmetic. None where the
    search finds none.
    """
    from scipy.linalg import qr
    from scipy.optimize import linprog

    count, d = rows.shape
    scaled = rows / np.maximum(np.abs(rows).max(axis=0), np.finfo(np.float64).tiny)
    # the largest t with sum lambda_j z_j = 0 and t <= lambda_j <= 1
    above = np.hstack([-np.eye(count), np.ones((count, 1))])
    sums = np.hstack([scaled.T, np.zeros((d, 1))])
    found = linprog(
        np.append(np.zeros(count), -1.0), A_ub=above, b_ub=np.zeros(count), A_eq=sums, b_eq=np.zeros(d), bounds=(0, 1)
    )
    if found.x is None or count < d or found.x[-1] < _LEAST:
        return None
    *_, order = qr(scaled.T, mode="r", pivoting=True)
    chosen = [int(j) for j in order[:d]]
    weights = [Fraction(v) for v in found.x[:-1].tolist()]
    exact = matrix(rows)
    rest = exact.transpose() * matrix([[Fraction(0) if j in set(chosen) else w] for j, w in enumerate(weights)])
    basis = fmpq_mat(d, d, [exact[j, k] for k in range(d) for j in chosen])
    try:
        solved = basis.solve(rest)
    except ZeroDivisionError:  # the rows do not span the space
        return None
    for j, value in zip(chosen, solved.entries(), strict=True):
        weights[j] = -fraction(value)
    return tuple(weights) if vanishes(rows, weights) else None


def vanishes(rows: NDArray[np.float64], weights: list[Fraction]) -> bool:
    """Whether the weights (N,) are positive and the rows (N, d) sum to 0 with them, in exact arithmetic."""
    total = matrix(rows).transpose() * matrix([[w] for w in weights])
    return all(w > 0 for w in weights) and not any(to_fractions(total).ravel())
