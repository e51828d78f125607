"""Expectations over one client's local steps: its mean map, its noise, and what is watched on the way.

A local step is y <- H_j y + L_j z with the sample j, y the local vectors and z = [inputs; 1] what the visit takes from
the state (`lowering.Form`); for plain steps H_j = I - k A_j and L_j z = k o_j, k the step size. A visit therefore
returns V z, V random. Wanted are E[V] and the covariance Cov(M) = E[V M V'] - E[V] M E[V]' as a function of
M = E[z z'].

- Where all samples of the client have one Hessian (or none is drawn), only the offsets are random and the covariance
  does not depend on M. With C the population covariance of the o_j, the sum of offsets of steps with m_t
  samples each, drawn without replacement from N, has the covariances (N/(m_t [s=t]) - 1)/(N-1) C.
- Otherwise a dynamic programme goes over the multisets u of samples that an epoch has used: with p the
  (hypergeometric) probability that the next batch is beta, of mean gradient (H, L), the unnormalised moments move by
  (P_u, V_u, Y_u) -> p (P_u, H V_u + P_u L, H Y_u H' + H V_u M L' + L M V_u' H' + P_u L M L').

An exact solve returns x - (A + mu I)^-1 (A x - o + e), the minimiser of the objective with the terms mu/2 |y - x|^2
and <e, y - x>.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq_mat

from boundcheck.core.linalg import identity, rational
from boundcheck.engines.exact.lowering import Form, Poly, Row
from boundcheck.engines.exact.rings import Matrix, Ring, powers_sum
from boundcheck.engines.exact.space import Space
from boundcheck.engines.exact.state import Exact, Samples
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.parts import Visit
from boundcheck.methods.parts.local import batch_sizes


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


class Data:
    """The samples of the clients in one arithmetic."""

    def __init__(self, ring: Ring, exact: Exact) -> None:
        self.ring, self.exact = ring, exact
        self._lifted: dict[int, tuple[list[Matrix], list[Matrix]]] = {}

    def of(self, client: int) -> tuple[list[Matrix], list[Matrix]]:
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


class Local:
    """The local work of one form. Local vectors are stacked (k d); pick: where they begin, a map of the inputs."""

    def __init__(self, data: Data, form: Form) -> None:
        self.ring, self.exact, self.data, self.form = data.ring, data.exact, data, form
        ring, d = self.ring, data.exact.layout.d
        self.d, self.wide = d, form.count * d + 1
        one = fmpq_mat(1, self.wide)
        one[0, self.wide - 1] = 1
        self._one = ring.lift(one)
        self._inputs = [ring.lift(_placed(d, self.wide, k * d)) for k in range(form.count)]
        self._rows = [ring.lift(_placed(d, form.locals * d, k * d).transpose()) for k in range(form.locals)]
        self._unit = ring.one(d)
        self._solves: dict[tuple[int, Fraction], Matrix] = {}
        self._centre = ring.lift(data.exact.centre)
        self.pick = self._stacked([None if own is None else self._begun(*own) for own in form.begun], self.wide)

    def _begun(self, number: int, factor: Fraction, centres: Fraction) -> Matrix:
        """An input times a factor, and this many times c."""
        ring, found = self.ring, self._inputs[number]
        found = found if factor == 1 else found * ring.scalar(factor)
        return found + ring.mul(self._centre * ring.scalar(centres), self._one) if centres else found

    def _stacked(self, parts: Sequence[Matrix | None], columns: int) -> Matrix:
        """The parts (d, columns) of all local vectors, one below the other; None: 0."""
        if len(parts) == 1 and parts[0] is not None:
            return parts[0]
        found = [self.ring.mul(r, p) for r, p in zip(self._rows, parts, strict=True) if p is not None]
        return self.ring.sum(found) if found else self.ring.zeros(self.form.locals * self.d, columns)

    def _poly(self, poly: Poly, a: Matrix) -> Matrix | None:
        """The polynomial at a Hessian."""
        ring, found, power = self.ring, None, None
        for c in poly:
            own = self._unit if power is None else power
            if c:
                own = own if c == 1 else own * ring.scalar(c)
                found = own if found is None else found + own
            power = a if power is None else ring.mul(power, a)
        return found

    def _times(self, poly: Poly, a: Matrix, right: Matrix) -> Matrix | None:
        """The polynomial at a Hessian, times a matrix."""
        if len(poly) == 1:
            return right * self.ring.scalar(poly[0]) if poly[0] else None
        own = self._poly(poly, a)
        return None if own is None else self.ring.mul(own, right)

    def _map(self, rows: tuple[Row, ...], a: Matrix, o: Matrix) -> tuple[Matrix, Matrix]:
        """(H, L) of a step with Hessian a (d, d) and offset o (d, 1)."""
        ring, own, rest = self.ring, list[Matrix | None](), list[Matrix | None]()
        for row in rows:
            if self.form.locals == 1:
                own.append(self._poly(row.local[0], a))
            else:
                terms = [self._times(p, a, self._rows[k].transpose()) for k, p in enumerate(row.local) if p]
                own.append(ring.sum(terms) if terms else None)
            parts = [self._times(p, a, self._inputs[k]) for k, p in enumerate(row.inputs) if p]
            for poly, column in ((row.offset, o), (row.centre, self._centre)):
                if poly:
                    parts.append(ring.mul(self._times(poly, a, column), self._one))
            rest.append(ring.sum(parts) if parts else None)
        return self._stacked(own, self.form.locals * self.d), self._stacked(rest, self.wide)

    def _noise(self, rows: tuple[Row, ...], a: Matrix) -> Matrix:
        """What multiplies the offset of a sample, (k d, d)."""
        return self._stacked([self._poly(row.offset, a) for row in rows], self.d)

    def counts(self, client: int) -> tuple[int, ...]:
        """How often each distinct sample of the client occurs."""
        return (1,) if self.exact.samples is None else self.exact.samples[client].counts

    def closed(self, client: int, visit: Visit) -> bool:
        """Whether the covariance of a visit does not depend on the state."""
        alone = visit.sampling in ("full", "exact") or sum(self.counts(client)) == 1
        return alone or len(self.data.of(client)[0]) == 1 or visit.steps == 0

    def run(self, space: Space | None, client: int, visit: Visit, watched: list[Step] | None = None) -> Outcome:
        """The outcome of a visit; `watched` receives the local vectors before every step.

        space: of the second moments of the inputs; None for the mean alone where the covariance depends on them.
        """
        if visit.steps == 0:
            return Outcome(self.pick)
        if self.form.solve is not None:
            if watched is not None:
                watched.append(Step(0, self.pick))
            return Outcome(self._solved(client, *self.form.solve))
        hessians, offsets = self.data.of(client)
        steps, plain = self.form.steps, visit.sampling == "full" or sum(self.counts(client)) == 1
        if not plain and len(hessians) > 1:
            kinds = {own: self._kinds(client, own) for own in dict.fromkeys(steps)}
            found = [kinds[own] for own in steps]
            return self._programme(space, client, found * (visit.steps // len(found)), visit, watched)
        offset, spread, size = offsets[0], None, 1
        if not plain:
            size = sum(self.counts(client))
            offset, spread = self._population(offsets, self.counts(client))
        if len(steps) != 1:
            return self._changing(hessians[0], offset, spread, size, visit, watched)
        h, right = self._map(steps[0], hessians[0], offset)
        if spread is not None:
            noise = self._noise(steps[0], hessians[0])
            spread = self.ring.mul(self.ring.mul(noise, spread), noise.transpose())
        return self._closed(h, right, spread, visit, size, watched)

    def _kinds(self, client: int, rows: tuple[Row, ...]) -> list[_Kind]:
        """The step maps of the client's samples."""
        total = sum(self.counts(client))
        return [
            _Kind(Fraction(count, total), *self._map(rows, a, o))
            for a, o, count in zip(*self.data.of(client), self.counts(client), strict=True)
        ]

    def _changing(
        self, a: Matrix, offset: Matrix, spread: Matrix | None, size: int, visit: Visit, watched: list[Step] | None
    ) -> Outcome:
        """A visit whose local steps differ in size, to samples of one Hessian a; spread: of an offset.

        The offsets of an epoch's batches that are drawn without replacement have the covariances
        S n/(n-1)/m - S/(n-1) (a batch of m of the n samples) and -S/(n-1) (two batches), S that of one sample. With
        sums = sum of the batches' factors in y, the part -S/(n-1) is -sums S sums'/(n-1).
        """
        ring = self.ring
        reshuffled = visit.sampling == "reshuffled"
        apart = Fraction(size, size - 1) if reshuffled and size > 1 else Fraction(1)
        each = -(-size // visit.batch)
        mean, own, sums = self.pick, None, None  # sums: of the epoch so far

        def gamma() -> Matrix | None:
            if own is None or sums is None or spread is None or not reshuffled:
                return own
            joint = ring.mul(ring.mul(sums, spread), sums.transpose())
            return own - joint * ring.scalar(Fraction(1, size - 1))

        for k, (rows, m) in enumerate(zip(self.form.steps, batch_sizes(size, visit.batch, visit.steps), strict=True)):
            if k % each == 0:
                own, sums = gamma(), None
            if watched is not None:
                watched.append(Step(k, mean, gamma()))
            h, right = self._map(rows, a, offset)
            mean = ring.mul(h, mean) + right
            if spread is not None:
                noise = self._noise(rows, a)
                fresh = ring.mul(ring.mul(noise, spread), noise.transpose()) * ring.scalar(apart / m)
                own = fresh if own is None else ring.mul(ring.mul(h, own), h.transpose()) + fresh
                sums = noise if sums is None else ring.mul(h, sums) + noise
        return Outcome(mean, gamma())

    def _solved(self, client: int, shift: tuple[int, Fraction] | None, mu: Fraction) -> Matrix:
        """The map (d, D) to the minimiser of the subproblem. Raises BadInput where there is no unique one."""
        if (client, mu) not in self._solves:
            ring, (a, o) = self.ring, self.exact.whole[client]
            curved = a + identity(a.nrows()) * rational(mu)
            if not ring.symmetric(a):
                raise Unsupported(f"the map of client {client} is no gradient: its subproblem has no minimiser.")
            if not ring.convex(curved):
                raise BadInput(
                    f"the subproblem of client {client} with mu = {mu} is not strongly convex, so that it has no "
                    "unique minimiser; take a larger mu or local steps."
                )
            slope = ring.mul(ring.lift(a), self.pick) - ring.mul(ring.lift(o), self._one)
            if shift is not None:
                slope = slope + self._inputs[shift[0]] * ring.scalar(shift[1])
            self._solves[client, mu] = self.pick - ring.solve(ring.lift(curved), slope)
        return self._solves[client, mu]

    # --- one Hessian ------------------------------------------------------------------------------------------

    def _population(self, offsets: list[Matrix], counts: Sequence[int]) -> tuple[Matrix, Matrix]:
        """Mean (d, 1) and covariance (d, d) of the offset of one sample."""
        ring, total = self.ring, sum(counts)
        shares = [ring.scalar(Fraction(c, total)) for c in counts]
        mean = ring.sum([o * p for o, p in zip(offsets, shares, strict=True)])
        apart = ring.from_rows([[v for row in ring.rows((o - mean).transpose()) for v in row] for o in offsets])
        weighted = ring.from_rows([[v * p for v in row] for row, p in zip(ring.rows(apart), shares, strict=True)])
        return mean, ring.mul(weighted.transpose(), apart)

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
        """Mean map and covariance after this many steps."""
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


def _placed(d: int, columns: int, first: int) -> fmpq_mat:
    """The (d, columns) matrix that picks the d entries from `first` on."""
    picked = fmpq_mat(d, columns)
    for k in range(d):
        picked[k, first + k] = 1
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
