"""The plan of one seed, read from the streams by the definitions in NumPy."""

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
from boundcheck.engines.simulate.planning import (
    draw_choices,
    draw_clients,
    draw_common,
    draw_numbers,
    draw_samples,
)
from boundcheck.errors import BadInput
from boundcheck.methods.clients import Clients, Repeated
from boundcheck.methods.method import Method
from boundcheck.methods.parts.local import batch_sizes


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
        ends = np.cumsum([0, *batch_sizes(size, self.lowered.batch, steps)]).tolist()
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
        known = None if lowered.handed else method.participation.fixed(r, clients)
        drawn = lowered.cohorts.draw(seeds, r)[0] if known is None else known
        cohorts[r, : len(drawn)] = drawn
    epochs: Any = getattr(method.local, "E", 0)
    if lowered.sampling != "reshuffled" or not isinstance(epochs, int):
        epochs = 0
    return Plan(seed, clients.sizes, epochs, cohorts, lowered)
