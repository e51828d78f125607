"""Constants that gradients at points show, as plain floats: never above the true ones."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np


def dissimilarity(gradients: Any, weights: Any) -> float:
    """G2 with B2 = 1: the largest sum of w_i |grad f_i - grad F|^2; gradients: (T, n, d), weights: (n)."""
    w = np.array([float(v) for v in weights])
    apart = np.asarray(gradients) - np.einsum("i,tid->td", w, gradients)[:, None, :]
    return float(np.einsum("i,tid,tid->t", w, apart, apart).max())


def variance(gradients: Any) -> float:
    """sigma_i^2 with P_i = 0: the largest variance of a client's samples' gradients, (T, m, d)."""
    count = np.shape(gradients)[1]
    return dissimilarity(gradients, np.full(count, 1 / count))


def steepest(points: Any, gradients: Any) -> float:
    """The largest |g_t - g_s|/|x_t - x_s| of different points; points, gradients: (T, d)."""
    pairs = combinations(zip(np.asarray(points), np.asarray(gradients), strict=True), 2)
    return max(float(np.linalg.norm(g - h) / np.linalg.norm(x - y)) for (x, g), (y, h) in pairs if (x != y).any())


def similarity(points: Any, gradients: Any, weights: Any) -> float:
    """delta: the largest of `steepest` of grad f_i - grad F; gradients: (T, n, d)."""
    w = np.array([float(v) for v in weights])
    apart = np.asarray(gradients) - np.einsum("i,tid->td", w, gradients)[:, None, :]
    return max(steepest(points, apart[:, i]) for i in range(len(w)))
