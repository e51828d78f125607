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

from collections.abc import Mapping, Sequence
from fractions import Fraction

from flint import fmpq_mat

from boundcheck.core.linalg import identity, rational
from boundcheck.engines.exact.cohorts import Law, Member, virtual
from boundcheck.engines.exact.lemmas import LEMMA_METRICS, LemmaQuantities
from boundcheck.engines.exact.plans import Begun
from boundcheck.engines.exact.rings import Matrix
from boundcheck.engines.exact.rounds import Rounds
from boundcheck.engines.exact.space import Space
from boundcheck.engines.exact.virtual import METRICS
from boundcheck.engines.exact.visits import Step
from boundcheck.errors import BadInput
from boundcheck.methods.parts import Blocks, StepSize, Visit


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
        self._plain |= {name: self._apart(name) for name in exact.kept}
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

    def _apart(self, name: str) -> Matrix:
        """The form of "discrepancy" or "discrepancy:<j>". Raises BadInput for a block that is none."""
        exact, layout, exchange = self.exact, self.exact.layout, self.rounds.method.exchange
        assert isinstance(exchange, Blocks), "only methods that average blocks have this metric"
        blocks = exchange.blocks(layout.d)
        chosen: Sequence[int] = range(layout.d)
        if ":" in name:
            number = int(name.partition(":")[2])
            if number >= len(blocks):
                raise BadInput(f"'{name}': there is no such block; the model has the blocks 0 to {len(blocks) - 1}.")
            chosen = blocks[number]
        kept = [key for key in layout.keys if key[0] == "client"]
        equal = exact.reduced.alike or exact.reduced.holders is not None
        weights = [Fraction(1, len(kept))] * len(kept) if equal else exchange.of(exact.clients.weights)
        form = fmpq_mat(layout.size, layout.size)
        for copy in range(layout.copies):
            for key, weight in zip(kept, weights, strict=True):
                for k in chosen:
                    at = layout.place(key, copy) + k
                    form[at, at] = rational(weight)
        return self.ring.lift(form)

    def watched(self, space: Space, eta: StepSize, round_index: int) -> dict[str, Matrix]:
        """The other metrics, as functionals, before a round."""
        found: dict[str, Matrix] = {}
        for name in self.exact.watched:
            if name == "drift":
                found[name] = self._drift(space, eta, round_index)
            elif name in METRICS or name in LEMMA_METRICS:
                found[name] = self._models.metric(name, space, eta, round_index)
            elif name == "epoch_grad2":
                found[name] = self._epochs(space, eta, round_index)
            else:
                found[name] = self._error(space, eta, round_index)
        return found

    def _drift(self, space: Space, eta: StepSize, round_index: int) -> Matrix:
        rounds, ring, parts = self.rounds, self.ring, list[Matrix]()
        position = rounds.position(round_index)
        if position not in self._everyone:
            self._everyone[position] = virtual(rounds.method, position, self.exact.clients)
        cohorts = self._by_cohort(position).cohorts if rounds.rule.collecting == "same" else ()
        for member, positions, p in self._everyone[position]:
            own = [(k, c.p) for k, c in enumerate(cohorts) if positions is None or k in positions] or [(0, p)]
            for q, visit in member.visits:
                if visit.steps:
                    begun = rounds.begun(member.client, visit, eta, round_index, own)
                    weight = ring.scalar(q * self.exact.weights[member.client] / visit.steps)
                    parts += [d * weight for d in self._distances(begun, space, member, visit)]
        return ring.sum(parts) if parts else space.form(ring.zeros(*[self.exact.layout.size] * 2))

    def _by_cohort(self, position: int) -> Law:
        """The law of the cohort of a round, cohort by cohort."""
        if position not in self._laws:
            law = self.rounds.law(position)
            self._laws[position] = law if law.cohorts else self.rounds.law(position, one_by_one=True)
        return self._laws[position]

    def _distances(self, begun: Begun, space: Space, member: Member, visit: Visit) -> list[Matrix]:
        """E|y - x|^2 before each step."""
        ring, pick, at = self.ring, begun.local.pick, begun.at(space)
        steps: list[Step] = []
        begun.local.run(at, member.client, visit, steps)
        unit = ring.lift(identity(self.exact.layout.d))
        forms, found = list[Matrix](), list[Matrix]()
        for step in steps:
            if step.second is None:
                apart = step.mean - pick
                forms.append(ring.mul(apart.transpose(), apart))
                if step.gamma is not None:
                    forms.append(self._times(ring.dot(unit, step.gamma), begun.local.wide))
            else:
                cross = ring.mul(step.mean.transpose(), pick)
                forms.append(ring.mul(pick.transpose(), pick) - cross - cross.transpose())
                found.append(at.trace(unit, step.second))
        return [*found, at.form(ring.sum(forms))]

    def _times(self, value: object, size: int) -> Matrix:
        """The form that is `value` times M[-1, -1]."""
        form = self.ring.zeros(size, size)
        form[size - 1, size - 1] = value
        return form

    def _gradient(self, size: int) -> tuple[Matrix, Matrix]:
        """(A, r) with grad F = A (x - c) + r; r (d, size) multiplies a vector that ends in 1."""
        one = fmpq_mat(1, size)
        one[0, size - 1] = 1
        return self.ring.lift(self.exact.hessian), self.ring.lift(self.exact.residual * one)

    def _epochs(self, space: Space, eta: StepSize, round_index: int) -> Matrix:
        rounds, ring = self.rounds, self.ring
        law = self._by_cohort(rounds.position(round_index))
        weights: list[list[tuple[int, Fraction]]] = [[] for _ in law.members]
        idle = Fraction(0)
        for k, cohort in enumerate(law.cohorts):
            for v in cohort.members:
                weights[v].append((k, cohort.p / len(cohort.members)))
            idle += 0 if cohort.members else cohort.p
        parts: list[Matrix] = []
        for member, own in zip(law.members, weights, strict=True):
            for q, visit in member.visits:
                begun = rounds.begun(member.client, visit, eta, round_index, own)
                parts += [g * ring.scalar(q) for g in self._gradients(begun, space, member, visit)]
        if idle:
            a, r = self._gradient(self.exact.layout.size)
            here = ring.mul(a, ring.lift(self.exact.layout.block(0))) + r
            parts.append(space.form(ring.mul(here.transpose(), here)) * ring.scalar(idle))
        return ring.sum(parts)

    def _gradients(self, begun: Begun, space: Space, member: Member, visit: Visit) -> list[Matrix]:
        """E|grad F(y)|^2 at the start of each epoch, divided by their number."""
        ring, local, at = self.ring, begun.local, begun.at(space)
        steps: list[Step] = []
        local.run(at, member.client, visit, steps)
        each = 1 if visit.sampling == "full" else -(-sum(local.counts(member.client)) // visit.batch)
        epochs = steps[::each] or [Step(0, local.pick)]
        a, r = self._gradient(local.wide)
        forms, found = list[Matrix](), list[Matrix]()
        share = ring.scalar(Fraction(1, len(epochs)))
        for step in epochs:
            here = ring.mul(a, step.mean) + r
            if step.second is None:
                forms.append(ring.mul(here.transpose(), here))
                if step.gamma is not None:
                    forms.append(self._times(ring.dot(self._square, step.gamma), local.wide))
            else:  # |A y + r|^2 = y'AAy + 2 r'Ay + |r|^2
                cross = ring.mul(r.transpose(), ring.mul(a, step.mean))
                forms.append(cross + cross.transpose() + ring.mul(r.transpose(), r))
                found.append(at.trace(self._square, step.second) * share)
        return [*found, at.form(ring.sum(forms)) * share]

    def _error(self, space: Space, eta: StepSize, round_index: int) -> Matrix:
        ring, momentum = self.ring, self.rounds.method.momentum
        assert momentum is not None
        a, r = self._gradient(self.exact.layout.size)
        slope = ring.mul(a, ring.lift(self.exact.layout.block(0))) + r
        forms: list[Matrix] = []
        for p, used in self.rounds.seen(momentum.used, eta, round_index):
            apart = used - slope
            forms.append(ring.mul(apart.transpose(), apart) * ring.scalar(p))
        return space.form(ring.sum(forms))
