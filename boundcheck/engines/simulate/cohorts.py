"""Who takes part in each round: known cohorts, or cohorts drawn from the streams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from boundcheck.core import streams
from boundcheck.engines.curve import Ints
from boundcheck.methods.clients import Clients
from boundcheck.methods.parts import Drawing, Participation, first_repeated

SPARSE = 64  # cohorts are drawn without a list of all clients where these are this many times more


def counted(cohort: Sequence[int]) -> dict[int, int]:
    """The clients of a cohort in the order in which they first appear, and how often each does."""
    return Counter(cohort)


@dataclass(frozen=True)
class Cohorts:
    """The cohorts of all rounds.

    fixed: those of the first rounds, of which the ones from number `lead` on repeat; empty when cohorts are drawn from
    `law`. purpose: that of the stream. hold: a drawn cohort stays for this many rounds.
    """

    fixed: tuple[tuple[int, ...], ...]
    lead: int
    law: Drawing | None
    purpose: int = streams.COHORT
    hold: int = 1

    @classmethod
    def of(cls, participation: Participation, known: Clients, rounds: int, purpose: int = streams.COHORT) -> Cohorts:
        """Those of a participation for rounds 0..rounds-1."""
        law = participation.drawing(known)
        if law is not None:
            return cls((), 0, law, purpose)
        lead = first_repeated(participation, known)
        count = min(lead + participation.period(known), max(rounds, 1))
        return cls(tuple(tuple(participation.fixed(r, known) or ()) for r in range(count)), lead, None, purpose)

    @property
    def largest(self) -> int:
        """The size of the largest cohort."""
        return max(len(c) for c in self.fixed) if self.law is None else self.law.largest

    @property
    def repeated(self) -> bool:
        """Whether a cohort may hold a client several times."""
        return self.law is not None and self.law.kind == "replacement"

    @property
    def may_be_empty(self) -> bool:
        """Whether nobody may take part in a round."""
        if self.law is None or self.law.kind == "subsets":
            return not all(self.fixed if self.law is None else self.law.subsets)
        return self.law.kind == "independent" and not any(p == 1 for p in self.law.probabilities)

    @cached_property
    def cuts(self) -> streams.Words:
        """Where words are cut: one for each client that takes part independently, or those between events."""
        if self.law is None or self.law.kind == "uniform":
            return streams.cuts(())
        if self.law.kind in ("subsets", "replacement"):
            return streams.cuts(self.law.probabilities)
        return np.concatenate([streams.cuts((p, 1 - p)) for p in self.law.probabilities])

    @cached_property
    def sets(self) -> tuple[Ints, Ints]:
        """The known cohorts, or those that are drawn from, as rows filled with 0, and their sizes."""
        known = self.fixed if self.law is None else self.law.subsets
        sizes = np.array([len(c) for c in known], dtype=np.int64)
        clients = np.zeros((len(known), self.largest), dtype=np.int64)
        clients[np.arange(self.largest) < sizes[:, None]] = [i for c in known for i in c]
        return clients, sizes

    def rows(self, rounds: Ints) -> Ints:
        """The numbers in `fixed` of the cohorts of these rounds."""
        # where `fixed` ends before its first repetition, no later round is asked for
        period = max(1, len(self.fixed) - self.lead)
        return np.where(rounds < self.lead, rounds, self.lead + (rounds - self.lead) % period)

    def draw(self, seeds: streams.Words, round_index: int) -> list[tuple[int, ...]]:
        """The clients of one round for each seed, in the order in which the server adds them, repeats included."""
        law, at = self.law, round_index - round_index % self.hold
        if law is None:
            return [self.fixed[int(self.rows(np.array(round_index)))]] * len(seeds)
        if law.kind == "uniform":
            if law.n > SPARSE * law.size:
                chosen = streams.choose(seeds, self.purpose, at, law.n, law.size)
            else:
                chosen = streams.shuffle(seeds, self.purpose, at, 0, law.n, law.size)
            return [tuple(row.tolist()) for row in chosen]
        if law.kind == "subsets":
            words = streams.words(seeds, self.purpose, at, 0, 0, 1)[:, 0]
            return [tuple(law.subsets[k]) for k in streams.pick(words, self.cuts)]
        if law.kind == "replacement":
            picked = streams.pick(streams.words(seeds, self.purpose, at, 0, 0, law.size), self.cuts)
            return [tuple(row.tolist()) for row in picked]
        words = streams.words(seeds, self.purpose, at, 0, 0, law.n)
        return [tuple(np.flatnonzero(row).tolist()) for row in words < self.cuts]
