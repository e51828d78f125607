"""Always-valid decisions about a sampled curve: does its expectation exceed a bound, or stay within it?

Seeds are added until decided, or until a budget is spent; looking after every seed costs nothing. The
evidence comes from the e-processes of `boundcheck.evidence.eprocess`, where they are proved.

- EXCEEDS when the evidence against "E X_r <= b_r at all rounds r" reaches 1/(1 - level). It rests on independent
  seeds and X >= 0 alone.
- WITHIN when at every round the evidence against E X_r >= b_r has reached 1/(1 - level): each round at the full
  level, because a false claim needs one given round to be wrong (intersection-union test). It rests also on the
  assumptions of `Tail`, and a round does not count while the sample's own E X^2/(E X)^2 is above half the assumed
  limit.

For any truth only one of the two claims is false, so a false claim is ever made with probability at most
1 - level; nothing is split between them. The band for plots is two-sided and simultaneous over rounds, with
(1 - level)/(2 R) for each of its sides, and therefore wider than what the decision uses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundcheck.errors import BadInput
from boundcheck.evidence.eprocess import Array, Capital, Tail, advance, log_exceeds, log_within, start

__all__ = [
    "ASSUMPTIONS",
    "LEVEL",
    "Band",
    "Crossings",
    "Decision",
    "SequentialTest",
    "Tail",
    "assumptions",
    "simulate",
]

LEVEL = 0.999
_TAIL = Tail()


def assumptions(tail: Tail = _TAIL) -> str:
    """What a decision rests on, in sentences for a report."""
    return (
        "Seeds are independent and identically distributed, and the metric is non-negative. "
        "A claim that the expectation exceeds the bound assumes nothing else. "
        "A claim that it stays within the bound assumes also, at every compared round, that the mean square of the "
        f"metric is at most {tail.moment_ratio:g} times its squared mean, and that a seed lies at or above the "
        f"expectation with probability at least {tail.share_above:g}; it is withheld while the sample's own ratio of "
        f"mean square to squared mean is above {tail.trusted_ratio:g}. "
        "Both are valid at every number of seeds, so stopping when decided is allowed."
    )


ASSUMPTIONS = assumptions()


class Decision(StrEnum):
    """What the seeds say so far."""

    EXCEEDS = "EXCEEDS"  # the expectation is above the bound at some compared round
    WITHIN = "WITHIN"  # the expectation is at most the bound at every compared round
    UNDECIDED = "UNDECIDED"


@dataclass(frozen=True, eq=False)
class Band:
    """Limits (R,) that hold at all compared rounds together, at every number of seeds, with probability `level`."""

    lower: Array
    upper: Array
    level: float


@dataclass(frozen=True, eq=False)
class SequentialTest:
    """Decides between "E X exceeds the bound somewhere" and "E X is at most the bound everywhere".

    bound: (R,) non-negative and finite, in the units of the metric. level: probability, at least, with which
    no false claim is ever made, however often one looks. tail: what the claim "within" assumes.
    `update` returns a new object; what is known depends on the seeds and their order, not on how they were
    batched. Keeps the samples (8*S*R bytes) for the band.

    E X exactly at the bound stays undecided for ever (with probability `level`), even where X is constant.
    Raises BadInput for bounds, levels, ratios or samples outside these ranges.
    """

    bound: Array
    level: float = LEVEL
    tail: Tail = _TAIL
    _capital: Capital | None = None
    _chunks: tuple[Array, ...] = ()

    def __post_init__(self) -> None:
        if self._capital is None:
            _check_level(self.level)
            object.__setattr__(self, "bound", _frozen(_check_bound(self.bound)))
            object.__setattr__(self, "_capital", start(self.bound.shape))

    def __repr__(self) -> str:
        return (
            f"SequentialTest({self.decision}, {self.seeds} seeds, {self.bound.size} rounds, level {self.level:g}, "
            f"e-value {self.e_value:.4g} against 'within', {self.e_within:.4g} against 'exceeds')"
        )

    @property
    def _now(self) -> Capital:
        assert self._capital is not None
        return self._capital

    def update(self, samples: ArrayLike) -> SequentialTest:
        """The test after the further seeds `samples` (S, R), in their order.

        A value +inf (a diverged run) counts as an expectation above the bound. Raises BadInput for NaN,
        negative values or another number of rounds.
        """
        values = np.array(samples, dtype=np.float64, order="C")  # a copy: the caller may reuse its buffer
        self._check_samples(values)
        state = self._now
        for x in values:
            state = advance(state, x, self.bound, self.tail)
        chunks = (*self._chunks, _frozen(values)) if values.size else self._chunks
        return replace(self, _capital=state, _chunks=chunks)

    def _check_samples(self, values: Array) -> None:
        if values.ndim != 2 or values.shape[1] != self.bound.size:
            raise BadInput(f"Samples of shape {values.shape} do not fit: (seeds, {self.bound.size}) is allowed.")
        bad = np.isnan(values) | (values < 0)
        if bad.any():
            seed, column = (int(i) for i in np.argwhere(bad)[0])
            raise BadInput(
                f"The metric is {values[seed, column]:g} at seed number {self.seeds + seed} and compared round number "
                f"{column}; only non-negative values (infinity for a diverged run) are allowed."
            )

    @property
    def seeds(self) -> int:
        """How many seeds have been seen."""
        return self._now.seeds

    @property
    def e_value(self) -> float:
        """Largest evidence so far against E X <= b at all rounds; 1/e_value is an always-valid p-value."""
        return float(self._now.exceeds)

    @property
    def e_within(self) -> float:
        """Largest evidence so far against "E X >= b at some round": that of the round with least."""
        return float(self._now.within.min())

    @property
    def decision(self) -> Decision:
        """EXCEEDS takes precedence: it rests on fewer assumptions."""
        limit = 1 / (1 - self.level)
        if self.e_value >= limit:
            return Decision.EXCEEDS
        return Decision.WITHIN if self.e_within >= limit else Decision.UNDECIDED

    @property
    def worst_round(self) -> int:
        """Index of the compared round with the largest evidence above its bound; ties: the largest mean/bound."""
        tie = np.where(self.bound > 0, self.mean, 0.0) / np.where(self.bound > 0, self.bound, 1.0)
        return int(np.lexsort((tie, self._now.peak))[-1])

    @property
    def mean(self) -> Array:
        """Sample mean (R,) of the metric; 0 before the first seed."""
        return self._now.total / max(self.seeds, 1)

    @property
    def sample_ratio(self) -> Array:
        """The sample's own E X^2/(E X)^2 (R,), to be held against `Tail.moment_ratio`; 1 where all values are 0."""
        scaled, _ = self._scaled
        with np.errstate(invalid="ignore"):
            total, square = scaled.sum(axis=0), (scaled * scaled).sum(axis=0)
            found = max(self.seeds, 1) * square / np.where(total > 0, total * total, 1.0)
        return np.where(total == 0, 1.0, np.where(np.isnan(found), np.inf, found))

    @cached_property
    def samples(self) -> Array:
        """All values (S, R) seen so far."""
        return _frozen(np.concatenate([np.empty((0, self.bound.size)), *self._chunks]))

    @cached_property
    def lower(self) -> Array:
        """Lower limits (R,) of E X: see `band`. Free of assumptions on the distribution."""
        return _frozen(self._limits(log_exceeds, rising=False, unreachable=0.0))

    @cached_property
    def upper(self) -> Array:
        """Upper limits (R,) of E X: see `band`. Infinite where seeds are too few or the moment ratio is doubtful."""

        def log_e(samples: Array, mean: Array) -> Array:
            return log_within(samples, mean, self.tail)

        limits = self._limits(log_e, rising=True, unreachable=np.inf)
        return _frozen(np.where(self.sample_ratio <= self.tail.trusted_ratio, limits, np.inf))

    def band(self) -> Band:
        """Lower and upper limits of the expectation, at once for all rounds and all numbers of seeds.

        Wider than what `decision` uses, which needs neither two sides nor, for the claim "within", all rounds.
        """
        return Band(self.lower, self.upper, self.level)

    def summary(self) -> dict[str, Any]:
        """JSON-able account for reports."""
        return {
            "decision": self.decision.value,
            "level": self.level,
            "moment_ratio": self.tail.moment_ratio,
            "share_above": self.tail.share_above,
            "seeds": self.seeds,
            "e_value": self.e_value,
            "e_within": self.e_within,
            "worst_round": self.worst_round,
            "assumptions": assumptions(self.tail),
        }

    @cached_property
    def _scaled(self) -> tuple[Array, Array]:
        """Samples over their column's largest finite value, and that value; keeps squares within range."""
        finite = np.where(np.isfinite(self.samples), self.samples, 0.0)
        largest = finite.max(axis=0, initial=0.0)
        unit = np.where(largest > 0, largest, 1.0)
        return self.samples / unit, unit

    def _limits(self, log_e: Callable[[Array, Array], Array], *, rising: bool, unreachable: float) -> Array:
        """The candidate mean nearest to the sample mean that is rejected, bisected on log2 within 64 octaves.

        rising: candidates above the mean. Ends on the rejected side, so rounding widens the band.
        """
        samples, unit = self._scaled
        limits = np.full(unit.shape, unreachable)
        if self.seeds == 0:
            return limits
        diverged = np.isinf(samples).any(axis=0)
        zero = ~diverged & (samples.max(axis=0) == 0)
        threshold = np.log(2 * unit.size / (1 - self.level))
        safe = np.where(diverged | zero, 1.0, samples)
        centre = safe.mean(axis=0)
        inner, outer = np.zeros(unit.shape), np.full(unit.shape, 64.0 if rising else -64.0)
        reached = log_e(safe, centre * np.exp2(outer)) >= threshold
        for _ in range(36):
            middle = 0.5 * (inner + outer)
            rejected = log_e(safe, centre * np.exp2(middle)) >= threshold
            inner, outer = np.where(rejected, inner, middle), np.where(rejected, middle, outer)
        limits = np.where(reached, centre * np.exp2(outer) * unit, unreachable)
        if rising:  # values that are all zero reject every positive mean alike
            none = log_e(np.zeros_like(samples), np.ones_like(unit)) >= threshold
            limits = np.where(zero, np.where(none, 0.0, np.inf), limits)
        else:
            limits = np.where(zero, 0.0, limits)
        return np.where(diverged, np.inf, limits)


