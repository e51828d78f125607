"""The general compiled path: draws stretches of the plan and hands them, with tables of the visits, to the kernel.

What is held grows with the cohorts and the data that they touch: tables and data of a stretch are made for the clients
that take part in it, except that a problem with flat arrays and few clients has its tables once and for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundcheck.core import streams
from boundcheck.engines.curve import Floats, Ints
from boundcheck.engines.sampled import drawing, general, gradients, layout, variates
from boundcheck.engines.sampled.cohorts import SPARSE, Cohorts
from boundcheck.engines.sampled.control import reference_rounds
from boundcheck.engines.sampled.lanes import LANES
from boundcheck.engines.sampled.lowering import Lowered, Member
from boundcheck.engines.sampled.planning import draw_common, samples_of, typical
from boundcheck.methods.parts import ReferencePoint
from boundcheck.methods.parts.control import steps_divide
from boundcheck.problems.problem import Arrays, LazyProblem

PLAN_ENTRIES = 1 << 17  # how much of the plan is drawn ahead: it should stay in the processor's cache
PLAN_ROUNDS = 1 << 9
LAZY_BYTES = 1 << 23  # data of a lazy problem that are made at once, roughly
FEW = 1 << 10  # clients whose tables are made beforehand
NOTHING = np.empty((0, 0, 0))

_KINDS = {
    "isotropic": gradients.ISOTROPIC,
    "quadratic": gradients.QUADRATIC,
    "rows": gradients.ROWS,
    "logistic": gradients.LOGISTIC,
    "softmax": gradients.SOFTMAX,
}


def _fixed(values: ArrayLike, width: int | None = None) -> NDArray[Any]:
    """C-ordered float64 and read-only, so that every problem meets the same machine code; the last axis up to `width`.

    No copy is made where none is needed: data sets may be large.
    """
    found = np.ascontiguousarray(values, dtype=np.float64)
    if width is not None and width != found.shape[-1]:
        padded = np.zeros((*found.shape[:-1], width))
        padded[..., : found.shape[-1]] = found
        found = padded
    found = found.view()
    found.flags.writeable = False
    return found


def _oracle(arrays: Arrays, clients: bool) -> tuple[Any, ...]:
    """What the kernel reads of a problem; `clients`: with the matrices of the clients' own gradients."""
    width = -(-arrays.b.shape[1] // LANES) * LANES
    classes = max(1, arrays.classes) if arrays.kind == "softmax" else 1
    columns, client_columns, client_b = np.empty((0, 0, 0)), np.empty((0, 0, 0)), np.empty((0, 0))
    if arrays.kind == "quadratic":
        columns = np.asarray(arrays.A).transpose(0, 2, 1)
    if clients and len(arrays.client_A):
        client_columns, client_b = np.asarray(arrays.client_A).transpose(0, 2, 1), arrays.client_b
    return (
        _KINDS[arrays.kind],
        classes,
        float(arrays.ridge),
        _fixed(arrays.b, width),
        _fixed(arrays.target),
        _fixed(arrays.curvature),
        _fixed(columns, width if len(columns) else None),
        arrays.reduction == "sum",
        _fixed(client_columns, width if len(client_columns) else None),
        _fixed(client_b, width if len(client_b) else None),
    )


def _room(oracle: tuple[Any, ...], slopes: int = 0) -> tuple[Floats, Floats, Floats]:
    """The room that the kernel works in, with so many gradients that are kept."""
    classes = oracle[1]
    width = classes * oracle[3].shape[1]
    tile = np.empty(classes * gradients.TILE + LANES)
    return np.zeros((general.VECTORS, width)), np.empty((slopes, width)), tile


def _joined(parts: Sequence[Arrays]) -> Arrays:
    """Arrays of clients one after the other."""
    first = parts[0]
    counts = [len(p.b) for p in parts]

    def of(name: str) -> Any:
        return np.concatenate([getattr(p, name) for p in parts])

    return Arrays(
        first.kind, first.reduction, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), of("A"),
        of("curvature"), of("b"), of("target"), of("client_A"), of("client_b"), first.centre, first.centred,
        first.ridge, first.classes,
    )  # fmt: skip


class _Members:
    """The distinct members of a stretch's cohorts: (S, rounds, m), in the order in which they first appear.

    clients: their numbers; counts (S, rounds): how many; often: how often each was drawn.
    """

    def __init__(self, clients: Ints, counts: Ints, repeated: bool) -> None:
        self.clients, self.counts = clients, counts
        self.often = np.ones(clients.shape)
        if repeated:
            self.clients, self.counts = clients.copy(), counts.copy()
            layout.merge(self.clients, self.counts, self.often)

    @property
    def used(self) -> NDArray[np.bool_]:
        """Which places hold a member."""
        return np.arange(self.clients.shape[-1]) < self.counts[..., None]

    def touched(self) -> Ints:
        """Every client that is a member somewhere."""
        return np.unique(self.clients[self.used])


