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

PLAN_ENTRIES = 1 << 16  # how much of the plan is drawn ahead: it should stay in the processor's cache
PLAN_ROUNDS = 1 << 9  # rounds of a seed drawn ahead: enough to fill vectors
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
    offsets = np.array(arrays.offsets, dtype=np.int64)
    sizes = np.diff(offsets)
    drawn = not len(lowered.fixed)
    fixed = np.array(lowered.fixed, dtype=np.uint32)
    coefficients = _copy(lowered.coefficients)
    m = lowered.cohort_size
    longest = lowered.repeats * min(m * int(sizes.max()), int(sizes.sum())) if lowered.reshuffled else 0

    def laid_out(matrices: Floats) -> Floats:
        return matrices if dim <= UNROLLED else matrices.transpose(0, 2, 1)

    oracle = (
        _copy(arrays.curvature),
        _copy(arrays.b),
        _copy(arrays.target),
        _copy(laid_out(arrays.A) if kind == kernels.MATRIX else np.empty((0, dim, dim))),
        _copy(laid_out(arrays.client_A)),
        _copy(arrays.client_b),
    )
    method = (coefficients, _copy(lowered.steps), lowered.rounds_per_cycle, lowered.repeats, lowered.batch)
    zero = (0.0,) * dim if dim <= UNROLLED else np.zeros(dim)
    kinds = (0.0,) * kind
    single = (0.0,) if lowered.batch == 1 else ()

    def advance(seeds: Words, state: Floats, first: int, stops: Ints, points: Floats) -> None:
        if stops[0] == first:
            points[:, 0] = state
        last = int(stops[-1])
        entries = max(1, longest + m * drawn)
        chunk = max(1, min(last - first, PLAN_ROUNDS, PLAN_ENTRIES // entries))
        together = max(1, min(len(seeds), PLAN_ENTRIES // (entries * chunk)))
        cohort = np.empty((together, chunk, m) if drawn else (0, 0, 0), dtype=np.uint32)
        sequence = np.empty((together, chunk * longest), dtype=np.uint32)
        for begin in range(first, last, chunk):
            rounds = min(chunk, last - begin)
            stop = int(np.searchsorted(stops, begin, side="right"))
            for i in range(0, len(seeds), together):
                rows = slice(i, i + together)
                if drawn or lowered.reshuffled:
                    kernels.draw(
                        seeds[rows], begin, rounds, offsets, fixed, drawn, lowered.reshuffled, lowered.repeats,
                        cohort, sequence, longest,
                    )  # fmt: skip
                kernels.execute(
                    zero, kinds, single, state[rows], begin, rounds, stop, stops, points[rows],
                    drawn, fixed, cohort, sequence, longest, sizes, *method, *oracle,
                )  # fmt: skip

    return advance
