"""Metrics as functionals of the second moments M = E[z z'] of the state before a round.

drift: xi of Lemma C.2 of FedShuffle for the round that starts at x: sum over all clients i, in the cohort or not, of
    u_i times the sum over i's local steps of E|y - x|^2, y the point before the step and u_i = w_i / (number of i's
    local steps), w_i the weights of the problem's objective. For FedShuffle this is 1/(|D| E) for every step; on the
    surrogate objective of a FedShuffleGen, with the weights what_i, wtilde_i/(W q_i c_i) as in Lemma E.4. Where the
    work depends on the cohort, every client does what the cohort drawn makes its members do.
epoch_grad2: E of the mean over the cohort's clients, and over the epochs that each begins, of |grad F(y)|^2, y the
    point at the start of the epoch (of the first epoch: x). Without a local step, and for an empty cohort, y = x.
    A step with the whole gradient is an epoch.
round_gap, virtual_round_gap, virtual_gap, virtual_grad2: see `virtual`; those of the lemmas on it: see `lemmas`.
momentum_error2: E|m - grad F(x)|^2, m the momentum that the round uses (after its update at the round's start).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from boundcheck.core.linalg import identity
from boundcheck.engines.exact.blocks import KeptRounds
from boundcheck.engines.exact.cohorts import Law, Member, law_of, virtual
from boundcheck.engines.exact.lemmas import LEMMA_METRICS, LemmaQuantities
from boundcheck.engines.exact.rings import Matrix
from boundcheck.engines.exact.rounds import Rounds
from boundcheck.engines.exact.space import Space
from boundcheck.engines.exact.virtual import METRICS
from boundcheck.engines.exact.visits import Step
from boundcheck.methods.parts import StepSize, Visit


class Readers:
    """The functionals of the metrics that a run asks for."""

    def __init__(self, rounds: Rounds) -> None:
        self.rounds, self.ring, self.exact = rounds, rounds.ring, rounds.exact
        exact, ring = self.exact, rounds.ring
        pick = exact.layout.block(0)
        self._plain = {
            name: ring.lift(pick.transpose() * exact.quadratic[name] * pick)
            for name in exact.metrics
            if name in exact.quadratic
        }
        if isinstance(rounds, KeptRounds):
            self._plain |= {name: rounds.point_form(name) for name in exact.kept}
        if "x" in exact.metrics:
            row = pick + exact.layout.one * exact.centre[0, 0]
            self._plain["x"] = ring.lift(exact.layout.one.transpose() * row)
        self._everyone: dict[int, list[tuple[Member, list[int] | None, Fraction]]] = {}
        self._laws: dict[int, Law] = {}
        self._square = ring.lift(exact.hessian * exact.hessian)  # |grad F|^2 without the residual
        self._models = LemmaQuantities(rounds)

    def forms(self) -> Mapping[str, Matrix]:
        """metric -> q (D, D) with metric = trace(q M), of the metrics that are read off the point alone."""
        return self._plain

    def watched(self, space: Space, eta: StepSize, round_index: int, first: bool) -> dict[str, Matrix]:
        """The other metrics, as functionals, before a round; first: it is the run's first."""
        found: dict[str, Matrix] = {}
        updated = self.rounds.compares and not first
        for name in self.exact.watched:
            if name == "drift":
                found[name] = self._drift(space, eta, round_index, updated)
            elif name in METRICS or name in LEMMA_METRICS:
                found[name] = self._models.metric(name, space, eta, round_index)
            elif name == "epoch_grad2":
                found[name] = self._epochs(space, eta, round_index, updated)
            else:
                found[name] = self._error(space, round_index, updated)
        return found

    def _inner(self, space: Space, round_index: int, weights: list[tuple[int, Fraction]]) -> Space:
        """The space of E[weight * U_S M U_S'], weights by position of the cohort."""
        rounds, ring = self.rounds, self.ring
        law = rounds.law(round_index)
        updates = rounds.updated(law)
        return space.at(space.total([(updates[k] * ring.scalar(w), updates[k]) for k, w in weights if w]))

    def _drift(self, space: Space, eta: StepSize, round_index: int, updated: bool) -> Matrix:
        rounds, ring, parts = self.rounds, self.ring, list[Matrix]()
        clients = self.exact.clients
        position, shared = rounds.position(round_index), None
        if position not in self._everyone:
            self._everyone[position] = virtual(rounds.method, position, clients)
        for member, positions, p in self._everyone[position]:
            at, share = space, p
            if updated:
                cohorts = rounds.law(round_index).cohorts
                if positions is None:
                    shared = shared or self._inner(space, round_index, [(k, c.p) for k, c in enumerate(cohorts)])
                    at = shared
                else:
                    at = self._inner(space, round_index, [(k, cohorts[k].p) for k in positions])
                share = Fraction(1)
            for q, visit in member.visits:
                if visit.steps:
                    weight = ring.scalar(share * q * self.exact.weights[member.client] / visit.steps)
                    parts += [d * weight for d in self._distances(at, member, visit, eta)]
        return ring.sum(parts) if parts else space.form(ring.zeros(*[self.exact.layout.size] * 2))

    def _distances(self, at: Space, member: Member, visit: Visit, eta: StepSize) -> list[Matrix]:
        """E|y - x|^2 before each step."""
        ring, pick = self.ring, self.rounds.local.pick
        steps: list[Step] = []
        self.rounds.local.run(at, member.client, visit, eta, steps)
        unit = ring.lift(identity(self.exact.layout.d))
        forms, found = list[Matrix](), list[Matrix]()
        for step in steps:
            if step.second is None:
                apart = step.mean - pick
                forms.append(ring.mul(apart.transpose(), apart))
                if step.gamma is not None:
                    forms.append(self._times(ring.dot(unit, step.gamma)))
            else:
                cross = ring.mul(step.mean.transpose(), pick)
                forms.append(ring.mul(pick.transpose(), pick) - cross - cross.transpose())
                found.append(at.trace(unit, step.second))
        return [*found, at.form(ring.sum(forms))]

    def _times(self, value: object) -> Matrix:
        """The form that is `value` times M[-1, -1]."""
        size = self.exact.layout.size
        form = self.ring.zeros(size, size)
        form[size - 1, size - 1] = value
        return form

    def _gradient(self) -> tuple[Matrix, Matrix]:
        """(A, r) with grad F = A (x - c) + r; r (d, D) multiplies the state."""
        return self.ring.lift(self.exact.hessian), self.ring.lift(self.exact.residual * self.exact.layout.one)

    def _epochs(self, space: Space, eta: StepSize, round_index: int, updated: bool) -> Matrix:
        rounds, ring = self.rounds, self.ring
        position = rounds.position(round_index)
        law = self._laws.get(position, rounds.law(position))
        if not law.cohorts:
            law = law_of(rounds.method, position, self.exact.clients, one_by_one=True)
        self._laws[position] = law
        weights: list[list[tuple[int, Fraction]]] = [[] for _ in law.members]
        idle = Fraction(0)
        for k, cohort in enumerate(law.cohorts):
            for v in cohort.members:
                weights[v].append((k, cohort.p / len(cohort.members)))
            idle += 0 if cohort.members else cohort.p
        parts: list[Matrix] = []
        for member, own in zip(law.members, weights, strict=True):
            total = sum((w for _, w in own), Fraction(0))
            at = self._inner(space, round_index, own) if updated else space
            share = Fraction(1) if updated else total
            for q, visit in member.visits:
                parts += [g * ring.scalar(share * q) for g in self._gradients(at, member, visit, eta)]
        if idle:
            a, r = self._gradient()
            here = ring.mul(a, rounds.local.pick) + r
            parts.append(space.form(ring.mul(here.transpose(), here)) * ring.scalar(idle))
        return ring.sum(parts)

    def _gradients(self, at: Space, member: Member, visit: Visit, eta: StepSize) -> list[Matrix]:
        """E|grad F(y)|^2 at the start of each epoch, divided by their number."""
        ring, pick = self.ring, self.rounds.local.pick
        steps: list[Step] = []
        self.rounds.local.run(at, member.client, visit, eta, steps)
        each = 1 if visit.sampling == "full" else -(-sum(self.rounds.local.counts(member.client)) // visit.batch)
        begun = steps[::each] or [Step(0, pick)]
        a, r = self._gradient()
        forms, found = list[Matrix](), list[Matrix]()
        share = ring.scalar(Fraction(1, len(begun)))
        for step in begun:
            here = ring.mul(a, step.mean) + r
            if step.second is None:
                forms.append(ring.mul(here.transpose(), here))
                if step.gamma is not None:
                    forms.append(self._times(ring.dot(self._square, step.gamma)))
            else:  # |A y + r|^2 = y'AAy + 2 r'Ay + |r|^2
                cross = ring.mul(r.transpose(), ring.mul(a, step.mean))
                forms.append(cross + cross.transpose() + ring.mul(r.transpose(), r))
                found.append(at.trace(self._square, step.second) * share)
        return [*found, at.form(ring.sum(forms)) * share]

    def _error(self, space: Space, round_index: int, updated: bool) -> Matrix:
        rounds, ring, layout = self.rounds, self.ring, self.exact.layout
        a, r = self._gradient()
        apart = ring.lift(layout.block(layout.momentum)) - ring.mul(a, rounds.local.pick) - r
        if not updated:
            return space.form(ring.mul(apart.transpose(), apart))
        law = rounds.law(round_index)
        forms: list[Matrix] = []
        for cohort, u in zip(law.cohorts, rounds.updated(law), strict=True):
            own = ring.mul(apart, u)
            forms.append(ring.mul(own.transpose(), own) * ring.scalar(cohort.p))
        return space.form(ring.sum(forms))
