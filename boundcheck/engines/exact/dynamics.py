"""Linear dynamics of a state: the point itself (fixed cohorts) or its second moments (random cohorts).

Both give the map of a round as a matrix on the state, or carry one round out step by step, and read metrics
off the state. `trajectory` and `stepwise` know no more than that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

from flint import fmpq, fmpq_mat

from boundcheck.core.linalg import identity
from boundcheck.engines.exact.affine import Affine, cohort_at, round_map, step_factors
from boundcheck.engines.exact.rings import Matrix, Ring
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import inclusion, pair

__all__ = ["Dynamics", "Moments", "Point", "stepwise", "trajectory"]

Progress = Callable[[float], None]


class Dynamics(Protocol):
    """What `trajectory` and `stepwise` need."""

    def start(self) -> Matrix:
        """The state at round 0, a column."""
        ...

    def maps(self, eta: Fraction) -> Sequence[Matrix]:
        """Matrices on the state of the rounds of one period, all with step size eta."""
        ...

    def advance(self, state: Matrix, visits: Any, round_index: int) -> Matrix:
        """The state after one round, given `visits` of the round's step size."""
        ...

    def visits(self, eta: Fraction) -> Any:
        """Whatever `advance` needs of the step size."""
        ...

    def read(self, state: Matrix) -> Mapping[str, Any]:
        """The metrics, as numbers of the ring."""
        ...


class Point:
    """Fixed cohorts: the state is z = [x - c; 1]."""

    def __init__(self, ring: Ring, method: Method, affine: Affine, clients: Clients) -> None:
        self.ring, self.method, self.affine = ring, method, affine
        self.n = len(affine.generators)
        self._generators = [ring.lift(g) for g in affine.generators]
        self._quadratic = {name: ring.lift(q) for name, q in affine.quadratic.items()}
        self._linear = {name: ring.lift(v) for name, v in affine.linear.items()}
        self._period = method.participation.period(clients)
        self._cohorts = [cohort_at(method, t, clients) for t in range(self._period)]
        # of each round of a period: the members, whether x is replaced by the only one, 1 - sum of factors, factors
        self._plan = [
            (c, len(c) == 1 and f[0] == 1, ring.scalar(1 - sum(f, Fraction(0))), [ring.scalar(v) for v in f])
            for c, f in self._cohorts
        ]
        # a few products with the state are cheaper than the power of a matrix
        self._singly = affine.repeats <= affine.start.nrows()

    def start(self) -> Matrix:
        return self.ring.lift(self.affine.start)

    def visits(self, eta: Fraction) -> Sequence[Matrix]:
        """The maps of one local step of each client, or of its whole visit where that has many steps."""
        return self.ring.visits(self._generators, eta, 1 if self._singly else self.affine.repeats)

    def maps(self, eta: Fraction) -> Sequence[Matrix]:
        visits = self.ring.visits(self._generators, eta, self.affine.repeats)
        return [round_map(self.ring, visits, cohort, factors) for cohort, factors in self._cohorts]

    def _visit(self, step: Matrix, state: Matrix) -> Matrix:
        for _ in range(self.affine.repeats if self._singly else 1):
            state = self.ring.mul(step, state)
        return state

    def advance(self, state: Matrix, visits: Sequence[Matrix], round_index: int) -> Matrix:
        cohort, replaced, rest, factors = self._plan[round_index % self._period]
        if replaced:
            return self._visit(visits[cohort[0]], state)
        total = state * rest
        for i, factor in zip(cohort, factors, strict=True):
            total = total + self._visit(visits[i], state) * factor
        return total

    def read(self, state: Matrix) -> Mapping[str, Any]:
        ring = self.ring
        values = {name: ring.mul(state.transpose(), ring.mul(q, state))[0, 0] for name, q in self._quadratic.items()}
        return values | {name: ring.mul(row, state)[0, 0] for name, row in self._linear.items()}


