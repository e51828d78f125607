"""Gradients on the NumPy path, for a batch of points, one row a seed.

Sums over coordinates and samples are loops of elementwise operations in a stated order: each row's numbers are then
the same whatever other rows share the arrays, which a BLAS product or a NumPy reduction does not promise.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from boundcheck.engines.curve import Floats, Ints
from boundcheck.engines.simulate.solves import LINEAR, inverse, newton
from boundcheck.problems._own_problem import ask
from boundcheck.problems.problem import Arrays, Lazy, Problem

REMEMBERED = 256  # clients whose data a lazy problem's oracle keeps


class Whole(Protocol):
    """Gradients of clients."""

    def full(self, client: int, x: Floats) -> Floats:
        """Gradient of f_client at each row of x; shape (S, d)."""
        ...


class Oracle(Whole, Protocol):
    """Gradients of clients and of their samples."""

    def mean(self, client: int, samples: Ints, x: Floats) -> Floats:
        """Mean gradient of the client's samples[s] (S, B), numbered from 0, at row s of x; shape (S, d)."""
        ...

    def size(self, client: int) -> int:
        """How many samples a client holds."""
        ...

    def solve(self, client: int, x: Floats, shift: Floats, prox: float) -> Floats:
        """The minimiser of f_client(v) + <shift[s], v> + prox/2 |v - x[s]|^2 at row s; shape (S, d)."""
        ...


def _dot(rows: Floats, x: Floats) -> Floats:
    """Inner products row by row, coordinates in order."""
    total = rows[:, 0] * x[:, 0]
    for k in range(1, x.shape[1]):
        total = total + rows[:, k] * x[:, k]
    return total


def _times(matrix: Floats, x: Floats) -> Floats:
    """matrix (d, d), or one a row (S, d, d), times each row of x; columns in order."""
    total = matrix[..., 0] * x[:, :1]
    for k in range(1, x.shape[1]):
        total = total + matrix[..., k] * x[:, k : k + 1]
    return total


class ArrayOracle:
    """The components of `Arrays`."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays
        self._inverses: dict[tuple[int, float], tuple[Floats, Floats]] = {}

    def full(self, client: int, x: Floats) -> Floats:
        a = self.arrays
        if len(a.client_A):
            return _times(a.client_A[client], x) - a.client_b[client]
        count = self.size(client)
        total = self.mean(client, np.tile(np.arange(count), (len(x), 1)), x)
        return total * count if a.reduction == "sum" else total

    def mean(self, client: int, samples: Ints, x: Floats) -> Floats:
        index = self.arrays.offsets[client] + samples
        gradient = self._component(index[:, 0], x)
        for t in range(1, index.shape[1]):
            gradient = gradient + self._component(index[:, t], x)
        gradient = gradient / index.shape[1]
        return gradient + self.arrays.ridge * x if self.arrays.ridge else gradient

    def _component(self, index: Ints, x: Floats) -> Floats:
        """Gradient of component index[s], without its ridge, at row s of x; shape (S, d)."""
        a = self.arrays
        if a.kind == "isotropic":
            return a.curvature[index, None] * x - a.b[index]
        if a.kind == "quadratic":
            return _times(a.A[index], x) - a.b[index]
        rows = a.b[index]
        if a.kind == "rows":
            return (a.curvature[index] * (_dot(rows, x) - a.target[index]))[:, None] * rows
        if a.kind == "logistic":
            y = a.target[index]
            return (-y / (1.0 + np.exp(y * _dot(rows, x))))[:, None] * rows
        return self._softmax(rows, a.target[index].astype(np.int64), x)

    def _softmax(self, rows: Floats, labels: Ints, x: Floats) -> Floats:
        p = rows.shape[1]
        scores = [_dot(rows, x[:, c * p : (c + 1) * p]) for c in range(self.arrays.classes)]
        top = scores[0]
        for s in scores[1:]:
            top = np.maximum(top, s)
        powers = [np.exp(s - top) for s in scores]
        total = powers[0]
        for e in powers[1:]:
            total = total + e
        return np.concatenate([(e / total - (labels == c))[:, None] * rows for c, e in enumerate(powers)], axis=1)

    def size(self, client: int) -> int:
        return int(self.arrays.offsets[client + 1] - self.arrays.offsets[client])

    def solve(self, client: int, x: Floats, shift: Floats, prox: float) -> Floats:
        if self.arrays.kind in LINEAR:
            return np.array([newton(self.arrays, client, x[s], shift[s], prox) for s in range(len(x))])
        key = (client, prox)
        if key not in self._inverses:
            self._inverses[key] = inverse(self.arrays, client, prox)
        matrix, inverted = self._inverses[key]
        # from x, so that the step keeps its digits near a solution; the second pass takes back the inverse's rounding
        slope = self.full(client, x) + shift
        step = _times(inverted, slope)
        return x - (step + _times(inverted, slope - _times(matrix, step)))


class LazyOracle:
    """A problem that makes the data of a client when it is asked for."""

    def __init__(self, problem: Lazy) -> None:
        self.problem = problem
        self._clients: dict[int, ArrayOracle] = {}

    def _of(self, client: int) -> ArrayOracle:
        found = self._clients.get(client)
        if found is None:
            if len(self._clients) >= REMEMBERED:
                self._clients.clear()
            found = self._clients[client] = ArrayOracle(self.problem.client_arrays(client))
        return found

    def full(self, client: int, x: Floats) -> Floats:
        return self._of(client).full(0, x)

    def mean(self, client: int, samples: Ints, x: Floats) -> Floats:
        return self._of(client).mean(0, samples, x)

    def size(self, client: int) -> int:
        return self._of(client).size(0)

    def solve(self, client: int, x: Floats, shift: Floats, prox: float) -> Floats:
        return self._of(client).solve(0, x, shift, prox)


class ProblemOracle:
    """Any problem, through its own gradient, one point at a time; it has no samples."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def full(self, client: int, x: Floats) -> Floats:
        rows: list[Any] = [ask(self.problem, "gradient", client, row) for row in x]
        return np.array(rows, dtype=np.float64).reshape(x.shape)

    def mean(self, client: int, samples: Ints, x: Floats) -> Floats:
        raise TypeError("a problem without arrays has no samples")

    def size(self, client: int) -> int:
        return 1

    def solve(self, client: int, x: Floats, shift: Floats, prox: float) -> Floats:
        raise TypeError("a problem without arrays has no known Hessians")
