"""Local work on a corrected objective (FedDANE): one round from x with the mean gradient g of another cohort.

Client k works on F_k(v) + <e, v - x> + mu/2 |v - x|^2 with e = c (g - grad F_k(x)), c the round's factor. Its visit
maps u = [z; e] to V_k u, and gradients are affine, grad F_k(x) = D_k z. With g = G_S z, G_S = sum over S of b_j D_j,

    u = E_kS z,  E_kS = [I; c (G_S - D_k)],     T = I + sum over S' of a_k q_k E_kS,  q_k = X' (V_k - X).

Where S and S' are independent, G_S enters the second moments through its mean G and its covariance
C(M) = E[G_S M G_S'] - G M G', and with W_k = c X' R_k, R_k the last d columns of V_k,

    E[T M T'] = E_S'[T_S' M T_S''] + E_S'[(sum a_k W_k) C(M) (sum a_l W_l)'],   T_S' the map T at G_S = G,

so that the moments of the a_k and of the b_j suffice. One cohort for both is gone through cohort by cohort. A pipelined
correction takes g from the state, and puts the round's mean gradient there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq_mat

from boundcheck.core.linalg import identity
from boundcheck.engines.exact.cohorts import Law, Member, law_of
from boundcheck.engines.exact.rings import Matrix, Ring
from boundcheck.engines.exact.rounds import Job, Pair, Plan, Rounds
from boundcheck.engines.exact.state import Exact
from boundcheck.engines.exact.visits import Local, Outcome
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Average, Correction, GradientSteps, NoStep, StepSize, SumOne, Visit, first_repeated


@dataclass(frozen=True)
class _Known:
    """g as the visits see it: its mean map (d, D), and the terms of its covariance C(M)."""

    mean: Matrix
    covariance: tuple[Pair, ...] = ()


class CorrectedRounds(Rounds):
    """The rounds of a method with a correction.

    Raises Unsupported for a correction beside a momentum, BadInput for cohorts that may be
    empty, which have no mean gradient.
    """

    def __init__(self, ring: Ring, method: Method, exact: Exact) -> None:
        super().__init__(ring, method, exact)
        correction, d, size = method.correction, exact.layout.d, exact.layout.size
        assert isinstance(correction, Correction)
        if method.momentum is not None:
            raise Unsupported(f"the exact engine has no correction beside a momentum ({method.name}).")
        self._correction = correction
        drawn = correction.participation or method.participation
        rule = Average() if correction.weights == "uniform" else SumOne()
        self._averaged = Method(method.name, drawn, GradientSteps(1), NoStep(), rule)
        self.period = math.lcm(self.period, drawn.period(exact.clients))
        self.first = max(self.first, first_repeated(drawn, exact.clients), int(correction.pipelined))
        self._check_cohorts()
        self._worker = Local(ring, method, exact, shifted=True)
        lift, here = ring.lift, exact.layout.block(0)
        self._slopes = [lift(a * here - o * exact.layout.one) for a, o in exact.whole]
        whole = identity(size + d).tolist()
        self._state = lift(fmpq_mat(size, size + d, [v for row in whole[:size] for v in row])).transpose()
        self._error = lift(fmpq_mat(d, size + d, [v for row in whole[size:] for v in row])).transpose()
        self._into = lift(exact.layout.block(exact.layout.momentum).transpose())
        if correction.pipelined:
            keep = identity(size)
            for k in range(d, 2 * d):
                keep[k, k] = 0
            self._keep = lift(keep)
        self._gradient_laws: dict[int, Law] = {}
        self._outcomes: dict[tuple[int, Visit], Outcome] = {}
        self._made: dict[tuple[int, Fraction], Plan] = {}

    def _check_cohorts(self) -> None:
        """Every cohort of which a mean gradient is taken must hold a client."""
        clients, drawn = self.exact.clients, self._averaged.participation
        drawing = drawn.drawing(clients)
        if drawing is None:
            empty = any(not drawn.fixed(t, clients) for t in range(self.first + self.period))
        elif drawing.kind == "independent":
            empty = max(drawing.probabilities) < 1
        else:
            empty = drawing.kind == "subsets" and any(
                p and not s for p, s in zip(drawing.probabilities, drawing.subsets, strict=True)
            )
        if empty:
            raise BadInput(f"{self.method.name} takes the mean gradient of a cohort that may be empty.")

    def _gradient_law(self, round_index: int, *, one_by_one: bool) -> Law:
        """The law of the b_j of g."""
        position = self.position(round_index)
        if position not in self._gradient_laws:
            found = law_of(self._averaged, position, self.exact.clients, one_by_one=one_by_one)
            self._gradient_laws[position] = found
        return self._gradient_laws[position]

    def law(self, round_index: int) -> Law:
        """The law of the cohort of a round, by cohorts where g is of the same one."""
        position = self.position(round_index)
        if position not in self._laws:
            clients = self.exact.clients
            self._laws[position] = law_of(self.method, position, clients, one_by_one=self._one_by_one)
        return self._laws[position]

    @property
    def _one_by_one(self) -> bool:
        """Whether the a_k and the b_j are of one cohort and unlike."""
        alike = self.method.aggregation == Average() and self._correction.weights == "uniform"
        return self._correction.participation is None and not (self._correction.pipelined and alike)

    def plan(self, eta: StepSize, round_index: int, first: bool) -> Plan:
        """What a round does with step size eta."""
        if eta != self._step:
            self._step, self._outcomes, self._made = eta, {}, {}
        key = (self.position(round_index), self._correction.at(round_index))
        if key not in self._made:
            if not self._correction.is_constant():
                self._made = {}  # no later round has the same factor
            self._made[key] = self._corrected(*key, eta)
        return self._made[key]

    # --- one client -------------------------------------------------------------------------------------------

    def _outcome(self, client: int, visit: Visit, eta: StepSize) -> Outcome:
        key = (client, visit)
        if key not in self._outcomes:
            self._outcomes[key] = self._worker.run(None, client, visit, eta)
        return self._outcomes[key]

    def _moves(self, member: Member, eta: StepSize) -> list[tuple[Fraction, Matrix]]:
        """(probability, q_k) of each possible visit; q_k (D, D + d)."""
        found: list[tuple[Fraction, Matrix]] = []
        for p, visit in member.visits:
            mean = self._outcome(member.client, visit, eta).mean
            found.append((p, self.ring.mul(self._back, mean - self._worker.pick)))
        return found

    def _mixed(self, moves: list[tuple[Fraction, Matrix]]) -> Matrix:
        """The mean of q_k over the visits."""
        return self.ring.sum([q * self.ring.scalar(p) for p, q in moves])

    def _seen(self, client: int, g: Matrix, c: Fraction) -> Matrix:
        """E_kS (D + d, D) for g (d, D)."""
        off = (g - self._slopes[client]) * self.ring.scalar(c)
        return self._state + self.ring.mul(self._error, off)

    def _noise_of(
        self, plan: Plan, member: Member, eta: StepSize, square: Fraction, inner: tuple[Pair, ...], by: Fraction
    ) -> Matrix | None:
        """Add E[a^2 Cov(Q)] of a member, and give what of it does not depend on M, a (d, d) covariance.

        square: E[a^2]; inner: the pairs of E[u u'], times 1/by of E[a^2] where that depends on the cohort.
        """
        ring, gamma = self.ring, list[Matrix]()
        for p, visit in member.visits:
            own = self._outcome(member.client, visit, eta).gamma
            if own is not None and square:
                gamma.append(own * ring.scalar(square * p))
            if square and not self._worker.closed(member.client, visit):
                plan.jobs.append(Job(member.client, visit, p * by, self._back, inner))
        moves = self._moves(member, eta)
        if len(moves) > 1 and square:
            spread = [*moves, (Fraction(-1), self._mixed(moves))]
            plan.nested.append((list(inner), [(q * ring.scalar(p * by), q) for p, q in spread]))
        return ring.sum(gamma) if gamma else None

    # --- one round --------------------------------------------------------------------------------------------

    def _corrected(self, position: int, c: Fraction, eta: StepSize) -> Plan:
        law, layout = self.law(position), self.exact.layout
        if self._correction.pipelined:
            g = _Known(self.ring.lift(layout.block(layout.momentum)))
            return self._whole(position, law, c, eta) if self._one_by_one else self._by_moments(law, g, c, eta)
        if self._correction.participation is None:
            return self._whole(position, law, c, eta)
        return self._by_moments(law, self._drawn(position), c, eta)

    def _drawn(self, position: int) -> _Known:
        """Mean and covariance of G_S by the moments of the b_j."""
        ring, law = self.ring, self._gradient_law(position, one_by_one=False)
        slopes = [self._slopes[m.client] for m in law.members]
        mean = ring.sum([s * ring.scalar(b) for s, b in zip(slopes, law.mean, strict=True)])
        return _Known(mean, tuple(self._products(law, slopes, mean, centred=True)))

    def _products(self, law: Law, parts: list[Matrix], mean: Matrix, *, centred: bool) -> list[Pair]:
        """Pairs (P, Q) of E[(sum a_v parts_v) M (sum a_w parts_w)'], centred: less that of the mean."""
        ring, found = self.ring, list[Pair]()
        own = Fraction(0) if law.joint is not None else law.common
        rest = own - 1 if centred else own
        if rest:
            found.append((mean * ring.scalar(rest), mean))
        if law.joint is None:
            return found + [(q * ring.scalar(w), q) for q, w in zip(parts, law.own, strict=False) if w]
        for q, row in zip(parts, law.joint, strict=True):
            others = [other * ring.scalar(w) for other, w in zip(parts, row, strict=True) if w]
            found += [(q, ring.sum(others))] if others else []
        return found

    def _by_moments(self, law: Law, g: _Known, c: Fraction, eta: StepSize) -> Plan:
        ring, plan = self.ring, Plan(self._keep)
        if not law.members:
            plan.pairs.append((self._keep, self._keep))
            return plan
        by = ring.scalar(c)
        shifted = [(ring.mul(self._error, p) * by, ring.mul(self._error, q) * by) for p, q in g.covariance if c]
        means, pulls, gammas = list[Matrix](), list[Matrix](), list[Matrix]()
        for member, square in zip(law.members, law.square, strict=True):
            seen = self._seen(member.client, g.mean, c)
            inner = ((seen, seen), *shifted)
            gamma = self._noise_of(plan, member, eta, square, inner, square)
            gammas += [] if gamma is None else [gamma]
            q = self._mixed(self._moves(member, eta))
            own = ring.mul(q, seen)
            if self._correction.pipelined:
                own = own + ring.mul(self._into, self._slopes[member.client])
            means.append(own)
            pulls.append(ring.mul(q, self._error) * by)
        self._spread(plan, law, means)
        if g.covariance and c:
            pull = ring.sum([w * ring.scalar(a) for w, a in zip(pulls, law.mean, strict=True)])
            plan.nested.append((list(g.covariance), self._products(law, pulls, pull, centred=False)))
        return self._closed_noise(plan, gammas)

    def _closed_noise(self, plan: Plan, gammas: list[Matrix]) -> Plan:
        if gammas:
            ring, back = self.ring, self._back
            plan.constant = ring.mul(ring.mul(back, ring.sum(gammas)), back.transpose())
        return plan

    def _whole(self, position: int, law: Law, c: Fraction, eta: StepSize) -> Plan:
        """Cohort by cohort: g is, or becomes, the mean gradient of the cohort that works."""
        ring, plan, layout = self.ring, Plan(self._keep), self.exact.layout
        inner: list[list[Pair]] = [[] for _ in law.members]
        moves = [self._mixed(self._moves(member, eta)) for member in law.members]
        kept = ring.lift(layout.block(layout.momentum))
        total: list[Matrix] = []
        averaged = self._gradient_law(position, one_by_one=True)
        for cohort, means in zip(law.cohorts, averaged.cohorts, strict=True):
            slopes = [
                self._slopes[averaged.members[j].client] * ring.scalar(b)
                for j, b in zip(means.members, means.coefficients, strict=True)
            ]
            mean = ring.sum(slopes)
            t = self._keep
            if self._correction.pipelined:
                t = t + ring.mul(self._into, mean)
            for v, a in zip(cohort.members, cohort.coefficients, strict=True):
                seen = self._seen(law.members[v].client, kept if self._correction.pipelined else mean, c)
                t = t + ring.mul(moves[v], seen) * ring.scalar(a)
                inner[v].append((seen * ring.scalar(cohort.p * a * a), seen))
            total.append(t * ring.scalar(cohort.p))
            plan.pairs.append((total[-1], t))
        plan.mean = ring.sum(total)
        gammas: list[Matrix] = []
        for member, square, own in zip(law.members, law.square, inner, strict=True):
            gamma = self._noise_of(plan, member, eta, square, tuple(own), Fraction(1))
            gammas += [] if gamma is None else [gamma]
        return self._closed_noise(plan, gammas)
