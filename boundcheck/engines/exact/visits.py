"""Expectations over one client's local steps: its mean map, its noise, and what is watched on the way.

A local step is y <- H_j y + L_j z with the sample j, z the server's state at the round's start; without momentum
H_j = I - k A_j and L_j z = k o_j, k = eta * scale. A visit therefore returns V z, V random, (d, D). Wanted are
E[V] and the covariance Cov(M) = E[V M V'] - E[V] M E[V]' as a function of M = E[z z'].

- Where all samples of the client have one Hessian (or none is drawn), only the offsets are random and the covariance
  does not depend on M. With C the population covariance of the o_j, the sum of offsets of steps with m_t
  samples each, drawn without replacement from N, has the covariances (N/(m_t [s=t]) - 1)/(N-1) C.
- Otherwise a dynamic programme goes over the multisets u of samples that an epoch has used: with p the
  (hypergeometric) probability that the next batch is beta, of mean gradient (H, L), the unnormalised moments move by
  (P_u, V_u, Y_u) -> p (P_u, H V_u + P_u L, H Y_u H' + H V_u M L' + L M V_u' H' + P_u L M L').

A proximal term mu/2 |y - x|^2 adds -k mu to H and k mu x to L z. An exact solve returns
x - (A + mu I)^-1 (A x - o), the minimiser of the objective with that term. In a *shifted* visit the objective has the
further term <e, y - x>, with e the last d entries of the vector on which V acts: [z; e] instead of z.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq, fmpq_mat

from boundcheck.certified.definite import is_positive_semidefinite
from boundcheck.core.linalg import identity, rational
from boundcheck.engines.exact.rings import Matrix, Ring, powers_sum
from boundcheck.engines.exact.space import Space
from boundcheck.engines.exact.state import Exact, Samples
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.method import Method
from boundcheck.methods.parts import StepSize, Visit


@dataclass(frozen=True)
class Outcome:
    """What a visit returns. mean: E[V] (d, D). gamma: a covariance that does not depend on M (d, d), or None;
    covariance: one that does, as the space keeps it, or None (both None: nothing is random)."""

    mean: Matrix
    gamma: Matrix | None = None
    covariance: Matrix | None = None


@dataclass(frozen=True)
class Step:
    """The local point before step `index` (from 0) of a visit: mean map V (d, D), and gamma (d, d) or second, E[y y']
    as the space keeps it, or neither where nothing is random yet."""

    index: int
    mean: Matrix
    gamma: Matrix | None = None
    second: Matrix | None = None


@dataclass(frozen=True)
class _Kind:
    """One step map: how likely, H (d, d), L (d, D)."""

    p: Fraction
    h: Matrix
    right: Matrix


State = tuple[Fraction, Matrix, Matrix | None]  # mass, V, Y (None: not wanted)


def batch_sizes(size: int, batch: int, steps: int) -> list[int]:
    """Samples of each step: `batch`, and what is left in the last step of an epoch."""
    each = -(-size // batch)
    return [min(batch, size - step % each * batch) for step in range(steps)]


class Local:
    """The local work of a method's clients on a problem, in one arithmetic."""

    def __init__(self, ring: Ring, method: Method, exact: Exact, *, shifted: bool = False) -> None:
        self.ring, self.exact = ring, exact
        layout, momentum = exact.layout, method.momentum
        self.pick = ring.lift(_widened(layout.block(0), layout.d * shifted))
        self._unit = ring.one(layout.d)
        self._one = ring.lift(_widened(layout.one, layout.d * shifted))
        self._shift = ring.lift(_last(layout.size, layout.d)) if shifted else None
        self._stale = None if momentum is None else ring.lift(layout.block(layout.momentum))
        rest = Fraction(1) if momentum is None else 1 - momentum.a
        self._rest = ring.scalar(rest)
        self._fresh = Fraction(1) if momentum is None else momentum.a  # what multiplies the offset
        self._compares = momentum is not None and momentum.variance_reduced
        # what multiplies the gradient's linear part at y
        self._share = self._fresh if momentum is not None and not momentum.variance_reduced else Fraction(1)
        self._lifted: dict[int, tuple[list[Matrix], list[Matrix]]] = {}
        self._solves: dict[tuple[int, Fraction], Matrix] = {}

    def start_from(self, pick: Matrix) -> None:
        """Let visits begin at the point that this matrix (d, D) takes from the state, instead of the server's."""
        self.pick, self._solves = pick, {}

    def _data(self, client: int) -> tuple[list[Matrix], list[Matrix]]:
        """Hessians and offsets of the client's samples (or of the client itself)."""
        if client not in self._lifted:
            if self.exact.samples is None:
                a, o = self.exact.whole[client]
                own = Samples((a,), (o,), (1,))
            else:
                own = self.exact.samples[client]
            lift = self.ring.lift
            self._lifted[client] = ([lift(a) for a in own.hessians], [lift(o) for o in own.offsets])
        return self._lifted[client]

    def _map(self, a: Matrix, o: Matrix, step: Fraction, prox: Fraction) -> tuple[Matrix, Matrix]:
        """(H, L) of a step with Hessian a (d, d) and offset o (d, 1), step = eta * scale."""
        ring, k = self.ring, self.ring.scalar(step)
        h = self._unit - a * ring.scalar(step * self._share)
        right = ring.mul(o * ring.scalar(step * self._fresh), self._one)
        if prox:
            h = h - self._unit * ring.scalar(step * prox)
            right = right + self.pick * ring.scalar(step * prox)
        if self._shift is not None:
            right = right - self._shift * k
        if self._stale is not None:
            right = right - self._stale * (k * self._rest)
            if self._compares:
                right = right + ring.mul(a, self.pick) * (k * self._rest)
        return h, right

    def counts(self, client: int) -> tuple[int, ...]:
        """How often each distinct sample of the client occurs."""
        return (1,) if self.exact.samples is None else self.exact.samples[client].counts

    def closed(self, client: int, visit: Visit) -> bool:
        """Whether the covariance of a visit does not depend on the state."""
        alone = visit.sampling in ("full", "exact") or sum(self.counts(client)) == 1
        return alone or len(self._data(client)[0]) == 1 or visit.steps == 0

    def run(
        self, space: Space | None, client: int, visit: Visit, eta: StepSize, watched: list[Step] | None = None
    ) -> Outcome:
        """The outcome of a visit; `watched` receives the local point before every step.

        space: None for the mean alone where the covariance depends on M (see `closed`).
        """
        if visit.steps == 0:
            return Outcome(self.pick)
        if visit.sampling == "exact":
            if watched is not None:
                watched.append(Step(0, self.pick))
            return Outcome(self._solved(client, visit.prox))
        hessians, offsets = self._data(client)
        prox = visit.prox
        if isinstance(eta, tuple):
            return self._changing(space, client, visit, [v * visit.scale for v in eta], watched)
        step = eta * visit.scale
        if visit.sampling == "full" or sum(self.counts(client)) == 1:
            h, right = self._map(hessians[0], offsets[0], step, prox)
            return self._closed(h, right, None, visit, 1, watched)
        if len(hessians) == 1:
            mean, spread = self._population(offsets, self.counts(client), step)
            h, right = self._map(hessians[0], mean, step, prox)
            return self._closed(h, right, spread, visit, sum(self.counts(client)), watched)
        kinds = self._kinds(client, step, prox)
        return self._programme(space, client, [kinds] * visit.steps, visit, watched)

    def _kinds(self, client: int, step: Fraction, prox: Fraction) -> list[_Kind]:
        """The step maps of the client's samples, for a step of this size."""
        total = sum(self.counts(client))
        return [
            _Kind(Fraction(count, total), *self._map(a, o, step, prox))
            for a, o, count in zip(*self._data(client), self.counts(client), strict=True)
        ]

    def _changing(
        self, space: Space | None, client: int, visit: Visit, sizes: Sequence[Fraction], watched: list[Step] | None
    ) -> Outcome:
        """A visit whose local steps have these sizes.

        Where all Hessians agree, the offsets of an epoch's batches that are drawn without replacement have the
        covariances S n/(n-1)/m - S/(n-1) (a batch of m of the n samples) and -S/(n-1) (two batches), S that of one
        sample. With sums = sum of the batches' factors in y, the part -S/(n-1) is -sums S sums'/(n-1).
        """
        ring, (hessians, offsets) = self.ring, self._data(client)
        size = sum(self.counts(client))
        if len(hessians) > 1 and visit.sampling != "full":
            return self._programme(space, client, [self._kinds(client, v, visit.prox) for v in sizes], visit, watched)
        plain = visit.sampling == "full" or size == 1
        offset, spread = (offsets[0], None) if plain else self._population(offsets, self.counts(client), Fraction(1))
        reshuffled = visit.sampling == "reshuffled"
        apart = Fraction(size, size - 1) if reshuffled and size > 1 else Fraction(1)
        each = -(-size // visit.batch)
        mean, own, sums = self.pick, None, None  # sums: of the epoch so far

        def gamma() -> Matrix | None:
            if own is None or sums is None or spread is None or not reshuffled:
                return own
            joint = ring.mul(ring.mul(sums, spread), sums.transpose())
            return own - joint * ring.scalar(Fraction(1, size - 1))

        for k, (step, m) in enumerate(zip(sizes, batch_sizes(size, visit.batch, visit.steps), strict=True)):
            if k % each == 0:
                own, sums = gamma(), None
            if watched is not None:
                watched.append(Step(k, mean, gamma()))
            h, right = self._map(hessians[0], offset, step, visit.prox)
            mean = ring.mul(h, mean) + right
            if spread is not None:
                fresh = spread * ring.scalar(step * step * apart / m)
                own = fresh if own is None else ring.mul(ring.mul(h, own), h.transpose()) + fresh
                sums = (
                    self._unit * ring.scalar(step)
                    if sums is None
                    else ring.mul(h, sums) + self._unit * ring.scalar(step)
                )
        return Outcome(mean, gamma())

    def _solved(self, client: int, prox: Fraction) -> Matrix:
        """The map to the minimiser of f_i with the proximal term (d, D). Raises BadInput where there is none."""
        if (client, prox) not in self._solves:
            ring, (a, o) = self.ring, self.exact.whole[client]
            if self._stale is not None:
                raise Unsupported("a momentum goes with local steps, and an exact solve takes none.")
            curved = a + identity(a.nrows()) * rational(prox)
            if curved.rank() < a.nrows() or not is_positive_semidefinite(curved):
                raise BadInput(
                    f"the subproblem of client {client} with mu = {prox} is not strongly convex, so that it has no "
                    "unique minimiser; take a larger mu or local steps."
                )
            slope = ring.mul(ring.lift(a), self.pick) - ring.mul(ring.lift(o), self._one)
            if self._shift is not None:
                slope = slope + self._shift
            self._solves[client, prox] = self.pick - ring.solve(ring.lift(curved), slope)
        return self._solves[client, prox]

    # --- one Hessian ------------------------------------------------------------------------------------------

    def _population(self, offsets: list[Matrix], counts: Sequence[int], step: Fraction) -> tuple[Matrix, Matrix]:
        """Mean (d, 1) of the offsets, and the covariance (d, d) of what one of them adds to y."""
        ring, total = self.ring, sum(counts)
        shares = [ring.scalar(Fraction(c, total)) for c in counts]
        mean = ring.sum([o * p for o, p in zip(offsets, shares, strict=True)])
        apart = ring.from_rows([[v for row in ring.rows((o - mean).transpose()) for v in row] for o in offsets])
        weighted = ring.from_rows([[v * p for v in row] for row, p in zip(ring.rows(apart), shares, strict=True)])
        spread = ring.mul(weighted.transpose(), apart)
        return mean, spread * ring.scalar((step * self._fresh) ** 2)

    def _closed(
        self, h: Matrix, right: Matrix, spread: Matrix | None, visit: Visit, size: int, watched: list[Step] | None
    ) -> Outcome:
        """All steps have the map (h, right) on average; spread: of one sample's offset, population of `size`."""
        if watched is not None:
            for index in range(visit.steps):
                mean, gamma = self._after(h, right, spread, visit, size, index)
                watched.append(Step(index, mean, gamma))
        return Outcome(*self._after(h, right, spread, visit, size, visit.steps))

    def _after(
        self, h: Matrix, right: Matrix, spread: Matrix | None, visit: Visit, size: int, steps: int
    ) -> tuple[Matrix, Matrix | None]:
        """Mean map and covariance after so many steps."""
        ring = self.ring
        if steps == 0:
            return self.pick, None
        if steps == 1 and spread is None:
            return ring.mul(h, self.pick) + right, None
        p, s, _ = powers_sum(ring, h, steps)
        mean = ring.mul(p, self.pick) + ring.mul(s, right)
        if spread is None:
            return mean, None
        each = -(-size // visit.batch)
        epochs, rest = divmod(steps, each)
        gamma = None
        if epochs:
            power, own = self._epoch(h, spread, visit, size, each)
            gamma = powers_sum(ring, power, epochs, own)[2]
        if rest:
            power, own = self._epoch(h, spread, visit, size, rest)
            gamma = own if gamma is None else ring.mul(ring.mul(power, gamma), power.transpose()) + own
        return mean, gamma

    def _epoch(self, h: Matrix, spread: Matrix, visit: Visit, size: int, steps: int) -> tuple[Matrix, Matrix]:
        """(h^steps, covariance added) of the first steps of an epoch."""
        ring = self.ring
        last = batch_sizes(size, visit.batch, steps)[-1]
        power, sums, noise = powers_sum(ring, h, steps, spread)
        apart = Fraction(size, size - 1) if visit.sampling == "reshuffled" else Fraction(1)
        full = min(visit.batch, size)
        gamma = noise * ring.scalar(apart / full) + spread * ring.scalar(apart / last - apart / full)
        if visit.sampling == "reshuffled":
            joint = ring.mul(ring.mul(sums, spread), sums.transpose())
            gamma = gamma - joint * ring.scalar(Fraction(1, size - 1))
        return power, gamma

    # --- several Hessians -------------------------------------------------------------------------------------

    def _programme(
        self, space: Space | None, client: int, kinds: list[list[_Kind]], visit: Visit, watched: list[Step] | None
    ) -> Outcome:
        """kinds: the step maps of each step, the same list where they are the same."""
        begun = None if space is None else space.total([(self.pick, self.pick)])
        state: State = (Fraction(1), self.pick, begun)
        walk = self._replaced if visit.sampling == "replacement" else self._reshuffled
        for index, after in enumerate(walk(space, kinds, visit, self.counts(client), state)):
            if watched is not None:
                watched.append(Step(index, state[1], None, state[2]))
            state = after
        _, mean, second = state
        return Outcome(mean, None, None if space is None else second - space.total([(mean, mean)]))

    def _mix(self, space: Space | None, moves: Sequence[tuple[State, Fraction, Matrix, Matrix]]) -> State:
        """The sum of p * (state moved by (H, L)) over (state, p, H, L)."""
        ring = self.ring
        mass, means, seconds, pairs = Fraction(0), list[Matrix](), list[Matrix](), list[tuple[Matrix, Matrix]]()
        for (m, v, y), p, h, right in moves:
            mass += m * p
            share, own = ring.scalar(p), ring.scalar(m * p)
            moved = ring.mul(h, v) * share
            means.append(moved + right * own)
            if space is not None:
                seconds.append(space.push(h, y) * share)
                pairs += [(moved + right * own, right), (right, moved)]
        return mass, ring.sum(means), None if space is None else ring.sum([*seconds, space.total(pairs)])

    def _replaced(
        self, space: Space | None, kinds: list[list[_Kind]], visit: Visit, counts: Sequence[int], state: State
    ) -> Iterator[State]:
        """The state after each step with fresh samples; the mean of m of them has
        E HYH' = (1/m) E_j H_j Y H_j' + (1 - 1/m) Hm Y Hm', Hm = E_j H_j."""
        ring = self.ring
        means: dict[int, tuple[Matrix, Matrix]] = {}  # by id of the kinds of a step
        for own, m in zip(kinds, batch_sizes(sum(counts), visit.batch, visit.steps), strict=True):
            if id(own) not in means:
                shares = [ring.scalar(k.p) for k in own]
                means[id(own)] = (
                    ring.sum([k.h * p for k, p in zip(own, shares, strict=True)]),
                    ring.sum([k.right * p for k, p in zip(own, shares, strict=True)]),
                )
            moves = [(state, k.p / m, k.h, k.right) for k in own]
            if m > 1:
                moves.append((state, 1 - Fraction(1, m), *means[id(own)]))
            state = self._mix(space, moves)
            yield state

    def _reshuffled(
        self, space: Space | None, kinds: list[list[_Kind]], visit: Visit, counts: Sequence[int], state: State
    ) -> Iterator[State]:
        """The state after each step, by the dynamic programme over the multisets of samples used in an epoch."""
        ring, size = self.ring, sum(counts)
        each = -(-size // visit.batch)
        sizes = batch_sizes(size, visit.batch, each)
        maps: dict[tuple[int, ...], tuple[Matrix, Matrix]] = {}
        level: dict[tuple[int, ...], State] = {}
        for index in range(visit.steps):
            if index and kinds[index] is not kinds[index - 1]:
                maps = {}
            if index % each == 0:
                level = {(0,) * len(counts): state}
            m = sizes[index % each]
            moves: dict[tuple[int, ...], list[tuple[State, Fraction, Matrix, Matrix]]] = {}
            for used, now in level.items():
                left = [c - u for c, u in zip(counts, used, strict=True)]
                ways = math.comb(sum(left), m)
                for taken in _parts(left, m):
                    if taken not in maps:
                        shares = [
                            (k, ring.scalar(Fraction(t, m))) for k, t in zip(kinds[index], taken, strict=True) if t
                        ]
                        maps[taken] = (
                            ring.sum([k.h * s for k, s in shares]),
                            ring.sum([k.right * s for k, s in shares]),
                        )
                    p = Fraction(math.prod(math.comb(a, t) for a, t in zip(left, taken, strict=True)), ways)
                    after = tuple(u + t for u, t in zip(used, taken, strict=True))
                    moves.setdefault(after, []).append((now, p, *maps[taken]))
            level = {after: self._mix(space, found) for after, found in moves.items()}
            reached = list(level.values())
            second = None if space is None else ring.sum([y for _, _, y in reached])
            state = (Fraction(1), ring.sum([v for _, v, _ in reached]), second)
            yield state


def _widened(m: fmpq_mat, columns: int) -> fmpq_mat:
    """The matrix with so many more columns, of zeros."""
    rows = [[*row, *[fmpq(0)] * columns] for row in m.tolist()]
    return fmpq_mat(m.nrows(), m.ncols() + columns, [v for row in rows for v in row])


def _last(before: int, d: int) -> fmpq_mat:
    """The (d, before + d) matrix that picks the last d entries."""
    picked = fmpq_mat(d, before + d)
    for k in range(d):
        picked[k, before + k] = 1
    return picked


def _parts(left: Sequence[int], m: int) -> Iterator[tuple[int, ...]]:
    """The ways to take m of the samples that are left, by kind."""
    if not left:
        if m == 0:
            yield ()
        return
    rest = sum(left[1:])
    for t in range(max(0, m - rest), min(left[0], m) + 1):
        for tail in _parts(left[1:], m - t):
            yield (t, *tail)
