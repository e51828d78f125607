"""Control variates: one round from z = [x - c; what the clients keep; 1], for `methods.parts.control`.

The local steps of client k are those on f_k(v) + <e, v - x> with e = cbar - c_k, so that its visit maps
u = B_k z = [x - c; 1; e] to V_k u (`visits`, shifted). What is kept are the variates c_k, with cbar = sum s_k c_k, or
the reference point r - c, from which c_k = A_k (r - c) - o_k, and where it is drawn or averaged also the point w that
becomes the next one: w <- x with probability 1/(t+1) before step t, or w <- w + (x - c)/m. With the cohort S,
Q_k = V_k B_k - X, and l_k the sum of the client's step sizes, a round is z <- J T_S P z with

    T_S = I + sum over S of [ eta_g a_k X' Q_k + N_k' (what c_k gains) ],
    gained: (A_k X - o_k) - C_k ("gradient"), -Cbar - Q_k/l_k ("difference"),

P the update of w, drawn independently of the rest, and J what the last round before a renewal does with x, r and w. The
noise of V_k thus enters through J (eta_g a_k X' - N_k'/l_k), or J eta_g a_k X'.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction

from flint import fmpq, fmpq_mat

from boundcheck.core.linalg import identity, rational
from boundcheck.engines.exact.budget import check_state
from boundcheck.engines.exact.cohorts import Law, Member, law_of
from boundcheck.engines.exact.rings import Matrix, Ring
from boundcheck.engines.exact.rounds import Job, Pair, Plan, Rounds
from boundcheck.engines.exact.state import Exact, Layout
from boundcheck.engines.exact.visits import Local, Outcome
from boundcheck.methods.method import Method
from boundcheck.methods.parts import ControlVariates, ReferencePoint, StepSize, Visit
from boundcheck.methods.parts.control import steps_divide


@dataclass(frozen=True)
class _Work:
    """One possible visit: its probability, outcome, Q (d, D), and 1/l where the client's variate is divided by it."""

    p: Fraction
    visit: Visit
    outcome: Outcome
    moved: Matrix
    share: Fraction


@dataclass(frozen=True)
class _Around:
    """P with its probabilities, J, and by client the pairs of E[u u'] of what its visit sees."""

    before: list[tuple[Fraction, Matrix]]
    after: Matrix
    begun: dict[int, tuple[Pair, ...]] = field(default_factory=dict[int, tuple[Pair, ...]])


