"""The visits of a round, of all seeds at once, as flat arrays; every choice is that of the sampled engine's plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.streams import Words
from boundcheck.engines.curve import Floats, Ints
from boundcheck.engines.simulate import drawing
from boundcheck.engines.simulate.cohorts import Cohorts, counted
from boundcheck.engines.simulate.lowering import Member
from boundcheck.engines.simulate.planning import draw_choices, draw_cohorts, draw_common
from boundcheck.networks.engine.features import Lowered


@dataclass(frozen=True)
class Visits:
    """V visits, seed after seed, in the order of the cohorts.

    seed: number of the seed; position: of the client among the members of its cohort. steps: local steps; eta: their
    size; prox: mu; factor, share: see `Lowered.factors`. samples: rows of the problem's data that are visited, those of
    visit v from first[v] on; empty where whole gradients are taken.
    """

    seed: Ints
    position: Ints
    client: Ints
    steps: Ints
    eta: Floats
    prox: Floats
    factor: Floats
    share: Floats
    first: Ints
    samples: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.seed)


def visits_of(lowered: Lowered, offsets: Ints, seeds: Words, round_index: int) -> Visits:
    """Those of one round. offsets: client i owns the rows offsets[i] to offsets[i + 1] of the data."""
    members: list[tuple[Member, float, float]] = []
    counts = list[int]()
    cohorts = draw_cohorts(lowered, seeds, round_index)
    for cohort, common in zip(cohorts, draw_common(lowered, seeds, round_index, cohorts), strict=True):
        weights = lowered.factors(cohort)
        own = [(m, *weights[m.client]) for m in lowered.members(cohort, common)]
        members += own
        counts.append(len(own))
    seed = np.repeat(np.arange(len(seeds)), counts)
    position = np.concatenate([np.arange(c) for c in counts] or [np.zeros(0)]).astype(np.int64)
    client = np.array([m.client for m, _, _ in members], dtype=np.int64)
    choice = _choices(lowered, seeds, round_index, seed, client).tolist()
    drawn = [
        (m.steps[k], m.scale[k], m.prox[k], factor * m.gain[k], share)
        for (m, factor, share), k in zip(members, choice, strict=True)
    ]
    table = np.array(drawn, dtype=np.float64).reshape(-1, 5)
    steps = table[:, 0].astype(np.int64)
    first, samples = _samples(lowered, offsets, seeds, round_index, counts, client, steps)
    eta = lowered.step(round_index) * table[:, 1]
    return Visits(seed, position, client, steps, eta, table[:, 2], table[:, 3], table[:, 4], first, samples)


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


def gradient_visits(lowered: Lowered, cohorts: Cohorts, seeds: Words, round_index: int) -> tuple[Ints, Ints, Floats]:
    """Whose gradients make the mean that corrects local work: number of the seed, client and weight in the mean."""
    by_data = lowered.correction is not None and lowered.correction.weights == "data"
    seed, client, weight = list[int](), list[int](), list[float]()
    for s, cohort in enumerate(cohorts.draw(seeds, round_index)):
        often = counted(cohort)
        each = [float(t) * (float(lowered.known.weights[i]) if by_data else 1.0) for i, t in often.items()]
        total = sum(each)
        seed += [s] * len(often)
        client += list(often)
        weight += [w / total for w in each]
    return np.array(seed, dtype=np.int64), np.array(client, dtype=np.int64), np.array(weight, dtype=np.float64)
