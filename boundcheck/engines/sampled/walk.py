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
from boundcheck.engines.sampled import drawing, general
from boundcheck.engines.sampled.lowering import Lowered, Member
from boundcheck.engines.sampled.planning import SPARSE, samples_of, typical
from boundcheck.problems.problem import Arrays, LazyProblem

__all__ = ["General"]

PLAN_ENTRIES = 1 << 17  # how much of the plan is drawn ahead: it should stay in the processor's cache
PLAN_ROUNDS = 1 << 9
LAZY_BYTES = 1 << 23  # data of a lazy problem that are made at once, roughly
FEW = 1 << 10  # clients whose tables are made beforehand

_KINDS = {
    "isotropic": general.ISOTROPIC,
    "quadratic": general.QUADRATIC,
    "rows": general.ROWS,
    "logistic": general.LOGISTIC,
    "softmax": general.SOFTMAX,
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
    width = -(-arrays.b.shape[1] // general.LANES) * general.LANES
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


def _room(oracle: tuple[Any, ...], sizes: Ints) -> tuple[Floats, Floats]:
    """The room that the kernel works in, for clients with so many components."""
    classes = oracle[1]
    return np.zeros((8, classes * oracle[3].shape[1])), np.empty(classes * max([1, *sizes.tolist()]))


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


class General:
    """Any method of which the parts lower, on flat arrays or on a problem that makes them client by client."""

    def __init__(self, lowered: Lowered, source: Arrays | LazyProblem) -> None:
        self.lowered = lowered
        self.source = source
        momentum = lowered.momentum
        self.kind = general.NONE
        if momentum is not None:
            self.kind = general.REDUCED if momentum.variance_reduced else general.PRACTICAL
        self.whole_steps = lowered.sampling == "full"
        self.whole = self.whole_steps or self.kind == general.REDUCED  # whether whole gradients of clients are needed
        self.constants = (
            (1.0, 0.0) if momentum is None else (float(momentum.a), float(1 - momentum.a))
        )  # weights of the fresh gradient and of what is kept
        law = lowered.law
        cohorts = law.subsets if law is not None and law.kind == "subsets" else lowered.cohorts
        self.fixed_sizes = np.array([len(c) for c in cohorts], dtype=np.int64)
        self.fixed = np.zeros((len(cohorts), lowered.largest), dtype=np.int64)
        self.fixed[np.arange(lowered.largest) < self.fixed_sizes[:, None]] = [i for c in cohorts for i in c]
        self.oracle: Any = None
        self.tables: _Tables | None = None
        if isinstance(source, Arrays):
            self.oracle = _oracle(source, self.whole)
            self.every = self._every(len(source.b))
            if lowered.separable and lowered.clients <= FEW:
                self.tables = self._tables(lowered.alone(range(lowered.clients)), source.offsets, None)
        self.entries = self._entries()

    def _every(self, count: int) -> NDArray[np.uint32]:
        return np.arange(count if self.whole else 0, dtype=np.uint32)

    def _entries(self) -> int:
        """Entries of the plan that a round of a seed takes, roughly."""
        law = self.lowered.law
        asked = law.n if law is not None and law.kind == "independent" else 0
        _, samples = typical(self.lowered)
        return 1 + self.lowered.largest * (1 + samples) + asked

    def full(self, client: int, x: Floats) -> Floats:
        """Gradient of f_client at each row of x; shape (S, d)."""
        source = self.source if isinstance(self.source, Arrays) else self.source.client_arrays(client)
        own = client if isinstance(self.source, Arrays) else 0
        begin, end = int(source.offsets[own]), int(source.offsets[own + 1])
        oracle = self.oracle if self.oracle is not None and self.whole else _oracle(source, True)
        out = np.empty_like(x)
        every = np.arange(end, dtype=np.uint32)
        work, residual = _room(oracle, np.array([end - begin]))
        general.full_gradients(oracle, x, own, begin, end - begin, every, work, residual, out)
        return out

    def _tables(self, members: Iterable[Member], offsets: Ints, number: dict[int, int] | None) -> _Tables:
        """The tables of some members. number: the client's number in `offsets`, where it is not its own."""
        lowered = self.lowered
        summed = lowered.common[1]
        rows: list[tuple[int, int, int, int, int, int]] = []
        reals: list[tuple[float, float, float, float]] = []
        for m in members:
            own = m.client if number is None else number[m.client]
            begin = int(offsets[own])
            size = int(offsets[own + 1]) - begin
            for steps, scale in zip(m.steps, m.scale, strict=True):
                samples = 0 if self.whole_steps else samples_of(size, lowered.batch, steps)
                rows.append((m.client, own, begin, size, samples, steps))
                reals.append((scale, m.factor, m.share, m.weight if summed else 1.0))
        whole = np.array(rows, dtype=np.int64).reshape(-1, 6)
        real = np.array(reals, dtype=np.float64).reshape(-1, 4)
        columns: list[Any] = [np.ascontiguousarray(c) for c in (*whole.T, *real.T)]
        return _Tables(*columns)

    def _cohorts(self, seeds: streams.Words, first: int, rounds: int) -> tuple[Ints, Ints]:
        """Clients (S, rounds, m) and how many of them take part (S, rounds)."""
        lowered, law, shape = self.lowered, self.lowered.law, (len(seeds), rounds)
        if law is None:
            row = (first + np.arange(rounds)) % len(self.fixed)
            cohort = np.tile(self.fixed[row], (len(seeds), 1, 1))
            return cohort, np.tile(self.fixed_sizes[row], (len(seeds), 1))
        ones = np.ones(shape, dtype=np.int64)
        if law.kind == "uniform":
            cohort = np.empty((*shape, law.size), dtype=np.uint32)
            draw = drawing.draw_sparse if law.n > SPARSE * law.size else drawing.draw_cohorts
            draw(seeds, first, rounds, law.n, cohort)
            return cohort.astype(np.int64), ones * law.size
        asked = 1 if law.kind == "subsets" else law.n
        words = np.empty((*shape, asked), dtype=np.uint64)
        nobody = np.empty((0, 0, 0), dtype=np.int64)
        drawing.draw_words(seeds, first, rounds, True, nobody, ones * asked, streams.COHORT, words)
        if law.kind == "subsets":
            chosen = streams.pick(words[..., 0], lowered.cohort_cuts)
            return self.fixed[chosen], self.fixed_sizes[chosen]
        present = words < lowered.cohort_cuts
        cohort = np.argsort(~present, axis=-1, kind="stable")[..., : lowered.largest]
        return np.ascontiguousarray(cohort), present.sum(axis=-1)

    def _visits(self, cohort: Ints, counts: Ints) -> tuple[_Tables, Ints, Any, Any]:
        """Tables, each visit's first row in them (S, rounds, m), and the oracle and its indices."""
        lowered, K = self.lowered, self.lowered.visits
        if self.tables is not None:
            return self.tables, cohort * K, self.oracle, self.every
        used = np.arange(cohort.shape[-1]) < counts[..., None]
        touched = np.unique(cohort[used])
        number = None
        oracle, every = self.oracle, getattr(self, "every", None)
        if isinstance(self.source, Arrays):
            offsets = np.asarray(self.source.offsets)
        else:
            parts = [self.source.client_arrays(int(i)) for i in (touched if len(touched) else [0])]
            joined = _joined(parts)
            offsets, number = joined.offsets, {int(i): k for k, i in enumerate(touched)}
            oracle, every = _oracle(joined, self.whole), self._every(len(joined.b))
        if lowered.separable:
            tables = self._tables(lowered.alone(touched.tolist()), offsets, number)
            return tables, np.searchsorted(touched, np.where(used, cohort, 0)) * K, oracle, every
        members: list[Member] = []
        first: dict[tuple[int, ...], int] = {}
        entry = np.zeros(cohort.shape, dtype=np.int64)
        flat = zip(cohort.reshape(-1, cohort.shape[-1]).tolist(), counts.reshape(-1).tolist(), strict=True)
        begins: list[int] = []
        for row, count in flat:
            key = tuple(row[:count])
            if key not in first:
                first[key] = len(members)
                members += lowered.members(key)
            begins.append(first[key])
        entry[...] = np.array(begins).reshape(*counts.shape, 1) + np.arange(cohort.shape[-1])
        return self._tables(members, offsets, number), entry * K, oracle, every

    def _stretch(
        self, seeds: streams.Words, state: Floats, first: int, rounds: int, stops: Ints, points: Floats, starts: Floats
    ) -> None:
        lowered = self.lowered
        cohort, counts = self._cohorts(seeds, first, rounds)
        tables, entry, oracle, every = self._visits(cohort, counts)
        if lowered.visits > 1:
            words = np.zeros(cohort.shape, dtype=np.uint64)
            drawing.draw_words(seeds, first, rounds, False, cohort, counts, streams.EPOCHS, words)
            entry = entry + streams.pick(words, lowered.cuts)
        place = np.zeros(entry.shape, dtype=np.int64)
        total = 0 if self.whole_steps else drawing.lay_out(entry, counts, tables.samples, place)
        sequence = np.empty(total, dtype=np.uint32)
        if total:
            drawing.draw_visits(
                seeds, first, rounds, lowered.sampling == "replacement", entry, counts, place,
                tables.clients, tables.begins, tables.sizes, tables.samples, sequence,
            )  # fmt: skip
        shared, _, per_share = lowered.common
        cycle = (first + np.arange(rounds)) // lowered.rounds_per_cycle
        general.execute(
            oracle, state, first, rounds, int(np.searchsorted(stops, first, side="right")), stops, points, starts,
            counts, entry, place, sequence, every, tables.rows, tables.begins, tables.sizes, tables.steps,
            tables.scale, tables.factor, tables.share, tables.weight, shared, lowered.clients if per_share else 0,
            self.whole_steps, lowered.batch, lowered.sizes_of_steps[cycle],
            self.kind, *self.constants, *_room(oracle, tables.sizes),
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
        nothing = np.empty((0, 0, 0))
        for begin in range(first, last, chunk):
            rounds = min(chunk, last - begin)
            for i in range(0, len(seeds), at_once):
                rows = slice(i, i + at_once)
                self._stretch(seeds[rows], state[rows], begin, rounds, stops, points[rows], nothing)

    def epoch_starts(self, seeds: streams.Words, state: Floats, round_index: int, starts: Floats) -> None:
        """The compiled counterpart of `reference.epoch_starts`."""
        stops = np.empty(0, dtype=np.int64)
        points = np.empty((len(seeds), 0, state.shape[-1]))
        self._stretch(seeds, state.copy(), round_index, 1, stops, points, starts)
