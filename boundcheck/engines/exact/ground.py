"""What the rounds of a method rest on: the vectors of the state as maps, the laws of cohorts, the works of clients."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from boundcheck.engines.exact.budget import check_state
from boundcheck.engines.exact.cohorts import Law, law_of
from boundcheck.engines.exact.layout import Key
from boundcheck.engines.exact.lowering import Source
from boundcheck.engines.exact.plans import Plan
from boundcheck.engines.exact.reduction import last_reads
from boundcheck.engines.exact.rings import Matrix, Ring
from boundcheck.engines.exact.state import Exact
from boundcheck.engines.exact.visits import Data
from boundcheck.engines.exact.work import Works
from boundcheck.methods.formal import Vector
from boundcheck.methods.method import Method
from boundcheck.methods.parts import first_repeated, position
from boundcheck.methods.reading import Reading


class Ground:
    """A method on a problem in one arithmetic: what the state holds, laws of cohorts, local work.

    Rounds repeat every `period` rounds from round `first` on, where the rule is steady.
    """

    def __init__(self, ring: Ring, method: Method, exact: Exact) -> None:
        self.ring, self.method, self.exact, self.rule = ring, method, exact, exact.rule
        rule, clients, layout = exact.rule, exact.clients, exact.layout
        if rule.kept_words:
            check_state(ring, exact, f"{rule.kept_words} of {method.name}")
        self.reading = Reading(rule, clients, method.server.factor, method.name)
        self.data = Data(ring, exact)
        own = rule.collecting
        self.collecting = method.participation if own is None or own == "same" else own
        self.parts = (method.participation, self.collecting)
        self.period = math.lcm(*(p.period(clients) for p in self.parts), rule.repeats_after(layout.d))
        self.first = max(*(first_repeated(p, clients) for p in self.parts), rule.settled)
        self._lasts = last_reads(method, clients, self._slots, self.first, self.period) if self._slots else {}
        self._blocks: list[dict[Key, Matrix]] = []
        self.sources = [self._source(copy) for copy in range(layout.copies)]
        self.works = Works(self.data, self.reading)
        self._laws: dict[Any, Law] = {}

    @property
    def _slots(self) -> Sequence[int | None]:
        """Which block each client shares with others."""
        reduced = self.exact.reduced
        return next(iter(reduced.slots.values()), ()) if reduced.over else ()

    @property
    def cycle(self) -> range:
        """The rounds of the first period that repeats, counted from round 0 or from the end of a pattern's lead."""
        lead = max(first_repeated(p, self.exact.clients) for p in self.parts)
        begun = lead + -(-(self.first - lead) // self.period) * self.period
        return range(begun, begun + self.period)

    def position(self, round_index: int) -> int:
        """The first round that is like this one."""
        late = round_index - self.first
        return round_index if late < 0 else self.first + late % self.period

    @property
    def separate(self) -> list[list[int]]:
        """Coordinates by groups between which every mean map, constant covariance and second moment is 0."""
        layout = self.exact.layout
        if not self.exact.reduced.alike:
            return [list(range(layout.size))]
        apart = [
            k
            for key in layout.keys
            if key[0] == "client"
            for k in range(layout.place(key), layout.place(key) + layout.d)
        ]
        return [[k for k in range(layout.size) if k not in set(apart)], apart]

    # --- what the state holds -------------------------------------------------------------------------------------

    def _source(self, copy: int) -> Source:
        """The atoms of a copy of the state."""
        ring, exact, layout = self.ring, self.exact, self.exact.layout

        def block(key: Key) -> Matrix:
            m, first = ring.zeros(layout.d, layout.size), layout.place(key, copy)
            one = ring.scalar(Fraction(1))
            for k in range(layout.d):
                m[k, first + k] = one
            return m

        one = ring.zeros(1, layout.size)
        one[0, copy * layout.each + layout.each - 1] = ring.scalar(Fraction(1))
        blocks = {key: block(key) for key in layout.keys}
        self._blocks.append(blocks)
        atoms = {(key[0], key[1]): m for key, m in blocks.items() if key[0] == "server"}
        reduced, n = exact.reduced, exact.clients.count
        objective = (exact.hessian, -exact.residual)
        found = Source(ring, layout.d, layout.size, one, ring.lift(exact.centre), exact.whole, objective, atoms)
        for name in self.rule.kept_by_clients:
            slots = reduced.slots.get(name)
            if slots is None:
                assert reduced.holders is not None
                held = {i: k for k, i in enumerate(reduced.holders[copy])}
                slots = [held.get(i) for i in range(n)]
            over = (
                found.lower(reduced.over[name], None, point=self.rule.kept_by_clients[name]) if reduced.over else None
            )
            found.clients = {
                **found.clients, name: [over if k is None else blocks["client", name, k] for k in slots],
            }  # fmt: skip
        for name, mean in reduced.means.items():
            own = found.summed(Vector.of(mean), None)
            found.atoms = {**found.atoms, ("server", name): ring.zeros(layout.d, layout.size) if own is None else own}
        return found

    def blocks(self, copy: int, width: int) -> dict[Key, Matrix]:
        """The maps that pick the blocks of a copy of the state, or of one with further coordinates."""
        own, size = self._blocks[copy], self.exact.layout.size
        return own if width == size else {key: self.wider(m, width) for key, m in own.items()}

    def dead(self, t: int) -> list[int]:
        """The blocks of clients that no round after t reads."""
        return [k for k, last in self._lasts.items() if t >= last]

    def placed(self, rows: Mapping[Key, Matrix], width: int, copy: int = 0) -> Matrix:
        layout = self.exact.layout
        return self.ring.placed(((layout.place(key, copy), m) for key, m in rows.items()), layout.size, width)

    # --- laws -----------------------------------------------------------------------------------------------------

    def law(self, round_index: int, *, one_by_one: bool = False, rules: tuple[Any, ...] = ()) -> Law:
        """The law of the cohort of a round."""
        key = (position(self.method.participation, round_index, self.exact.clients), one_by_one, rules)
        if key not in self._laws:
            self._laws[key] = law_of(self.method, key[0], self.exact.clients, one_by_one=one_by_one, rules=rules)
        return self._laws[key]

    def wider(self, m: Matrix, width: int) -> Matrix:
        """A map of the state as one of the state with further coordinates in front of the constant."""
        ring, size = self.ring, self.exact.layout.size
        rows = ring.rows(ring.one(width))
        return ring.mul(m, ring.from_rows([*rows[: size - 1], rows[-1]]))

    def spread(self, plan: Plan, law: Law, base: Matrix, means: list[Matrix]) -> None:
        """Add the terms of T M T', T = base + sum over S of a_v Q_v, with E[Q_v] = means[v]."""
        ring = self.ring
        if not means:
            plan.mean = base
            plan.pairs.append((base, base))
            return
        plan.mean = base + law.drift(ring, means)
        plan.pairs += [(plan.mean, plan.mean), *law.apart(ring, means, means)]
