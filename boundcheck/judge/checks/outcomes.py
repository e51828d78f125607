"""Everything that a method can do on a quadratic instance, round by round and exactly.

A random method makes a choice in each round: the cohort, and the number of epochs where that is drawn. Given the
choices a round is an affine map of the state. So the iterates of a right implementation are those of one sequence.
`Outcomes.explain` finds that sequence from the iterates themselves. On the instances of the checks all samples of a
client are alike, so that nothing depends on which samples a local step takes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.linalg import floats, fraction, rational
from boundcheck.engines.exact.rings import RationalRing
from boundcheck.engines.exact.rounds import Rounds
from boundcheck.engines.exact.state import Exact, lower
from boundcheck.errors import Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Blocks, Drawing, Participation, ReferencePoint, Visit, inclusion
from boundcheck.problems.problem import Floats, Problem, clients_of

MAX_CHOICES = 600

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Choice:
    """What a round can choose: the cohort, the visit of each of its members, and with which probability."""

    p: Fraction
    cohort: tuple[int, ...]
    work: tuple[Visit, ...] | None = None
    gradients: tuple[int, ...] | None = None


@dataclass(frozen=True)
class _Given:
    """A participation of which the cohort has been drawn; shares and probabilities are still those of its law."""

    cohort: tuple[int, ...]
    of: Participation

    def period(self, clients: Clients) -> int:
        return 1

    def fixed(self, round_index: int, clients: Clients) -> tuple[int, ...] | None:
        return self.cohort

    def drawing(self, clients: Clients) -> Drawing | None:
        return None

    def share(self, i: int, clients: Clients) -> Fraction:
        return inclusion(self.of, i, clients)


@dataclass(frozen=True)
class _Work:
    """Local work of which the number of epochs has been drawn."""

    drawn: Mapping[int, Visit]
    by_cohort = False
    is_random = False

    def visits(self, client: int, cohort: Sequence[int], clients: Clients) -> tuple[tuple[Fraction, Visit], ...]:
        return ((Fraction(1), self.drawn[client]),)


def choices(method: Method, clients: Clients) -> list[Choice]:
    """The choices of every round. Raises Unsupported where there are too many, or a round depends on earlier ones."""
    drawing = method.participation.drawing(clients)
    correction = None if method.correction is None else method.correction.participation
    gradients = None if correction is None else correction.drawing(clients)
    moved = isinstance(method.exchange, Blocks) and method.exchange.hand_over is not None
    warmed = method.momentum is not None and method.momentum.start == "sampled"
    control = method.control
    point = isinstance(control, ReferencePoint) and control.point == "random" and control.inner > 1
    if moved or warmed or point or (drawing is not None and method.exchange is not None):
        raise Unsupported(f"{method.name} draws more than the cohort and the work of a round.")
    if drawing is None and gradients is None and not _drawn_work(method, clients):
        return [Choice(Fraction(1), ())]
    if drawing is None and method.participation.period(clients) > 1:
        raise Unsupported(f"{method.name} has cohorts that change by a pattern and work that is drawn.")
    fixed = [(Fraction(1), method.participation.fixed(0, clients) or ())]
    cohorts = fixed if drawing is None else drawing.support(MAX_CHOICES)
    found: list[Choice] = []
    for p, cohort in cohorts:
        visits = [method.local.visits(i, cohort, clients) for i in cohort]
        if len(cohorts) * math.prod(len(v) for v in visits) > MAX_CHOICES:
            raise Unsupported(f"{method.name} has more than {MAX_CHOICES} possible rounds on this instance.")
        other = [(Fraction(1), None)] if gradients is None else gradients.support(MAX_CHOICES)
        for work in itertools.product(*visits):
            share = math.prod((q for q, _ in work), start=p)
            drawn = tuple(v for _, v in work) if any(len(v) > 1 for v in visits) else None
            found += [Choice(share * q, cohort, drawn, None if g is None else tuple(g)) for q, g in other]
    if len(found) > MAX_CHOICES:
        raise Unsupported(f"{method.name} has more than {MAX_CHOICES} possible rounds on this instance.")
    return found


def _drawn_work(method: Method, clients: Clients) -> bool:
    everyone = tuple(range(clients.count))
    return any(len(method.local.visits(i, everyone, clients)) > 1 for i in everyone)


def _made(method: Method, choice: Choice, only: bool) -> Method:
    """The method that makes this choice in every round."""
    if only and choice.work is None and choice.gradients is None:
        return method
    parts: dict[str, Any] = {}
    if choice.cohort or not only:
        parts["participation"] = _Given(choice.cohort, method.participation)
    if choice.work is not None:
        parts["local"] = _Work(dict(zip(choice.cohort, choice.work, strict=True)))
    if choice.gradients is not None and method.correction is not None:
        law = method.correction.participation
        assert law is not None
        parts["correction"] = replace(method.correction, participation=_Given(choice.gradients, law))
    return replace(method, **parts)


@dataclass(frozen=True, eq=False)
class Explained:
    """Which choices explain given iterates of S seeds.

    chosen: (S, rounds), the choice of each round, or the nearest one; parted: (S,), the first round (from 1) that no
    choice explains, 0 where all are explained. nearest: (S, rounds + 1, d), the iterates of those choices up to there.
    unsure: (S,), whether choices that lead on differently gave the same iterate; unique: (S, rounds), whether one
    choice alone explains the round.
    """

    chosen: Ints
    parted: Ints
    nearest: Floats
    unsure: Bools
    unique: Bools

    @property
    def first(self) -> tuple[int, int] | None:
        """The seed that parts first and its round, None where all are explained."""
        bad = np.flatnonzero(self.parted)
        if not bad.size:
            return None
        seed = int(bad[np.argmin(self.parted[bad])])
        return seed, int(self.parted[seed])


class Outcomes:
    """The possible iterates of a method on a quadratic problem.

    Raises Unsupported where the exact engine does not carry the method, or there are too many choices.
    """

    def __init__(self, method: Method, problem: Problem) -> None:
        self.method, self.problem, self.clients = method, problem, clients_of(problem)
        self.choices = choices(method, self.clients)
        only = len(self.choices) == 1
        made = [_made(method, c, only) for c in self.choices]
        self._exact: list[Exact] = [lower(m, problem, ()) for m in made]
        self._rounds: list[Rounds] = [Rounds(RationalRing(), m, e) for m, e in zip(made, self._exact, strict=True)]
        self._maps: dict[tuple[int, int], Any] = {}
        self._floats: dict[int, Floats] = {}
        self.dim = problem.dim
        self._all(0)

    @property
    def plain(self) -> bool:
        """Whether a client moves the server's point only in rounds in which it takes part."""
        return self.method.is_plain

    @cached_property
    def centre(self) -> Floats:
        """The point (d,) from which states are counted."""
        return floats(self._exact[0].centre)[:, 0]

    def _map(self, t: int, c: int) -> Any:
        """The matrix of round t (from 0) under choice c."""
        if (t, c) not in self._maps:
            eta = self.method.schedule.step(self.method.cycle_of(t, self.clients))
            self._maps[t, c] = self._rounds[c].plan(eta, t).mean
        return self._maps[t, c]

    def _all(self, t: int) -> Floats:
        """The matrices of round t, (C, D, D)."""
        if t not in self._floats:
            self._floats[t] = np.stack([floats(self._map(t, c)) for c in range(len(self.choices))])
        return self._floats[t]

    def explain(self, points: Floats, tolerance: float) -> Explained:
        """The choices that made the iterates (S, rounds + 1, d); tolerance: relative to the size of the iterates."""
        seeds, columns, d = points.shape
        rows = np.arange(seeds)
        state = np.tile(floats(self._exact[0].start)[:, 0], (seeds, 1))
        chosen = np.zeros((seeds, columns - 1), dtype=np.int64)
        parted = np.zeros(seeds, dtype=np.int64)
        unsure, unique = np.zeros(seeds, dtype=bool), np.ones((seeds, columns - 1), dtype=bool)
        nearest = np.empty(points.shape)
        nearest[:, 0] = state[:, :d] + self.centre
        size = np.abs(nearest[:, 0]).max(axis=1)
        for t in range(columns - 1):
            after = np.einsum("cij,sj->sci", self._all(t), state)
            x = after[:, :, :d] + self.centre
            size = np.maximum(size, np.abs(x).max(axis=(1, 2)))
            away = np.abs(points[:, t + 1, None] - x).max(axis=2)
            away = np.where(np.isnan(away), np.inf, away)
            near = away <= (tolerance * size)[:, None]
            # where none fits, the one with the fewest coordinates that differ
            wrong = (~(np.abs(points[:, t + 1, None] - x) <= (tolerance * size)[:, None, None])).sum(axis=2)
            best = np.argmin(wrong + 1 - 1 / (1 + away), axis=1)
            chosen[:, t] = best
            nearest[:, t + 1] = x[rows, best]
            bad = ~near[rows, best] & (parted == 0)
            parted[bad] = t + 1
            state = after[rows, best]
            spread = np.abs(after - state[:, None]).max(axis=2) > (tolerance * size)[:, None]
            unsure |= (near & spread).any(axis=1) & (parted == 0)
            unique[:, t] = near.sum(axis=1) == 1
        return Explained(chosen, parted, nearest, unsure, unique)

    def path(self, chosen: Sequence[int] | Ints) -> list[list[Fraction]]:
        """The exact iterates after 0, 1, ... rounds with these choices."""
        state = self._exact[0].start
        found = [self._point(state)]
        for t, c in enumerate(chosen):
            state = self._map(t, int(c)) * state
            found.append(self._point(state))
        return found

    def mean(self, rounds: int) -> list[list[Fraction]]:
        """The exact expectations of the iterates after 0, ..., `rounds` rounds."""
        state = self._exact[0].start
        found = [self._point(state)]
        for t in range(rounds):
            steps = [self._map(t, c) * state for c in range(len(self.choices))]
            weighed = [s * rational(self.choices[c].p) for c, s in enumerate(steps)]
            state = weighed[0]
            for part in weighed[1:]:
                state = state + part
            found.append(self._point(state))
        return found

    def limits(self, rounds: int) -> tuple[Floats, Floats]:
        """Certain limits (rounds + 1, d) of the iterates, from below and from above; wide after many rounds."""
        low = high = floats(self._exact[0].start)[:, 0]
        found = [(low, high)]
        for t in range(rounds):
            up, down = np.maximum(self._all(t), 0), np.minimum(self._all(t), 0)
            low, high = (up @ low + down @ high).min(axis=0), (up @ high + down @ low).max(axis=0)
            found.append((low, high))
        lows, highs = (np.array(rows)[:, : self.dim] + self.centre for rows in zip(*found, strict=True))
        return lows, highs

    def _point(self, state: Any) -> list[Fraction]:
        centre = self._exact[0].centre
        return [fraction(state[k, 0] + centre[k, 0]) for k in range(self.dim)]
