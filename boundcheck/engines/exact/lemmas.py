"""What the lemmas of the asynchronous paper speak of in one round, in expectation over everything that is random.

(Y. Fraboni, R. Vidal, L. Kameni, M. Lorenzi, "A General Theory for Federated Optimization with Asynchronous and
Heterogeneous Clients Updates", Appendices A.2 and B.) theta^n is the server's point, w_i the weight of client i in the
round (0 where it is not in the cohort), q_i = E w_i, q their sum, qt_i = q_i/q, L^n = sum of q_i f_i with the minimiser
thb^n, eta the local and eta_g the server's step size. y_i^k is client i's point before local step k, counted from 0,
and g_i^k its stochastic gradient there, theta^{n,k} the virtual model (`virtual`), and x the minimiser of the mean of
the L^n over a period. Of several minimisers the one nearest to the start is taken.

    round_weight    q                                  round_chi2    sum (r_j - st_j)^2/st_j over the kinds j of data
    round_noise     sum qt_i E|g_i(thb^n)|^2           round_spread  L^n(thb^n) - sum s_j F_j*, over the kinds in it
    round_noise2    sum qt_i^2 E|g_i(thb^n)|^2         absent_gap    sum r_j E[F_j(theta^n) - F_j*], the other kinds
    movement2       E|theta^{n+1} - theta^n|^2         dist2_change  E|theta^{n+1} - x|^2 - E|theta^n - x|^2
    round_difference  E L^n(theta^n) - L^n(x)
    work_grad2        mean over k of sum qt_i E|g_i^k|^2
    work_distance2    mean over k of sum qt_i E|y_i^k - theta^n|^2
    work_inner        mean over k of E<sum q_i g_i^k, theta^n - x>
    work_mean_grad2   E|sum qt_i (mean over k of g_i^k)|^2

virtual_difference, virtual_distance2 and virtual_inner have the mean over k of theta^{n,k} in the place of theta^n, and
virtual_mean_grad2 is the mean over k of E|sum qt_i g_i^k|^2. In a round in which nobody takes part all of them are 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from flint import fmpq_mat

from boundcheck.core.linalg import fraction, range_projector, rational, solve_any
from boundcheck.engines.exact.cohorts import Law
from boundcheck.engines.exact.rings import Matrix
from boundcheck.engines.exact.space import Space
from boundcheck.engines.exact.virtual import VirtualModels
from boundcheck.engines.exact.visits import Step
from boundcheck.errors import Unsupported
from boundcheck.methods.parts import StepSize
from boundcheck.setting.expected_weights import expected_weights

FIXED = ("round_weight", "round_noise", "round_noise2", "round_chi2", "round_spread")
OF_ROUNDS = ("movement2", "dist2_change", "absent_gap")
AT_MODELS = ("round_difference", "work_distance2", "work_grad2", "work_inner", "work_mean_grad2")
AT_VIRTUAL = ("virtual_difference", "virtual_distance2", "virtual_inner", "virtual_mean_grad2")
LEMMA_METRICS = (*FIXED, *OF_ROUNDS, *AT_MODELS, *AT_VIRTUAL)


@dataclass(frozen=True)
class _Quadratic:
    """u'W u - 2 v'u + c; w (d, d), v (d, 1)."""

    w: fmpq_mat
    v: fmpq_mat
    c: Fraction

    def plus(self, other: _Quadratic, share: Fraction) -> _Quadratic:
        """This one and a share of another."""
        s = rational(share)
        return _Quadratic(self.w + other.w * s, self.v + other.v * s, self.c + other.c * share)

    def at(self, u: fmpq_mat) -> Fraction:
        """Its value at u (d, 1)."""
        return fraction((u.transpose() * self.w * u - self.v.transpose() * u * rational(2))[0, 0]) + self.c


@dataclass(eq=False)
class _Work:
    """A member's local work: its weights and its local points, as maps of the state.

    q, square: E w and E w^2. size: the step size. wide: entries of what the work rests on, with 1. at: the second
    moments of that. means: E[y^k] (d, D) for k = 0, ..., K. steps: the local points before each step, in terms of it.
    end: the covariance of y^K, as `visits.Outcome` has it.
    """

    client: int
    q: Fraction
    square: Fraction
    size: Fraction
    batch: int
    wide: int
    at: Space
    means: list[Matrix]
    steps: list[Step]
    end: tuple[Matrix | None, Matrix | None]
    moved: list[Matrix] = field(default_factory=list)  # E[y^k - y^0]


class LemmaQuantities(VirtualModels):
    """These metrics of a method's rounds, and those of `virtual`, as functionals of the moments before a round."""

    def metric(self, name: str, space: Space, eta: StepSize, round_index: int) -> Matrix:
        """One of them. Raises Unsupported as `VirtualModels.metric` does, and for methods that are none of the paper's
        Algorithm 1, for local steps that change in size and for samples that are not drawn independently."""
        if name not in LEMMA_METRICS:
            return super().metric(name, space, eta, round_index)
        position = self.rounds.position(round_index)
        law = self.law_at(position)
        total = sum(law.mean, Fraction(0))
        if not total:
            return space.form(self._constant(self.ring.scalar(Fraction(0))))
        if name in FIXED:
            return space.form(self._constant(self.ring.scalar(self._fixed(law)[name])))
        if name in ("movement2", "dist2_change"):
            return self._after(name, space, eta, round_index)
        if name == "absent_gap":
            return space.form(self._quadratic(self._absent(law), self._pick))
        if name.endswith("difference"):
            own = super().metric("round_gap" if name[0] == "r" else "virtual_round_gap", space, eta, round_index)
            a, o = self._sum(law)
            above = self._excess(a, o).at(self.compared)
            return own - space.form(self._constant(self.ring.scalar(above)))
        works = self._works(law, space, eta, name, round_index)
        if name.startswith("virtual"):
            return getattr(self, f"_{name}")(law, works, space, total)
        return getattr(self, f"_{name}")(works, space, total)

    def _after(self, name: str, space: Space, eta: StepSize, round_index: int) -> Matrix:
        """Of the models before and after the round."""
        ring, pick = self.ring, self._pick
        plan = self.rounds.plan(eta, round_index)
        after = self.rounds.second(space, plan)
        if name == "dist2_change":
            own = self._norm2(self._away)
            return space.trace(own, after) - space.form(own)
        kept = self._norm2(pick) - self._product(pick, ring.mul(pick, plan.mean)) * ring.scalar(Fraction(2))
        return space.trace(self._norm2(pick), after) + space.form(kept)

    # --- one round's objective --------------------------------------------------------------------------------------

    def _sum(self, law: Law) -> tuple[fmpq_mat, fmpq_mat]:
        """(A, o) of L^n, whose gradient is A u - o."""
        return self._weighted({m.client: q for m, q in zip(law.members, law.mean, strict=True)})

    def _weighted(self, weights: dict[int, Fraction]) -> tuple[fmpq_mat, fmpq_mat]:
        d = self.exact.layout.d
        a, o = fmpq_mat(d, d), fmpq_mat(d, 1)
        for i, q in weights.items():
            a, o = a + self.exact.whole[i][0] * rational(q), o + self.exact.whole[i][1] * rational(q)
        return a, o

    def _lowest(self, a: fmpq_mat, o: fmpq_mat) -> fmpq_mat:
        """The minimiser of u'Au/2 - o'u nearest to the start. Raises Unsupported where there is none."""
        self._gap(a, o, "a sum of the clients' objectives")
        u = solve_any(a, o)
        assert u is not None
        d = self.exact.layout.d
        start = fmpq_mat(d, 1, [self.exact.start[k, 0] for k in range(d)])
        return u if a.rank() == d else start + range_projector(a) * (u - start)

    def _excess(self, a: fmpq_mat, o: fmpq_mat) -> _Quadratic:
        """u'Au/2 - o'u less its minimum."""
        own = _Quadratic(a * rational(Fraction(1, 2)), o * rational(Fraction(1, 2)), Fraction(0))
        return _Quadratic(own.w, own.v, -own.at(self._lowest(a, o)))

    @cached_property
    def compared(self) -> fmpq_mat:
        """x, the minimiser of the mean of the L^n."""
        method = self.rounds.method
        expected = expected_weights(method, self.exact.clients)
        if expected is None:
            raise Unsupported(f"{method.name} is no method of Algorithm 1, so that it has no surrogate problem.")
        return self._lowest(*self._weighted(expected.mean))

    def _gradient2(self, client: int, batch: int) -> _Quadratic:
        """E|g_i|^2 of one local step."""
        a, o = self.exact.whole[client]
        mean = _square(a, o)
        if self.exact.samples is None:
            return mean
        own = self.exact.samples[client]
        size = own.total
        batch = min(batch, size)
        if size % batch:
            raise Unsupported("the batches of a client have different sizes, so that its steps are not alike.")
        hessians = own.hessians * len(own.offsets) if own.alike else own.hessians
        found = _Quadratic(mean.w, mean.v, mean.c).plus(mean, Fraction(-1, batch))
        for h, b, count in zip(hessians, own.offsets, own.counts, strict=True):
            found = found.plus(_square(h, b), Fraction(count, size * batch))
        return found

    def _fixed(self, law: Law) -> dict[str, Fraction]:
        """What does not depend on the models."""
        q = {m.client: v for m, v in zip(law.members, law.mean, strict=True) if v}
        total = sum(q.values(), Fraction(0))
        lowest = self._lowest(*self._sum(law))
        batches = {m.client: m.visits[0][1].batch for m in law.members}
        noise = {i: self._gradient2(i, batches[i]).at(lowest) for i in q}
        of, shares = self._kinds
        own: dict[int, Fraction] = {}
        for i, v in q.items():
            own[of[i]] = own.get(of[i], Fraction(0)) + v / total
        return {
            "round_weight": total,
            "round_noise": sum((v / total * noise[i] for i, v in q.items()), Fraction(0)),
            "round_noise2": sum(((v / total) ** 2 * noise[i] for i, v in q.items()), Fraction(0)),
            "round_chi2": sum(((shares[j] - v) ** 2 / v for j, v in own.items()), Fraction(0)),
            "round_spread": sum((v * self._excess(*self.exact.whole[i]).at(lowest) for i, v in q.items()), Fraction(0)),
        }

    @cached_property
    def _kinds(self) -> tuple[tuple[int, ...], dict[int, Fraction]]:
        """Which kind of data each client has, and the kinds' shares in F: clients with the same objective are alike."""
        known: dict[object, int] = {}
        labels = [(tuple(map(str, a.entries())), tuple(map(str, o.entries()))) for a, o in self.exact.whole]
        of = tuple(known.setdefault(label, len(known)) for label in labels)
        shares = dict.fromkeys(of, Fraction(0))
        for j, w in zip(of, self.exact.weights, strict=True):
            shares[j] += w
        return of, shares

    def _absent(self, law: Law) -> _Quadratic:
        """Sum of r_j [F_j - F_j*] over the kinds of data that have no weight in the round."""
        of, shares = self._kinds
        present = {of[m.client] for m, q in zip(law.members, law.mean, strict=True) if q}
        d = self.exact.layout.d
        found = _Quadratic(fmpq_mat(d, d), fmpq_mat(d, 1), Fraction(0))
        for j, share in shares.items():
            if j not in present:
                found = found.plus(self._excess(*self.exact.whole[of.index(j)]), share)
        return found

    # --- local work -------------------------------------------------------------------------------------------------

    def _works(self, law: Law, space: Space, eta: StepSize, name: str, round_index: int) -> list[_Work]:
        self._steps(law, name)
        if isinstance(eta, tuple) or self.rounds.method.server.averages_models:
            raise Unsupported(f"{self.rounds.method.name} has no steps of one size, and so no metric '{name}'.")
        found: list[_Work] = []
        for member, q, square in zip(law.members, law.mean, law.square, strict=True):
            visit = member.visits[0][1]
            if visit.sampling not in ("full", "replacement") or visit.prox:
                raise Unsupported(f"{self.rounds.method.name} draws no independent samples: no metric '{name}'.")
            begun = self.rounds.begun(member.client, visit, eta, round_index, None)
            at, steps = begun.at(space), list[Step]()
            outcome = begun.local.run(at, member.client, visit, steps)
            means = [begun.lift(m) for m in (*(step.mean for step in steps), outcome.mean)]
            end = outcome.gamma, outcome.covariance
            size = eta * visit.scale
            own = _Work(member.client, q, square, size, visit.batch, begun.local.wide, at, means, steps, end)
            own.moved = [m - means[0] for m in means]
            found.append(own)
        return found

    def _noise(self, work: _Work, k: int, w: Matrix) -> Matrix:
        """The functional trace(W Cov(y^k)), the covariance given the state."""
        at = work.at
        if k < len(work.steps):
            step = work.steps[k]
            if step.second is not None:
                known = self.ring.mul(self.ring.mul(step.mean.transpose(), w), step.mean)
                return at.trace(w, step.second) - at.form(known)
            gamma, covariance = step.gamma, None
        else:
            gamma, covariance = work.end
        if covariance is not None:
            return at.trace(w, covariance)
        value = self.ring.scalar(Fraction(0)) if gamma is None else self.ring.dot(w, gamma)
        return work.at.form(self._constant_of(work.wide, value))

    def _constant_of(self, size: int, value: object) -> Matrix:
        """The form `value` times the constant's square, for vectors of this size."""
        form = self.ring.zeros(size, size)
        form[size - 1, size - 1] = value
        return form

    def _quadratic(self, own: _Quadratic, at: Matrix) -> Matrix:
        """The form in the state of a quadratic function at the point `at` z."""
        ring, lift = self.ring, self.ring.lift
        linear = ring.mul(ring.mul(lift(own.v).transpose(), at).transpose(), self._one)
        whole = ring.mul(ring.mul(at.transpose(), lift(own.w)), at) - linear - linear.transpose()
        return whole + self._constant(ring.scalar(own.c))

    def _norm2(self, at: Matrix) -> Matrix:
        """The form of |at z|^2."""
        return self.ring.mul(at.transpose(), at)

    def _product(self, left: Matrix, right: Matrix) -> Matrix:
        """The symmetric form of <left z, right z>."""
        ring = self.ring
        own = ring.mul(left.transpose(), right)
        return (own + own.transpose()) * ring.scalar(Fraction(1, 2))

    def _combined(self, terms: list[tuple[Fraction, Matrix]]) -> Matrix:
        return self.ring.sum([m * self.ring.scalar(c) for c, m in terms])

    def _gradient(self, work: _Work, k: int) -> Matrix:
        """E of the gradient of f_i at y_i^k, as a map of the state."""
        ring, (a, o) = self.ring, self.exact.whole[work.client]
        return ring.mul(ring.lift(a), work.means[k]) - ring.mul(ring.lift(o), self._one)

    @cached_property
    def _unit(self) -> Matrix:
        return self.ring.one(self.exact.layout.d)

    @cached_property
    def _away(self) -> Matrix:
        """theta^n - x."""
        return self._pick - self.ring.mul(self.ring.lift(self.compared), self._one)

    def _spreads(self, law: Law, works: list[_Work], k: int, w: Matrix) -> list[Matrix]:
        """The forms of E tr W Cov of eta_g sum of w_i E[y_i^k - y_i^0], over the cohort."""
        ring = self.ring
        pairs = self._spread(law, [work.moved[k] for work in works], self.rounds.method.server.factor)
        return [ring.mul(ring.mul(right.transpose(), w), left) for left, right in pairs]

    # --- the metrics ------------------------------------------------------------------------------------------------

    def _work_inner(self, works: list[_Work], space: Space, total: Fraction) -> Matrix:
        last = len(works[0].steps)
        mean = self._combined([(-work.q / (work.size * last), work.moved[last]) for work in works])
        return space.form(self._product(mean, self._away))

    def _work_mean_grad2(self, works: list[_Work], space: Space, total: Fraction) -> Matrix:
        ring, last = self.ring, len(works[0].steps)
        shares = [work.q / (total * work.size * last) for work in works]
        mean = self._combined([(c, work.moved[last]) for c, work in zip(shares, works, strict=True)])
        noise = [self._noise(w, last, self._unit) * ring.scalar(c * c) for c, w in zip(shares, works, strict=True)]
        return ring.sum([space.form(self._norm2(mean)), *noise])

    def _work_grad2(self, works: list[_Work], space: Space, total: Fraction) -> Matrix:
        found: list[Matrix] = []
        for work in works:
            for k in range(len(work.steps)):
                share = self.ring.scalar(work.q / (total * len(work.steps)))
                found.append(self._grad2(work, k, space) * share)
        return self.ring.sum(found)

    def _grad2(self, work: _Work, k: int, space: Space) -> Matrix:
        """E|g_i^k|^2."""
        own = self._gradient2(work.client, work.batch)
        return space.form(self._quadratic(own, work.means[k])) + self._noise(work, k, self.ring.lift(own.w))

    def _work_distance2(self, works: list[_Work], space: Space, total: Fraction) -> Matrix:
        found: list[Matrix] = []
        for work in works:
            share = self.ring.scalar(work.q / (total * len(work.steps)))
            for k in range(len(work.steps)):
                apart = space.form(self._norm2(work.means[k] - self._pick))
                found.append((apart + self._noise(work, k, self._unit)) * share)
        return self.ring.sum(found)

    def _virtual_distance2(self, law: Law, works: list[_Work], space: Space, total: Fraction) -> Matrix:
        ring, eta_g, count = self.ring, self.rounds.method.server.factor, len(works[0].steps)
        found: list[Matrix] = []
        for k in range(count):
            model = self._pick + self._combined([(eta_g * work.q, work.moved[k]) for work in works])
            spread = self._spreads(law, works, k, self._unit)
            found += [space.form(ring.sum(spread))] if spread else []
            for work in works:
                apart = space.form(self._norm2(work.means[k] - model)) * ring.scalar(work.q / total)
                own = work.q / total * (1 - 2 * eta_g * work.q) + eta_g * eta_g * work.square
                found += [apart, self._noise(work, k, self._unit) * ring.scalar(own)]
        return ring.sum(found) * ring.scalar(Fraction(1, count))

    def _virtual_inner(self, law: Law, works: list[_Work], space: Space, total: Fraction) -> Matrix:
        ring, eta_g, count = self.ring, self.rounds.method.server.factor, len(works[0].steps)
        found: list[Matrix] = []
        for k in range(count):
            away = self._away + self._combined([(eta_g * work.q, work.moved[k]) for work in works])
            mean = self._combined([(work.q, self._gradient(work, k)) for work in works])
            found.append(space.form(self._product(mean, away)))
            for work in works:
                a = ring.lift(self.exact.whole[work.client][0])
                found.append(self._noise(work, k, a) * ring.scalar(eta_g * work.q * work.q))
        return ring.sum(found) * ring.scalar(Fraction(1, count))

    def _virtual_mean_grad2(self, law: Law, works: list[_Work], space: Space, total: Fraction) -> Matrix:
        ring, count = self.ring, len(works[0].steps)
        found: list[Matrix] = []
        for k in range(count):
            mean = self._combined([(work.q / total, self._gradient(work, k)) for work in works])
            found.append(space.form(self._norm2(mean)))
            for work in works:
                alone = space.form(self._norm2(self._gradient(work, k)))
                found.append((self._grad2(work, k, space) - alone) * ring.scalar((work.q / total) ** 2))
        return ring.sum(found) * ring.scalar(Fraction(1, count))


def _square(a: fmpq_mat, o: fmpq_mat) -> _Quadratic:
    """|A u - o|^2."""
    return _Quadratic(a.transpose() * a, a.transpose() * o, fraction((o.transpose() * o)[0, 0]))
