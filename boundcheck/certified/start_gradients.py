"""Certified gradients at a point where the residuals are known: what FedDANE's theorems need of the start.

Client i has the gradient R_i'A_i/|D_i|, R_i the residuals and A_i the features of its samples. In floating point each
differs from the exact one by at most the rounding of a sum of |D_i| products and by the residuals' own error.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from boundcheck.certified.linear_scores import UNIT, Floats, largest_gram, rounding
from boundcheck.core.numbers import round_down, round_up

RESIDUAL = 64 * UNIT  # error of one residual


@dataclass(frozen=True)
class StartGradients:
    """grad2 = |grad F|^2 lies in [grad2_low, grad2_high], the weighted sum of |grad f_i|^2 is at most parts_high."""

    grad2_low: Fraction
    grad2_high: Fraction
    parts_high: Fraction

    @property
    def ratio(self) -> Fraction | None:
        """B^2 from above, at least 1; None where grad F may be 0."""
        return None if self.grad2_low <= 0 else max(Fraction(1), round_up(self.parts_high / self.grad2_low))


def start_gradients(
    features: Floats, offsets: Sequence[int], weights: Sequence[Fraction], residuals: Floats
) -> StartGradients:
    """From the residuals (N, K) at the point, each within `RESIDUAL`; features (N, p), offsets and weights as usual.

    A regulariser must have the gradient 0 at the point.
    """
    columns, p = residuals.shape[1], features.shape[1]
    lengths = np.sqrt(np.einsum("jl,jl->j", features, features)) * (1 + rounding(p + 4))
    sizes = np.sqrt(np.einsum("jk,jk->j", residuals, residuals)) * (1 + rounding(columns + 4)) + RESIDUAL * columns
    total, high, error = np.zeros(columns * p), Fraction(0), 0.0
    magnitude = 0.0
    for (begin, end), weight in zip(itertools.pairwise(offsets), weights, strict=True):
        count = end - begin
        gradient = (residuals[begin:end].T @ features[begin:end]).ravel() / count
        norm = math.sqrt(float(gradient @ gradient))
        # of the sum and the division, of the residuals, of the norm
        off = rounding(count + 8) * float(sizes[begin:end] @ lengths[begin:end]) / count
        off = (off + RESIDUAL * columns * float(lengths[begin:end].mean()) + rounding(len(total) + 8) * norm) * 1.0001
        high += weight * Fraction(norm + off) ** 2
        total += float(weight) * gradient
        error += float(weight) * off
        magnitude += float(weight) * norm
    norm = math.sqrt(float(total @ total))
    error = (error + rounding(len(weights) + len(total) + 16) * (magnitude + norm)) * 1.0001
    return StartGradients(
        round_down(Fraction(max(0.0, norm - error)) ** 2),
        round_up(Fraction(norm + error) ** 2),
        round_up(high),
    )


def smoothness_of_sum(features: Floats, offsets: Sequence[int], weights: Sequence[Fraction]) -> Fraction:
    """A bound of lambda_max(sum of w_i A_i'A_i/|D_i|)."""
    scaled = np.empty_like(features)
    for (begin, end), weight in zip(itertools.pairwise(offsets), weights, strict=True):
        np.multiply(features[begin:end], math.sqrt(float(weight) / (end - begin)), out=scaled[begin:end])
    longest = float(np.einsum("jl,jl->j", features, features).max())
    return round_up(Fraction((largest_gram(scaled) + 32 * UNIT * longest) * (1 + rounding(64))))
