"""Exact solutions of a client's subproblem f_k(v) + <shift, v> + prox/2 |v - x|^2.

Quadratic clients have a closed form; logistic and softmax regression take Newton's method. A row's numbers do not
depend on the others'.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.engines.curve import Floats
from boundcheck.errors import BadInput, Unsupported
from boundcheck.problems.problem import Arrays

RELATIVE = 1e-12  # Newton's method ends where the gradient has this share of the first one, or where rounding stops it
MAX_STEPS = 200
MAX_DIM = 3000  # Newton's method holds a matrix of this many rows
AT_ONCE = 2048  # samples whose Hessians are added at once
LINEAR = ("logistic", "softmax")  # losses of linear scores


def _hessian(arrays: Arrays, client: int) -> Floats:
    """That of a client with quadratic components."""
    if len(arrays.client_A):
        return np.asarray(arrays.client_A[client])
    own = slice(int(arrays.offsets[client]), int(arrays.offsets[client + 1]))
    count, d = own.stop - own.start, arrays.b.shape[1]
    if arrays.kind == "isotropic":
        mean = arrays.curvature[own].mean() * np.eye(d)
    elif arrays.kind == "rows":
        mean = (arrays.b[own].T * arrays.curvature[own]) @ arrays.b[own] / count
    else:
        mean = arrays.A[own].mean(axis=0)
    return (mean + arrays.ridge * np.eye(d)) * (count if arrays.reduction == "sum" else 1)


def inverse(arrays: Arrays, client: int, prox: float) -> tuple[Floats, Floats]:
    """The Hessian of a quadratic subproblem and its inverse. Raises BadInput where it is not positive definite."""
    matrix = _hessian(arrays, client) + prox * np.eye(arrays.b.shape[1])
    if arrays.kind == "quadratic" and not np.array_equal(matrix, matrix.T):
        raise Unsupported(f"the map of client {client} is no gradient: its subproblem has no minimiser.")
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        raise BadInput(
            f"the subproblem of client {client} with the proximal weight {prox:g} is not strongly convex, so that it "
            "may have no minimiser; take a larger weight."
        ) from None
    inverted: Floats = np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    return matrix, inverted


def least_curvature(arrays: Arrays, client: int) -> float:
    """The least eigenvalue of a client's Hessian, from below; the ridge for logistic and softmax regression."""
    if arrays.kind in LINEAR:
        return float(arrays.ridge)
    matrix = _hessian(arrays, client)
    if not np.isfinite(matrix).all():
        return -math.inf
    eigenvalues = np.linalg.eigvalsh(matrix)
    # the computed eigenvalues are those of a matrix that differs by a few roundings of each entry
    margin = 16 * len(matrix) * np.finfo(float).eps * float(np.abs(eigenvalues).max())
    return float(eigenvalues[0]) - margin


def _derivatives(kind: str, scores: Floats, labels: NDArray[Any]) -> tuple[Floats, Floats]:
    """Residuals (n, K), and p (n, K) from which second derivatives follow."""
    if kind == "logistic":
        margin = labels * scores[:, 0]
        small = np.exp(-np.abs(margin))
        chance = np.where(margin >= 0, small, 1.0) / (1.0 + small)  # 1/(1 + exp(margin))
        return (-labels * chance)[:, None], chance[:, None]
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    residuals = p.copy()
    residuals[np.arange(len(p)), labels.astype(np.int64)] -= 1.0
    return residuals, p


def _second(kind: str, rows: Floats, chance: Floats) -> Floats:
    """The sum over samples of the Hessians of their losses: (diag(p) - pp') times aa', or p(1 - p) aa'."""
    if kind == "logistic":
        return (rows.T * (chance[:, 0] * (1.0 - chance[:, 0]))) @ rows
    p, classes = rows.shape[1], chance.shape[1]
    found = np.zeros((classes * p, classes * p))
    for begin in range(0, len(rows), AT_ONCE):
        part, weight = rows[begin : begin + AT_ONCE], chance[begin : begin + AT_ONCE]
        outer = (weight[:, :, None] * part[:, None, :]).reshape(len(part), -1)
        found -= outer.T @ outer
        for k in range(classes):
            own = slice(k * p, (k + 1) * p)
            found[own, own] += (part.T * weight[:, k]) @ part
    return found


def newton(arrays: Arrays, client: int, x: Floats, shift: Floats, prox: float) -> Floats:
    """The minimiser for one point x (d,) on logistic or softmax regression; nan where x is not finite.

    Raises BadInput where the subproblem need not be strongly convex, Unsupported where it has too many coordinates or
    Newton's method does not settle.
    """
    if not arrays.ridge + prox > 0:
        raise BadInput("an exact solve needs a proximal weight or a ridge above 0; without one there may be none.")
    own = slice(int(arrays.offsets[client]), int(arrays.offsets[client + 1]))
    rows, labels = arrays.b[own], arrays.target[own]
    count, p = rows.shape
    classes = len(x) // p
    if len(x) > MAX_DIM:
        raise Unsupported(
            f"exact solves on {arrays.kind} regression take at most {MAX_DIM} coordinates; x has {len(x)}."
        )
    if not (np.isfinite(x).all() and np.isfinite(shift).all()):
        return np.full(len(x), np.nan)
    scale = 1.0 if arrays.reduction == "sum" else 1.0 / count
    ridge = arrays.ridge * (count if arrays.reduction == "sum" else 1)

    def gradient(v: Floats) -> tuple[Floats, Floats]:
        residuals, chance = _derivatives(arrays.kind, rows @ v.reshape(classes, p).T, labels)
        return (residuals.T @ rows).ravel() * scale + ridge * v + shift + prox * (v - x), chance

    v = x.copy()
    g, chance = gradient(v)
    size = float(np.sqrt(g @ g))
    enough = RELATIVE * size
    for _ in range(MAX_STEPS):
        if size <= enough:
            return v
        hessian = scale * _second(arrays.kind, rows, chance)
        hessian[np.diag_indices(len(x))] += ridge + prox
        step = np.linalg.solve(hessian, g)
        length = 1.0
        # |gradient| falls along Newton's direction: at first by the share that the step is long
        while True:
            trial = v - length * step
            next_g, next_chance = gradient(trial)
            next_size = float(np.sqrt(next_g @ next_g))
            if next_size <= (1.0 - length / 4) * size:
                break
            length /= 2
            if length < 2.0**-30:
                return v  # no step is better in double precision
        v, g, chance, size = trial, next_g, next_chance, next_size
    raise Unsupported(f"Newton's method did not settle in {MAX_STEPS} steps on the subproblem of client {client}.")
