"""The visits of a round, of all seeds at once, as flat arrays; every choice is that of the simulating reader's plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.streams import Words
from boundcheck.engines.curve import Floats, Ints
from boundcheck.engines.simulate import drawing
from boundcheck.engines.simulate.cohorts import counted
from boundcheck.engines.simulate.lowering import Lowered, Member
from boundcheck.engines.simulate.planning import draw_choices, draw_common


@dataclass(frozen=True)
class Visits:
    """V visits, seed after seed, in the order of the cohorts.

    seed: number of the seed; position: of the client among the members of its cohort. steps: local steps; scale: of
    their size; prox: mu; gain: what the method's own weight is multiplied by. cohorts: of each seed. samples: rows of
    the problem's data that are visited, those of visit v from first[v] on; empty where whole gradients are taken.
    """

    seed: Ints
    position: Ints
    client: Ints
    steps: Ints
    scale: Floats
    prox: Floats
    gain: Floats
    cohorts: Sequence[tuple[int, ...]]
    first: Ints
    samples: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.seed)


def visits_of(lowered: Lowered, offsets: Ints, seeds: Words, round_index: int) -> Visits:
    """Those of one round. offsets: client i owns the rows offsets[i] to offsets[i + 1] of the data."""
    cohorts = lowered.cohorts.draw(seeds, round_index)
    commons = draw_common(lowered, seeds, round_index, cohorts)
    each = [lowered.members(cohort, common) for cohort, common in zip(cohorts, commons, strict=True)]
    members: list[Member] = [m for own in each for m in own]
    counts = [len(own) for own in each]
    seed = np.repeat(np.arange(len(seeds)), counts)
    position = np.concatenate([np.arange(c) for c in counts] or [np.zeros(0)]).astype(np.int64)
    client = np.array([m.client for m in members], dtype=np.int64)
    choice = _choices(lowered, seeds, round_index, seed, client).tolist()
    drawn = [(m.steps[k], m.scale[k], m.prox[k], m.gain[k]) for m, k in zip(members, choice, strict=True)]
    table = np.array(drawn, dtype=np.float64).reshape(-1, 4)
    steps = table[:, 0].astype(np.int64)
    first, samples = _samples(lowered, offsets, seeds, round_index, counts, client, steps)
    return Visits(seed, position, client, steps, table[:, 1], table[:, 2], table[:, 3], cohorts, first, samples)


def collections_of(lowered: Lowered, seeds: Words, round_index: int, visits: Visits) -> Visits:
    """Who collects before the local work: visits without steps."""
    cohorts = visits.cohorts if lowered.gradients is None else lowered.gradients.draw(seeds, round_index)
    each = [list(counted(cohort)) for cohort in cohorts]
    client = np.array([i for own in each for i in own], dtype=np.int64)
    position = np.array([k for own in each for k in range(len(own))], dtype=np.int64)
    none, ones = np.zeros(len(client)), np.ones(len(client))
    seed = np.repeat(np.arange(len(seeds)), [len(own) for own in each])
    whole = none.astype(np.int64)
    return Visits(seed, position, client, whole, ones, none, ones, cohorts, whole, np.empty(0, dtype=np.uint32))


def weights(lowered: Lowered, visits: Visits, rule: Any, own: Ints, *, collecting: bool = False) -> Floats:
    """With which weights (len(own),) visits are summed by a rule."""
    weighing = lowered.weighing(rule, collecting=collecting)
    pairs = zip(visits.seed[own].tolist(), visits.client[own].tolist(), strict=True)
    found = np.array([weighing.of(visits.cohorts[s])[i] for s, i in pairs])
    return found * visits.gain[own] if rule is None and not collecting else found


def _choices(lowered: Lowered, seeds: Words, round_index: int, seed: Ints, client: Ints) -> Ints:
    found = np.zeros(len(client), dtype=np.int64)
    if lowered.visits > 1:
        for i in np.unique(client).tolist():
            own = np.flatnonzero(client == i)
            found[own] = draw_choices(lowered, seeds[seed[own]], round_index, i)
    return found


def _samples(
    lowered: Lowered, offsets: Ints, seeds: Words, round_index: int, counts: Sequence[int], client: Ints, steps: Ints
) -> tuple[Ints, NDArray[np.uint32]]:
    """Where each visit's samples begin, and the samples; what `planning.draw_samples` draws, by the compiled code."""
    if lowered.whole or not len(client):
        return np.zeros(len(client), dtype=np.int64), np.empty(0, dtype=np.uint32)
    begins = np.ascontiguousarray(offsets[client])
    sizes = np.ascontiguousarray(offsets[client + 1] - begins)
    per_epoch = -(-sizes // lowered.batch)
    used = steps // per_epoch * sizes + np.minimum(steps % per_epoch * lowered.batch, sizes)
    first = np.concatenate([[0], np.cumsum(used)]).astype(np.int64)
    place = np.zeros((len(seeds), 1, max(counts)), dtype=np.int64)
    entry = np.zeros_like(place)
    held = np.arange(place.shape[2]) < np.array(counts)[:, None]
    place[:, 0][held] = first[:-1]
    entry[:, 0][held] = np.arange(len(client))
    sequence = np.empty(int(first[-1]), dtype=np.uint32)
    at: Any = round_index
    drawing.draw_visits(
        seeds, at, 1, lowered.sampling == "replacement", entry, np.array(counts, dtype=np.int64)[:, None], place,
        client, begins, sizes, used, sequence,
    )  # fmt: skip
    return first[:-1], sequence
