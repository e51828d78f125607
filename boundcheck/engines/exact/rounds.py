"""The expectation of one round: of the state z, and of its second moments M = E[z z'].

A round is a composition of random affine maps: what a cohort of its own collects, where the method does that, and the
round itself. In a round a member v of the cohort adds a_v Q_v z and the noise a_v C_v xi_v, where the map Q_v and the
noise are the moments of its visit (`visits`) in what the functions of the round return (`methods.reading`). So

    M <- E_S [ T_S M T_S' + sum over S of a_v^2 C_v Cov(V_v)(S_v M S_v') C_v' ],  T_S = B + sum over S of a_v E[Q_v],

with S_v what the visit takes from the state. Where the weights and what is added do not depend on who else takes part,
the moments of the a_v suffice; else the round goes through the cohorts. No method is named here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from boundcheck.engines.exact.building import Build
from boundcheck.engines.exact.cohorts import law_of_collected
from boundcheck.engines.exact.ground import Ground
from boundcheck.engines.exact.lowering import Source
from boundcheck.engines.exact.plans import Begun, Noise, Plan
from boundcheck.engines.exact.rings import Matrix, Ring
from boundcheck.engines.exact.space import Space
from boundcheck.engines.exact.state import Exact
from boundcheck.engines.exact.work import Work, inputs_of, linear, scaled
from boundcheck.errors import Unsupported
from boundcheck.methods.formal import Vector
from boundcheck.methods.method import Method
from boundcheck.methods.parts import StepSize, Visit
from boundcheck.methods.round import At


def _frozen(number: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(number.items()))


class Rounds(Ground):
    """The rounds of a method on a problem, in one arithmetic."""

    def __init__(self, ring: Ring, method: Method, exact: Exact) -> None:
        super().__init__(ring, method, exact)
        self._plans: dict[Any, Plan] = {}
        self._step: StepSize | None = None

    def _collected(self, t: int, number: Mapping[str, Any], source: Source) -> tuple[Source, Plan | None]:
        """The source with what is collected by a cohort of its own, and the map that comes first where it is drawn."""
        own = self.rule.collecting
        if own is None or own == "same":
            return source, None
        ring, layout, clients = self.ring, self.exact.layout, self.exact.clients
        sent = [self.reading.collect(i, number) for i in range(clients.count)]
        names, d = list(sent[0]), layout.d
        law = law_of_collected(self.method, own, [s for each in sent for s in each.values()], t, clients)
        maps = [{name: source.lower(sent[m.client][name].vector, m.client) for name in names} for m in law.members]
        if own.drawing(clients) is None:
            sums = {
                ("collected", name): ring.sum([m[name] * ring.scalar(a) for m, a in zip(maps, law.mean, strict=True)])
                for name in names
            }
            return source.with_atoms(sums), None
        # the state with what is collected in front of the constant
        size, width = layout.size, layout.size + d * len(names)
        rows = ring.rows(ring.one(size))
        base = ring.placed([(0, ring.from_rows(rows[:-1])), (width - 1, ring.from_rows(rows[-1:]))], width, size)
        added = [ring.placed(((size - 1 + k * d, m[name]) for k, name in enumerate(names)), width, size) for m in maps]
        first = Plan(base)
        self.spread(first, law, base, added)
        wide = self._widened(source, width)
        blocks = {}
        for k, name in enumerate(names):
            m = ring.zeros(d, width)
            for a in range(d):
                m[a, size - 1 + k * d + a] = ring.scalar(Fraction(1))
            blocks["collected", name] = m
        return wide.with_atoms(blocks), first

    def _widened(self, source: Source, width: int) -> Source:
        def wide(m: Matrix | None) -> Matrix | None:
            return None if m is None else self.wider(m, width)

        return Source(
            self.ring, source.d, width, wide(source.one), source.centre, source.gradients, source.objective,
            {key: self.wider(m, width) for key, m in source.atoms.items()},
            {name: [wide(m) for m in own] for name, own in source.clients.items()},
        )  # fmt: skip

    # --- one round ------------------------------------------------------------------------------------------------

    def plan(self, eta: StepSize, round_index: int) -> Plan:
        """What a round does with step size eta."""
        self._renewed(eta)
        number = self.rule.numbers(round_index, self.exact.layout.d)
        drawn = self.rule.drawn(round_index)
        key = (self.position(round_index), _frozen(number), tuple((p, _frozen(own)) for p, own in drawn))
        if key not in self._plans:
            if not self.rule.steady:
                self._plans = {}  # no later round has the same numbers
            self._refuse_two_draws(len(drawn))
            found = [(p, self._built(key[0], {**number, **own}, eta)) for p, own in drawn]
            self._plans[key] = found[0][1] if len(found) == 1 else self._mixed(found)
        return self._plans[key]

    def _refuse_two_draws(self, numbers: int) -> None:
        own = self.rule.collecting
        if numbers > 1 and own not in (None, "same") and own.drawing(self.exact.clients) is not None:
            raise Unsupported(f"{self.method.name} draws a number and a cohort that collects in the same round.")

    def _renewed(self, eta: StepSize) -> None:
        if eta != self._step:
            self._step, self._plans = eta, {}

    def _mixed(self, found: Sequence[tuple[Fraction, Plan]]) -> Plan:
        """One of these plans, drawn."""
        ring, plan = self.ring, Plan(self.ring.sum([own.mean * self.ring.scalar(p) for p, own in found]))
        for p, own in found:
            plan.pairs += [(left * ring.scalar(p), right) for left, right in own.pairs]
            plan.jobs += [replace(job, weight=job.weight * p) for job in own.jobs]
        constants = [own.constant * ring.scalar(p) for p, own in found if own.constant is not None]
        plan.constant = ring.sum(constants) if constants else None
        return plan

    def _built(self, t: int, number: Mapping[str, Any], eta: StepSize) -> Plan:
        reduced = self.exact.reduced
        self.works.begin(number, eta)
        if reduced.alike:
            return self._alike(number, eta)
        if reduced.holders is not None:
            return self._in_copies(number, eta)
        source, before = self._collected(t, number, self.sources[0])
        build = Build(self, source, number, eta)
        plan = build.plan(t)
        if before is not None:
            plan.before, plan.mean = before, self.ring.mul(plan.mean, before.mean)
        return plan

    # --- clients that are alike, and models that are handed over ----------------------------------------------------

    def _alike(self, number: Mapping[str, Any], eta: StepSize) -> Plan:
        """The mean of what clients keep is 0, and e is how far one of them, drawn uniformly, is from it.

        With noise of covariance Gamma in a visit the mean has Gamma/m, and e has (1 - 1/m) Gamma.
        """
        ring, source, layout, m = self.ring, self.sources[0], self.exact.layout, self.exact.reduced.alike
        visits = self.method.local.visits(0, range(self.exact.clients.count), self.exact.clients)
        combined, received = self.reading.combine(number), self.reading.receive(0, number)
        server = {name: flag for name, flag in self.rule.kept_by_server.items() if name not in self.exact.reduced.means}
        kept = {("client", name): source.clients[name][0] for name in self.rule.kept_by_clients}
        centre = source.with_atoms({key: ring.zeros(layout.d, layout.size) for key in kept})
        apart = linear(source, layout.size, {key: own for key, own in kept.items() if own is not None})

        def works(where: Source) -> list[tuple[Fraction, Work]]:
            return [(p, self.works.of(0, v, where)) for p, v in visits]

        def mixed(maps: Iterable[tuple[Fraction, Matrix]]) -> Matrix:
            return ring.sum([scaled(ring, own, p) for p, own in maps])

        inside, outside, whole = works(centre), works(apart), works(source)
        one = whole[0][1]
        totals = {("total", e): mixed((p, w.upload(e)) for p, w in inside) for e in one.sent}
        left = {("client", name): mixed((p, w.keep(name)) for p, w in outside) for name in one.compiled.kept}
        moved, drift = centre.with_atoms(totals), linear(source, layout.size, left)
        rows = {("server", n, 0): moved.lower(combined[n], None, point=flag) for n, flag in server.items()}
        rows |= {("client", n, 0): drift.lower(received[n], 0) for n in received}
        constant = ring.placed([(layout.size - 1, source.one)], layout.size, layout.size)
        plan, noise = Plan(self.placed(rows, layout.size) + constant), Noise(ring)
        plan.pairs.append((plan.mean, plan.mean))
        up = linear(source, one.width, {("total", e): one.upload_noise(e) for e in one.sent})
        down = linear(source, one.width, {("client", n): one.keep_noise(n) for n in one.compiled.kept})
        to_mean = self.placed({("server", n, 0): up.lower(combined[n], None) for n in server}, one.width)
        to_apart = self.placed({("client", n, 0): down.lower(received[n], 0) for n in received}, one.width)
        mean = mixed((p, w.out) for p, w in whole)
        for k, (weight, send) in enumerate(((Fraction(1, m), to_mean), (1 - Fraction(1, m), to_apart))):
            for p, work in whole:
                noise.add((k, work.visit), send, work, p * weight)
                if len(whole) > 1:
                    own = ring.mul(send, work.out - mean)
                    plan.pairs.append((scaled(ring, own, p * weight), own))
        return noise.finish(plan)

    def _in_copies(self, number: Mapping[str, Any], eta: StepSize) -> Plan:
        """Copy by copy, one for each way in which clients hold the models."""
        ring, layout, holders = self.ring, self.exact.layout, self.exact.reduced.holders
        assert holders is not None
        plan, noise = Plan(ring.zeros(layout.size, layout.size)), Noise(ring)
        for copy, clients in enumerate(holders):
            build = Build(self, self.sources[copy], number, eta, copy)
            build.noise, build.likely = noise, Fraction(1, layout.copies)
            t, apart = build.held(clients)
            plan.mean = plan.mean + t
            plan.pairs += apart
        if layout.copies > 1:
            last = ring.zeros(layout.size, layout.size)
            last[layout.size - 1, layout.size - 1] = ring.scalar(Fraction(1))
            plan.mean = plan.mean + last
        plan.pairs.append((plan.mean, plan.mean))
        plan = noise.finish(plan)
        return self._handed(plan) if number.get("handed") and layout.copies > 1 else plan

    def _handed(self, plan: Plan) -> Plan:
        """The plan and then a fresh assignment, all equally likely: the copy that is not 0 moves to another place."""
        ring, layout = self.ring, self.exact.layout
        share, fresh = Fraction(1, layout.copies), list[Matrix]()
        for copy in range(layout.copies):
            move = layout.one.transpose() * layout.one
            for other in range(layout.copies):
                for k in range(layout.each):
                    move[copy * layout.each + k, other * layout.each + k] = 1
            fresh.append(ring.lift(move))
        after = Plan(ring.mul(ring.sum(fresh) * ring.scalar(share), plan.mean))
        for move in fresh:
            part = move * ring.scalar(share)
            after.pairs += [(ring.mul(part, p), ring.mul(move, q)) for p, q in plan.pairs]
            after.jobs += [replace(j, weight=j.weight * share, send=ring.mul(move, j.send)) for j in plan.jobs]
            if plan.constant is not None:
                own = ring.mul(ring.mul(part, plan.constant), move.transpose())
                after.constant = own if after.constant is None else after.constant + own
        return after

    def second(self, space: Space, plan: Plan) -> Matrix:
        """M -> M+, as the space keeps it."""
        if plan.before is not None:
            space = space.at(self.second(space, plan.before))
        found = [space.total(plan.pairs)]
        if plan.constant is not None:
            found.append(space.constant(plan.constant))
        sums = dict[int, tuple[Matrix, Matrix]]()
        known: dict[tuple[int, int, Visit, int], Matrix] = {}  # by what is done at which moments
        for job in plan.jobs:
            key = (id(job.local), job.client, job.visit, id(job.inner))
            if key not in known:
                at = space if job.inner is None else space.at(space.total(job.inner))
                covariance = job.local.run(at, job.client, job.visit).covariance
                assert covariance is not None, "jobs are visits whose covariance rests on the state"
                known[key] = covariance
            own = known[key] * self.ring.scalar(job.weight)
            before = sums.get(id(job.send))
            sums[id(job.send)] = (job.send, own if before is None else before[1] + own)
        return self.ring.sum([*found, *(space.push(send, y) for send, y in sums.values())])

    # --- what metrics watch -----------------------------------------------------------------------------------------

    def begun(
        self, client: int, visit: Visit, eta: StepSize, round_index: int, cohorts: Sequence[tuple[int, Fraction]] | None
    ) -> Begun:
        """A visit that begins in a round; cohorts: (number, weight) of those of `law` that make what it takes."""
        self._renewed(eta)
        number = self.rule.numbers(round_index, self.exact.layout.d)
        self.works.begin(number, eta)
        compiled, local = self.works.compiled(client, visit)
        t, sources, before = self.position(round_index), [self.sources[0]], None
        weights = [(0, Fraction(1))] if cohorts is None else cohorts
        if compiled.mentions("collected") and self.rule.collecting == "same":
            sources = [source for _, source in Build(self, self.sources[0], number, eta).sources(t)]
        else:
            weights = [(0, sum((w for _, w in weights), Fraction(0)))]
            if compiled.mentions("collected"):
                sources[0], before = self._collected(t, number, self.sources[0])
        if before is not None or (cohorts is None and len(sources) > 1):
            raise Unsupported(
                f"{self.method.name} corrects gradients by those of a cohort that is drawn: it has no such metric."
            )
        seen = [(w, inputs_of(compiled.inputs, sources[k], client)) for k, w in weights if w or len(weights) == 1]
        return Begun(local, tuple(seen), self.ring)

    def seen(self, function: Callable[[At], Vector], eta: StepSize, round_index: int) -> list[tuple[Fraction, Matrix]]:
        """A vector of the server that rests on what is collected, as maps of the state with their probabilities."""
        number, t = self.rule.numbers(round_index, self.exact.layout.d), self.position(round_index)
        vector = function(self.reading.at(None, number))
        if not vector.mentions("collected"):
            return [(Fraction(1), self.sources[0].lower(vector, None))]
        self._renewed(eta)
        build = Build(self, self.sources[0], number, eta)
        return [(p, source.lower(vector, None)) for p, source in build.sources(t)]
