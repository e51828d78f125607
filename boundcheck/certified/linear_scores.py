"""Certified constants of sums of losses of linear scores, from the features alone.

Client i has the features a_j, j in D_i, and the data part f_i(X) = (1/|D_i|) sum_j l(X a_j, y_j); F = sum w_i f_i.
A ridge, equal for all samples, cancels in every difference below. For every score vector s and label y, h is at least
the largest eigenvalue of the Hessian of l in s, s2 at least |r(s, y)|^2 for the residual r = dl/ds, and rho2 at least
|r(s, y) - r(0, y)|^2. With lambda_i = lambda_max(sum_j a_j a_j'/|D_i|):

    Hessians      0 <= hess l_j <= h |a_j|^2,   0 <= hess f_i <= h lambda_i
    gradients     |grad f_i(x) - grad f_i(0)| <= rho sqrt(lambda_i),   |grad f_i(x)|^2 <= s2 lambda_i,
                  because grad f_i is R'A_i/|D_i| with |R|_F^2 <= s2 |D_i| (rho2 |D_i| around R(0))
    clients       sum w_i |grad f_i - grad F|^2 <= (sqrt(sum w_i |grad f_i(0) - grad F(0)|^2) + rho sqrt(sum w_i
                  lambda_i))^2, by the triangle inequality, and <= s2 sum w_i lambda_i: so (4) holds with B^2 = 1
    samples       the same within a client, with mean |a_j|^2 in place of lambda_i: so A3.4 holds with P_i = 0
    similarity    hess f_i - hess F lies between -h lambda_max(sum_{k != i} w_k A_k'A_k/|D_k|) and h (1 - w_i) lambda_i

lambda_max of a Gram matrix comes from floating point with a proof: t I - G has a Cholesky factor in floating point only
if lambda_min(t I - G) >= -c trace(t I - G), c = gamma_{n+1}/(1 - gamma_{n+1}) (J. Demmel; S. Rump, Verification of
positive definiteness, BIT 46, 2006), and G differs from the exact Gram matrix by at most gamma_m |A|_F^2. Sums of
nonnegative terms are enlarged by their largest relative rounding error.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.numbers import round_up

Floats = NDArray[np.float64]
UNIT = 2.0**-53


def rounding(terms: int) -> float:
    """k u/(1 - k u) for k = terms, rounded up: the relative error of a sum of k nonnegative terms, or of a product."""
    return terms * UNIT / (1 - terms * UNIT) * (1 + 1e-12)


@dataclass(frozen=True)
class Bounds:
    """Upper bounds for the data parts (without ridge), rational, of 13 digits.

    sample: of the smoothness of every l_j; clients: of every f_i; G2: with B2 = 1; noise2: (1/|D|) sum sigma_i^2;
    delta.
    """

    sample: Fraction
    clients: tuple[Fraction, ...]
    G2: Fraction
    noise2: Fraction
    delta: Fraction


def largest_gram(rows: Floats) -> float:
    """A float that is at least lambda_max(rows' rows)."""
    count, p = rows.shape
    inner, n = (count, p) if p <= count else (p, count)
    gram = rows.T @ rows if p <= count else rows @ rows.T
    trace = float(np.trace(gram))
    if trace == 0.0:
        return 0.0
    total = trace * (1 + rounding(inner + n + 4))  # of |A|_F^2
    crude = total
    guess = _largest(gram)
    for spare in (2.0**-32, 2.0**-26, 2.0**-20, 2.0**-10):
        t = guess * (1 + spare)
        shifted = -gram
        shifted[np.diag_indices(n)] += t
        try:
            np.linalg.cholesky(shifted)
        except np.linalg.LinAlgError:
            continue
        c = rounding(n + 2) / (1 - rounding(n + 2))
        room = float(np.trace(shifted)) * (1 + rounding(n + 4))
        bound = t + c * room + 2 * UNIT * (t + trace) + rounding(inner + 2) * total
        return min(bound * (1 + 16 * UNIT), crude)
    return crude


def _largest(gram: Floats) -> float:
    """The largest eigenvalue as floating point has it."""
    from scipy.sparse.linalg import ArpackError, eigsh

    if len(gram) > 60:
        try:
            found = eigsh(gram, k=1, v0=np.ones(len(gram)), which="LA", return_eigenvectors=False)
            return float(found[0])
        except ArpackError:
            pass
    return float(np.linalg.eigvalsh(gram)[-1])


def bounds(
    features: Floats,
    offsets: Sequence[int],
    weights: Sequence[Fraction],
    residuals: Floats,
    *,
    curvature: Fraction,
    steepness2: Fraction,
    radius2: Fraction,
) -> Bounds:
    """The constants of n clients.

    features: (N, p), client i owns the rows offsets[i] to offsets[i + 1]; weights: (n), at least 0, summing to 1;
    residuals: at X = 0, (N, K), each within one rounding; curvature, steepness2, radius2: h, s2 and rho2.
    """
    count, p = features.shape
    n = len(weights)
    most = max(high - low for low, high in itertools.pairwise(offsets))
    enlarge = 1 + rounding(2 * (most + p * residuals.shape[1] + n + 64))
    share = np.array([float(w) for w in weights])
    top, steep2 = float(curvature), float(steepness2)
    radius = math.sqrt(float(radius2)) * (1 + 4 * UNIT)
    norms2 = np.einsum("jl,jl->j", features, features) * enlarge
    longest = math.sqrt(float(norms2.max())) * enlarge
    slope_error = rounding(most + n + 16) * longest * math.sqrt(steep2) * enlarge
    largest, at_zero, variances = np.empty(n), np.empty((n, residuals.shape[1] * p)), np.zeros(n)
    scaled = np.empty_like(features)
    residual2 = np.einsum("jk,jk->j", residuals, residuals)
    for i, (low, high) in enumerate(itertools.pairwise(offsets)):
        part, size = features[low:high], high - low
        largest[i] = largest_gram(part) / size * enlarge
        at_zero[i] = (residuals[low:high].T @ part).ravel() / size
        np.multiply(part, math.sqrt(share[i] / size), out=scaled[low:high])
        if size > 1:
            mean2 = float(norms2[low:high].mean()) * enlarge
            slope = max(0.0, float(np.linalg.norm(at_zero[i])) / enlarge - slope_error)
            start = max(0.0, float(residual2[low:high] @ norms2[low:high]) / size * enlarge - slope**2 / enlarge)
            variances[i] = min((math.sqrt(start) + radius * math.sqrt(mean2)) ** 2, steep2 * mean2) * enlarge
    mean = float(largest @ share) * enlarge
    apart = at_zero - share @ at_zero
    between = math.sqrt(float(share @ np.einsum("il,il->i", apart, apart))) * enlarge + 2 * slope_error
    clients_apart = min((between + radius * math.sqrt(mean)) ** 2, steep2 * mean) * enlarge
    everyone = (largest_gram(scaled) + 16 * UNIT * float(norms2.max())) * enlarge
    others = float(share @ largest) - share * largest + 2 * rounding(n + 8) * mean
    below = np.minimum(others * enlarge, everyone).max()
    above = ((1 - share + 4 * UNIT) * largest).max()
    delta = top * max(float(above), float(below)) * enlarge
    if n == 1:
        clients_apart = delta = 0.0  # the only client is F
    return Bounds(
        sample=round_up(Fraction(top * float(norms2.max()) * enlarge)),
        clients=tuple(round_up(Fraction(top * float(v) * enlarge)) for v in largest),
        G2=round_up(Fraction(clients_apart)),
        noise2=round_up(Fraction(float(variances.sum()) / count * enlarge)),
        delta=round_up(Fraction(delta)),
    )
