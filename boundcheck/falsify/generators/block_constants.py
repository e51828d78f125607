"""Constants of the instances with averaged blocks, in plain floats, under the keys of the exact ones.

They follow `setting.blocks`, to which tests hold them: least constants where there are least ones, and the same
choices where there are many.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boundcheck.engines.curve import Floats
from boundcheck.falsify.block_constants import weighted
from boundcheck.falsify.generator import Numbers
from boundcheck.falsify.generators.block_shape import Shape, covariance, hessian, pushes

ROOM = 2.0  # the factor beta^2 is so many times the least possible one, where Hessians differ


def constants_of(shape: Shape, numbers: Numbers) -> dict[str, Floats]:
    """Each (B,)."""
    H, a, b, p, start = hessian(shape, numbers), numbers["a"], pushes(shape, numbers), shape.p, numbers["start"]
    blocks = [[*block] for block in shape.partition]
    largest = np.abs(a).max(1)
    own = largest[:, None] * np.stack([_norm(H[:, block][:, :, block]) for block in blocks], 1)
    whole = largest * _norm(H)
    variance = np.einsum("bmii->bmi", covariance(shape, numbers))
    noise = np.stack([variance[:, :, block].sum(2).max(1) for block in blocks], 1)
    ratio = ((a**2) @ p) / np.maximum((a @ p) ** 2, 1e-12)
    beta2 = np.maximum(1.0, ROOM * ratio) if shape.scaled else np.ones(len(H))
    kappa2 = np.stack([_least(a, b[:, :, block], p, beta2) for block in blocks], 1)
    readings = {
        "B": own,
        "S": own,
        "W": weighted((largest[:, None, None] * H)[:, None], own, whole, blocks),
        "G": np.repeat(whole[:, None], len(blocks), axis=1),
    }
    one = np.ones(len(H))
    known = {
        "m": shape.m * one,
        "tau": shape.tau * one,
        "sum_p2": (p**2).sum() * one,
        "sigma2_total": noise.sum(1),
        "beta2_diss": beta2,
        "beta2_total": beta2,
        "kappa2_diss": kappa2.sum(1),
        "kappa2": _least(a, b, p, beta2),
        "gap_0": (a @ p) * np.einsum("bp,bpq,bq->b", start, H, start) / 2,
    }
    for suffix, values in readings.items():
        known[f"Lmax_{suffix}"] = values.max(1)
        known[f"sum_L_sigma2_{suffix}"] = (values * noise).sum(1)
        known[f"sum_L2_sigma2_{suffix}"] = (values**2 * noise).sum(1)
        known[f"sum_L2_kappa2_{suffix}"] = (values**2 * kappa2).sum(1)
    return known


def _norm(a: Floats) -> Any:
    """Spectral norms of symmetric positive semidefinite matrices, (B,)."""
    return np.linalg.eigvalsh(a)[:, -1]


def _least(a: Floats, b: Floats, p: Floats, beta2: Floats) -> Floats:
    """The largest value of sum p_i |a_i y - b_i|^2 - beta^2 |sum p_i (a_i y - b_i)|^2 over y, in these coordinates.

    y is block j of H x; where H leaves some y out this is above the least constant.
    """
    mean_a, mean_b = a @ p, np.einsum("i,bid->bd", p, b)
    room = beta2 * mean_a**2 - (a**2) @ p
    slope = np.einsum("i,bi,bid->bd", p, a, b) - (beta2 * mean_a)[:, None] * mean_b
    rest = np.einsum("i,bid->b", p, b**2) - beta2 * (mean_b**2).sum(1)
    tilted = (slope**2).sum(1)
    return rest + np.where(room > 1e-9, tilted / np.where(room > 1e-9, room, 1.0), 0.0)
