"""Gradients of single samples' losses f_ij, for the hypotheses that are about every sample.

Quadratic problems with explicit components give them exactly where the point is exact; other problems with a flat
layout (`Arrays`) in double precision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.problems.problem import flat_arrays

if TYPE_CHECKING:
    from boundcheck.problems.problem import Arrays, Problem


SampleGradients = Callable[[int, int, NDArray[Any]], NDArray[Any]]  # (client, sample, x (d,)) -> (d,)


def sample_gradients(problem: Problem) -> tuple[SampleGradients, tuple[int, ...]] | None:
    """The gradient of f_ij, and how many samples each client has; None where the problem gives none."""
    from boundcheck.problems.quadratics import Quadratics

    if isinstance(problem, Quadratics):
        return _of_components(problem), tuple(problem.sizes)
    layout = flat_arrays(problem)
    if layout is None:
        return None
    counts = tuple(int(c) for c in np.diff(layout.offsets))
    kinds = ("quadratic", "isotropic", "rows", "logistic", "softmax")
    return (_of_arrays(layout), counts) if layout.kind in kinds else None


def _of_components(problem: Any) -> SampleGradients:
    # a sample of a "sum" client weighs as many times more, so that f_i is the mean of its samples all the same
    factors = [len(c) if problem.reduction == "sum" else 1 for c in problem.components]
    exact = [
        [(k * np.array(c.A, dtype=object), k * np.array(c.b, dtype=object)) for c in client]
        for k, client in zip(factors, problem.components, strict=True)
    ]
    plain = [[(a.astype(np.float64), b.astype(np.float64)) for a, b in client] for client in exact]

    def gradient(client: int, sample: int, x: NDArray[Any]) -> NDArray[Any]:
        a, b = (exact if x.dtype == object else plain)[client][sample]
        return a @ x - b

    return gradient


def _of_arrays(layout: Arrays) -> SampleGradients:
    def gradient(client: int, sample: int, x: NDArray[Any]) -> NDArray[Any]:
        point = np.asarray(x, dtype=np.float64)
        j = int(layout.offsets[client]) + sample
        found = _gradient(layout, j, point)
        return found * float(np.diff(layout.offsets)[client]) if layout.reduction == "sum" else found

    return gradient


def _gradient(layout: Arrays, j: int, x: NDArray[Any]) -> NDArray[Any]:
    """Gradient of component j (see `problems.problem.Arrays`)."""
    if layout.kind == "quadratic":
        return layout.A[j] @ x - layout.b[j]
    if layout.kind == "isotropic":
        return layout.curvature[j] * x - layout.b[j]
    row = layout.b[j]
    if layout.kind == "rows":
        return layout.curvature[j] * (row @ x - layout.target[j]) * row
    if layout.kind == "logistic":
        y = layout.target[j]
        with np.errstate(over="ignore"):
            return -y / (1 + np.exp(y * (row @ x))) * row + layout.ridge * x
    scores = x.reshape(layout.classes, -1) @ row
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    shares[int(layout.target[j])] -= 1
    return np.outer(shares, row).reshape(-1) + layout.ridge * x
