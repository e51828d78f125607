"""The plan of one round in a state: over the moments of the cohort where they suffice, else cohort by cohort."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from boundcheck.engines.exact.cohorts import Cohort, Law, Member, Visits, weights_of
from boundcheck.engines.exact.ground import Ground
from boundcheck.engines.exact.layout import Key
from boundcheck.engines.exact.lowering import Source
from boundcheck.engines.exact.plans import Noise, Pair, Plan
from boundcheck.engines.exact.rings import Matrix
from boundcheck.engines.exact.work import Work, linear, scaled
from boundcheck.errors import Unsupported
from boundcheck.methods.formal import Vector
from boundcheck.methods.parts import StepSize, Visit
from boundcheck.methods.round import PLAIN

Weights = Mapping[Any, Fraction]  # by rule: None for the method's own, PLAIN, or an aggregation
_ONE_STEP = Visit("full", 1)
_ALONE: Weights = {None: Fraction(1)}


@dataclass(frozen=True)
class _Doing:
    """A member of a cohort: its client, its possible works with their probabilities, its weights under each rule."""

    client: int
    works: list[tuple[Fraction, Work]]
    weights: Weights

    def weight(self, work: Work, rule: Any) -> Fraction:
        """The weight of a vector that is sent under a rule."""
        own = self.weights[rule]
        return own * work.visit.weight if rule is None else own


class Build:
    """One round with its numbers and step size, in one copy of the state."""

    def __init__(self, rounds: Ground, source: Source, number: Mapping[str, Any], eta: StepSize, copy: int = 0) -> None:
        self.rounds, self.source, self.number, self.eta, self.copy = rounds, source, number, eta, copy
        self.ring, self.rule, self.reading = rounds.ring, rounds.rule, rounds.reading
        self.layout, self.clients = rounds.exact.layout, rounds.exact.clients
        self.combined = self.reading.combine(number)
        self.noise, self.likely = Noise(self.ring), Fraction(1)
        self.server = [key[1] for key in self.layout.keys if key[0] == "server"]
        begin = self.reading.begin(0, number)
        sent, self.kept = self.reading.after(0, number, _ONE_STEP, begin[0], Fraction(1))
        self.rules = tuple(dict.fromkeys(s.rule for s in sent.values() if s.rule is not None))
        drawing = rounds.method.participation.drawing(self.clients)
        if self.kept and drawing is not None and drawing.kind == "replacement":
            raise Unsupported(f"{rounds.method.name} draws a client twice in a round, which keeps one vector after it.")
        if self.kept and PLAIN not in self.rules:
            self.rules = (*self.rules, PLAIN)
        self._sends: dict[Any, Matrix] = {}

    # --- which way ------------------------------------------------------------------------------------------------

    def plan(self, t: int) -> Plan:
        """The plan of round t."""
        same = self.rule.collecting == "same" and self._uses_collected()
        collected, rules = self._collecting if same else ({}, self.rules)
        drawn = self.rounds.method.participation.drawing(self.clients) is not None
        ratios = None if self.rule.receives or same or not drawn else self._ratios()
        law = self.rounds.law(t, one_by_one=ratios is None, rules=rules)
        if ratios is not None and len(law.cohorts) != 1:
            return self._by_moments(law, ratios)
        return self._by_cohorts(law, collected, t)

    @property
    def _collecting(self) -> tuple[Mapping[str, Any], tuple[Any, ...]]:
        """The rule by which each vector that is collected is summed, and all rules of the round."""
        collected = {n: s.rule for n, s in self.reading.collect(0, self.number).items()}
        return collected, tuple(dict.fromkeys([*self.rules, *(r for r in collected.values() if r is not None)]))

    def _uses_collected(self) -> bool:
        visits = self.rounds.method.local.visits(0, (0,), self.clients)
        compiled = self.rounds.works.compiled(0, visits[0][1])[0]
        return compiled.mentions("collected") or any(v.mentions("collected") for v in self.combined.values())

    def _ratios(self) -> list[Weights] | None:
        """For each client the weights of all rules over that of the method, where they do not rest on the cohort.

        None where they do, or where the weight is 0: the cohorts are then gone through.
        """
        method, everyone = self.rounds.method, range(self.clients.count)
        if not self.rules:
            return [_ALONE] * self.clients.count
        if method.local.by_cohort:
            return None
        context = method.context(self.clients)
        own = method.aggregation.by_client(context)
        others = {rule: None if rule == PLAIN else rule.by_client(context) for rule in self.rules}
        if own is None or any(f is None for rule, f in others.items() if rule != PLAIN):
            return None
        main = [own(i) for i in everyone]
        if 0 in main:
            return None
        return [
            {None: Fraction(1), **{rule: (Fraction(1) if f is None else f(i)) / a for rule, f in others.items()}}
            for i, a in zip(everyone, main, strict=True)
        ]

    def _works(self, member: Member, source: Source) -> list[tuple[Fraction, Work]]:
        own = self.rounds.works
        return [(p, own.of(member.client, v, source)) for p, v in member.visits]

    # --- by the moments of the cohort -------------------------------------------------------------------------------

    def _by_moments(self, law: Law, ratios: Sequence[Weights]) -> Plan:
        ring, plan, means = self.ring, Plan(self.base(self.source)), list[Matrix]()
        for v, (member, square) in enumerate(zip(law.members, law.square, strict=True)):
            doing = _Doing(member.client, self._works(member, self.source), ratios[member.client])
            found = [(p, self._added(doing, work)) for p, work in doing.works]
            mean = found[0][1] if len(found) == 1 else ring.sum([q * ring.scalar(p) for p, q in found])
            for k, (p, work) in enumerate(doing.works):
                self.noise.add((v, k), self._send(doing, work), work, p * square)
            if len(found) > 1 and square:
                plan.pairs += [(q * ring.scalar(p * square), q) for p, q in [*found, (Fraction(-1), mean)]]
            means.append(mean)
        self.rounds.spread(plan, law, plan.mean, means)
        return self.noise.finish(plan)

    # --- cohort by cohort -------------------------------------------------------------------------------------------

    def _by_cohorts(self, law: Law, collected: Mapping[str, Any], t: int) -> Plan:
        ring, source = self.ring, self.source
        plan, total = Plan(ring.zeros(self.layout.size, source.size)), list[Matrix]()
        for number, cohort in enumerate(law.cohorts):
            if collected:
                source = self._with_collected(law, cohort, collected)
            doing = [
                _Doing(m.client, self._works(m, source), {rule: w[k] for rule, w in cohort.weights.items()})
                for k, m in enumerate(law.members[v] for v in cohort.members)
            ]
            whole, apart = self.round(doing, source, cohort.p, (number if self.rule.receives else 0), t)
            share = whole if cohort.p == 1 else whole * ring.scalar(cohort.p)
            plan.pairs += [(share, whole), *apart]
            total.append(share)
        plan.mean = total[0] if len(total) == 1 else ring.sum(total)
        return self.noise.finish(plan)

    def _with_collected(self, law: Law, cohort: Cohort, rules: Mapping[str, Any]) -> Source:
        """The source with what a cohort collects of itself."""
        ring, sums = self.ring, dict[tuple[str, str], Matrix]()
        for name, rule in rules.items():
            parts: list[Matrix] = []
            for v, weight in zip(cohort.members, cohort.weights[rule], strict=True):
                client = law.members[v].client
                vector = self.reading.collect(client, self.number)[name].vector
                parts.append(self.source.lower(vector, client) * ring.scalar(weight))
            sums["collected", name] = ring.sum(parts) if parts else ring.zeros(self.layout.d, self.source.size)
        return self.source.with_atoms(sums)

    def sources(self, t: int) -> list[tuple[Fraction, Source]]:
        """Each cohort of round t, with its probability: the source with what it collects of itself."""
        collected, rules = self._collecting
        law = self.rounds.law(t, one_by_one=True, rules=rules)
        return [(cohort.p, self._with_collected(law, cohort, collected)) for cohort in law.cohorts]

    def held(self, holders: Sequence[int]) -> tuple[Matrix, list[Pair]]:
        """T and the pairs apart in this copy, in which these clients hold the models."""
        method = self.rounds.method
        doing: list[_Doing] = []
        for i in holders:
            visits: Visits = method.local.visits(i, holders, self.clients)
            weights = {rule: weights_of(rule, method, holders, self.clients)[0] for rule in self.rules}
            doing.append(_Doing(i, self._works(Member(i, visits), self.source), {None: Fraction(1), **weights}))
        return self.round(doing, self.source, Fraction(1), self.copy, 0)

    def round(
        self, doing: Sequence[_Doing], source: Source, p: Fraction, group: int, t: int
    ) -> tuple[Matrix, list[Pair]]:
        """T of one cohort, and p times the pairs apart of works that are drawn; the noise is added with weight p."""
        ring, apart = self.ring, list[Pair]()
        if self.rule.receives:
            return self._received(doing, source, p, group, t)
        whole = self.base(source)
        for own in doing:
            found = [self._added(own, work) for _, work in own.works]
            mean = found[0]
            if len(found) > 1:
                mean = ring.sum([q * ring.scalar(share) for (share, _), q in zip(own.works, found, strict=True)])
                for (share, _), q in zip(own.works, found, strict=True):
                    apart.append(((q - mean) * ring.scalar(p * share), q - mean))
            whole = whole + mean
            lead = next((w for w in own.weights.values() if w), None)
            if lead is None:  # it takes part and counts for nothing
                continue
            ratios = {rule: w / lead for rule, w in own.weights.items()} if len(own.weights) > 1 else _ALONE
            unit = _Doing(own.client, own.works, ratios)
            for k, (share, work) in enumerate(own.works):
                send = self._send(unit, work)
                key = (own.client, k, work.visit, id(send))
                self.noise.add(key, send, work, p * share * lead * lead, self.likely)
        return whole, apart

    # --- what a member adds -----------------------------------------------------------------------------------------

    def base(self, source: Source) -> Matrix:
        """What the state becomes without anybody's work."""
        rows: dict[Key, Matrix] = {}
        flags = self.rule.kept_by_server
        for name in self.server:
            rows["server", name, 0] = source.lower(self._still(name), None, point=flags[name])
        return self._whole(rows, source)

    def _still(self, name: str) -> Vector:
        """What the server keeps where nobody sends anything."""
        own = self.combined[name]
        return Vector({term: c for term, c in own.terms.items() if not Vector.of(term).mentions("total")})

    def _whole(self, rows: Mapping[Key, Matrix], source: Source) -> Matrix:
        """The map of the state with these blocks; the others of this copy, and its constant, stay."""
        layout = self.layout
        first = self.copy * layout.each
        still = {key: self._block(key, source) for key in layout.keys if key not in rows}
        placed = [(layout.place(key, self.copy), m) for key, m in {**still, **rows}.items()]
        assert source.one is not None
        return self.ring.placed([*placed, (first + layout.each - 1, source.one)], layout.size, source.size)

    def _block(self, key: Key, source: Source) -> Matrix:
        if key[0] == "server":
            return source.atoms["server", key[1]]
        return self.rounds.blocks(self.copy, source.size)[key]

    def _slot(self, name: str, client: int) -> Key | None:
        """The block of what a client keeps."""
        reduced = self.rounds.exact.reduced
        if reduced.holders is not None:
            return "client", name, reduced.holders[self.copy].index(client)
        slot = reduced.slots[name][client]
        return None if slot is None else ("client", name, slot)

    def _added(self, doing: _Doing, work: Work) -> Matrix:
        """(D, size): what a work adds to the state, on average."""
        totals = {
            ("total", e): scaled(self.ring, work.upload(e), doing.weight(work, s.rule)) for e, s in work.sent.items()
        }
        rows = self._combined(linear(self.source, work.source.size, totals))
        for name in work.compiled.kept:
            key = self._slot(name, doing.client)
            assert key is not None
            gained = work.keep(name) - self._block(key, work.source)
            rows[key] = scaled(self.ring, gained, doing.weights[PLAIN])
        return self.rounds.placed(rows, work.source.size, self.copy)

    def _combined(self, totals: Source) -> dict[Key, Matrix]:
        return {
            ("server", name, 0): totals.lower(self.combined[name], None)
            for name in self.server
            if self.combined[name].mentions("total")
        }

    def _send(self, doing: _Doing, work: Work) -> Matrix:
        """(D, width): what the noise of a work adds to the state."""
        kept = {name: self._slot(name, doing.client) for name in work.compiled.kept}
        shares = {e: doing.weight(work, s.rule) for e, s in work.sent.items()}
        own = None if not kept else (doing.client, doing.weights[PLAIN])
        key = (id(work.compiled), tuple(shares.values()), own)
        if key not in self._sends:
            totals = {("total", e): scaled(self.ring, work.upload_noise(e), shares[e]) for e in work.sent}
            rows = self._combined(linear(self.source, work.width, totals))
            for name, slot in kept.items():
                assert slot is not None
                rows[slot] = scaled(self.ring, work.keep_noise(name), doing.weights[PLAIN])
            self._sends[key] = self.rounds.placed(rows, work.width, self.copy)
        return self._sends[key]

    # --- clients that take over something -----------------------------------------------------------------------

    def _received(
        self, doing: Sequence[_Doing], source: Source, p: Fraction, group: int, t: int
    ) -> tuple[Matrix, list[Pair]]:
        ring, flags, apart = self.ring, self.rule.kept_by_server, list[Pair]()
        sums: dict[tuple[str, str], Matrix] = {}
        for own in doing:
            for share, work in own.works:
                for e, s in work.sent.items():
                    part = work.upload(e) * ring.scalar(share * own.weight(work, s.rule))
                    sums["total", e] = sums["total", e] + part if ("total", e) in sums else part
        combining = source.with_atoms(sums)
        new = {("server", n): combining.lower(self.combined[n], None, point=flags[n]) for n in self.server}
        rows: dict[Key, Matrix] = {("server", n, 0): new["server", n] for n in self.server}
        after, taken = source.with_atoms({**sums, **new}), dict[Key, tuple[_Doing, str, Vector]]()
        for own in doing:
            kept = {("client", n): self._mean_kept(own, n) for n in own.works[0][1].compiled.kept}
            seen = after.with_atoms(kept) if kept else after
            for name, vector in self.reading.receive(own.client, self.number).items():
                slot = self._slot(name, own.client)
                if slot is not None and slot not in taken:
                    point = self.rule.kept_by_clients[name]
                    rows[slot] = seen.lower(vector, own.client, point=point)
                    taken[slot] = (own, name, vector)
        dead = [("client", name, k) for k in self.rounds.dead(t) for name in self.rule.kept_by_clients]
        rows |= {key: ring.zeros(self.layout.d, source.size) for key in dead}
        for own in doing:
            moved = [self._followed(own, work, taken, dead, noise=False) for _, work in own.works if len(own.works) > 1]
            for k, (share, work) in enumerate(own.works):
                send = self._followed(own, work, taken, dead, noise=True)
                self.noise.add((group, own.client, k, work.visit), send, work, p * share, self.likely)
            mean = ring.sum([q * ring.scalar(s) for (s, _), q in zip(own.works, moved, strict=True)]) if moved else None
            for (share, _), q in zip(own.works, moved, strict=False):
                apart.append(((q - mean) * ring.scalar(p * share), q - mean))
        return self._whole(rows, source), apart

    def _mean_kept(self, own: _Doing, name: str) -> Matrix:
        return self.ring.sum([work.keep(name) * self.ring.scalar(share) for share, work in own.works])

    def _followed(
        self, own: _Doing, work: Work, taken: Mapping[Key, Any], dead: Sequence[Key], *, noise: bool
    ) -> Matrix:
        """What follows for the state from one work, or (D, width) from the noise of its local vectors."""
        upload, keep = (work.upload_noise, work.keep_noise) if noise else (work.upload, work.keep)
        size = work.width if noise else work.source.size
        new = {("total", e): scaled(self.ring, upload(e), own.weight(work, s.rule)) for e, s in work.sent.items()}
        rows = self._combined(linear(self.source, size, new))
        new |= {(key[0], key[1]): m for key, m in rows.items()}
        kept = {("client", n): keep(n) for n in work.compiled.kept}
        for slot, (holder, _, vector) in taken.items():
            if slot not in dead:
                seen = linear(self.source, size, {**new, **kept} if holder is own else new)
                rows[slot] = seen.lower(vector, holder.client)
        return self.rounds.placed(rows, size, self.copy)
