"""The expectation of one round: of the state z, and of its second moments M = E[z z'].

With the cohort S, the visits V_i (independent, see `visits`) and Q_i = C_i (V_i - X), C_i what the server does with
y_i - x, a round is z <- (B + sum over S of a_i Q_i) U_S z. Without momentum B = U_S = I and C_i = eta_g X'. U_S is the
update of a momentum that compares gradients, at the start of every round but the first. So

    M <- E_S [ T_S M T_S' + sum over S of a_i^2 Cov(Q_i)(U_S M U_S') ],  T_S = (B + sum over S of a_i E[Q_i]) U_S.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from boundcheck.core.linalg import identity, rational
from boundcheck.engines.exact.cohorts import Cohort, Law, Member, law_of
from boundcheck.engines.exact.rings import Matrix, Ring
from boundcheck.engines.exact.space import Space
from boundcheck.engines.exact.state import Exact
from boundcheck.engines.exact.visits import Local
from boundcheck.methods.method import Method
from boundcheck.methods.parts import StepSize, Visit, first_repeated

Pair = tuple[Matrix, Matrix]
Inner = tuple[Pair, ...] | None
_Gammas = dict[int, tuple[Matrix, Matrix]]  # by id of C: C and a covariance (d, d)


@dataclass(frozen=True)
class Job:
    """A covariance that depends on M: weight * send Cov(visit) send' at the second moments `inner` (None: M)."""

    client: int
    visit: Visit
    weight: Fraction
    send: Matrix
    inner: Inner


@dataclass
class Plan:
    """A round as far as it does not depend on the state: E[z] -> mean E[z], and the terms of M -> M+.

    pairs: (P, Q) of the terms P M Q'. constant: (D, D), times M[-1, -1]. nested: terms P N Q', (P, Q) in the second
    list, where N is the sum of P M Q' over the first list. jobs: what remains.
    """

    mean: Matrix
    pairs: list[Pair] = field(default_factory=list[Pair])
    constant: Matrix | None = None
    jobs: list[Job] = field(default_factory=list[Job])
    nested: list[tuple[list[Pair], list[Pair]]] = field(default_factory=list[tuple[list[Pair], list[Pair]]])