def _frozen(values: Array) -> Array:
    values.flags.writeable = False
    return values


def _check_level(level: float) -> None:
    if not 0.5 <= level < 1:
        raise BadInput(f"level = {level} is not a confidence level; 0.5 <= level < 1 is allowed, for example 0.999.")


def _check_bound(bound: ArrayLike) -> Array:
    values = np.array(bound, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise BadInput(f"The bound has shape {values.shape}; one value for each compared round is allowed.")
    bad = ~np.isfinite(values) | (values < 0)
    if bad.any():
        column = int(np.argmax(bad))
        raise BadInput(
            f"The bound is {values[column]:g} at compared round number {column}; "
            "finite non-negative values are allowed."
        )
    return values


@dataclass(frozen=True, eq=False)
class Crossings:
    """First seed number (from 1; 0: never) at which each claim was made; shapes (levels, replications)."""

    levels: tuple[float, ...]
    exceeds: NDArray[np.int64]
    within: NDArray[np.int64]


def simulate(
    draw: Callable[[np.random.Generator, int], Array],
    bound: ArrayLike,
    *,
    seeds: int,
    replications: int,
    levels: tuple[float, ...],
    generator: np.random.Generator,
    tail: Tail = _TAIL,
    block: int = 1000,
) -> Crossings:
    """Many replications of the test at once, monitored after every seed: how its level and power are measured.

    draw(generator, B) gives one fresh seed for each of B replications, (B, R). Every step is the one that
    `SequentialTest.update` takes. Raises BadInput as `SequentialTest` does.
    """
    limits = _check_bound(bound)
    for level in levels:
        _check_level(level)
    needed = np.array([1 / (1 - level) for level in levels])[:, None]
    exceeds, within = (np.zeros((len(levels), replications), dtype=np.int64) for _ in range(2))
    for begin in range(0, replications, block):
        part = slice(begin, min(begin + block, replications))
        size = part.stop - begin
        state = start((size, limits.size))
        for seed in range(1, seeds + 1):
            state = advance(state, draw(generator, size), limits, tail)
            for first, evidence in ((exceeds, state.exceeds), (within, state.within.min(axis=-1))):
                seen = first[:, part]
                seen[(seen == 0) & (evidence >= needed)] = seed
    return Crossings(levels, exceeds, within)
