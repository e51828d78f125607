"""The compiled path: draws stretches of the plan and hands them, with programs and tables of visits, to the kernel.

What is held grows with the cohorts and the data that they touch: tables and data of a stretch are made for the clients
that take part in it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core import streams
from boundcheck.engines.curve import Floats, Ints
from boundcheck.engines.simulate import drawing, kernel
from boundcheck.engines.simulate.coefficients import Coefficients, Program, joined
from boundcheck.engines.simulate.cohorts import SPARSE, Cohorts
from boundcheck.engines.simulate.data import data_of, joined_arrays
from boundcheck.engines.simulate.lowering import Lowered, Member
from boundcheck.engines.simulate.planning import draw_common, draw_numbers, samples_of, typical
from boundcheck.engines.simulate.vectors import Asked
from boundcheck.errors import Unsupported
from boundcheck.problems.problem import Arrays, Lazy

PLAN_ENTRIES = 1 << 17  # how much of the plan is drawn ahead: it should stay in the processor's cache
PLAN_ROUNDS = 1 << 9
MANY = 1024  # classes of visits that are kept
LAZY_BYTES = 1 << 23  # data of a lazy problem that are made at once, roughly
NOTHING = np.empty((0, 0, 0))
Class = tuple[int, int, float, float]  # client, or 0 where it does not matter; steps, scale, prox


class _Members:
    """The distinct members of a stretch's cohorts: (S, rounds, m), in the order in which they first appear.

    clients: their numbers; counts (S, rounds): how many; often: how often each was drawn.
    """

    def __init__(self, clients: Ints, counts: Ints, repeated: bool) -> None:
        self.clients, self.counts = clients, counts
        self.often = np.ones(clients.shape)
        if repeated:
            self.clients, self.counts = clients.copy(), counts.copy()
            drawing.merge(self.clients, self.counts, self.often)

    @property
    def used(self) -> NDArray[np.bool_]:
        """Which places hold a member."""
        return np.arange(self.clients.shape[-1]) < self.counts[..., None]

    def touched(self) -> Ints:
        """Every client that is a member somewhere."""
        return np.unique(self.clients[self.used])


def _repeated(found: Any, seeds: int) -> Any:
    """What was looked at for one seed, for this many."""
    if isinstance(found, _Members):
        own = _Members(_repeated(found.clients, seeds), _repeated(found.counts, seeds), False)
        own.often = _repeated(found.often, seeds)
        return own
    return np.repeat(found, seeds, axis=0)


@dataclass(frozen=True)
class _Held:
    """Where clients' data stand. number: the client's number in `offsets`, where it is not its own."""

    data: Any
    every: NDArray[np.uint32]
    offsets: Ints
    number: dict[int, int] | None


@dataclass(frozen=True)
class _Tables:
    """One row for each visit that a client may do: its class, row of the clients' matrices, data and work."""

    clients: Ints
    classes: Ints
    rows: Ints
    begins: Ints
    sizes: Ints
    samples: Ints
    steps: Ints
    gains: Floats


