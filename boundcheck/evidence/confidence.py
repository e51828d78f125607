"""Always-valid decisions about a sampled curve: does its expectation exceed a bound, or stay within it?

Seeds are added until decided, or until a budget is spent; looking after every seed costs nothing. The
evidence comes from the e-processes of `boundcheck.evidence.eprocess`, where they are proved.

- EXCEEDS when the evidence against "E X_r <= b_r at all rounds r" reaches 1/(1 - level). It rests on independent
  seeds and X >= 0 alone.
- WITHIN when at every round the evidence against E X_r >= b_r is large enough: each round at the full level, because
  a false claim needs one given round to be wrong (intersection-union test). Where a certain upper limit of X_r is
  given (an envelope), 1/(1 - level) is enough and nothing is assumed. Elsewhere 2/(1 - level) is needed, and as many
  seeds as would have seen every event of probability `least_probability`; the claim is then false only if an event of
  probability below `missed` carries the expectation above the bound.

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
from boundcheck.evidence import eprocess

LEVEL = 0.999
# An envelope above this multiple of the bound is not used: (1 + 1/19)^135 is 1000, and most seeds are not 0.
USEFUL = 20.0
# Envelopes are raised by this share, because the samples are rounded.
ROUNDING = 1e-9

ASSUMPTIONS = (
    "Seeds are independent and identically distributed, and the metric is non-negative. "
    "A claim that the expectation exceeds the bound assumes nothing else, nor does a claim that it stays within the "
    "bound at rounds where the metric has a certified upper limit. "
    "At other rounds the second claim may be false because of an event that carries the expectation and is less "
    "probable than the seeds could have missed. "
    "All are valid at every number of seeds, so stopping when decided is allowed."
)


class Decision(StrEnum):
    """What the seeds say so far."""

    EXCEEDS = "EXCEEDS"  # the expectation is above the bound at some compared round
    WITHIN = "WITHIN"  # the expectation is at most the bound at every compared round
    UNDECIDED = "UNDECIDED"


@dataclass(frozen=True, eq=False)
class SequentialTest:
    """Decides between "E X exceeds the bound somewhere" and "E X is at most the bound everywhere".

    bound: (R,) non-negative and finite, in the units of the metric. level: probability, at least, with which
    no false claim is ever made, however often one looks. envelope: (R,) certain upper limits of the metric at the
    rounds, infinite where none is known (None: nowhere). least_probability: the claim "within" waits, at rounds without
    an envelope, until an event of this probability would have been seen; where it is a lower limit of the probability
    of every event that matters (see `boundcheck.evidence.eprocess`), that claim has the level, too.
    `update` returns a new object; what is known depends on the seeds and their order, not on how they were
    batched. Keeps the samples (8*S*R bytes) for the band.

    E X exactly at the bound stays undecided for ever (with probability `level`), even where X is constant.
    Raises BadInput for bounds, levels, envelopes, probabilities or samples outside these ranges, and for a sample above
    its envelope.
    """

    bound: eprocess.Array
    level: float = LEVEL
    envelope: eprocess.Array | None = None
    least_probability: float = eprocess.RARE
    _capital: eprocess.Capital | None = None
    _chunks: tuple[eprocess.Array, ...] = ()

    def __post_init__(self) -> None:
        if self._capital is None:
            bound, top = _check(self)
            object.__setattr__(self, "bound", _frozen(bound))
            object.__setattr__(self, "envelope", _frozen(top))
            object.__setattr__(self, "_capital", eprocess.start(self.bound.shape))

    def __repr__(self) -> str:
        return (
            f"SequentialTest({self.decision}, {self.seeds} seeds, {self.bound.size} rounds, level {self.level:g}, "
            f"e-value {self.e_value:.4g} against 'within', {self.e_within:.4g} against 'exceeds')"
        )

    @property
    def _now(self) -> eprocess.Capital:
        assert self._capital is not None
        return self._capital

    @property
    def _top(self) -> eprocess.Array:
        assert self.envelope is not None
        return self.envelope

    def update(self, samples: ArrayLike) -> SequentialTest:
        """The test after the further seeds `samples` (S, R), in their order.

        A value +inf (a diverged run) counts as an expectation above the bound. Raises BadInput for NaN, negative
        values, values above the envelope or another number of rounds.
        """
        values = np.array(samples, dtype=np.float64, order="C")  # a copy: the caller may reuse its buffer
        self._check_samples(values)
        state = self._now
        for x in values:
            state = eprocess.advance(state, x, self.bound, self._top)
        chunks = (*self._chunks, _frozen(values)) if values.size else self._chunks
        return replace(self, _capital=state, _chunks=chunks)

    def _check_samples(self, values: eprocess.Array) -> None:
        if values.ndim != 2 or values.shape[1] != self.bound.size:
            raise BadInput(f"Samples of shape {values.shape} do not fit: (seeds, {self.bound.size}) is allowed.")
        bad = np.isnan(values) | (values < 0)
        if bad.any():
            seed, column = (int(i) for i in np.argwhere(bad)[0])
            raise BadInput(
                f"The metric is {values[seed, column]:g} at seed number {self.seeds + seed} and compared round number "
                f"{column}; only non-negative values (infinity for a diverged run) are allowed."
            )
        beyond = values > self._top
        if beyond.any():
            seed, column = (int(i) for i in np.argwhere(beyond)[0])
            raise BadInput(
                f"The metric is {values[seed, column]:g} at seed number {self.seeds + seed} and compared round number "
                f"{column}, above its envelope {self._top[column]:g}; an envelope is an upper limit for every seed."
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
        """Evidence against "E X >= b at some round": that of the round with least, where 1/(1 - level) decides.

        At rounds without an envelope it is half of the capital after all seeds.
        """
        return float(eprocess.evidence_within(self._now, self.bound, self._top).min())

    @property
    def has_envelope(self) -> bool:
        """Whether every compared round has an envelope, so that "within" assumes nothing."""
        return bool(np.isfinite(self._top).all())

    @property
    def missed(self) -> float:
        """The least probability of an event that the seeds cannot have missed at this level: see the module."""
        return eprocess.missed(self.seeds, 1 - self.level)

    @property
    def missed_by_band(self) -> float:
        """The same for one round's upper limit of the band, which has (1 - level)/(2 R) to itself."""
        return eprocess.missed(self.seeds, (1 - self.level) / (2 * self.bound.size))

    @property
    def seeds_needed(self) -> int:
        """How many seeds the claim "within" needs at least; 0 where every round has an envelope."""
        return 0 if self.has_envelope else eprocess.seeds_needed(self.least_probability, 1 - self.level)

    @property
    def decision(self) -> Decision:
        """EXCEEDS takes precedence: it rests on fewer assumptions."""
        limit = 1 / (1 - self.level)
        if self.e_value >= limit:
            return Decision.EXCEEDS
        within = self.e_within >= limit and self.seeds >= self.seeds_needed
        return Decision.WITHIN if within else Decision.UNDECIDED

    @property
    def worst_round(self) -> int:
        """Index of the compared round with the largest evidence above its bound; ties: the largest mean/bound."""
        tie = np.where(self.bound > 0, self.mean, 0.0) / np.where(self.bound > 0, self.bound, 1.0)
        return int(np.lexsort((tie, self._now.peak))[-1])

    @property
    def mean(self) -> eprocess.Array:
        """Sample mean (R,) of the metric; 0 before the first seed."""
        return self._now.total / max(self.seeds, 1)

    @cached_property
    def samples(self) -> eprocess.Array:
        """All values (S, R) seen so far."""
        return _frozen(np.concatenate([np.empty((0, self.bound.size)), *self._chunks]))

    @cached_property
    def lower(self) -> eprocess.Array:
        """Lower limits (R,) of E X. Free of assumptions on the distribution.

        With `upper` they hold at once for all rounds and all numbers of seeds. That is wider than what `decision` uses,
        which needs neither two sides nor, for the claim "within", all rounds.
        """
        samples, unit, scale = self._scaled
        threshold = np.log(2 * unit.size / (1 - self.level))
        diverged = np.isinf(samples).any(axis=0)
        safe = np.where(diverged, 1.0, samples)

        def log_e(mean: eprocess.Array) -> eprocess.Array:
            return eprocess.log_exceeds(safe, mean, scale)

        found = self._limits(log_e, threshold, rising=False, unreachable=0.0)
        return _frozen(np.where(diverged, np.inf, found * unit))

    @cached_property
    def upper(self) -> eprocess.Array:
        """Upper limits (R,) of E X: see `lower`. Infinite where seeds are too few to have seen what is rare."""
        samples, unit, scale = self._scaled
        alpha = (1 - self.level) / (2 * unit.size)
        diverged = np.isinf(samples).any(axis=0)
        safe, top = np.where(diverged, 1.0, samples), self._top / unit
        bounded = np.isfinite(top)

        def log_e(mean: eprocess.Array) -> eprocess.Array:
            certain = eprocess.log_certified(safe, mean, np.where(bounded, top, 1.0), scale)
            return np.where(bounded, certain, eprocess.log_within(safe, mean) - np.log(2))

        found = self._limits(log_e, -np.log(alpha), rising=True, unreachable=np.inf)
        # values that are all zero reject every positive mean alike
        none = eprocess.log_within(np.zeros_like(samples), np.ones_like(unit)) >= np.log(2 / alpha)
        found = np.where(self._all_zero & ~bounded, np.where(none, 0.0, np.inf), found)
        known = bounded | eprocess.enough(self.seeds, self.least_probability, alpha)
        return _frozen(np.where(diverged | ~known, np.inf, np.minimum(found * unit, self._top)))

    def summary(self) -> dict[str, Any]:
        """JSON-able account for reports."""
        return {
            "decision": self.decision.value,
            "level": self.level,
            "seeds": self.seeds,
            "e_value": self.e_value,
            "e_within": self.e_within,
            "worst_round": self.worst_round,
            "least_probability": None if self.has_envelope else self.least_probability,
            "missed": None if self.has_envelope else self.missed,
            "seeds_needed": self.seeds_needed,
            "assumptions": ASSUMPTIONS,
        }

    @cached_property
    def _scaled(self) -> tuple[eprocess.Array, eprocess.Array, eprocess.Array]:
        """Samples over their column's largest finite value, that value, and `bet_scale`; squares stay within range."""
        finite = np.where(np.isfinite(self.samples), self.samples, 0.0)
        largest = finite.max(axis=0, initial=0.0)
        unit = np.where(largest > 0, largest, 1.0)
        return self.samples / unit, unit, eprocess.bet_scale(finite / unit)

    @property
    def _all_zero(self) -> NDArray[np.bool_]:
        return self.samples.max(axis=0, initial=0.0) == 0

    def _limits(
        self, log_e: Callable[[eprocess.Array], eprocess.Array], threshold: float, *, rising: bool, unreachable: float
    ) -> eprocess.Array:
        """The candidate mean nearest to the mean of the scaled samples that is rejected.

        It is bisected on log2 within 64 octaves; rising: above the mean. log_e is monotone in the candidate. Ends on
        the rejected side, so that rounding widens the band.
        """
        samples, unit, _ = self._scaled
        if self.seeds == 0:
            return np.full(unit.shape, unreachable)
        centre = np.where(np.isfinite(samples), samples, 1.0).mean(axis=0)
        centre = np.where(centre > 0, centre, 2.0**-64)
        inner, outer = np.zeros(unit.shape), np.full(unit.shape, 64.0 if rising else -64.0)
        reached = log_e(centre * np.exp2(outer)) >= threshold
        for _ in range(36):
            middle = 0.5 * (inner + outer)
            rejected = log_e(centre * np.exp2(middle)) >= threshold
            inner, outer = np.where(rejected, inner, middle), np.where(rejected, middle, outer)
        return np.where(reached, centre * np.exp2(outer), unreachable)


