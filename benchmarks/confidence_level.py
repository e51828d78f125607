"""Measures how often the sequential test of sampled curves is wrong, and how many seeds it needs.

    python benchmarks/confidence_level.py [--replications 10000] [--seeds 1000]

False alarms: curves whose expectation is exactly the bound, looked at after every seed. Printed with the
one-sided 99 % Clopper-Pearson upper limit, which has to stay below 1.2 times the nominal level (else exit
code 1). Power: the bound 10 % too small, and bounds that are 10 % to 10 times too large.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundcheck.evidence.confidence import Crossings, simulate

LEVELS = (0.95, 0.99)
ALLOWED = 1.2  # upper limit of the false-alarm rate over the nominal one
ROUNDS = 6


class Source(NamedTuple):
    """Seeds of one kind: their exact expectation (R,), and draw(generator, B) giving B seeds, (B, R)."""

    name: str
    mean: NDArray[np.float64]
    draw: Callable[[np.random.Generator, int], NDArray[np.float64]]


def correlated(generator: np.random.Generator, size: int) -> NDArray[np.float64]:
    """Standard normal values (B, R), any two rounds with correlation 0.64."""
    return 0.8 * generator.standard_normal((size, 1)) + 0.6 * generator.standard_normal((size, ROUNDS))


def normal() -> Source:
    """Mean 10, standard deviation 1: negative with probability 1e-23."""
    return Source("normal", np.full(ROUNDS, 10.0), lambda generator, size: 10 + correlated(generator, size))


def lognormal(sigma: float = 1.0) -> Source:
    mean = np.full(ROUNDS, np.exp(sigma**2 / 2))
    return Source(f"lognormal({sigma:g})", mean, lambda generator, size: np.exp(sigma * correlated(generator, size)))


def rare(slack: float = 0.5, moment_ratio: float = 5.75) -> Source:
    """The worst case for "within": 1 - slack, but for a rare large value that brings mean 1 and the given ratio.

    Its default has P(X >= E X) = 0.05; moment_ratio = 10 is the other limit of what is assumed, with 0.027.
    """
    chance = slack**2 / (slack**2 + moment_ratio - 1)
    large = 1 + (moment_ratio - 1) / slack

    def draw(generator: np.random.Generator, size: int) -> NDArray[np.float64]:
        return np.repeat(np.where(generator.random((size, 1)) < chance, large, 1 - slack), ROUNDS, axis=1)

    return Source(f"rare({slack:g})", np.ones(ROUNDS), draw)


def federated() -> Source:
    """Squared distance to the optimum of FedAvg: 4 quadratic clients on the line, one drawn each round, 2 local steps.

    A visit to client i is x -> m_i*x + c_i, so first and second moments obey exact rational recursions.
    """
    curvature = [Fraction(1), Fraction(2), Fraction(3), Fraction(1, 2)]
    centre = [Fraction(1), Fraction(-1), Fraction(1, 2), Fraction(3)]
    step, local_steps, start = Fraction(1, 10), 2, Fraction(4)
    compared = [1, 2, 4, 8, 16, 24]
    optimum = sum((a * z for a, z in zip(curvature, centre, strict=True)), Fraction(0)) / sum(curvature)
    scale = [(1 - step * a) ** local_steps for a in curvature]
    shift = [(1 - m) * (z - optimum) for m, z in zip(scale, centre, strict=True)]
    clients = len(curvature)
    first, second, mean = start - optimum, (start - optimum) ** 2, []
    for k in range(1, compared[-1] + 1):
        second = sum(m**2 * second + 2 * m * c * first + c**2 for m, c in zip(scale, shift, strict=True)) / clients
        first = sum(m * first + c for m, c in zip(scale, shift, strict=True)) / clients
        if k in compared:
            mean.append(float(second))
    multipliers, offsets = np.array([float(m) for m in scale]), np.array([float(c) for c in shift])

    def draw(generator: np.random.Generator, size: int) -> NDArray[np.float64]:
        chosen = generator.integers(clients, size=(compared[-1], size))
        distance, curve = np.full(size, float(start - optimum)), np.empty((size, ROUNDS))
        for k in range(1, compared[-1] + 1):
            distance = multipliers[chosen[k - 1]] * distance + offsets[chosen[k - 1]]
            if k in compared:
                curve[:, compared.index(k)] = distance * distance
        return curve

    return Source("FedAvg curve", np.array(mean), draw)


def from_values(name: str, values: NDArray[np.float64]) -> Source:
    """Seeds drawn with replacement from the per-seed curves (P, R) of an engine, whose mean is then exact."""
    return Source(name, values.mean(axis=0), lambda generator, size: values[generator.integers(len(values), size=size)])


def upper_limit(count: int, trials: int, confidence: float = 0.99) -> float:
    """One-sided Clopper-Pearson upper limit of a probability."""
    from scipy.stats import beta

    return 1.0 if count == trials else float(beta.ppf(confidence, count + 1, trials - count))


def measure(source: Source, factor: float, *, seeds: int, replications: int, seed: int = 2024) -> Crossings:
    """The test on a bound that is `factor` times the expectation."""
    return simulate(
        source.draw,
        factor * source.mean,
        seeds=seeds,
        replications=replications,
        levels=LEVELS,
        generator=np.random.default_rng(seed),
    )


def false_alarms(source: Source, *, seeds: int, replications: int) -> list[tuple[str, float, int, float]]:
    """(claim, nominal rate, count, upper limit of the rate) with the bound exactly at the expectation."""
    found = measure(source, 1.0, seeds=seeds, replications=replications)
    rows: list[tuple[str, float, int, float]] = []
    for claim, first in (("EXCEEDS", found.exceeds), ("WITHIN", found.within)):
        for level, seen in zip(found.levels, first, strict=True):
            count = int((seen > 0).sum())
            rows.append((claim, 1 - level, count, upper_limit(count, replications)))
    return rows


def _median(first: NDArray[np.int64]) -> str:
    half = np.median(np.where(first == 0, np.iinfo(np.int64).max, first))
    return f"{half:.0f}" if (first > 0).mean() > 0.5 else "-"


def main() -> int:
    parser = argparse.ArgumentParser(description="Level and power of the sequential test.")
    parser.add_argument("--replications", type=int, default=10_000)
    parser.add_argument("--seeds", type=int, default=1000)
    options = parser.parse_args()
    bad = 0
    print(
        f"Bound = expectation, {ROUNDS} rounds, {options.replications} replications, up to {options.seeds} seeds each"
    )
    print(f"{'source':<16}{'claim':<9}{'nominal':>8}{'false':>7}{'rate':>9}{'99% limit':>11}{'allowed':>9}")
    for source in (normal(), lognormal(), federated(), rare()):
        for claim, nominal, count, limit in false_alarms(
            source, seeds=options.seeds, replications=options.replications
        ):
            ok = limit < ALLOWED * nominal
            bad += not ok
            print(
                f"{source.name:<16}{claim:<9}{nominal:>8.2g}{count:>7d}{count / options.replications:>9.4f}"
                f"{limit:>11.4f}{ALLOWED * nominal:>9.3f}{'' if ok else '  TOO HIGH'}"
            )
    trials, most = max(options.replications // 10, 1), 3 * options.seeds
    print(f"\nPower, {trials} replications, up to {most} seeds: fraction decided, median seeds")
    print(f"{'source':<16}{'bound':<20}{'claim':<9}" + "".join(f"{f'level {level:g}':>18}" for level in LEVELS))
    for source in (normal(), lognormal(), federated()):
        for factor, claim in ((0.9, "EXCEEDS"), (1.5, "WITHIN"), (10.0, "WITHIN")):
            found = measure(source, factor, seeds=most, replications=trials)
            firsts = found.exceeds if claim == "EXCEEDS" else found.within
            cells = [f"{(first > 0).mean():.3f}, {_median(first)}" for first in firsts]
            print(f"{source.name:<16}{f'{factor:g} * expectation':<20}{claim:<9}" + "".join(f"{c:>18}" for c in cells))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
