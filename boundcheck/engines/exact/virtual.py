"""Metrics of a round on the objective that it works on, and at the models between two server points.

(Y. Fraboni, R. Vidal, L. Kameni, M. Lorenzi, asynchronous and heterogeneous federated learning.) With a_i the
aggregation weights of round n, q_i(n) = E[a_i 1(i in S_n)] and L^n = sum of q_i(n) f_i; with y_i^k client i's point
before local step k, counted from 0 and begun at y_i^0, the virtual models of equation (7) are

    theta^{n,k} = x + eta_g sum over S_n of a_i (y_i^k - y_i^0),  k = 0..K-1,  so that theta^{n,0} = x.

round_gap: E L^n(x) - min L^n; 0 in a round in which nobody takes part.
virtual_round_gap, virtual_gap, virtual_grad2: the mean over k of E L^n - min L^n, of E F - F*, and of E|grad F|^2, all
    at theta^{n,k}; in a round in which nobody takes part theta^{n,k} = x. The cohort's and the samples' randomness of
    the round itself is in the expectation.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq_mat

from boundcheck.certified.definite import is_positive_semidefinite
from boundcheck.core.linalg import identity, rational, solve_any
from boundcheck.engines.exact.cohorts import Law, law_of
from boundcheck.engines.exact.plans import Pair
from boundcheck.engines.exact.rings import Matrix
from boundcheck.engines.exact.rounds import Rounds
from boundcheck.engines.exact.space import Space
from boundcheck.engines.exact.visits import Step
from boundcheck.errors import Unsupported
from boundcheck.methods.parts import StepSize

METRICS = ("round_gap", "virtual_round_gap", "virtual_gap", "virtual_grad2")


@dataclass(frozen=True)
class _Square:
    """The function u -> (G u + r)' W (G u + r) of u = x - c, in the arithmetic of a run. whole: G' W G."""

    g: Matrix
    r: Matrix
    w: Matrix
    whole: Matrix


class VirtualModels:
    """These metrics of a method's rounds, as functionals of the second moments before a round."""

    def __init__(self, rounds: Rounds) -> None:
        self.rounds, self.ring, self.exact = rounds, rounds.ring, rounds.exact
        self._pick = self.ring.lift(self.exact.layout.block(0))
        self._one = self.ring.lift(self.exact.layout.one)
        self._laws: dict[int, Law] = {}
        self._squares: dict[int, _Square] = {}

    def metric(self, name: str, space: Space, eta: StepSize, round_index: int) -> Matrix:
        """One of `METRICS` before a round with step size eta.

        Raises Unsupported where L^n (or F) has no minimum, and for virtual models of clients whose numbers of local
        steps differ or are random, that solve subproblems, or with a correction.
        """
        position = self.rounds.position(round_index)
        law = self.law_at(position)
        own = name.endswith("round_gap")
        if position not in self._squares and own:
            self._squares[position] = self._of_round(law, position)
        square = self._squares[position] if own else self._of_all(name)
        if name == "round_gap" or not law.members:
            return space.form(self._form(square, self._pick))
        return self._mean_over_steps(name, square, law, space, eta, round_index)

    def law_at(self, position: int) -> Law:
        """The law of the cohort of a round."""
        if position not in self._laws:
            self._laws[position] = law_of(self.rounds.method, position, self.exact.clients)
        return self._laws[position]

    # --- the functions ------------------------------------------------------------------------------------------

    def _square(self, g: fmpq_mat, r: fmpq_mat, w: fmpq_mat) -> _Square:
        lift = self.ring.lift
        return _Square(lift(g), lift(r), lift(w), lift(g.transpose() * w * g))

    def _gap(self, hessian: fmpq_mat, offset: fmpq_mat, what: str) -> _Square:
        """The gap of u'Au/2 - o'u."""
        lowest = solve_any(hessian, offset)
        if lowest is None or not is_positive_semidefinite(hessian):
            raise Unsupported(f"{what} has no minimum, so that there is no gap to it.")
        return self._square(identity(hessian.nrows()), -lowest, hessian * rational(Fraction(1, 2)))

    def _of_round(self, law: Law, position: int) -> _Square:
        """The gap of L^n."""
        d = self.exact.layout.d
        hessian, offset = fmpq_mat(d, d), fmpq_mat(d, 1)
        for member, q in zip(law.members, law.mean, strict=True):
            a, o = self.exact.whole[member.client]
            hessian, offset = hessian + a * rational(q), offset + o * rational(q)
        return self._gap(hessian, offset, f"the sum of the clients' objectives with round {position}'s mean weights")

    def _of_all(self, name: str) -> _Square:
        """F's gap or squared gradient."""
        exact = self.exact
        if name == "virtual_gap":
            return self._gap(exact.hessian, -exact.residual, "the objective F")
        return self._square(exact.hessian, exact.residual, identity(exact.layout.d))

    # --- their expectations ---------------------------------------------------------------------------------------

    def _form(self, square: _Square, at: Matrix) -> Matrix:
        """The form in z (D, D) of the square at the point `at` z, at (d, D)."""
        ring = self.ring
        moved = ring.mul(square.g, at) + ring.mul(square.r, self._one)
        return ring.mul(ring.mul(moved.transpose(), square.w), moved)

    def _steps(self, law: Law, name: str) -> int:
        """K."""
        method = self.rounds.method
        visits = [visit for member in law.members for _, visit in member.visits]
        several = any(len(member.visits) > 1 for member in law.members) or len({v.steps for v in visits}) > 1
        solved = any(v.sampling == "exact" for v in visits)
        if several or solved or method.correction is not None:
            why = "corrects gradients" if method.correction is not None else "solves subproblems"
            why = "takes numbers of local steps that differ or are random" if several else why
            raise Unsupported(f"{method.name} {why}, so that it has no virtual models and no metric '{name}'.")
        return max(visits[0].steps, 1)

    def _mean_over_steps(
        self, name: str, square: _Square, law: Law, space: Space, eta: StepSize, round_index: int
    ) -> Matrix:
        ring, eta_g, t = self.ring, self.rounds.method.server.factor, round_index
        count = self._steps(law, name)
        forms: list[Matrix] = []
        found: list[Matrix] = []
        moved: list[list[Matrix]] = [[] for _ in range(count)]  # by step and member, E[y^k - y^0]
        for member, second in zip(law.members, law.square, strict=True):
            visit = member.visits[0][1]
            begun = self.rounds.begun(member.client, visit, eta, t, None)
            local, at = begun.local, begun.at(space)
            steps: list[Step] = []
            local.run(at, member.client, visit, steps)
            weight = ring.scalar(second * eta_g * eta_g / count)
            for k, step in enumerate(steps or [Step(0, local.pick)]):
                moved[k].append(begun.lift(step.mean - local.pick))
                if step.gamma is not None:
                    forms.append(self._constant(ring.dot(square.whole, step.gamma) * weight))
                if step.second is not None:
                    known = ring.mul(ring.mul(step.mean.transpose(), square.whole), step.mean)
                    found.append((at.trace(square.whole, step.second) - at.form(known)) * weight)
        share = ring.scalar(Fraction(1, count))
        for own in moved:
            drift = ring.sum([q * ring.scalar(eta_g * m) for q, m in zip(own, law.mean, strict=True)])
            forms.append(self._form(square, self._pick + drift) * share)
            for left, right in self._spread(law, own, eta_g):
                forms.append(ring.mul(ring.mul(right.transpose(), square.whole), left) * share)
        return ring.sum([space.form(ring.sum(forms)), *found])

    def _spread(self, law: Law, moved: list[Matrix], eta_g: Fraction) -> list[Pair]:
        """Pairs (P, Q) with sum of P M Q' = E T M T' - E[T] M E[T]', T = eta_g sum over S of a_i Q_i."""
        ring, square = self.ring, eta_g * eta_g
        drift = ring.sum([q * ring.scalar(m) for q, m in zip(moved, law.mean, strict=True)])
        if law.joint is None:
            pairs = [(q * ring.scalar(w * square), q) for q, w in zip(moved, law.own, strict=False) if w]
            return [*pairs, (drift * ring.scalar((law.common - 1) * square), drift)] if law.common != 1 else pairs
        pairs = [(drift * ring.scalar(-square), drift)]
        for q, row in zip(moved, law.joint, strict=True):
            others = [other * ring.scalar(w * square) for other, w in zip(moved, row, strict=True) if w]
            pairs += [(q, ring.sum(others))] if others else []
        return pairs

    def _constant(self, value: object) -> Matrix:
        """The form that is `value` times M[-1, -1]."""
        size = self.exact.layout.size
        form = self.ring.zeros(size, size)
        form[size - 1, size - 1] = value
        return form
