"""Linear functions of the second moments M = E[z z'] of the server state, written once, used in two ways.

`Operators` keeps them as matrices on packed M, which compose over rounds; `Applied` evaluates them at one M, which
is all that a few rounds in a large dimension can afford. A second moment Y of size (k, k) is a (k(k+1)/2, D(D+1)/2)
matrix in the first, a (k, k) matrix in the second; a functional is a row in the first, a (1, 1) matrix in the second.
"""

from __future__ import annotations

import math
from typing import Protocol

from boundcheck.engines.exact.rings import Matrix, Pairs, Ring


class Space(Protocol):
    """What the expectation over a round needs."""

    ring: Ring

    def total(self, pairs: Pairs) -> Matrix:
        """M -> sum of P M Q', symmetric in total; at least one pair."""
        ...

    def push(self, h: Matrix, y: Matrix) -> Matrix:
        """H Y H'."""
        ...

    def constant(self, gamma: Matrix) -> Matrix:
        """M -> gamma M[-1, -1], where M[-1, -1] = 1 is the moment of the state's constant coordinate."""
        ...

    def trace(self, q: Matrix, y: Matrix) -> Matrix:
        """The functional trace(q Y)."""
        ...

    def form(self, q: Matrix) -> Matrix:
        """The functional M -> trace(q M)."""
        ...

    def at(self, inner: Matrix) -> Space:
        """The same functions of another second moment, itself given as a function of M."""
        ...


class Operators:
    """Matrices on packed second moments of size (size, size); inner: what is applied to M before everything else."""

    def __init__(self, ring: Ring, size: int, inner: Matrix | None = None) -> None:
        self.ring, self.size, self.inner = ring, size, inner
        self._packed: dict[int, tuple[Matrix, Matrix]] = {}  # by id of h, which is kept alive here

    def _after(self, m: Matrix) -> Matrix:
        return m if self.inner is None else self.ring.mul(m, self.inner)

    def total(self, pairs: Pairs) -> Matrix:
        return self._after(self.ring.operator(pairs))

    def push(self, h: Matrix, y: Matrix) -> Matrix:
        if id(h) not in self._packed:
            self._packed[id(h)] = (h, self.ring.operator([(h, h)]))
        return self.ring.mul(self._packed[id(h)][1], y)

    def constant(self, gamma: Matrix) -> Matrix:
        ring = self.ring
        packed = ring.pack(gamma)
        last = ring.zeros(1, self.size * (self.size + 1) // 2)
        last[0, self.size * (self.size + 1) // 2 - 1] = 1
        return self._after(ring.mul(packed, last))

    def trace(self, q: Matrix, y: Matrix) -> Matrix:
        return self.ring.mul(self.ring.weights(q), y)

    def form(self, q: Matrix) -> Matrix:
        return self._after(self.ring.weights(q))

    def at(self, inner: Matrix) -> Operators:
        size = (math.isqrt(8 * self.ring.shape(inner)[0] + 1) - 1) // 2
        return Operators(self.ring, size, inner)


class Applied:
    """Values at one second moment M (D, D)."""

    def __init__(self, ring: Ring, moment: Matrix) -> None:
        self.ring, self.moment = ring, moment

    def total(self, pairs: Pairs) -> Matrix:
        ring = self.ring
        return ring.sum([ring.mul(ring.mul(p, self.moment), q.transpose()) for p, q in pairs])

    def push(self, h: Matrix, y: Matrix) -> Matrix:
        return self.ring.mul(self.ring.mul(h, y), h.transpose())

    def constant(self, gamma: Matrix) -> Matrix:
        last = self.ring.shape(self.moment)[0] - 1
        return gamma * self.moment[last, last]

    def trace(self, q: Matrix, y: Matrix) -> Matrix:
        return self.ring.from_rows([[self.ring.dot(q, y)]])

    def form(self, q: Matrix) -> Matrix:
        return self.trace(q, self.moment)

    def at(self, inner: Matrix) -> Applied:
        return Applied(self.ring, inner)