class Compiled:
    """A method of which the coefficients can be read, on flat arrays or on a problem that makes them client by client.

    Raises NotAffine for other methods.
    """

    def __init__(self, lowered: Lowered, source: Arrays | Lazy, dim: int) -> None:
        self.lowered, self.source, self.dim = lowered, source, dim
        self.coefficients = Coefficients(lowered, dim)
        self.layout = self.coefficients.layout
        self.held: _Held | None = None
        if isinstance(source, Arrays):
            self.held = _Held(
                data_of(source), np.arange(len(source.b), dtype=np.uint32), np.asarray(source.offsets), None
            )
        # raises NotAffine where a function of the round is none of the kernel's
        member = lowered.member(0, next((c for c in lowered.cohorts.fixed if c), (0,)))
        self._first = self._class(member, 0)
        self.coefficients.program([(0, 0)], [self._first], np.array([lowered.step_sizes(0)]))
        self._classes: dict[Class, int] = {self._first: 0}
        self._last: tuple[bytes, Any] = (b"none", None)
        self._programs: dict[Any, Any] = {}
        self._lock = threading.Lock()

    @cached_property
    def entries(self) -> int:
        """Entries of the plan that a round of a seed takes, roughly."""
        laws = [c.law for c in self.lowered.sums if c.law is not None]
        asked = sum(c.largest for c in self.lowered.sums)
        asked += sum(law.n for law in laws if law.kind == "independent")
        _, samples = typical(self.lowered)
        return 1 + self.lowered.largest * samples + asked

    # --- plans --------------------------------------------------------------------------------------------------------

    def _members(self, cohorts: Cohorts, seeds: streams.Words, first: int, rounds: int) -> _Members:
        """Those of a stretch of rounds."""
        law, shape, m = cohorts.law, (len(seeds), rounds), cohorts.largest
        if law is None or law.kind == "subsets":
            clients, sizes = cohorts.sets
            if law is None:
                row = np.tile(cohorts.rows(first + np.arange(rounds)), (len(seeds), 1))
            else:
                row = streams.pick(self._words(cohorts, seeds, first, rounds, 1)[..., 0], cohorts.cuts)
            return _Members(clients[row], sizes[row], False)
        ones = np.ones(shape, dtype=np.int64)
        if law.kind == "uniform":
            cohort = np.empty((*shape, law.size), dtype=np.uint32)
            draw = drawing.draw_sparse if law.n > SPARSE * law.size else drawing.draw_cohorts
            purpose = np.uint64(cohorts.purpose)
            if cohorts.hold == 1:
                draw(seeds, first, rounds, law.n, cohort, purpose)
            else:
                at = np.arange(first, first + rounds) // cohorts.hold * cohorts.hold
                for begin in np.unique(at).tolist():
                    held = np.empty((len(seeds), 1, law.size), dtype=np.uint32)
                    draw(seeds, begin, 1, law.n, held, purpose)
                    cohort[:, at == begin] = held
            return _Members(cohort.astype(np.int64), ones * law.size, False)
        if law.kind == "replacement":
            picked = streams.pick(self._words(cohorts, seeds, first, rounds, law.size), cohorts.cuts)
            return _Members(picked, ones * law.size, True)
        present = self._words(cohorts, seeds, first, rounds, law.n) < cohorts.cuts
        cohort = np.argsort(~present, axis=-1, kind="stable")[..., :m]
        return _Members(np.ascontiguousarray(cohort), present.sum(axis=-1), False)

    def _words(self, cohorts: Cohorts, seeds: streams.Words, first: int, rounds: int, count: int) -> streams.Words:
        words = np.empty((len(seeds), rounds, count), dtype=np.uint64)
        nobody = np.empty((0, 0, 0), dtype=np.int64)
        asked = np.full((len(seeds), rounds), count)
        drawing.draw_words(seeds, first, rounds, True, nobody, asked, cohorts.purpose, words)
        return words

    def _holding(self, cohorts: list[_Members]) -> _Held:
        """The data of all clients, or of those in cohorts."""
        if self.held is not None:
            return self.held
        assert not isinstance(self.source, Arrays)
        touched = np.unique(np.concatenate([c.touched() for c in cohorts])).tolist()
        both = joined_arrays([self.source.client_arrays(int(i)) for i in touched or [0]])
        number = {int(i): k for k, i in enumerate(touched)}
        return _Held(data_of(both), np.arange(len(both.b), dtype=np.uint32), np.asarray(both.offsets), number)

    def _class(self, member: Member, choice: int) -> Class:
        client = member.client if self.coefficients.by_client else 0
        return client, member.steps[choice], member.scale[choice], member.prox[choice]

    def _tables(self, members: Iterable[Member], held: _Held) -> _Tables:
        """The tables of some members."""
        lowered, rows, gains = self.lowered, list[tuple[int, ...]](), list[float]()
        for m in members:
            own = m.client if held.number is None else held.number[m.client]
            begin = int(held.offsets[own])
            size = int(held.offsets[own + 1]) - begin
            for choice, (steps, gain) in enumerate(zip(m.steps, m.gain, strict=True)):
                number = self._classes.setdefault(self._class(m, choice), len(self._classes))
                samples = 0 if lowered.whole else samples_of(size, lowered.batch, steps)
                rows.append((m.client, number, own, begin, size, samples, steps))
                gains.append(gain)
        whole = np.array(rows, dtype=np.int64).reshape(-1, 7)
        columns: list[Any] = [np.ascontiguousarray(c) for c in whole.T]
        return _Tables(*columns, gains=np.array(gains))

    def _visits(self, members: _Members, held: _Held, seeds: streams.Words, first: int) -> tuple[_Tables, Ints]:
        """Tables, and each visit's first row in them (S, rounds, m)."""
        lowered, K = self.lowered, self.lowered.visits
        cohort, counts = members.clients, members.counts
        if not lowered.by_cohort:
            touched = members.touched()
            key = touched.tobytes()
            if held.number is not None or key != self._last[0]:
                self._last = key, self._tables([lowered.member(i) for i in touched.tolist()], held)
            return self._last[1], np.searchsorted(touched, np.where(members.used, cohort, 0)) * K
        found: list[Member] = []
        begun: dict[Any, int] = {}
        entry = np.zeros(cohort.shape, dtype=np.int64)
        for q in range(counts.shape[1]):
            own = [tuple(c[:n]) for c, n in zip(cohort[:, q].tolist(), counts[:, q].tolist(), strict=True)]
            for s, key in enumerate(zip(own, draw_common(lowered, seeds, first + q, own), strict=True)):
                if key not in begun:
                    begun[key] = len(found)
                    found += [lowered.member(i, *key) for i in key[0]]
                entry[s, q] = begun[key] + np.arange(cohort.shape[-1])
        return self._tables(found, held), np.where(members.used, entry, 0) * K

    def _weights(self, members: _Members, rules: Sequence[Any], *, collecting: bool) -> Floats:
        """Those of what each member sends (S, rounds, m, sums)."""
        cohort, used, found = members.clients, members.used, np.zeros((*members.clients.shape, len(rules)))
        touched = members.touched()
        index = np.searchsorted(touched, np.where(used, cohort, touched[0] if len(touched) else 0))
        for u, rule in enumerate(rules):
            own = self.lowered.weighing(rule, collecting=collecting)
            if not len(touched):
                continue
            if own.separable:
                alone = np.array([own.alone(i) for i in touched.tolist()])[index] * members.often * used
                if own.summed is not None:
                    parts = np.array([float(own.summed(i)) for i in touched.tolist()])[index] * members.often * used
                    size = (members.often * used).sum(axis=-1)
                    with np.errstate(divide="ignore", invalid="ignore"):
                        shared = (self.lowered.clients / size if own.per_share else 1.0) / parts.sum(axis=-1)
                        alone = np.where(used, alone * shared[..., None], 0.0)
                found[..., u] = alone
                continue
            m = cohort.shape[-1]
            flat = found[..., u].reshape(-1, m)
            known: dict[tuple[int, ...], list[float]] = {}
            often = members.often.astype(np.int64).reshape(-1, m)
            rows = zip(cohort.reshape(-1, m).tolist(), members.counts.reshape(-1).tolist(), often, strict=True)
            for k, (clients, count, times) in enumerate(rows):
                drawn = tuple(np.repeat(clients[:count], times[:count]).tolist())
                if drawn not in known:
                    weights = own.of(drawn)
                    known[drawn] = [weights[i] for i in clients[:count]]
                flat[k, :count] = known[drawn]
            found[..., u] = flat.reshape(cohort.shape)
        return found

    # --- programs -----------------------------------------------------------------------------------------------------

    def _program(self, seeds: streams.Words, first: int, rounds: int) -> tuple[Any, ...]:
        """What the kernel reads of a stretch of rounds, but for masks and samples; and the number of registers."""
        lowered = self.lowered
        places: dict[tuple[int, int], int] = {}
        which = np.empty((len(seeds), rounds), dtype=np.int64)
        for q in range(rounds):
            alike = self._alike(first + q)
            own = [places.setdefault((alike, k), len(places)) for k in range(len(self.coefficients.outcomes(alike)))]
            which[:, q] = np.array(own)[draw_numbers(lowered, seeds, first + q)] if len(own) > 1 else own[0]
        key = (tuple(places), len(self._classes), lowered.sizes_of_steps[0].tobytes()) if self._one_size else None
        if key is None or key not in self._programs:
            self._programs = {key: self._joined(list(places))}
        code, terms, bounds, coefficients, group, shift, registers = self._programs[key]
        return code, terms, bounds, coefficients, group[which], shift[which], registers

    @cached_property
    def _one_size(self) -> bool:
        return len(self.lowered.sizes_of_steps) == 1

    @cached_property
    def _period(self) -> int:
        """After how many rounds everything repeats; 0 where nothing is known to."""
        try:
            return self.lowered.rule.repeats_after(self.dim) if self.lowered.rule.steady and self._one_size else 0
        except Unsupported:  # too long for exact engines
            return 0

    def _alike(self, round_index: int) -> int:
        """The first round that is as this one."""
        settled = self.lowered.rule.settled
        if not self._period or round_index < settled:
            return round_index
        return settled + (round_index - settled) % self._period

    def _joined(self, instants: list[tuple[int, int]]) -> tuple[Any, ...]:
        """The programs of instants, one after the other: code, terms, bounds, coefficients; and for each instant which
        program it is and where its coefficients begin; and the number of registers."""
        programs, values = list[Program](), list[Floats]()
        group, row = np.zeros(len(instants), dtype=np.int64), np.zeros(len(instants), dtype=np.int64)
        for own in self.coefficients.groups(instants):
            chosen = [instants[i] for i in own]
            sizes = np.array([self.lowered.step_sizes(t) for t, _ in chosen])
            program, found = self.coefficients.program(chosen, list(self._classes), sizes)
            group[own] = len(programs)
            row[own] = np.arange(len(own)) if len(found) > 1 else 0
            programs.append(program)
            values.append(found)
        code, terms, bounds, begins, registers = joined(programs, len(self._classes))
        widths = np.array([v.shape[1] for v in values])
        offsets = np.concatenate([[0], np.cumsum([v.size for v in values])])[:-1]
        shift = offsets[group] + row * widths[group] - begins[group]
        return code, terms, bounds, np.concatenate([v.ravel() for v in values]), group, shift, registers

    # --- rounds -------------------------------------------------------------------------------------------------------

    def _stretch(
        self, seeds: streams.Words, state: Floats, first: int, rounds: int, stops: Ints, points: Floats,
        starts: Floats = NOTHING, returned: Floats = NOTHING,
    ) -> None:  # fmt: skip
        lowered, layout = self.lowered, self.layout
        # cohorts that are not drawn are those of every seed, so that one is looked at
        fixed = lowered.cohorts.law is None and not lowered.by_cohort
        looked = seeds[:1] if fixed else seeds
        members = self._members(lowered.cohorts, looked, first, rounds)
        asking = members if lowered.rule.collecting == "same" else None
        if lowered.gradients is not None:
            asked_of = (seeds[:1], first, 1) if self._steady else (seeds, first, rounds)
            asking = self._members(lowered.gradients, *asked_of)
        with self._lock:  # threads share what was read so far
            held = self._holding([members] if asking is None else [members, asking])
            if len(self._classes) > MANY:
                self._classes, self._programs = {self._first: 0}, {}
                self._last = b"none", None
            tables, entry = self._visits(members, held, looked, first)
            weight = self._weights(members, list(layout.sums.values()), collecting=False)
            if fixed:
                entry, weight, members = (_repeated(v, len(seeds)) for v in (entry, weight, members))
                asking = members if lowered.rule.collecting == "same" else asking
            asked, tables = self._asked(asking, members, tables, entry, held)
            code, terms, bounds, coefficients, group, shift, registers = self._program(seeds, first, rounds)
            masks = self.coefficients.mask_rows()
        cohort, counts = members.clients, members.counts
        if lowered.visits > 1:
            words = np.zeros(cohort.shape, dtype=np.uint64)
            drawing.draw_words(seeds, first, rounds, False, cohort, counts, streams.EPOCHS, words)
            entry = entry + streams.pick(words, lowered.cuts)
        for u, rule in enumerate(layout.sums.values()):
            if rule is None and len(tables.gains):
                weight[..., u] *= tables.gains[entry]
        used = np.where(members.used, tables.samples[entry], 0) if len(tables.samples) else np.zeros_like(entry)
        ends = np.cumsum(used).reshape(entry.shape)  # the samples of visits, one visit after the other
        place, total = ends - used, int(ends[-1, -1, -1]) if ends.size else 0
        sequence = np.empty(total, dtype=np.uint32)
        if total:
            drawing.draw_visits(
                seeds, first, rounds, lowered.sampling == "replacement", entry, counts, place,
                tables.clients, tables.begins, tables.sizes, tables.samples, sequence,
            )  # fmt: skip
        plan = (counts, entry, self._slots(members), place, weight, sequence, lowered.batch, lowered.whole)
        work = (tables.classes, tables.rows, tables.begins, tables.sizes, tables.steps)
        program = (
            code, terms, bounds, coefficients, group, shift, lowered.sizes_of_steps.shape[1] > 1,
            lowered.rule.receives,
            masks, held.every,
        )  # fmt: skip
        sizes = (len(layout.server), len(layout.client), len(layout.local), len(layout.sums), len(layout.collected))
        classes, d = held.data[1], self.dim
        room = (
            np.zeros((max(1, registers), d)), np.empty(classes * kernel.TILE), np.empty(d),
            np.empty((len(layout.server), d)),
        )  # fmt: skip
        kernel.carry(
            held.data, state, first, rounds, int(np.searchsorted(stops, first, side="right")), stops, points, starts,
            returned, plan, asked, work, program, sizes, room,
        )  # fmt: skip

    def _slots(self, members: _Members) -> Ints:
        """Which of the vectors that clients keep are a member's (S, rounds, m)."""
        if self.lowered.handed:
            return np.broadcast_to(np.arange(members.clients.shape[-1]), members.clients.shape).copy()
        return members.clients if self.lowered.kept else np.zeros(members.clients.shape, dtype=np.int64)

    def _asked(
        self, asking: _Members | None, members: _Members, tables: _Tables, entry: Ints, held: _Held
    ) -> tuple[tuple[Any, ...], _Tables]:
        """What the kernel reads of those who collect, and the tables with their rows too."""
        lowered, none, nobody = self.lowered, np.empty((0, 0, 0), dtype=np.int64), np.empty(0, dtype=np.int64)
        if asking is None:
            return (np.empty((0, 0), dtype=np.int64), none, none, np.empty((0, 0, 0, 0)), False, nobody), tables
        weight = self._weights(asking, list(self.layout.collected.values()), collecting=True)
        own = lowered.gradients
        if own is None:
            return (members.counts, entry, self._slots(members), weight, False, nobody), tables
        touched = asking.touched()
        # whoever collects does so whatever its work would be
        further = self._tables([Member(i, (1,), (1.0,), (0.0,)) for i in touched.tolist()], held)
        rows = len(tables.clients) + np.searchsorted(touched, np.where(asking.used, asking.clients, 0))
        columns: list[Any] = [
            np.concatenate([getattr(tables, f.name), getattr(further, f.name)]) for f in fields(_Tables)
        ]
        both = _Tables(*columns)
        rests = np.array(self.coefficients.rests, dtype=np.int64)
        return (asking.counts, rows, self._slots(asking), weight, self._steady, rests), both

    @cached_property
    def _steady(self) -> bool:
        """Whether the same clients collect the same of the server's vectors in all rounds."""
        own = self.lowered.gradients
        return own is not None and own.law is None and len(own.fixed) == 1 and self.coefficients.collects_alike

    def advance(self, seeds: streams.Words, state: Floats, first: int, stops: Ints, points: Floats) -> None:
        """The compiled counterpart of `Rows.advance`."""
        if stops[0] == first:
            points[:, 0] = state[:, 0]
        last = int(stops[-1])
        room = PLAN_ENTRIES
        if not isinstance(self.source, Arrays):
            room = min(room, max(1, LAZY_BYTES // (8 * points.shape[-1])))
        chunk = max(1, min(last - first, PLAN_ROUNDS, room // self.entries))
        at_once = max(1, min(len(seeds), room // (self.entries * chunk)))
        for begin in range(first, last, chunk):
            rounds = min(chunk, last - begin)
            for i in range(0, len(seeds), at_once):
                rows = slice(i, i + at_once)
                self._stretch(seeds[rows], state[rows], begin, rounds, stops, points[rows])

    def look(self, seeds: streams.Words, state: Floats, round_index: int, asked: Asked) -> None:
        """The compiled counterpart of `Rows.look`, for the points."""
        points = np.empty((len(seeds), 0, state.shape[-1]))
        starts = NOTHING if asked.starts is None else asked.starts
        returned = NOTHING if asked.returned is None else asked.returned
        none = np.empty(0, dtype=np.int64)
        self._stretch(seeds, state.copy(), round_index, 1, none, points, starts, returned)