class Moments:
    """Random cohorts: the state is the upper triangle of S = E[z z'], a column of D(D+1)/2.

    A round with cohort C moves z by z + f sum_{i in C} (V_i - I) z, so that with G_i = V_i - I and the inclusion
    and pair probabilities p_i, p_ij: S <- S + f (G S + S G') + f^2 sum_ij p_ij G_i S G_j', G = sum p_i G_i.
    """

    def __init__(self, ring: Ring, method: Method, affine: Affine, clients: Clients) -> None:
        self.ring, self.method, self.affine = ring, method, affine
        self.n = len(affine.generators)
        self.size = affine.start.nrows()
        self.factor = step_factors(method, clients)
        self._generators = [ring.lift(g) for g in affine.generators]
        self._index = [(a, b) for a in range(self.size) for b in range(a, self.size)]
        self._readers = {name: ring.lift(self._functional(q)) for name, q in affine.quadratic.items()}
        for name, row in affine.linear.items():
            last = fmpq_mat(self.size, self.size)
            for a in range(self.size):
                last[a, self.size - 1] = row[0, a]
            self._readers[name] = ring.lift(self._functional(last))
        part, n, square = method.participation, self.n, self.factor**2
        self._drift = [ring.scalar(p * self.factor) for p in [inclusion(part, i, clients) for i in range(n)]]
        pairs = {pair(part, i, j, clients) for i in range(n) for j in range(n) if i != j}
        both = pairs.pop() if len(pairs) == 1 else Fraction(0)  # several different ones stay in `pairs`
        # with one probability for all pairs, sum_ij p_ij G_i S G_j' = p (sum G)S(sum G)' + sum_i (p_i - p) G_i S G_i'
        self._both = ring.scalar(square * both) if both else None
        found = [(i, j, pair(part, i, j, clients) - both) for i in range(n) for j in range(n) if i == j or pairs]
        self._terms = [(i, j, ring.scalar(square * p)) for i, j, p in found if p]

    def _functional(self, q: fmpq_mat) -> fmpq_mat:
        """The row with trace(q S) = row * upper triangle of S."""
        return fmpq_mat(1, len(self._index), [q[a, b] if a == b else q[a, b] + q[b, a] for a, b in self._index])

    def _pack(self, s: Matrix) -> list[Any]:
        return [s[a, b] for a, b in self._index]

    def start(self) -> Matrix:
        z = self.affine.start
        s = z * z.transpose()
        return self.ring.lift(fmpq_mat(len(self._index), 1, self._pack(s)))

    def visits(self, eta: Fraction) -> Any:
        """(f G, [(weight, left, right)]) of the step size: the terms of the round's map on S."""
        one = self.ring.lift(identity(self.size))
        moves = [v - one for v in self.ring.visits(self._generators, eta, self.affine.repeats)]
        drift = _sum([g * p for g, p in zip(moves, self._drift, strict=True)])
        terms = [(moves[i] * p, moves[j].transpose()) for i, j, p in self._terms]
        if self._both is not None:
            total = _sum(moves)
            terms.append((total * self._both, total.transpose()))
        return drift, terms

    def _round(self, s: Matrix, visits: Any) -> Matrix:
        drift, terms = visits
        half = self.ring.mul(drift, s)
        total = s + half + half.transpose()
        for left, right in terms:
            total = total + self.ring.mul(self.ring.mul(left, s), right)
        return total

    def maps(self, eta: Fraction) -> Sequence[Matrix]:
        visits = self.visits(eta)
        columns: list[list[Any]] = []
        for a, b in self._index:
            basis = fmpq_mat(self.size, self.size)
            basis[a, b] = basis[b, a] = fmpq(1)
            columns.append(self._pack(self._round(self.ring.lift(basis), visits)))
        return [self.ring.from_columns(columns)]

    def advance(self, state: Matrix, visits: Any, round_index: int) -> Matrix:
        full = self.ring.zeros(self.size, self.size)
        for k, (a, b) in enumerate(self._index):
            full[a, b] = full[b, a] = state[k, 0]
        return self.ring.from_columns([self._pack(self._round(full, visits))])

    def read(self, state: Matrix) -> Mapping[str, Any]:
        return {name: self.ring.mul(row, state)[0, 0] for name, row in self._readers.items()}


def _sum(matrices: Sequence[Matrix]) -> Matrix:
    total = matrices[0]
    for m in matrices[1:]:
        total = total + m
    return total


def trajectory(
    ring: Ring, dynamics: Dynamics, eta: Fraction, grid: Sequence[int], progress: Progress
) -> Iterator[Mapping[str, Any]]:
    """The metrics at each round of the grid, any rounds at once, for a constant step size.

    The maps of one period are composed once; the state jumps between grid points by binary powers.
    """
    maps = dynamics.maps(eta)
    period = len(maps)
    cycle = maps[0]
    for m in maps[1:]:
        cycle = ring.mul(m, cycle)
    powers = [cycle]
    at_cycle, state = 0, dynamics.start()
    for position, done in enumerate(grid):
        gap, within = done // period - at_cycle, done % period
        bit = 0
        while gap >> bit:
            if bit == len(powers):
                powers.append(ring.mul(powers[-1], powers[-1]))
            if gap >> bit & 1:
                state = ring.mul(powers[bit], state)
            bit += 1
        at_cycle = done // period
        partial = state
        for m in maps[:within]:
            partial = ring.mul(m, partial)
        yield dynamics.read(partial)
        progress((position + 1) / len(grid))


def stepwise(
    dynamics: Dynamics, method: Method, clients: Clients, grid: Sequence[int], progress: Progress
) -> Iterator[Mapping[str, Any]]:
    """The metrics at each round of the grid, one round after the other, for any schedule."""
    state = dynamics.start()
    cycle, visits = 0, None
    done = 0
    for target in grid:
        while done < target:
            now = method.cycle_of(done, clients)
            if now != cycle:
                cycle, visits = now, dynamics.visits(method.schedule.step(now))
            state = dynamics.advance(state, visits, done)
            done += 1
            if done % 1000 == 0:
                progress(done / grid[-1])
        yield dynamics.read(state)
