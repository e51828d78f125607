"""The compiled path: chooses the kernel's specialisation and hands it the arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from boundcheck.core.streams import Words
from boundcheck.engines.curve import Floats, Ints
from boundcheck.engines.sampled import drawing, kernels
from boundcheck.engines.sampled.lowering import Plain
from boundcheck.problems.problem import Arrays

PLAN_ENTRIES = 1 << 16  # how much of the plan is drawn ahead: it should stay in the processor's cache
PLAN_ROUNDS = 1 << 9  # rounds of a seed drawn ahead: enough to fill vectors
IN_REGISTERS = 64  # points of up to so many coordinates are held in registers,
MATRIX_IN_REGISTERS = 32  # and of up to so many where products with matrices are written out
ENTRIES = 32  # seeds walk side by side, at most four, until their points have so many entries

_COMPONENTS = {"isotropic": kernels.ISOTROPIC, "quadratic": kernels.MATRIX, "rows": kernels.ROWS}


def _is_scalar(matrices: Floats) -> bool:
    identity = np.eye(matrices.shape[1])
    return bool(np.all(matrices == matrices[:, :1, :1] * identity))


def _padded(values: ArrayLike, width: int) -> Floats:
    """A C-ordered writable copy, so that every problem meets the same machine code; the last axis filled with 0."""
    copy = np.array(values, dtype=np.float64, order="C")
    out = np.zeros((*copy.shape[:-1], width))
    out[..., : copy.shape[-1]] = copy
    return out


def _oracle(arrays: Arrays, reshuffled: bool) -> tuple[int, bool, tuple[Floats, Floats, Floats, Floats]]:
    """The oracle's kind, whether points are held in registers, and the arrays `kernels.execute` reads.

    The arrays are those of the components, or of the clients when steps use full gradients.
    """
    if reshuffled:
        kind, matrices, curvature, b = _COMPONENTS[arrays.kind], arrays.A, arrays.curvature, arrays.b
    else:
        matrices, b = arrays.client_A, arrays.client_b
        curvature = matrices[:, 0, 0]
        kind = kernels.ISOTROPIC if _is_scalar(matrices) else kernels.MATRIX
    dim = b.shape[1]
    in_registers = dim <= (MATRIX_IN_REGISTERS if kind == kernels.MATRIX else IN_REGISTERS)
    width = kernels.padded(dim) if in_registers else dim
    if kind != kernels.MATRIX:
        matrices = np.empty((0, dim, dim))
    columns = _padded(np.asarray(matrices).transpose(0, 2, 1), width)
    target = _padded(arrays.target, len(arrays.target))
    return kind, in_registers, (_padded(curvature, len(curvature)), _padded(b, width), target, columns)


def compiled_advance(lowered: Plain, arrays: Arrays) -> Callable[[Words, Floats, int, Ints, Floats], None]:
    """The compiled counterpart of `reference.advance` for a method and the arrays of a problem."""
    dim = arrays.b.shape[1]
    kind, in_registers, oracle = _oracle(arrays, lowered.reshuffled)
    offsets = np.array(arrays.offsets, dtype=np.int64)
    sizes = np.diff(offsets)
    counts = sizes.astype(np.uint64)
    distinct, rank = np.unique(sizes, return_inverse=True)
    drawn = not len(lowered.fixed)
    fixed = np.array(lowered.fixed, dtype=np.uint32)
    m = lowered.cohort_size
    longest = lowered.repeats * min(m * int(sizes.max()), int(sizes.sum())) if lowered.reshuffled else 0
    method = (
        np.array(lowered.coefficients, dtype=np.float64, order="C"),
        np.array(lowered.steps, dtype=np.float64),
        lowered.rounds_per_cycle,
        lowered.repeats,
        lowered.batch,
    )
    beside = 1
    if not drawn and lowered.reshuffled and in_registers:
        beside = max(1, min(4, ENTRIES // kernels.padded(dim)))
    work = kernels.FULL if not lowered.reshuffled else kernels.EPOCH if lowered.batch == 1 else kernels.MINIBATCH
    zero = (0.0,) * dim if in_registers else np.zeros(dim)
    together = (np.uint64(0),) * beside
    choice = (zero, together, (0,) * kind, (0,) * work)

    def advance(seeds: Words, state: Floats, first: int, stops: Ints, points: Floats) -> None:
        if stops[0] == first:
            points[:, 0] = state
        last = int(stops[-1])
        entries = max(1, longest + m * drawn)
        chunk = max(1, min(last - first, PLAN_ROUNDS, PLAN_ENTRIES // entries))
        at_once = max(1, min(len(seeds), PLAN_ENTRIES // (entries * chunk)))
        at_once = -(-at_once // beside) * beside
        cohort = np.empty((at_once, chunk, m) if drawn else (0, 0, 0), dtype=np.uint32)
        sequence = np.empty((at_once, chunk * longest), dtype=np.uint32)
        for begin in range(first, last, chunk):
            rounds = min(chunk, last - begin)
            stop = int(np.searchsorted(stops, begin, side="right"))
            for i in range(0, len(seeds), at_once):
                rows = slice(i, i + at_once)
                if drawn:
                    drawing.draw_cohorts(seeds[rows], begin, rounds, len(sizes), cohort, drawing.COHORT)
                if lowered.reshuffled:
                    cohorts, row = (cohort, 0) if drawn else (fixed[None], begin % len(fixed))
                    drawing.draw_orders(
                        seeds[rows], begin, rounds, offsets, sizes, rank, distinct, drawing.ORDERS, lowered.repeats,
                        cohorts, row, sequence, longest,
                    )  # fmt: skip
                kernels.execute(
                    *choice, state[rows, None], begin, rounds, stop, stops, points[rows],
                    drawn, fixed, cohort, sequence, longest, counts, *method, oracle,
                )  # fmt: skip

    return advance
