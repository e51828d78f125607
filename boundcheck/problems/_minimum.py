"""The minimum of a regularised sum of losses of linear scores: found by Newton's method, then certified.

F(X) = sum_j omega_j l(X a_j, y_j) + ridge/2 |X|^2, X (K, p), omega >= 0 summing to 1, is ridge-strongly convex. Hence
at any point x with |grad F(x)| <= g

    |x - x*| <= g/ridge     and     F(x) - F* <= g^2/(2 ridge),

however x was found. Without a ridge another bound r of |x - x*| is given, see `_ball_scores`, and F(x) - F* <= g r.
g and F(x) are floating-point values plus an a-priori bound of their rounding errors (dot products of k terms within
k u/(1 - k u), u = 2^-53; exp and log within 8 u), so that the certificate needs no trust in the minimisation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.certified.linear_scores import UNIT, rounding
from boundcheck.core.numbers import next_down, next_up
from boundcheck.problems._losses import Loss
from boundcheck.problems.problem import Floats

DIRECT = 1000  # up to this dimension Newton systems are solved by Cholesky, above by conjugate gradients
TRANSCENDENTAL = 64 * UNIT  # error of a residual or of a loss relative to 1 + loss, given the scores
_BLOCK = 1024  # rows that are summed at once in the certificate
_STEPS = 100


@dataclass(frozen=True, eq=False)
class Objective:
    """F as above. features: (N, p) in the clients' order; labels: (N,); shares: omega (N,)."""

    features: Floats
    labels: NDArray[Any]
    shares: Floats
    ridge: float
    loss: Loss

    def scores(self, x: Floats) -> Floats:
        """(N, K) at x (K p,)."""
        return self.features @ x.reshape(self.loss.columns, -1).T

    def value(self, x: Floats) -> float:
        """F(x)."""
        return float(self.shares @ self.loss.values(self.scores(x), self.labels) + self.ridge / 2 * (x @ x))

    def gradient(self, x: Floats) -> Floats:
        """grad F(x), (K p,)."""
        return self.both(x)[1]

    def both(self, x: Floats) -> tuple[float, Floats]:
        """F(x) and its gradient."""
        scores = self.scores(x)
        value = self.shares @ self.loss.values(scores, self.labels) + self.ridge / 2 * (x @ x)
        residuals = self.loss.residuals(scores, self.labels) * self.shares[:, None]
        return float(value), (residuals.T @ self.features).ravel() + self.ridge * x

    def hessian(self, x: Floats) -> Floats:
        """(K p, K p)."""
        scores, p, columns = self.scores(x), self.features.shape[1], self.loss.columns
        out = np.empty((columns, p, columns, p))
        for k in range(columns):
            for m in range(k + 1):
                weights = self.loss.second(scores, self.labels, k, m) * self.shares
                block = self.features.T @ (self.features * weights[:, None])
                out[k, :, m, :], out[m, :, k, :] = block, block.T
        full = out.reshape(columns * p, columns * p)
        full[np.diag_indices(columns * p)] += self.ridge
        return full

    def curved(self, x: Floats) -> Callable[[Floats], Floats]:
        """v -> Hessian v at x, without the Hessian."""
        scores = self.scores(x)
        columns = self.loss.columns
        second = [[self.loss.second(scores, self.labels, k, m) for m in range(columns)] for k in range(columns)]
        table = np.array(second).transpose(2, 0, 1) * self.shares[:, None, None]

        def product(v: Floats) -> Floats:
            moved = np.einsum("jkm,jm->jk", table, self.scores(v))
            return (moved.T @ self.features).ravel() + self.ridge * v

        return product


@dataclass(frozen=True, eq=False)
class Minimum:
    """A certified minimum: x* lies within `radius` of `point`, and F* in [low, value].

    point: (d,); value: F(point), from above; slope: bound of |grad F(point)|.
    """

    point: Floats
    value: float
    low: float
    slope: float
    radius: float

    def __str__(self) -> str:
        return (
            f"|grad F| <= {self.slope:.3g} at the point found, so that F* lies in [{self.low!r}, {self.value!r}] "
            f"and x* within {self.radius:.3g}"
        )


