"""Measures how honest and how powerful the sequential test of sampled curves is, for three kinds of knowledge.

Twelve laws of mean 1 on 50 equally likely values, and two with a spike that carries half of the mean, of probability
1e-2 and 1e-3. One round, or five of which one is at the bound and four stay far below theirs. Levels 95 % and 99.9 %,
looked at after every seed. The bound is equal to the mean, 10 % too small, or twice too large. Three columns:

- envelope: the largest value of the law is given as a certified upper limit;
- least probability: the true least probability of a value is given;
- neither: HOLDS names the probability of an event that the seeds could have missed.

Required: the first two columns say EXCEEDS or HOLDS falsely no more often than the level allows: the
one-sided 99.9 % Clopper-Pearson lower limit of each rate is at most 1 - level. (Where the mean equals the bound,
neither is to be said.) In the third column this is required of the false HOLDS whose event is *not* the one that
carries the mean above the bound; all others name it. No column abstains: each says EXCEEDS and HOLDS where they are
true, in more than half of the trials of some law.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from _table import Row, run, share_limits
from numpy.typing import NDArray

from boundcheck.evidence.eprocess import RARE, advance, evidence_within, missed, seeds_needed, start

Array = NDArray[np.float64]

LEVELS = (0.95, 0.999)
ATOMS = 50
FACTORS = (1.0, 0.9, 2.0)  # bound over mean
COLUMNS = ("envelope", "least probability", "neither")
FAR = 10.0  # bound over mean at the rounds that stay far below
CONFIDENCE = 0.999
SEEDS, REPLICATIONS = 1000, 1000


class Law(NamedTuple):
    """Values of mean 1 with their probabilities. longer: how many times as many seeds it needs."""

    name: str
    values: Array
    probabilities: Array
    longer: int = 1

    @property
    def least(self) -> float:
        """The least probability of a value."""
        return float(self.probabilities.min())

    def carrier(self, bound: float) -> float:
        """P(X >= q), q the number at which E min(X, q) = bound <= 1: the event that carries the mean above it."""
        order = np.argsort(self.values)
        values, probabilities = self.values[order], self.probabilities[order]
        above = np.cumsum(probabilities[::-1])[::-1]  # P(X >= value)
        below = np.concatenate([[0.0], np.cumsum(values * probabilities)[:-1]])
        clipped = below + values * above  # E min(X, value)
        return float(above[min(int(np.searchsorted(clipped, bound * (1 - 1e-12))), len(values) - 1)])


def _equal(name: str, quantile: Callable[[Array], Array]) -> Law:
    values = quantile((np.arange(ATOMS) + 0.5) / ATOMS)
    return Law(name, values / values.mean(), np.full(ATOMS, 1 / ATOMS))


def _spike(chance: float, longer: int) -> Law:
    return Law(f"spike {chance:g}", np.array([0.5, 0.5 + 0.5 / chance]), np.array([1 - chance, chance]), longer)


def laws() -> list[Law]:
    """The laws of the table."""
    from scipy.stats import beta, gamma, norm

    return [
        _equal("normal(0.01)", lambda u: 1 + 0.01 * norm.ppf(u)),
        _equal("normal(0.1)", lambda u: 1 + 0.1 * norm.ppf(u)),
        _equal("normal(0.3)", lambda u: 1 + 0.3 * norm.ppf(u)),
        _equal("uniform", lambda u: u),
        _equal("two values", lambda u: np.where(u < 0.5, 0.2, 1.8)),
        _equal("arcsine", lambda u: beta.ppf(u, 0.5, 0.5)),
        _equal("triangle", np.sqrt),
        _equal("exponential", lambda u: -np.log1p(-u)),
        _equal("chi-square(1)", lambda u: gamma.ppf(u, 0.5)),
        _equal("lognormal(1)", lambda u: np.exp(norm.ppf(u))),
        _equal("lognormal(1.5)", lambda u: np.exp(1.5 * norm.ppf(u))),
        _equal("Pareto(2)", lambda u: (1 - u) ** -0.5),
        _spike(1e-2, 2),
        _spike(1e-3, 12),
    ]


class Counts(NamedTuple):
    """How many of the replications said what, by column and level (3, 2). unnamed: HOLDS without its event."""

    exceeds: NDArray[np.int64]
    holds: NDArray[np.int64]
    unnamed: NDArray[np.int64]


def count(law: Law, factor: float, rounds: int, *, seeds: int, replications: int, seed: int = 1) -> Counts:
    """The three columns on the same seeds."""
    generator = np.random.default_rng([seed, rounds])
    bound = np.full(rounds, FAR)
    bound[0] = factor
    top, none = np.full(rounds, law.values.max()), np.full(rounds, np.inf)
    cumulative = np.cumsum(law.probabilities)
    carrier = law.carrier(factor) if factor <= 1 else 0.0
    state = start((replications, rounds))
    needed = np.array([1 / (1 - level) for level in LEVELS])
    exceeds = np.zeros((len(LEVELS), replications), dtype=bool)
    holds = np.zeros((3, len(LEVELS), replications), dtype=bool)
    unnamed = np.zeros_like(holds)
    for n in range(1, seeds * law.longer + 1):
        own, common = generator.random((replications, rounds)), generator.random((replications, 1))
        shared = generator.random((replications, rounds)) < 0.5  # rounds of one seed depend on each other
        places = np.searchsorted(cumulative, np.where(shared, common, own), side="right")
        state = advance(state, law.values[np.minimum(places, len(law.values) - 1)], bound, top)
        certified = evidence_within(state, bound, top).min(axis=-1)
        open_ = evidence_within(state, bound, none).min(axis=-1)
        for k, level in enumerate(LEVELS):
            exceeds[k] |= state.exceeds >= needed[k]
            holds[0, k] |= certified >= needed[k]
            for column, least in ((1, law.least), (2, RARE)):
                if n >= seeds_needed(min(least, RARE), 1 - level):
                    new = (open_ >= needed[k]) & ~holds[column, k]
                    holds[column, k] |= new
                    if missed(n, 1 - level) <= carrier:
                        unnamed[column, k] |= new
    unnamed[:2] = holds[:2]
    return Counts(np.stack([exceeds.sum(axis=1)] * 3), holds.sum(axis=2), unnamed.sum(axis=2))


class Rates(NamedTuple):
    """One law at one number of rounds, by bound."""

    law: Law
    rounds: int
    by_factor: dict[float, Counts]

    @staticmethod
    def of(law: Law, rounds: int, *, seeds: int, replications: int) -> Rates:
        """The columns measured."""
        counts = {f: count(law, f, rounds, seeds=seeds, replications=replications) for f in FACTORS}
        return Rates(law, rounds, counts)


def too_many(row: Rates, replications: int) -> list[str]:
    """The false claims of a row that are more frequent than their level allows, in words."""
    found: list[str] = []
    for factor, counts in row.by_factor.items():
        kinds = [("HOLDS", counts.unnamed)] if factor < 1 else [("EXCEEDS", counts.exceeds)]
        if factor == 1:
            kinds.append(("HOLDS", counts.unnamed))
        for claim, table in kinds:
            for c, column in enumerate(COLUMNS):
                for k, level in enumerate(LEVELS):
                    if share_limits(int(table[c, k]), replications, CONFIDENCE)[0] > 1 - level:
                        rate = table[c, k] / replications
                        found.append(
                            f"{row.law.name}, {row.rounds} rounds, bound {factor:g}: false {claim} in {rate:.4f} of "
                            f"the trials at level {level:g} ({column})"
                        )
    return found


def abstaining(rows: Sequence[Rates], replications: int) -> list[str]:
    """The columns that make a true claim in at most half of the trials of every law, in words."""
    found: list[str] = []
    for c, column in enumerate(COLUMNS):
        for k, level in enumerate(LEVELS):
            for rounds in sorted({row.rounds for row in rows}):
                mine = [row.by_factor for row in rows if row.rounds == rounds]
                best = {
                    "EXCEEDS": max(int(of[0.9].exceeds[c, k]) for of in mine),
                    "HOLDS": max(int(of[2.0].holds[c, k]) for of in mine),
                }
                found += [
                    f"{column}, {rounds} rounds, level {level:g}: {claim} in at most half of the trials of every law"
                    for claim, most in best.items()
                    if most <= replications / 2
                ]
    return found


def results() -> Iterator[Row]:
    for rounds in (1, 5):
        rows = [Rates.of(law, rounds, seeds=SEEDS, replications=REPLICATIONS) for law in laws()]
        false = [text for row in rows for text in too_many(row, REPLICATIONS)]
        idle = abstaining(rows, REPLICATIONS)
        for text in false + idle:
            print(text, file=sys.stderr)
        label = f"{rounds} round{'s' if rounds > 1 else ''}, {len(rows)} laws, {REPLICATIONS} replications"
        yield Row(f"{label}: false claims more frequent than their level", len(false), most=0)
        yield Row(f"{label}: true claims never made by a column", len(idle), most=0)
        for factor, claim in ((0.9, "EXCEEDS"), (2.0, "HOLDS")):
            for c, column in enumerate(COLUMNS):
                made = [getattr(row.by_factor[factor], claim.lower())[c, -1] / REPLICATIONS for row in rows]
                share = float(np.median(made))
                yield Row(f"{label}: true {claim} at {LEVELS[-1]:g}, {column}, median law", share)


if __name__ == "__main__":
    sys.exit(run(__doc__, results))
