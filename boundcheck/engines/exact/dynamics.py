"""Runs: the state itself where nothing is random, its second moments otherwise.

A state is a row of numbers: z (D,), or packed E[z z'] (D(D+1)/2,). With a constant step the rounds of one period are
composed and all rounds of a grid come out of one pass over the binary digits of their numbers (or, where second
moments move by M -> T M T' + C, see `congruent`); otherwise the rounds are carried out one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from boundcheck.engines.exact import congruent
from boundcheck.engines.exact.congruent import Congruence
from boundcheck.engines.exact.readers import Readers
from boundcheck.engines.exact.rings import Matrix, Ring, after_steps
from boundcheck.engines.exact.rounds import Rounds
from boundcheck.engines.exact.space import Applied, Operators
from boundcheck.engines.exact.state import Exact, cohort_at
from boundcheck.methods.method import Method
from boundcheck.methods.parts import GradientSteps, StepSize
from boundcheck.setting.step_sizes import run_steps

Progress = Callable[[float], None]
Values = Mapping[str, list[Any]]


class Dynamics:
    """A method on a problem, in one arithmetic.

    random: whether second moments are followed; size: entries of the state.
    """

    def __init__(self, ring: Ring, method: Method, exact: Exact) -> None:
        self.ring, self.method, self.exact = ring, method, exact
        self.random = method.is_random(exact.clients)
        self.rounds = Rounds(ring, method, exact)
        self.readers = Readers(self.rounds)
        self.steps = run_steps(method, exact.clients)
        wide = exact.layout.size
        self.size = wide * (wide + 1) // 2 if self.random else wide

    def start(self) -> Matrix:
        """The state at round 0, a row."""
        z = self.exact.start
        if not self.random:
            return self.ring.lift(z.transpose())
        moment = z * z.transpose()
        if self.exact.spread is not None:
            moment = moment + self.exact.spread
        return self.ring.pack(self.ring.lift(moment)).transpose()

    def map(self, eta: StepSize, round_index: int) -> Matrix:
        """The matrix of a round on the state as a column."""
        plan = self.rounds.plan(eta, round_index)
        if not self.random:
            return plan.mean
        return self.rounds.second(Operators(self.ring, self.exact.layout.size), plan)

    # --- a constant step, and no covariance that depends on the state ---------------------------------------------

    def congruences(self, eta: StepSize) -> list[Congruence] | None:
        """The rounds of a period as maps M -> T M T' + C, or None where they are no such maps."""
        samples = self.exact.samples
        if not self.random or self.rounds.first:
            return None
        if samples is not None and not all(s.alike for s in samples):
            return None
        plans = [self.rounds.plan(eta, t) for t in range(self.rounds.period)]
        if any(
            p.jobs or p.before is not None or len(p.pairs) != 1 or p.pairs[0][0] is not p.pairs[0][1] for p in plans
        ):
            return None
        return [Congruence(self.ring, p.mean, p.constant) for p in plans]

    def composed(self, maps: Sequence[Congruence], eta: StepSize, grid: Sequence[int], progress: Progress) -> Values:
        """The metrics at each round of the grid, from the maps of `congruences`."""
        ring, wide = self.ring, self.exact.layout.size
        forms = [dict(self.readers.forms()) for _ in maps]
        if self.readers.names:
            space = Operators(ring, wide)
            for t, own in enumerate(forms):
                own |= {k: ring.form(v, wide) for k, v in self.readers.watched(space, eta, t).items()}
        start = ring.unpack(self.start().transpose(), wide)
        return congruent.in_parts(maps, start, grid, forms, self.rounds.separate, progress)

    # --- a constant step ---------------------------------------------------------------------------------------

    def trajectory(self, eta: StepSize, grid: Sequence[int], progress: Progress) -> Values:
        """The metrics at each round of the grid, any rounds at once."""
        ring, period = self.ring, self.rounds.period
        begin = self.start()
        rows: list[Any] = [None] * len(grid)
        offset = min(self.rounds.first, grid[-1])  # the rounds before a pattern repeats
        for t in range(offset):
            if t in grid:
                rows[grid.index(t)] = ring.rows(begin)[0]
            begin = ring.mul(begin, self.map(eta, t).transpose())
        maps = [self.map(eta, offset + t).transpose() for t in range(min(period, max(grid[-1] - offset, 1)))]
        cycle = maps[0]
        for m in maps[1:]:
            cycle = ring.mul(cycle, m)
        later = [g - offset for g in grid if g >= offset]
        states = self._states(cycle, begin, [g // period for g in later], progress)
        after: dict[int, list[int]] = {}
        for k, g in enumerate(later):
            after.setdefault(g % period, []).append(k)
        partial = None
        skipped = len(grid) - len(later)
        for within in range(max(after, default=-1) + 1):  # a period can be longer than any run
            chosen = after.get(within, [])
            if chosen:
                found = [states[later[k] // period] for k in chosen]
                if partial is not None:
                    found = ring.rows(ring.mul(ring.from_rows(found), partial))
                for k, row in zip(chosen, found, strict=True):
                    rows[skipped + k] = row
            if within < len(maps) and within < max(after, default=0):
                partial = maps[within] if partial is None else ring.mul(partial, maps[within])
        found = self._read(eta, grid, rows)
        progress(1.0)
        return found

    def _states(self, cycle: Matrix, begin: Matrix, wanted: Sequence[int], progress: Progress) -> dict[int, Any]:
        """The states (rows) after each of the wanted numbers of cycles; every level is one matrix product."""
        ring = self.ring

        def moved(by: Matrix, rows: list[Any]) -> Sequence[Any]:
            return ring.rows(ring.mul(ring.from_rows(rows), by))

        first = ring.rows(begin)[0]
        return after_steps(cycle, first, wanted, max(self.size, 1), lambda m: ring.mul(m, m), moved, progress)

    def _read(self, eta: StepSize, grid: Sequence[int], rows: Sequence[Any]) -> Values:
        """The metrics of states, one row a round of the grid."""
        ring, wide = self.ring, self.exact.layout.size
        forms = dict(self.readers.forms())
        states = ring.from_rows(rows)
        watched: list[dict[str, Matrix]] = []
        if self.readers.names:
            space = Operators(ring, wide)
            kinds = [self.rounds.position(g) for g in grid]
            by_kind = {kind: self.readers.watched(space, eta, kind) for kind in dict.fromkeys(kinds)}
            watched = [by_kind[kind] for kind in kinds]
        if not self.random:
            found = {name: ring.row_dots(ring.mul(states, q), states) for name, q in forms.items()}
            for name in self.readers.names:
                own = [ring.form(w[name], wide) for w in watched]
                singles = [ring.from_rows([row]) for row in rows]
                found[name] = [ring.dot(ring.mul(z, q), z) for z, q in zip(singles, own, strict=True)]
            return found
        found: dict[str, list[Any]] = {}
        if forms:
            weights = ring.from_rows([ring.rows(ring.weights(q))[0] for q in forms.values()])
            columns = ring.rows(ring.mul(weights, states.transpose()))
            found = {name: list(column) for name, column in zip(forms, columns, strict=True)}
        for name in self.readers.names:
            own = ring.from_rows([ring.rows(w[name])[0] for w in watched])
            found[name] = ring.row_dots(own, states)
        return found

    # --- one round after the other -----------------------------------------------------------------------------

    def stepwise(self, grid: Sequence[int], progress: Progress) -> Values:
        """The metrics at each round of the grid, for any schedule."""
        walk = self._points() if not self.random else self._moments()
        forms = self.readers.forms()
        found: dict[str, list[Any]] = {name: [] for name in self.exact.metrics}
        done, moment = 0, next(walk)
        for target in grid:
            while done < target:
                moment = next(walk)
                done += 1
                if done % 1000 == 0:
                    progress(done / grid[-1])
            if not self.random:
                for name, q in forms.items():
                    found[name].append(self.ring.dot(self.ring.mul(q.transpose(), moment), moment))
                moment_now = self.ring.mul(moment, moment.transpose()) if self.readers.names else None
            else:
                moment_now = moment
                for name, q in forms.items():
                    found[name].append(self.ring.dot(q.transpose(), moment))
            if self.readers.names:
                step = self.steps.of_round(done)
                space = Applied(self.ring, moment_now)
                for name, value in self.readers.watched(space, step, done).items():
                    found[name].append(value[0, 0])
        progress(1.0)
        return found

    def _moments(self) -> Iterator[Matrix]:
        """E[z z'] (D, D) at round 0, 1, ..."""
        ring = self.ring
        moment = ring.unpack(self.start().transpose(), self.exact.layout.size)
        done = 0
        while True:
            yield moment
            eta = self.steps.of_round(done)
            plan = self.rounds.plan(eta, done)
            moment = self.rounds.second(Applied(ring, moment), plan)
            done += 1

    def _points(self) -> Iterator[Matrix]:
        """z (D, 1) at round 0, 1, ..."""
        method = self.method
        if isinstance(method.local, GradientSteps) and method.is_plain and not method.by_iteration:
            return self._gradient_steps(method.local.E, self.start().transpose())
        return self.means()

    def means(self) -> Iterator[Matrix]:
        """E z (D, 1) at round 0, 1, ..."""
        state, done = self.ring.lift(self.exact.start), 0
        while True:
            yield state
            state = self.ring.mul(self.rounds.plan(self.steps.of_round(done), done).mean, state)
            done += 1

    def _gradient_steps(self, repeats: int, state: Matrix) -> Iterator[Matrix]:
        """The same, with a few products with the state where they are cheaper than the power of a matrix."""
        ring, method, clients = self.ring, self.method, self.exact.clients
        generators = [self._bordered(a, o) for a, o in self.exact.whole]
        singly = repeats if repeats <= self.exact.layout.size else 1
        own = 1 if singly == repeats else repeats
        plans = [cohort_at(method, t, clients) for t in range(self.rounds.first + self.rounds.period)]
        plan = [
            (c, len(c) == 1 and f[0] == 1, ring.scalar(1 - sum(f, Fraction(0))), [ring.scalar(v) for v in f])
            for c, f in plans
        ]
        cycle, visits, done = 0, list[Matrix](), 0
        while True:
            yield state
            now = method.cycle_of(done, clients)
            if now != cycle:
                cycle, visits = now, ring.visits(generators, method.schedule.step(now), own)
            cohort, replaced, rest, factors = plan[self.rounds.position(done)]
            total = None if replaced else state * rest
            for i, factor in zip(cohort, factors, strict=True):
                y = state
                for _ in range(singly):
                    y = ring.mul(visits[i], y)
                total = y if total is None else total + y * factor
            state = total
            done += 1

    def _bordered(self, a: Any, o: Any) -> Matrix:
        """[[a, -o], [0, 0]]."""
        ring, d = self.ring, self.exact.layout.d
        wide = ring.placed([(0, ring.lift(a).transpose()), (d, ring.lift(-o).transpose())], d + 1, d)
        return ring.placed([(0, wide.transpose())], d + 1, d + 1)
