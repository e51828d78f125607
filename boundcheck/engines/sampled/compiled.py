"""The compiled path: chooses the kernel's specialisation and hands it the arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from boundcheck.core.streams import Words
from boundcheck.engines.curve import Floats, Ints
from boundcheck.engines.sampled import kernels
from boundcheck.engines.sampled.lowering import Lowered
from boundcheck.problems.problem import Arrays

__all__ = ["UNROLLED", "compiled_advance"]

UNROLLED = 12  # dimensions up to this one are compiled as constants

_COMPONENTS = {"isotropic": kernels.ISOTROPIC, "quadratic": kernels.MATRIX, "rows": kernels.ROWS}


def _copy(values: object) -> Floats:
    """A C-ordered writable copy, so that every problem meets the same machine code."""
    return np.array(values, dtype=np.float64, order="C")


def _is_scalar(matrices: Floats) -> bool:
    identity = np.eye(matrices.shape[1])
    return bool(np.all(matrices == matrices[:, :1, :1] * identity))


def compiled_advance(lowered: Lowered, arrays: Arrays) -> Callable[[Words, Floats, int, Ints, Floats], None]:
    """The compiled counterpart of `reference.advance` for a method and the arrays of a problem."""
    dim = arrays.b.shape[1]
    if lowered.reshuffled:
        kind = _COMPONENTS[arrays.kind]
    else:
        kind = kernels.SCALAR if _is_scalar(arrays.client_A) else kernels.DENSE
    matrices = kind == kernels.MATRIX
    fixed_arguments = (
        lowered.clients,
        np.array(lowered.fixed, dtype=np.int64),
        _copy(lowered.coefficients),
        _copy(lowered.steps),
        lowered.rounds_per_cycle,
        lowered.repeats,
        lowered.batch,
        np.array(arrays.offsets, dtype=np.int64),
        _copy(arrays.curvature),
        _copy(arrays.b),
        _copy(arrays.target),
        _copy(arrays.A.transpose(0, 2, 1) if matrices else np.empty((0, dim, dim))),
        _copy(arrays.client_A.transpose(0, 2, 1)),
        _copy(arrays.client_b),
    )
    zero = (0.0,) * dim if dim <= UNROLLED else np.zeros(dim)
    kinds = (0.0,) * kind

    def advance(seeds: Words, state: Floats, first: int, stops: Ints, points: Floats) -> None:
        kernels.kernel(zero, kinds, seeds, state, first, stops, points, *fixed_arguments)

    return advance