class Rounds:
    """The rounds of a method on a problem, in one arithmetic."""

    def __init__(self, ring: Ring, method: Method, exact: Exact) -> None:
        self.ring, self.method, self.exact = ring, method, exact
        self.local = Local(ring, method, exact)
        layout, momentum = exact.layout, method.momentum
        # fixed cohorts repeat every `period` rounds from round `first` on
        self.period = method.participation.period(exact.clients)
        self.first = first_repeated(method.participation, exact.clients)
        self.compares = momentum is not None and momentum.variance_reduced
        keep = identity(layout.size)
        if layout.previous is not None:  # the previous point becomes the one at which the round starts
            for k in range(layout.d):
                keep[layout.previous + k, layout.previous + k] = 0
                keep[layout.previous + k, k] = 1
        if layout.momentum is not None and momentum is not None and not self.compares:
            for k in range(layout.moving - layout.momentum):
                keep[layout.momentum + k, layout.momentum + k] = 1 - rational(momentum.a)
        # what is subtracted of y - c: x - c, or, where the server averages models, -c
        self._from = self.local.pick
        if method.server.averages_models:
            eta_g = rational(method.server.factor)
            self._from = ring.lift(-exact.centre * layout.one)
            for k in range(layout.d):
                keep[k, k] = 1 - eta_g
                keep[k, layout.size - 1] = -eta_g * exact.centre[k, 0]
        self._keep = ring.lift(keep)
        self._worker = self.local  # that of jobs
        self._back = self.local.pick.transpose() * ring.scalar(method.server.factor)
        self._laws: dict[int, Law] = {}
        self._backs: dict[Fraction, Matrix] = {Fraction(1): self._back}  # by weight of the visit
        self._sends: dict[tuple[Fraction, Fraction], Matrix] = {}
        self._updates: tuple[Matrix, list[Matrix]] | None = None
        self._plans: dict[tuple[int, bool], Plan] = {}
        self._step: StepSize | None = None

    def position(self, round_index: int) -> int:
        """The first round whose cohort has the same law."""
        late = round_index - self.first
        return round_index if late < 0 else self.first + late % self.period

    @property
    def separate(self) -> list[list[int]]:
        """Coordinates by groups between which every mean map, constant covariance and second moment is 0."""
        return [list(range(self.exact.layout.size))]

    def begin(self, client: int) -> Matrix | None:
        """S (d+1, D) with S z = [y - c; 1], y the point at which the client's visit begins; None: the state itself."""
        return None

    def law(self, round_index: int) -> Law:
        """The law of the cohort of a round."""
        position = self.position(round_index)
        if position not in self._laws:
            self._laws[position] = law_of(self.method, position, self.exact.clients, one_by_one=self.compares)
        return self._laws[position]

    def send(self, visit: Visit, eta: StepSize, ratio: Fraction) -> Matrix:
        """C (D, d): what a unit of y - x, times a_i, adds to the state."""
        momentum, layout = self.method.momentum, self.exact.layout
        if visit.weight not in self._backs:
            self._backs[visit.weight] = self._back * self.ring.scalar(visit.weight)
        back = self._backs[visit.weight]
        if momentum is None or self.compares or not visit.steps:
            return back
        assert isinstance(eta, Fraction), "a momentum goes with one step size a round"
        taken = visit.steps * visit.scale * eta / ratio
        if (taken, visit.weight) not in self._sends:
            into = self.ring.lift(layout.block(layout.momentum).transpose())
            self._sends[taken, visit.weight] = back - into * self.ring.scalar(momentum.a / taken)
        return self._sends[taken, visit.weight]

    def updates(self) -> tuple[Matrix, list[Matrix]]:
        """(U_0, [U_i]) with U_S = U_0 + sum over S of b_i U_i: m <- (1-a) m + sum b_i (g_i(x) - (1-a) g_i(x_prev)).

        b_i = w_i/p_i, whatever the aggregation.
        """
        if self._updates is None:
            ring, layout, momentum = self.ring, self.exact.layout, self.method.momentum
            rest = Fraction(1) if momentum is None else 1 - momentum.a
            base = identity(layout.size)
            first = layout.momentum or 0
            for k in range(layout.d):
                base[first + k, first + k] = rational(rest)
            into, here = layout.block(first).transpose(), layout.block(0)
            before = layout.block(layout.previous) * rational(rest)
            own = [into * (a * (here - before) - o * layout.one * rational(1 - rest)) for a, o in self.exact.whole]
            self._updates = (ring.lift(base), [ring.lift(u) for u in own])
        return self._updates

    def updated(self, law: Law) -> list[Matrix]:
        """U_S of every cohort of a law."""
        base, own = self.updates()
        found: list[Matrix] = []
        for cohort in law.cohorts:
            clients = [law.members[v].client for v in cohort.members]
            weights = self.method.momentum_factors(clients, self.exact.clients)
            parts = [own[i] * self.ring.scalar(b) for i, b in zip(clients, weights, strict=True)]
            found.append(self.ring.sum([base, *parts]))
        return found

    def plan(self, eta: StepSize, round_index: int, first: bool) -> Plan:
        """What a round does with step size eta; first: it is the run's first (no update of the momentum before it)."""
        if eta != self._step:
            self._step, self._plans, self._sends = eta, {}, {}
        key = (self.position(round_index), first and self.compares)
        if key not in self._plans:
            law = self.law(round_index)
            self._plans[key] = self._compared(law, eta) if self.compares and not first else self._plain(law, eta)
        return self._plans[key]

    def _noise(
        self, plan: Plan, gammas: _Gammas, member: Member, eta: StepSize, square: Fraction, inner: Inner
    ) -> Matrix:
        """Add E[a^2] Cov(Q) of a member to the plan and give E[Q].

        inner: None, or the pairs of the second moments E[a^2 U_S M U_S'] at which the covariance is taken.
        """
        ring, found = self.ring, list[tuple[Fraction, Matrix]]()
        for p, visit in member.visits:
            outcome, send = self.local.run(None, member.client, visit, eta), self.send(visit, eta, member.ratio)
            found.append((p, ring.mul(send, outcome.mean - self._from)))
            if outcome.gamma is not None and square:
                own = outcome.gamma * ring.scalar(square * p)
                known = gammas.get(id(send))
                gammas[id(send)] = (send, own if known is None else known[1] + own)
            if square and not self.local.closed(member.client, visit):
                plan.jobs.append(Job(member.client, visit, p * square if inner is None else p, send, inner))
        if len(found) == 1:
            return found[0][1]
        mean = ring.sum([q * ring.scalar(p) for p, q in found])
        for p, q in [*found, (Fraction(-1), mean)] if square else []:
            if inner is None:
                plan.pairs.append((q * ring.scalar(p * square), q))
            else:
                scaled = q * ring.scalar(p)
                plan.pairs += [(ring.mul(scaled, left), ring.mul(q, right)) for left, right in inner]
        return mean

    def _finish(self, plan: Plan, gammas: _Gammas) -> Plan:
        ring = self.ring
        if gammas:
            plan.constant = ring.sum([ring.mul(ring.mul(send, g), send.transpose()) for send, g in gammas.values()])
        return plan

    def _plain(self, law: Law, eta: StepSize) -> Plan:
        plan, gammas = Plan(self._keep), _Gammas()
        means = [
            self._noise(plan, gammas, member, eta, square, None)
            for member, square in zip(law.members, law.square, strict=True)
        ]
        if not means:
            plan.pairs.append((self._keep, self._keep))
            return plan
        self._spread(plan, law, means)
        return self._finish(plan, gammas)

    def _spread(self, plan: Plan, law: Law, means: list[Matrix]) -> None:
        """Add the terms of T M T', T = keep + sum over S of a_v Q_v, with E[Q_v] = means[v]; at least one member."""
        ring = self.ring
        drift = ring.sum([q * ring.scalar(m) for q, m in zip(means, law.mean, strict=True)])
        plan.mean = self._keep + drift
        plan.pairs.append((plan.mean, plan.mean))
        if law.joint is None:
            if law.common != 1:
                plan.pairs.append((drift * ring.scalar(law.common - 1), drift))
            own = [(q, w) for q, w in zip(means, law.own, strict=False) if w]
            plan.pairs += [(q * ring.scalar(w), q) for q, w in own]
        else:
            plan.pairs.append((drift * ring.scalar(Fraction(-1)), drift))
            for q, row in zip(means, law.joint, strict=True):
                others = [other * ring.scalar(w) for other, w in zip(means, row, strict=True) if w]
                plan.pairs += [(q, ring.sum(others))] if others else []

    def _compared(self, law: Law, eta: StepSize) -> Plan:
        ring, plan, gammas = self.ring, Plan(self._keep), _Gammas()
        updates = self.updated(law)
        inner: list[list[Pair]] = [[] for _ in law.members]
        for cohort, u in zip(law.cohorts, updates, strict=True):
            for v, a in _of(cohort):
                inner[v].append((u * ring.scalar(cohort.p * a * a), u))
        means = [
            self._noise(plan, gammas, member, eta, square, tuple(own))
            for member, square, own in zip(law.members, law.square, inner, strict=True)
        ]
        total: list[Matrix] = []
        for cohort, u in zip(law.cohorts, updates, strict=True):
            t = ring.mul(ring.sum([self._keep, *(means[v] * ring.scalar(a) for v, a in _of(cohort))]), u)
            plan.pairs.append((t * ring.scalar(cohort.p), t))
            total.append(plan.pairs[-1][0])
        plan.mean = ring.sum(total)
        return self._finish(plan, gammas)

    def second(self, space: Space, plan: Plan, eta: StepSize) -> Matrix:
        """M -> M+, as the space keeps it."""
        found = [space.total(plan.pairs), *(space.at(space.total(own)).total(outer) for own, outer in plan.nested)]
        if plan.constant is not None:
            found.append(space.constant(plan.constant))
        sums = _Gammas()
        known_jobs: dict[tuple[int, Visit, int], Matrix] = {}  # by what is done at which moments
        for job in plan.jobs:
            key = (job.client, job.visit, id(job.inner))
            if key not in known_jobs:
                at = space if job.inner is None else space.at(space.total(job.inner))
                known_jobs[key] = self._worker.run(at, job.client, job.visit, eta).covariance
            own = known_jobs[key] * self.ring.scalar(job.weight)
            known = sums.get(id(job.send))
            sums[id(job.send)] = (job.send, own if known is None else known[1] + own)
        return self.ring.sum([*found, *(space.push(send, y) for send, y in sums.values())])


def _of(cohort: Cohort) -> list[tuple[int, Fraction]]:
    """The cohort's members with their coefficients."""
    return list(zip(cohort.members, cohort.coefficients, strict=True))
