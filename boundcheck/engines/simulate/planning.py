"""The plan: every random choice of a run as a function of the seed, defined with NumPy from the streams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from boundcheck.core import streams
from boundcheck.engines.curve import Ints
from boundcheck.engines.simulate.lowering import Lowered, Member, lower
from boundcheck.errors import BadInput
from boundcheck.methods.clients import Clients, Repeated
from boundcheck.methods.method import Method


def draw_cohorts(lowered: Lowered, seeds: streams.Words, round_index: int) -> list[tuple[int, ...]]:
    """The clients of one round for each seed, in the order in which the server adds them; repeated if drawn again."""
    return lowered.cohorts.draw(seeds, round_index)


def draw_choices(lowered: Lowered, seeds: streams.Words, round_index: int, client: int) -> Ints:
    """Which of its possible visits a client does in a round, for each seed; shape (S,)."""
    if lowered.visits == 1:
        return np.zeros(len(seeds), dtype=np.int64)
    return streams.pick(streams.words(seeds, streams.EPOCHS, round_index, client, 0, 1)[:, 0], lowered.cuts)


def draw_common(
    lowered: Lowered, seeds: streams.Words, round_index: int, cohorts: Sequence[Sequence[int]]
) -> list[int | None]:
    """The number of steps that the cohort of each seed takes together; None where clients do not draw it together."""
    local = lowered.together
    if local is None:
        return [None] * len(seeds)
    cuts, planned = streams.cuts([Fraction(1, len(local.epochs(0)))] * len(local.epochs(0))), dict[int, Ints]()
    for i in {i for cohort in cohorts for i in cohort}:
        words = streams.words(seeds, streams.EPOCHS, round_index, i, 0, 1)[:, 0]
        each = local.steps_per_epoch(i, lowered.known)
        planned[i] = np.array(local.epochs(i))[streams.pick(words, cuts)] * each
    return [
        local.common_of([int(planned[i][s]) for i in cohort]) if cohort else None for s, cohort in enumerate(cohorts)
    ]


def batches(size: int, batch: int, steps: int) -> list[int]:
    """How many samples each step uses: `batch`, and what is left in the last step of an epoch over `size` samples."""
    per_epoch = -(-size // batch)
    return [min(batch, size - step % per_epoch * batch) for step in range(steps)]


def samples_of(size: int, batch: int, steps: int) -> int:
    """How many samples this many steps use."""
    epochs, rest = divmod(steps, -(-size // batch))
    return epochs * size + min(rest * batch, size)


def typical(lowered: Lowered) -> tuple[int, int]:
    """Steps and samples of a busy visit, by a look at a few clients; only to size pieces of work."""
    law = lowered.law
    if law is None:
        cohort = max(lowered.cohorts.fixed, key=len)
    else:
        cohort = tuple(range(min(law.largest, law.n))) if law.kind != "subsets" else max(law.subsets, key=len)
    some = cohort[:16]
    work = lowered.members(cohort if lowered.by_cohort and len(cohort) <= 1024 else some)
    steps = max([0, *(max(m.steps) for m in work)])
    if lowered.whole:
        return steps, 0
    return steps, max([0, *(samples_of(lowered.known.sizes[i], lowered.batch, steps) for i in some)])


def draw_samples(lowered: Lowered, seeds: streams.Words, round_index: int, client: int, size: int, steps: int) -> Ints:
    """The samples, out of `size`, that a client's steps use, in order, for each seed; shape (S, samples)."""
    count = samples_of(size, lowered.batch, steps)
    if lowered.sampling == "replacement":
        return streams.below(streams.words(seeds, streams.SAMPLE, round_index, client, 0, count), size)
    each = streams.shuffle_words(size, size)
    epochs = range(-(-count // size))
    orders = [streams.shuffle(seeds, streams.ORDER, round_index, client, size, size, e * each) for e in epochs]
    return np.concatenate([np.empty((len(seeds), 0), dtype=np.int64), *orders], axis=1)[:, :count]


def draw_clients(lowered: Lowered, seeds: streams.Words, count: int) -> Ints:
    """Clients, drawn by weight, whose vectors start what the server keeps; shape (S, count)."""
    words = streams.words(seeds, streams.WARM_UP, 0, 0, 0, count)
    return streams.pick(words, streams.cuts(lowered.known.weights))


def draw_numbers(lowered: Lowered, seeds: streams.Words, round_index: int) -> Ints:
    """Which of the rule's outcomes of a round each seed draws; shape (S,)."""
    law = lowered.rule.drawn(round_index)
    if len(law) == 1:
        return np.zeros(len(seeds), dtype=np.int64)
    word = streams.words(seeds, streams.REFERENCE, round_index, 0, 0, 1)[:, 0]
    return streams.pick(word, streams.cuts(p for p, _ in law))


@dataclass(frozen=True)
class Plan:
    """Every random choice of one seed: a function of the seed, the method and the clients alone.

    cohorts: (rounds, m) clients in each round, in the order in which the server adds them, repeated if drawn again; m
    is the size of the largest cohort, and -1 fills the rows of smaller ones. Where only some clients hold a model,
    those, model by model.
    """

    seed: int
    sizes: Sequence[int]
    epochs: int
    cohorts: Ints
    lowered: Lowered

    @property
    def _one(self) -> streams.Words:
        return np.array([self.seed], dtype=np.uint64)

    def cohort(self, round_index: int) -> tuple[int, ...]:
        """The clients of a round."""
        return tuple(int(c) for c in self.cohorts[round_index] if c >= 0)

    def gradient_cohort(self, round_index: int) -> tuple[int, ...]:
        """The clients whose gradients make the estimate that corrects local work; computed at this round's point.

        A pipelined correction uses them one round later.
        """
        return (self.lowered.gradients or self.lowered.cohorts).draw(self._one, round_index)[0]

    def order(self, round_index: int, client: int) -> Ints:
        """Sample orders of a client's visit in whole epochs, one row each; epochs = 0 for full gradients.

        It is defined for every client, whether or not it is in the round's cohort.
        """
        size = self.sizes[client]
        words = streams.shuffle_words(size, size)
        rows = [
            streams.shuffle(self._one, streams.ORDER, round_index, client, size, size, e * words)[0]
            for e in range(self.epochs)
        ]
        return np.array(rows, dtype=np.int64).reshape(self.epochs, size)

    def member(self, round_index: int, client: int) -> tuple[Member, int]:
        """What a client of the round's cohort does, and which of its possible visits it has drawn."""
        cohort = self.cohort(round_index)
        common = draw_common(self.lowered, self._one, round_index, [cohort])[0]
        found = next(m for m in self.lowered.members(cohort, common) if m.client == client)
        return found, int(draw_choices(self.lowered, self._one, round_index, client)[0])

    def batches(self, round_index: int, client: int) -> list[list[int]]:
        """The samples that each local step of a client of the round's cohort uses; all of them for full gradients."""
        member, choice = self.member(round_index, client)
        size, steps = self.sizes[client], member.steps[choice]
        if self.lowered.whole:
            return [list(range(size))] * steps
        samples = draw_samples(self.lowered, self._one, round_index, client, size, steps)[0].tolist()
        ends = np.cumsum([0, *batches(size, self.lowered.batch, steps)]).tolist()
        return [samples[a:b] for a, b in pairwise(ends)]

    def first_clients(self, count: int) -> tuple[int, ...]:
        """The clients whose vectors start what the server keeps, as drawn."""
        return tuple(draw_clients(self.lowered, self._one, count)[0].tolist())

    def number(self, round_index: int) -> int:
        """Which of the rule's outcomes a round draws."""
        return int(draw_numbers(self.lowered, self._one, round_index)[0])


def plan(method: Method, clients: Sequence[int] | Clients, seed: int, rounds: int) -> Plan:
    """The plan of one seed for the given clients, or for clients of equal weight with this many samples each.

    Raises BadInput for an impossible seed.
    """
    seeds = np.array([streams.check_seed(seed)], dtype=np.uint64)
    if not isinstance(clients, Clients):
        if not len(clients):
            raise BadInput("a plan needs at least one client.")
        clients = Clients(Repeated(Fraction(1, len(clients)), len(clients)), [int(s) for s in clients])
    lowered = lower(method, clients, rounds)
    cohorts = np.full((rounds, lowered.largest), -1, dtype=np.int64)
    for r in range(rounds):
        drawn = draw_cohorts(lowered, seeds, r)[0]
        cohorts[r, : len(drawn)] = drawn
    epochs: Any = getattr(method.local, "E", 0)
    if lowered.sampling != "reshuffled" or not isinstance(epochs, int):
        epochs = 0
    return Plan(seed, clients.sizes, epochs, cohorts, lowered)