def useful_envelope(envelope: eprocess.Array, bound: eprocess.Array) -> eprocess.Array:
    """The envelope (R,), infinite at rounds where it is more than `USEFUL` times the bound and would decide too late.

    A seed multiplies that capital by at most 1 + b/(U - b). The choice depends neither on the seeds nor on how many
    there are, so that at each round one kind of evidence has the whole level.
    """
    with np.errstate(over="ignore"):
        return np.where(envelope <= USEFUL * bound, envelope, np.inf)


def _frozen(values: eprocess.Array) -> eprocess.Array:
    values.flags.writeable = False
    return values


def _check(test: SequentialTest) -> tuple[eprocess.Array, eprocess.Array]:
    """The bound and the raised envelope of a test, or BadInput for what is outside the allowed ranges."""
    if not 0.5 <= test.level < 1:
        raise BadInput(
            f"level = {test.level} is not a confidence level; 0.5 <= level < 1 is allowed, for example 0.999."
        )
    if not 0 < test.least_probability <= 1:
        raise BadInput(
            f"least_probability = {test.least_probability} is not allowed; it is that of an event, above 0 and at most "
            "1."
        )
    bound = np.array(test.bound, dtype=np.float64)
    if bound.ndim != 1 or bound.size == 0:
        raise BadInput(f"The bound has shape {bound.shape}; one value for each compared round is allowed.")
    bad = ~np.isfinite(bound) | (bound < 0)
    if bad.any():
        column = int(np.argmax(bad))
        raise BadInput(
            f"The bound is {bound[column]:g} at compared round number {column}; finite non-negative values are allowed."
        )
    top = np.full(bound.size, np.inf) if test.envelope is None else np.array(test.envelope, dtype=np.float64)
    if top.shape != bound.shape or np.isnan(top).any() or (top < 0).any():
        raise BadInput(
            f"The envelope has to hold {bound.size} upper limits, one for each compared round, which are not negative."
        )
    return bound, top * (1 + ROUNDING)
