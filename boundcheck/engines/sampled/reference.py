"""The NumPy path: many seeds at once, one elementwise operation at a time.

It is the definition of a run. Sums over coordinates, samples and clients are written as loops of
elementwise operations in a stated order: each seed's numbers are then the same whatever other seeds share
the arrays, which a BLAS product or a NumPy reduction does not promise.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from boundcheck.engines.curve import Floats, Ints
from boundcheck.engines.sampled.lowering import Lowered, draw_cohorts, draw_order
from boundcheck.problems.problem import Arrays, Problem

__all__ = ["ArrayOracle", "Oracle", "ProblemOracle", "advance"]


class Oracle(Protocol):
    """Gradients for a batch of points, one row a seed."""

    def full(self, client: int, x: Floats) -> Floats:
        """Gradient of f_client at each row of x; shape (S, d)."""
        ...

    def component(self, index: Ints, x: Floats) -> Floats:
        """Gradient of component index[s] at row s of x; shape (S, d)."""
        ...

    def samples(self, client: int) -> tuple[int, int]:
        """The range of components that a client owns."""
        ...


class ArrayOracle:
    """The quadratic components of `Arrays`."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays

    def full(self, client: int, x: Floats) -> Floats:
        matrix = self.arrays.client_A[client]
        total = matrix[:, 0] * x[:, :1]
        for k in range(1, x.shape[1]):
            total = total + matrix[:, k] * x[:, k : k + 1]
        return total - self.arrays.client_b[client]

    def component(self, index: Ints, x: Floats) -> Floats:
        a = self.arrays
        if a.kind == "isotropic":
            return a.curvature[index, None] * x - a.b[index]
        if a.kind == "rows":
            rows = a.b[index]
            dot = rows[:, 0] * x[:, 0]
            for k in range(1, x.shape[1]):
                dot = dot + rows[:, k] * x[:, k]
            return (a.curvature[index] * (dot - a.target[index]))[:, None] * rows
        total = a.A[index, :, 0] * x[:, :1]
        for k in range(1, x.shape[1]):
            total = total + a.A[index, :, k] * x[:, k : k + 1]
        return total - a.b[index]

    def samples(self, client: int) -> tuple[int, int]:
        return int(self.arrays.offsets[client]), int(self.arrays.offsets[client + 1])


class ProblemOracle:
    """Any problem, through its own gradient, one point at a time; it has no components."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def full(self, client: int, x: Floats) -> Floats:
        rows: list[Any] = [self.problem.gradient(client, row) for row in x]
        return np.array(rows, dtype=np.float64).reshape(x.shape)

    def component(self, index: Ints, x: Floats) -> Floats:
        raise TypeError("a problem without arrays has no components")

    def samples(self, client: int) -> tuple[int, int]:
        return 0, 0


def _visit(
    lowered: Lowered, oracle: Oracle, seeds: Any, round_index: int, client: int, x: Floats, eta: float
) -> Floats:
    """What the client returns for each seed; shape (S, d)."""
    y = x
    if not lowered.reshuffled:
        for _ in range(lowered.repeats):
            y = y - eta * oracle.full(client, y)
        return y
    start, stop = oracle.samples(client)
    size = stop - start
    for epoch in range(lowered.repeats):
        order = start + draw_order(seeds, round_index, client, size, epoch)
        for begin in range(0, size, lowered.batch):
            end = min(begin + lowered.batch, size)
            gradient = oracle.component(order[:, begin], y)
            for t in range(begin + 1, end):
                gradient = gradient + oracle.component(order[:, t], y)
            y = y - eta * (gradient / (end - begin))
    return y


def _weights(lowered: Lowered, cohorts: Ints, round_index: int) -> Floats:
    """eta_g * a_i by seed and cohort position; shape (S, m)."""
    if lowered.weigh is None:
        return np.tile(lowered.coefficients[round_index % len(lowered.coefficients)], (len(cohorts), 1))
    return np.array([lowered.weigh([int(i) for i in row]) for row in cohorts], dtype=np.float64)


def advance(
    lowered: Lowered, oracle: Oracle, seeds: Any, state: Floats, first: int, stops: Ints, points: Floats
) -> None:
    """Run rounds first, ..., stops[-1] - 1 from `state` (S, d), which is updated in place.

    stops: (G,) increasing, none below `first`; points: (S, G, d), receives the state after that many rounds.
    """
    reached = first
    for g, stop in enumerate(stops):
        for r in range(reached, int(stop)):
            cohorts = draw_cohorts(lowered, seeds, r)
            weights = _weights(lowered, cohorts, r)
            eta = lowered.step(r)
            after = state.copy()
            for p in range(lowered.cohort_size):
                for client in np.unique(cohorts[:, p]):
                    rows = np.flatnonzero(cohorts[:, p] == client)
                    x = state[rows]
                    y = _visit(lowered, oracle, seeds[rows], r, int(client), x, eta)
                    after[rows] += weights[rows, p, None] * (y - x)
            state[...] = after
        reached = int(stop)
        points[:, g] = state
