"""Constants by semidefinite programming, as an independent check of those that the package computes.

A solver proposes a primal and a dual point in floating point. Both are rounded to rationals, moved to the safe side and
checked by exact LDL^T, so that the answers enclose the true value even if the solver is wrong.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
from flint import fmpq_mat
from numpy.typing import NDArray

from boundcheck.certified.definite import is_positive_semidefinite
from boundcheck.certified.forms import Form
from boundcheck.core.linalg import fraction, identity, rational, to_fractions
from boundcheck.errors import BadInput

_TRIES = 40


def _floats(m: fmpq_mat) -> NDArray[np.float64]:
    out: NDArray[np.float64] = to_fractions(m).astype(np.float64)
    return out


def _short(value: float, digits: int = 12) -> Fraction:
    return Fraction(round(value * 10**digits), 10**digits)


def _symmetric(near: NDArray[Any]) -> fmpq_mat:
    """A rational matrix next to a float one."""
    d = len(near)
    middle = (near + near.T) / 2
    return fmpq_mat(d, d, [rational(_short(float(v))) for v in middle.ravel()])


def _inner(a: fmpq_mat, b: fmpq_mat) -> Fraction:
    product = a * b
    return sum((fraction(product[i, i]) for i in range(product.nrows())), Fraction(0))


def _moved_inside(near: fmpq_mat) -> fmpq_mat:
    """The matrix plus the least power-of-two multiple of the identity that makes it positive semidefinite."""
    step = Fraction(1, 2**60)
    for _ in range(2 * _TRIES):
        if is_positive_semidefinite(near):
            return near
        near = near + identity(near.nrows()) * rational(step)
        step *= 2
    raise BadInput("the solver's dual matrix is far from positive semidefinite.")


def homogeneous(form: Form) -> fmpq_mat:
    """The (d+1) x (d+1) matrix H with z'Hz the value, z = [x; 1]."""
    d = form.q.nrows()
    top, side = form.q.tolist(), [-v for v in form.l.entries()]
    rows = [[*row, v] for row, v in zip(top, side, strict=True)] + [[*side, form.k]]
    return fmpq_mat(d + 1, d + 1, [v for row in rows for v in row])


def constant_by_programme(left: Form, right: Form) -> tuple[Fraction, Fraction]:
    """(lower, upper) of the least c with left(x) <= right(x) + c for all x, both proved exactly.

    Primal: minimise c such that the homogeneous matrix of right - left + c is positive semidefinite (S-lemma). Dual:
    Z positive semidefinite with last entry 1 gives c >= -<H, Z>, H that matrix at c = 0. Raises BadInput where the
    programme is infeasible or the solver's answer cannot be made exact.
    """
    h = homogeneous(right - left)
    near = _floats(h)
    size = float(np.abs(near).max()) or 1.0
    d = len(near)
    corner = np.zeros((d, d))
    corner[-1, -1] = 1.0
    c: Any = cp.Variable()
    constraint = near / size + c * corner >> 0
    problem = cp.Problem(cp.Minimize(c), [constraint])
    problem.solve(solver=cp.CLARABEL)
    if problem.status not in ("optimal", "optimal_inaccurate"):
        raise BadInput(f"the semidefinite programme of the constant is {problem.status}.")
    upper = _from_above(h, _short(float(c.value) * size))
    dual = _moved_inside(_symmetric(np.array(constraint.dual_value)))
    last = fraction(dual[d - 1, d - 1])
    if last <= 0:
        raise BadInput("the solver's dual matrix has no weight in its last entry.")
    return -_inner(h, dual) / last, upper


def _from_above(h: fmpq_mat, guess: Fraction) -> Fraction:
    """The guess, raised until the matrix with it added in the corner is positive semidefinite."""
    last = h.nrows() - 1
    margin = max(abs(guess), Fraction(1)) / 10**12
    for _ in range(_TRIES):
        lifted = fmpq_mat(h)
        lifted[last, last] += rational(guess)
        if is_positive_semidefinite(lifted):
            return guess
        guess, margin = guess + margin, margin * 2
    raise BadInput("the solver's constant cannot be made admissible.")


def sampling_by_programme(pmat: fmpq_mat, weights: list[Fraction]) -> tuple[Fraction, Fraction, tuple[Fraction, ...]]:
    """(lower, upper, s) of the least M = max of (s_i/p_i) w_i with Pmat - p p' <= diag(p_i s_i), both proved exactly.

    Primal: over M and s. Dual: Z positive semidefinite gives M >= <Pmat - p p', Z>/sum of (p_i^2/w_i) Z_ii, since
    <Pmat - p p', Z> <= sum of p_i s_i Z_ii <= M sum of (p_i^2/w_i) Z_ii. s belongs to the upper M.
    """
    n = pmat.nrows()
    p = [fraction(pmat[i, i]) for i in range(n)]
    column = fmpq_mat(n, 1, [rational(v) for v in p])
    excess = pmat - column * column.transpose()
    s: Any = cp.Variable(n)
    M: Any = cp.Variable()
    shares = np.array([float(w / v) for w, v in zip(weights, p, strict=True)])
    constraint = cp.diag(cp.multiply(np.array([float(v) for v in p]), s)) - _floats(excess) >> 0
    problem = cp.Problem(cp.Minimize(M), [constraint, cp.multiply(shares, s) <= M])
    problem.solve(solver=cp.CLARABEL)
    if problem.status not in ("optimal", "optimal_inaccurate"):
        raise BadInput(f"the semidefinite programme of the sampling is {problem.status}.")
    chosen = [_short(float(v)) for v in np.array(s.value)]
    margin = Fraction(1, 10**12)
    for _ in range(_TRIES):
        slack = -excess
        for i in range(n):
            slack[i, i] += rational(p[i] * chosen[i])
        if is_positive_semidefinite(slack):
            break
        chosen, margin = [v + margin for v in chosen], margin * 2
    else:
        raise BadInput("the solver's s cannot be made admissible.")
    upper = max(v * w / q for v, w, q in zip(chosen, weights, p, strict=True))
    dual = _moved_inside(_symmetric(np.array(constraint.dual_value)))
    total = sum((fraction(dual[i, i]) * p[i] ** 2 / weights[i] for i in range(n)), Fraction(0))
    return _inner(excess, dual) / total, upper, tuple(chosen)