def certify_minimum(objective: Objective, x: Floats, reach: Callable[[float], float] | None = None) -> Minimum:
    """The certificate at x, from one evaluation with error bounds.

    reach: a bound of |x - x*| by one of |grad F(x)|, where there is no ridge.
    """
    o, loss = objective, objective.loss
    count, p = o.features.shape
    blocks = -(-count // _BLOCK)
    total = np.zeros(len(x))
    losses: list[float] = []
    norms = np.sqrt(np.einsum("jl,jl->j", o.features, o.features)) * (1 + rounding(p + 4))
    size = math.sqrt(float(x @ x)) * (1 + rounding(len(x) + 4))
    residual_sizes = np.empty(count)
    for low in range(0, count, _BLOCK):
        part = slice(low, low + _BLOCK)
        scores = o.features[part] @ x.reshape(loss.columns, -1).T
        residuals = loss.residuals(scores, o.labels[part])
        residual_sizes[part] = np.sqrt((residuals**2).sum(axis=1))
        total += ((residuals * o.shares[part, None]).T @ o.features[part]).ravel()
        losses.extend((o.shares[part] * loss.values(scores, o.labels[part])).tolist())
    gradient = total + o.ridge * x
    # Errors: of the scores, of the residuals given the scores, of the sums.
    score_error = rounding(p + 8) * size * norms
    curvature, steepness = float(loss.curvature), math.sqrt(float(loss.steepness2))
    residual_error = curvature * score_error + TRANSCENDENTAL * math.sqrt(loss.columns)
    summed = rounding(min(count, _BLOCK) + blocks + 8) * (residual_sizes + residual_error)
    weighted = o.shares * norms
    error = float(weighted @ (residual_error + summed)) + 8 * UNIT * o.ridge * size
    slope = (math.sqrt(float(gradient @ gradient)) + error) * (1 + rounding(count + len(x) + 16))
    smooth = o.ridge / 2 * size**2
    value = math.fsum(losses) + o.ridge / 2 * float(x @ x)
    off = float(o.shares @ (steepness * score_error)) + TRANSCENDENTAL * (1 + value)
    off = (off + rounding(len(x) + 16) * smooth) * (1 + rounding(count + 16))
    radius = (slope / o.ridge if reach is None else reach(slope)) * (1 + 8 * UNIT)
    below = slope * radius / (2 if reach is None else 1) * (1 + 8 * UNIT)
    low = max(0.0, next_down(value - off - below, 2))  # no loss is negative
    return Minimum(x, next_up(value + off, 2), low, next_up(slope, 2), next_up(radius, 2))


def minimise(objective: Objective) -> Floats:
    """A point with as small a gradient as double precision gives, within a bounded effort."""
    dim = objective.features.shape[1] * objective.loss.columns
    x = np.zeros(dim)
    return _newton(objective, x) if dim <= DIRECT else _large(objective, x)


def _newton(o: Objective, x: Floats) -> Floats:
    """Damped Newton steps by Cholesky until the gradient stops shrinking."""
    from scipy.linalg import cho_factor, cho_solve

    value, gradient = o.both(x)
    best = (float(np.linalg.norm(gradient)), x)
    stalled = 0
    for _ in range(_STEPS):
        try:
            step = cho_solve(cho_factor(o.hessian(x), lower=True, overwrite_a=True), gradient)
        except np.linalg.LinAlgError:  # not positive definite to rounding: features of very different or large sizes
            break
        gap = float(gradient @ step) / 2  # of the quadratic model
        x, value, gradient = _damped(o, x, value, gradient, step)
        size = float(np.linalg.norm(gradient))
        stalled = 0 if size < best[0] / 2 else stalled + 1
        if size < best[0]:
            best = (size, x)
        if stalled >= 2 and gap < 1e-20:
            break
    return best[1]


def _damped(o: Objective, x: Floats, value: float, gradient: Floats, step: Floats) -> tuple[Floats, float, Floats]:
    """The first of the steps 1, 1/2, 1/4, ... that lowers F enough, or (within rounding) the gradient."""
    fall, size, t = float(gradient @ step), float(np.linalg.norm(gradient)), 1.0
    while True:
        moved = x - t * step
        new, slope = o.both(moved)
        if new <= value - 1e-4 * t * fall or float(np.linalg.norm(slope)) < size or t < 1e-10:
            return moved, new, slope
        t /= 2


def _large(o: Objective, x: Floats) -> Floats:
    """L-BFGS, then Newton steps by conjugate gradients (truncated: each reduces the residual by a factor 10^3)."""
    from scipy.optimize import minimize
    from scipy.sparse.linalg import LinearOperator, cg

    found = minimize(
        o.both, x, jac=True, method="L-BFGS-B", options={"maxiter": 400, "maxcor": 30, "gtol": 1e-9, "ftol": 0.0}
    )
    x = np.asarray(found.x, dtype=np.float64)
    value, gradient = o.both(x)
    best = (float(np.linalg.norm(gradient)), x)
    for _ in range(8):
        if best[0] < 1e-11:  # what the certificate can tell apart on the largest data
            break
        # scipy picks the class of the operator by its arguments, which its annotations do not know
        operator: Any = LinearOperator(dtype=np.float64, shape=(len(x), len(x)), matvec=o.curved(x))  # pyright: ignore
        step, _ = cg(operator, gradient, rtol=1e-3, maxiter=200)
        x, value, gradient = _damped(o, x, value, gradient, np.asarray(step))
        size = float(np.linalg.norm(gradient))
        if size >= best[0]:
            break
        best = (size, x)
    return best[1]
