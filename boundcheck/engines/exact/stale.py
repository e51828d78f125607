"""A client works on the server point that it received last (Y. Fraboni et al., Algorithm 1 and equation (6)).

The state is z = [x - c; the kept models y - c; 1] (`slots` tells who keeps one). With the cohort S, the visits V_i on
[y_i - c; 1] = S_i z, and Q_i = V_i S_i - Y_i, Y_i z = y_i - c, a round is

    z <- K_S z + C_S sum over S of eta_g a_i Q_i z:

K_S puts x in the place of the models kept by S, and C_S adds to x and to all of them alike, since what they receive is
the new point with the noise of the whole cohort. So

    M <- E_S [ T_S M T_S' + C_S (sum over S of eta_g^2 a_i^2 Cov(V_i)(S_i M S_i')) C_S' ],
    T_S = K_S + C_S sum over S of eta_g a_i E[Q_i].
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from boundcheck.core.linalg import identity
from boundcheck.engines.exact.cohorts import Cohort, Law, Member, law_of
from boundcheck.engines.exact.rings import Matrix, Ring
from boundcheck.engines.exact.rounds import Job, Pair, Plan, Rounds
from boundcheck.engines.exact.slots import kept_models
from boundcheck.engines.exact.state import Exact, Layout
from boundcheck.engines.exact.visits import Local
from boundcheck.errors import Unsupported
from boundcheck.methods.method import Method
from boundcheck.methods.parts import StepSize, Visit


@dataclass(frozen=True)
class _Work:
    """What a member does. mean: E[Q] (d, D). apart: (p, Q - E[Q]) of each of several possible visits. gamma: its
    covariance as far as it does not depend on the state (d, d), or None. jobs: the visits whose covariance does."""

    mean: Matrix
    apart: tuple[tuple[Fraction, Matrix], ...]
    gamma: Matrix | None
    jobs: tuple[tuple[Fraction, Visit], ...]


class StaleRounds(Rounds):
    """The rounds of such a method.

    Raises Unsupported for a method with momentum or a correction, and for random cohorts too many to go through.
    """

    def __init__(self, ring: Ring, method: Method, exact: Exact) -> None:
        if method.momentum is not None or method.correction is not None:
            raise Unsupported(
                f"{method.name} has a momentum or a correction, which the exact engine does not combine with clients "
                "that work on older points."
            )
        super().__init__(ring, method, exact)
        layout = exact.layout
        self.local = self._worker = Local(ring, method, replace(exact, layout=Layout(layout.d)))
        self._kept = kept_models(method, exact.clients)
        whole = layout.block(0)
        blocks = [whole if k is None else layout.block(layout.slot(k)) for k in self._kept]
        self._read = [ring.lift(block) for block in blocks]
        rows = [[*block.tolist(), *layout.one.tolist()] for block in blocks]
        self._begins = [ring.lift(type(whole)([list(row) for row in own])) for own in rows]
        self._inner: list[tuple[Pair, ...]] = [((s, s),) for s in self._begins]
        self._last: dict[int, int] = self._last_rounds()

    def _last_rounds(self) -> dict[int, int]:
        """Kept model -> the last round in which it is read, of the models that no later round reads."""
        if not self.first:  # what is read in a period is read again: the period itself may be very long
            return {}
        found: dict[int, int] = {}
        fixed = [self.method.participation.fixed(t, self.exact.clients) for t in range(self.first + self.period)]
        for t, cohort in enumerate(fixed):
            found |= {k: t for i in cohort or () if (k := self._kept[i]) is not None}
        return {k: t for k, t in found.items() if t < self.first}

    def begin(self, client: int) -> Matrix:
        return self._begins[client]

    def law(self, round_index: int) -> Law:
        position = self.position(round_index)
        if position not in self._laws:
            self._laws[position] = law_of(self.method, position, self.exact.clients, one_by_one=True)
        return self._laws[position]

    def plan(self, eta: StepSize, round_index: int, first: bool) -> Plan:
        if eta != self._step:
            self._step, self._plans = eta, {}
        key = (self.position(round_index), False)
        if key not in self._plans:
            self._plans[key] = self._carried_out(self.law(round_index), eta, key[0])
        return self._plans[key]

    def _places(self, law: Law, cohort: Cohort, position: int) -> tuple[Matrix, Matrix]:
        """(K_S, C_S), shapes (D, D) and (D, d); a model that is not read again becomes c, so that it is no memory."""
        layout = self.exact.layout
        received = {self._kept[law.members[v].client] for v in cohort.members}
        keep, send = identity(layout.size), layout.block(0).transpose()
        for k in range(layout.slots):
            dead = position >= self._last.get(k, position + 1)
            for a in range(layout.slot(k), layout.slot(k) + layout.d):
                if dead or k in received:
                    keep[a, a] = 0
                if k in received and not dead:
                    keep[a, a - layout.slot(k)] = 1
                    send[a, a - layout.slot(k)] = 1
        return self.ring.lift(keep), self.ring.lift(send)

    def _work(self, member: Member, eta: StepSize) -> _Work:
        ring, start, read = self.ring, self._begins[member.client], self._read[member.client]
        found: list[tuple[Fraction, Matrix]] = []
        gammas: list[Matrix] = []
        jobs: list[tuple[Fraction, Visit]] = []
        for p, visit in member.visits:
            outcome = self.local.run(None, member.client, visit, eta)
            found.append((p, ring.mul(outcome.mean, start) - read))
            if outcome.gamma is not None:
                gammas.append(outcome.gamma * ring.scalar(p))
            if not self.local.closed(member.client, visit):
                jobs.append((p, visit))
        mean = found[0][1] if len(found) == 1 else ring.sum([q * ring.scalar(p) for p, q in found])
        apart = tuple((p, q - mean) for p, q in found) if len(found) > 1 else ()
        return _Work(mean, apart, ring.sum(gammas) if gammas else None, tuple(jobs))

    def _carried_out(self, law: Law, eta: StepSize, position: int) -> Plan:
        ring, step = self.ring, self.method.server.factor
        works = [self._work(member, eta) for member in law.members]
        plan = Plan(ring.zeros(*[self.exact.layout.size] * 2))
        constants: list[Matrix] = []
        for cohort in law.cohorts:
            keep, send = self._places(law, cohort, position)
            shares = [(v, step * a) for v, a in zip(cohort.members, cohort.coefficients, strict=True) if a]
            moved = [works[v].mean * ring.scalar(a) for v, a in shares]
            whole = keep + ring.mul(send, ring.sum(moved)) if moved else keep
            plan.mean = plan.mean + whole * ring.scalar(cohort.p)
            plan.pairs.append((whole * ring.scalar(cohort.p), whole))
            noises: list[Matrix] = []
            for v, a in shares:
                work, client, weight = works[v], law.members[v].client, cohort.p * a * a
                for p, q in work.apart:
                    sent = ring.mul(send, q)
                    plan.pairs.append((sent * ring.scalar(p * weight), sent))
                if work.gamma is not None:
                    noises.append(work.gamma * ring.scalar(weight))
                plan.jobs += [Job(client, visit, p * weight, send, self._inner[client]) for p, visit in work.jobs]
            if noises:
                constants.append(ring.mul(ring.mul(send, ring.sum(noises)), send.transpose()))
        if constants:
            plan.constant = ring.sum(constants)
        return plan