@dataclass(frozen=True)
class _Data:
    """Where clients' data stand. number: the client's number in `offsets`, where it is not its own."""

    oracle: Any
    every: Any
    offsets: Ints
    number: dict[int, int] | None

    def own(self, clients: Ints) -> Ints:
        """The numbers of clients in `offsets`, 0 for those that have none."""
        if self.number is None:
            return clients
        return np.array([self.number.get(int(i), 0) for i in clients.ravel()], dtype=np.int64).reshape(clients.shape)


@dataclass(frozen=True)
class _Tables:
    """One row for each visit that a client may do: client, its row of the clients' matrices, its data, its work."""

    clients: Ints
    rows: Ints
    begins: Ints
    sizes: Ints
    samples: Ints
    steps: Ints
    scale: Floats
    factor: Floats
    share: Floats
    weight: Floats
    prox: Floats


class General:
    """Any method of which the parts lower, on flat arrays or on a problem that makes them client by client."""

    def __init__(self, lowered: Lowered, source: Arrays | LazyProblem) -> None:
        self.lowered = lowered
        self.source = source
        momentum, correction = lowered.momentum, lowered.correction
        self.kind = general.NONE
        if momentum is not None:
            self.kind = general.REDUCED if momentum.variance_reduced else general.PRACTICAL
        # whether whole gradients of clients are needed
        corrected = correction is not None or lowered.control is not None
        self.whole = lowered.whole or self.kind == general.REDUCED or corrected
        self.constants = (
            (1.0, 0.0) if momentum is None else (float(momentum.a), float(1 - momentum.a))
        )  # weights of the fresh gradient and of what is kept
        self.data: _Data | None = None
        self.tables: _Tables | None = None
        if isinstance(source, Arrays):
            oracle = _oracle(source, self.whole)
            self.data = _Data(oracle, self._every(len(source.b)), np.asarray(source.offsets), None)
            if lowered.separable and lowered.clients <= FEW:
                self.tables = self._tables(lowered.alone(range(lowered.clients)), self.data)
        self.entries = self._entries()

    def _every(self, count: int) -> NDArray[np.uint32]:
        return np.arange(count if self.whole else 0, dtype=np.uint32)

    def _entries(self) -> int:
        """Entries of the plan that a round of a seed takes, roughly."""
        drawn = [self.lowered.cohorts] + ([] if self.lowered.gradients is None else [self.lowered.gradients])
        laws = [c.law for c in drawn if c.law is not None]
        asked = sum(c.largest for c in drawn) + sum(law.n for law in laws if law.kind == "independent")
        _, samples = typical(self.lowered)
        return 1 + self.lowered.largest * samples + asked

    def full(self, client: int, x: Floats) -> Floats:
        """Gradient of f_client at each row of x; shape (S, d)."""
        source = self.source if isinstance(self.source, Arrays) else self.source.client_arrays(client)
        own = client if isinstance(self.source, Arrays) else 0
        begin, end = int(source.offsets[own]), int(source.offsets[own + 1])
        oracle = self.data.oracle if self.data is not None and self.whole else _oracle(source, True)
        out = np.empty_like(x)
        work, _, residual = _room(oracle)
        every = self.data.every if self.data is not None and self.whole else np.arange(end, dtype=np.uint32)
        general.full_gradients(oracle, x, own, begin, end - begin, every, work, residual, out)
        return out

    def _tables(self, members: Iterable[Member], data: _Data) -> _Tables:
        """The tables of some members."""
        lowered, number, offsets = self.lowered, data.number, data.offsets
        summed = lowered.common[1]
        rows: list[tuple[int, int, int, int, int, int]] = []
        reals: list[tuple[float, float, float, float, float]] = []
        for m in members:
            own = m.client if number is None else number[m.client]
            begin = int(offsets[own])
            size = int(offsets[own + 1]) - begin
            for steps, scale, prox, gain in zip(m.steps, m.scale, m.prox, m.gain, strict=True):
                if lowered.control is not None:
                    steps_divide(lowered.control, m.client, steps)
                samples = 0 if lowered.whole else samples_of(size, lowered.batch, steps)
                rows.append((m.client, own, begin, size, samples, steps))
                reals.append((scale, m.factor * gain, m.share, m.weight if summed else 1.0, prox))
        whole = np.array(rows, dtype=np.int64).reshape(-1, 6)
        real = np.array(reals, dtype=np.float64).reshape(-1, 5)
        columns: list[Any] = [np.ascontiguousarray(c) for c in (*whole.T, *real.T)]
        return _Tables(*columns)

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

    def _data(self, cohorts: list[_Members]) -> _Data:
        """The data of all clients, or of those in cohorts."""
        if self.data is not None:
            return self.data
        assert not isinstance(self.source, Arrays)
        touched = np.unique(np.concatenate([c.touched() for c in cohorts])).tolist()
        joined = _joined([self.source.client_arrays(int(i)) for i in touched or [0]])
        number = {int(i): k for k, i in enumerate(touched)}
        return _Data(_oracle(joined, self.whole), self._every(len(joined.b)), np.asarray(joined.offsets), number)

    def _common(self, members: _Members, seeds: streams.Words, first: int) -> list[int | None]:
        """The numbers of steps that cohorts take together (`planning.draw_common`), all rounds of a seed in a row."""
        clients, counts = members.clients.tolist(), members.counts.tolist()
        found = [
            draw_common(self.lowered, seeds, first + q, [c[q][: n[q]] for c, n in zip(clients, counts, strict=True)])
            for q in range(members.counts.shape[1])
        ]
        return [own[s] for s in range(len(seeds)) for own in found]

    def _visits(
        self, members: _Members, data: _Data, seeds: streams.Words, first_round: int
    ) -> tuple[_Tables, Ints, Floats]:
        """Tables, each visit's first row in them (S, rounds, m), and by what its coefficient is multiplied."""
        lowered, K = self.lowered, self.lowered.visits
        cohort, counts = members.clients, members.counts
        if self.tables is not None:
            return self.tables, cohort * K, members.often
        if lowered.separable:
            touched = members.touched()
            tables = self._tables(lowered.alone(touched.tolist()), data)
            return tables, np.searchsorted(touched, np.where(members.used, cohort, 0)) * K, members.often
        found: list[Member] = []
        first: dict[tuple[tuple[int, ...], int | None], int] = {}
        entry = np.zeros(cohort.shape, dtype=np.int64)
        m = cohort.shape[-1]
        often = members.often.astype(np.int64).reshape(-1, m)
        common: list[int | None] = [None] * counts.size
        if lowered.together is not None:
            common = self._common(members, seeds, first_round)
        flat = zip(cohort.reshape(-1, m).tolist(), counts.reshape(-1).tolist(), often, common, strict=True)
        begins: list[int] = []
        for row, count, times, steps in flat:
            key = tuple(np.repeat(row[:count], times[:count]).tolist())
            if (key, steps) not in first:
                first[key, steps] = len(found)
                found += lowered.members(key, steps)
            begins.append(first[key, steps])
        entry[...] = np.array(begins).reshape(*counts.shape, 1) + np.arange(m)
        return self._tables(found, data), entry * K, np.ones(cohort.shape)

    def _correction(self, asked: _Members | None, data: _Data, first: int, rounds: int) -> tuple[Any, ...]:
        """What the kernel reads of the correction."""
        lowered = self.lowered
        by = np.array([lowered.correcting(first + q) for q in range(rounds)])
        if asked is None or lowered.correction is None:
            none = np.empty((0, 0, 0), dtype=np.int64)
            return general.NONE, by, np.empty((0, 0), dtype=np.int64), none, none, none, none, np.empty((0, 0, 0))
        own = data.own(np.where(asked.used, asked.clients, 0))
        begins = data.offsets[own]
        voices = asked.often
        if lowered.correction.weights == "data":
            weights = {int(i): float(lowered.known.weights[int(i)]) for i in asked.touched()}
            voices = voices * np.vectorize(lambda i: weights.get(int(i), 0.0), otypes=[float])(asked.clients)
        kind = general.PIPELINED if lowered.pipelined else general.OWN
        return kind, by, asked.counts, asked.clients, own, begins, data.offsets[own + 1] - begins, voices

    def _exchange(self, first: int, rounds: int, dim: int) -> tuple[Any, ...]:
        """What the kernel reads of the exchange."""
        lowered, blocks = self.lowered, self.lowered.blocks
        cuts, coordinates = np.zeros(rounds + 1, dtype=np.int64), list[int]()
        if blocks is None:
            kind = general.STALE if lowered.stale else general.NONE
            return kind, np.empty(0), cuts, np.empty(0, dtype=np.int64)
        pattern, moved = blocks.pattern(dim), blocks.hand_over
        for q in range(rounds):
            r = first + q
            mixed = moved is not None and moved.design == 1 and (r + 1) % moved.every == 0
            coordinates += range(dim) if mixed else pattern[r % blocks.tau]
            cuts[q + 1] = len(coordinates)
        return general.BLOCKS, lowered.portions, cuts, np.array(coordinates, dtype=np.int64)

    def _server(self, first: int, rounds: int) -> tuple[int, Floats]:
        """What the kernel reads of the momentum of the server's step."""
        own = self.lowered.server_momentum
        kind = general.NONE if own is None else general.AHEAD if own.nesterov else general.PLAIN
        return kind, np.array([self.lowered.pushing(first + q) for q in range(rounds)])

    def _control(self, offsets: Ints, seeds: streams.Words, first: int, rounds: int) -> tuple[Any, ...]:
        """What the kernel reads of the control variates."""
        lowered, own = self.lowered, self.lowered.control
        noting = np.zeros((len(seeds), rounds), dtype=np.int64)
        renewing, shares = np.zeros(rounds, dtype=np.int64), np.array(lowered.shares)
        if not isinstance(own, ReferencePoint):
            whole = own is not None and own.update == "gradient"
            kind, sign = variates.KEPT_WHOLE if whole else variates.KEPT_DIFFERENCE, 1 if own is None else own.sign
            return kind, float(sign), shares, offsets, 1, noting, renewing
        epochs, phases = np.divmod(first + np.arange(rounds), own.inner)
        if own.point == "average":
            noting[:] = np.where(phases == 0, variates.NOTED, variates.SUMMED)
        elif own.point == "random":
            for epoch in np.unique(epochs).tolist():
                taken = (epochs == epoch) & (phases == reference_rounds(lowered, seeds, epoch)[:, None])
                noting[taken] = variates.NOTED
        how = {"last": variates.LAST, "random": variates.CHOSEN, "average": variates.MEAN}
        renewing[phases == own.inner - 1] = how[own.point]
        return variates.REFERENCE, float(own.sign), shares, offsets, own.inner, noting, renewing

    def _stretch(
        self, seeds: streams.Words, state: Floats, first: int, rounds: int, stops: Ints, points: Floats,
        starts: Floats = NOTHING, returned: Floats = NOTHING,
    ) -> None:  # fmt: skip
        lowered = self.lowered
        members = self._members(lowered.cohorts, seeds, first, rounds)
        asked = members if lowered.correction is not None else None
        if lowered.gradients is not None:
            asked = self._members(lowered.gradients, seeds, first, rounds)
        data = self._data([members] if asked is None else [members, asked])
        tables, entry, often = self._visits(members, data, seeds, first)
        cohort, counts = members.clients, members.counts
        if lowered.visits > 1:
            words = np.zeros(cohort.shape, dtype=np.uint64)
            drawing.draw_words(seeds, first, rounds, False, cohort, counts, streams.EPOCHS, words)
            entry = entry + streams.pick(words, lowered.cuts)
        place = np.zeros(entry.shape, dtype=np.int64)
        total = 0 if lowered.whole else layout.lay_out(entry, counts, tables.samples, place)
        sequence = np.empty(total, dtype=np.uint32)
        if total:
            drawing.draw_visits(
                seeds, first, rounds, lowered.sampling == "replacement", entry, counts, place,
                tables.clients, tables.begins, tables.sizes, tables.samples, sequence,
            )  # fmt: skip
        shared, _, per_share = lowered.common
        cycle = (first + np.arange(rounds)) // lowered.rounds_per_cycle
        work = (
            tables.clients, tables.rows, tables.begins, tables.sizes, tables.steps, tables.scale, tables.factor,
            tables.share, tables.weight, tables.prox,
        )  # fmt: skip
        execute = general.execute if lowered.control is None else general.execute_controlled
        execute(
            data.oracle, state, first, rounds, int(np.searchsorted(stops, first, side="right")), stops, points, starts,
            returned, (counts, entry, often, place, sequence, data.every), work,
            (shared, lowered.clients if per_share else 0), lowered.whole, lowered.batch, lowered.sizes_of_steps[cycle],
            (self.kind, *self.constants, lowered.rho, lowered.decay, lowered.clip),
            self._correction(asked, data, first, rounds),
            self._exchange(first, rounds, state.shape[-1]), self._server(first, rounds),
            self._control(data.offsets, seeds, first, rounds),
            _room(data.oracle, 0 if asked is None else asked.clients.shape[-1]),
        )  # fmt: skip

    def advance(self, seeds: streams.Words, state: Floats, first: int, stops: Ints, points: Floats) -> None:
        """The compiled counterpart of `reference.advance`."""
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

    def epoch_starts(self, seeds: streams.Words, state: Floats, round_index: int, starts: Floats) -> None:
        """The compiled counterpart of `reference.epoch_starts`."""
        self._once(seeds, state, round_index, starts, NOTHING)

    def ends(self, seeds: streams.Words, state: Floats, round_index: int, returned: Floats) -> None:
        """The compiled counterpart of `reference.ends`."""
        self._once(seeds, state, round_index, NOTHING, returned)

    def _once(self, seeds: streams.Words, state: Floats, r: int, starts: Floats, returned: Floats) -> None:
        points = np.empty((len(seeds), 0, state.shape[-1]))
        self._stretch(seeds, state.copy(), r, 1, np.empty(0, dtype=np.int64), points, starts, returned)