class ControlledRounds(Rounds):
    """The rounds of such a method.

    Where the a_k do not depend on who else takes part, the moments of the cohort suffice; other cohorts are gone
    through one by one. Raises Unsupported for too many of them and for too many clients, BadInput for a client without
    local steps whose variate is divided by their number.
    """

    def __init__(self, ring: Ring, method: Method, exact: Exact) -> None:
        check_state(ring, exact, f"the control variates of {method.name}")
        super().__init__(ring, method, exact)
        layout, clients, lift = exact.layout, exact.clients, ring.lift
        control = method.control
        assert control is not None
        self._control = control
        self._cohorts = self.period
        self._renewal = control.inner if isinstance(control, ReferencePoint) else 1
        self.period = math.lcm(self.period, self._renewal)
        self._worker = Local(ring, method, replace(exact, layout=Layout(layout.d)), shifted=True)
        here, one = layout.block(0), layout.one
        if isinstance(control, ControlVariates):
            kept = [layout.block(layout.slot(k)) for k in range(clients.count)]
        else:
            point = layout.block(layout.slot(0))
            kept = [a * point - o * one for a, o in exact.whole]
        mean = fmpq_mat(layout.d, layout.size)
        for s, own in zip(control.shares(clients), kept, strict=True):
            mean = mean + own * rational(s)
        self._begins = [lift(_stacked(here, one, (mean - own) * control.sign)) for own in kept]
        self._here, self._mean = lift(here), lift(mean)
        if isinstance(control, ControlVariates):
            self._slots = [lift(own.transpose()) for own in kept]
            self._fresh = [lift(a * here - o * one - c) for (a, o), c in zip(exact.whole, kept, strict=True)]
        self._one = ring.one(layout.size)
        alone = None if method.local.by_cohort else method.aggregation.by_client(method.context(clients))
        values = (
            []
            if alone is None or method.participation.drawing(clients) is None
            else [alone(i) for i in range(clients.count)]
        )
        self._alone = [] if 0 in values else values  # a_k of every client, where they say all
        self._made: dict[tuple[int, int], Plan] = {}

    def law(self, round_index: int) -> Law:
        late = round_index - self.first
        position = round_index if late < 0 else self.first + late % self._cohorts
        if position not in self._laws:
            self._laws[position] = law_of(self.method, position, self.exact.clients, one_by_one=not self._alone)
        return self._laws[position]

    def plan(self, eta: StepSize, round_index: int, first: bool) -> Plan:
        if eta != self._step:
            self._step, self._made = eta, {}
        key = (self.position(round_index), round_index % self._renewal)
        if key not in self._made:
            self._made[key] = self._carried_out(self.law(round_index), eta, key[1])
        return self._made[key]

    # --- the reference point --------------------------------------------------------------------------------------

    def _before(self, phase: int) -> list[tuple[Fraction, Matrix]]:
        """P of the round number `phase` since the last renewal, with its probabilities."""
        control, layout = self._control, self.exact.layout
        if not isinstance(control, ReferencePoint) or control.point == "last":
            return [(Fraction(1), self._one)]
        drawn = control.point == "random"
        taken = identity(layout.size)
        first, share = layout.slot(1), fmpq(1) if drawn else fmpq(1, control.inner)
        for k in range(layout.d):
            taken[first + k, first + k] = fmpq(0) if drawn or phase == 0 else fmpq(1)
            taken[first + k, k] = share
        lifted = self.ring.lift(taken)
        if not drawn or phase == 0:
            return [(Fraction(1), lifted)]
        return [(Fraction(1, phase + 1), lifted), (Fraction(phase, phase + 1), self._one)]

    def _after(self, phase: int) -> Matrix:
        """J of that round."""
        control, layout = self._control, self.exact.layout
        if not isinstance(control, ReferencePoint) or phase < control.inner - 1:
            return self._one
        renewed = identity(layout.size)
        chosen = 0 if control.point == "last" else layout.slot(1)
        for first in (0, layout.slot(0)):
            for k in range(layout.d):
                renewed[first + k, first + k] = fmpq(0)
                renewed[first + k, chosen + k] = fmpq(1)
        return self.ring.lift(renewed)

    # --- one round ------------------------------------------------------------------------------------------------

    def _works(self, member: Member, eta: StepSize) -> list[_Work]:
        assert isinstance(eta, Fraction), "control variates go with one step size a round"
        begin, found = self._begins[member.client], list[_Work]()
        for p, visit in member.visits:
            outcome = self._worker.run(None, member.client, visit, eta)
            moved = self.ring.mul(outcome.mean, begin) - self._here
            share = Fraction(0)
            if steps_divide(self._control, member.client, visit.steps):
                share = 1 / (visit.steps * visit.scale * eta)
            found.append(_Work(p, visit, outcome, moved, share))
        return found

    def _send(self, client: int, a: Fraction, work: _Work) -> Matrix:
        """(D, d): what the noise of a visit adds to the state."""
        ring, send = self.ring, self._back * self.ring.scalar(a)
        return send - self._slots[client] * ring.scalar(work.share) if work.share else send

    def _gained(self, client: int, send: Matrix, work: _Work) -> Matrix:
        """(D, D): what a visit adds to the state, on average."""
        ring = self.ring
        gained = ring.mul(send, work.moved)
        if isinstance(self._control, ReferencePoint):
            return gained
        own = -self._mean if work.share else self._fresh[client]
        return gained + ring.mul(self._slots[client], own)

    def _carried_out(self, law: Law, eta: StepSize, phase: int) -> Plan:
        ring, around = self.ring, _Around(self._before(phase), self._after(phase))
        plan, constants = Plan(ring.zeros(*[self.exact.layout.size] * 2)), list[Matrix]()
        works = [self._works(member, eta) for member in law.members]
        for member in law.members:
            seen = [(p, ring.mul(self._begins[member.client], own)) for p, own in around.before]
            around.begun[member.client] = tuple((u * ring.scalar(p), u) for p, u in seen)
        if law.cohorts:
            for cohort in law.cohorts:
                whole = self._one
                for v, a in zip(cohort.members, cohort.coefficients, strict=True):
                    whole = whole + self._member(plan, constants, law.members[v], a, works[v], cohort.p, around)
                self._add(plan, [(whole * ring.scalar(cohort.p) if cohort.p != 1 else whole, whole)], around)
                plan.mean = plan.mean + self._moved(whole, around) * ring.scalar(cohort.p)
        else:
            means: list[Matrix] = []
            for member, square, own in zip(law.members, law.square, works, strict=True):
                a = self._alone[member.client]
                gain = self._member(plan, constants, member, a, own, square / a**2, around)
                means.append(gain * ring.scalar(1 / a))
            inside = Plan(self._one)
            self._spread(inside, law, means)
            self._add(plan, inside.pairs, around)
            plan.mean = self._moved(inside.mean, around)
        if constants:
            plan.constant = ring.sum(constants)
        return plan

    def _member(
        self, plan: Plan, constants: list[Matrix], member: Member, a: Fraction, works: list[_Work], p: Fraction,
        around: _Around,
    ) -> Matrix:  # fmt: skip
        """Add the noise of a member that has the probability p and the coefficient a; the mean of what it adds to z."""
        ring, client = self.ring, member.client
        sends = [self._send(client, a, work) for work in works]
        gains = [self._gained(client, send, work) for send, work in zip(sends, works, strict=True)]
        mean = ring.sum([gain * ring.scalar(work.p) for gain, work in zip(gains, works, strict=True)])
        for send, gain, work in zip(sends, gains, works, strict=True):
            weight, sent = p * work.p, ring.mul(around.after, send)
            if len(works) > 1:
                self._add(plan, [((gain - mean) * ring.scalar(weight), gain - mean)], around)
            if work.outcome.gamma is not None:
                noise = ring.mul(ring.mul(sent, work.outcome.gamma), sent.transpose())
                constants.append(noise * ring.scalar(weight))
            if not self._worker.closed(client, work.visit):
                plan.jobs.append(Job(client, work.visit, weight, sent, around.begun[client]))
        return mean

    def _add(self, plan: Plan, pairs: list[Pair], around: _Around) -> None:
        """Add the pairs of the sum of J E[P' P M P Q'] J'; two that are one object stay one where P is known."""
        ring = self.ring
        for left, right in pairs:
            for p, own in around.before:
                second = ring.mul(around.after, ring.mul(right, own))
                first = second if left is right else ring.mul(around.after, ring.mul(left, own))
                plan.pairs.append((first if p == 1 else first * ring.scalar(p), second))

    def _moved(self, t: Matrix, around: _Around) -> Matrix:
        """E[J t P]."""
        ring = self.ring
        return ring.mul(around.after, ring.mul(t, ring.sum([own * ring.scalar(p) for p, own in around.before])))


def _stacked(*parts: fmpq_mat) -> fmpq_mat:
    """The rows of the matrices, one below the other."""
    rows = [row for part in parts for row in part.tolist()]
    return fmpq_mat(len(rows), parts[0].ncols(), [v for row in rows for v in row])
