"""Losses of linear scores: what logistic and softmax regression differ in, and nothing else.

A sample with features a (p,) and label y has the scores s = X a, X (K, p), and the loss l(s, y). Its gradient in X is
r a' with the residual r = dl/ds, which depends on x through the scores alone. A loss has

columns: K. curvature: the largest eigenvalue of the Hessian in s, from above. steepness2: largest |r|^2. radius2:
largest |r(s, y) - r(0, y)|^2. All are exact and hold for every s and y. levels: exp of the loss at s = 0.
values(scores, labels): l of each sample; scores (..., N, K), labels (N,), result (..., N).
residuals(scores, labels): r, of the shape of the scores; within 64 units of 2^-53 of that of the rounded scores.
second(scores, labels, k, m): d^2 l / ds_k ds_m of each sample (N,).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.problems.problem import Floats


@dataclass(frozen=True)
class Logistic:
    """log(1 + exp(-y s)), y = +1 or -1: r = -y/(1 + exp(y s)) lies between 0 and -y."""

    columns: int = 1
    curvature: Fraction = Fraction(1, 4)
    steepness2: Fraction = Fraction(1)
    radius2: Fraction = Fraction(1, 4)
    levels: int = 2

    def values(self, scores: Floats, labels: NDArray[Any]) -> Floats:
        """See above."""
        return np.logaddexp(0.0, -labels * scores[..., 0])

    def residuals(self, scores: Floats, labels: NDArray[Any]) -> Floats:
        """See above."""
        margin = labels * scores[..., 0]
        small = np.exp(-np.abs(margin))
        return (-labels * np.where(margin >= 0, small, 1.0) / (1.0 + small))[..., None]

    def second(self, scores: Floats, labels: NDArray[Any], k: int, m: int) -> Floats:
        """See above."""
        small = np.exp(-np.abs(scores[..., 0]))
        return small / (1.0 + small) ** 2


@dataclass(frozen=True)
class Softmax:
    """log sum_k exp(s_k) - s_y: r = p - e_y with p the softmax of s. The Hessian diag(p) - pp' is at most I/2."""

    columns: int
    curvature: Fraction = Fraction(1, 2)
    steepness2: Fraction = Fraction(2)

    @property
    def radius2(self) -> Fraction:
        """|p - 1/K|^2 is at most 1 - 1/K."""
        return 1 - Fraction(1, self.columns)

    @property
    def levels(self) -> int:
        """K."""
        return self.columns

    def values(self, scores: Floats, labels: NDArray[Any]) -> Floats:
        """See above."""
        top = scores.max(axis=-1)
        own = np.take_along_axis(scores, np.broadcast_to(labels[:, None], (*scores.shape[:-1], 1)), axis=-1)[..., 0]
        return np.log(np.exp(scores - top[..., None]).sum(axis=-1)) + (top - own)

    def residuals(self, scores: Floats, labels: NDArray[Any]) -> Floats:
        """See above."""
        out = _softmax(scores)
        out[..., np.arange(len(labels)), labels] -= 1.0
        return out

    def second(self, scores: Floats, labels: NDArray[Any], k: int, m: int) -> Floats:
        """See above."""
        p = _softmax(scores)
        return p[..., k] * ((k == m) - p[..., m])


Loss = Logistic | Softmax


def _softmax(scores: Floats) -> Floats:
    out = np.exp(scores - scores.max(axis=-1, keepdims=True))
    out /= out.sum(axis=-1, keepdims=True)
    return out
