"""Measures how often the sequential test of sampled curves is wrong, and how many seeds it needs.

False alarms: curves whose expectation is exactly the bound, looked at after every seed; the one-sided 99 %
Clopper-Pearson upper limit of their rate has to stay below 1.2 times the nominal level. Power: the bound 10 % too
small, and bounds that are 50 % and 10 times too large.

Besides normal, lognormal and extremal values these are the sampled engine's own curves: dist2 of FedAvg on least
squares with the diabetes data, 20 clients of which 3 work in a round.

- fresh: every seed of every replication is run anew, and the bound is the expectation of the exact engine. Only for
  full local gradients, where that is known.
- pool: seeds are drawn with replacement from a pool of runs. That is sampling from the pool's empirical law, whose
  expectation is exactly the mean of the pool.

First the pool's mean is held against the exact engine's expectation.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from _table import Row, run, share_limits
from numpy.typing import NDArray

from boundcheck.engines.run import run as carry_out
from boundcheck.engines.simulate import run_sampled
from boundcheck.evidence import eprocess
from boundcheck.evidence.confidence import SequentialTest
from boundcheck.methods.build import build as build_method
from boundcheck.methods.method import Method
from boundcheck.problems import least_squares

LEVELS = (0.95, 0.99)
ALLOWED = 1.2  # upper limit of the false-alarm rate over the nominal one
COMPARED = (1, 2, 4, 8, 12, 16)
ROUNDS = len(COMPARED)
AGREEMENT = 4.5  # standard errors between the pool's mean and the exact expectation, at most
CHUNK = 50_000  # seeds that the engine runs at a time
REPLICATIONS, SEEDS = 10_000, 1000  # seeds of one replication, drawn from a law or a pool
FRESH, POOL = 250, 100_000  # seeds of one replication where each is run anew; seeds in a pool


class Source(NamedTuple):
    """Seeds of one kind: their exact expectation (R,), and draw(generator, B) giving B seeds, (B, R)."""

    name: str
    mean: NDArray[np.float64]
    draw: Callable[[np.random.Generator, int], NDArray[np.float64]]


class Runs(NamedTuple):
    """A method on a problem, whose curves of dist2 are sampled. Steps are large, so that seeds differ much."""

    name: str
    kind: str
    E: int
    eta: str
    from_minimiser: bool = False  # or from the origin, where the distance is mostly that of the start

    def built(self) -> tuple[Method, least_squares.LeastSquares]:
        """Method and problem."""
        spec = {"kind": self.kind, "size": 3, "E": self.E, "eta": self.eta}
        return build_method(spec), _diabetes(from_minimiser=self.from_minimiser)

    def curves(self, seeds: range) -> NDArray[np.float64]:
        """dist2 (S, R) at the compared rounds, by the sampled engine."""
        return run_sampled(*self.built(), COMPARED[-1], seeds, ["dist2"], COMPARED).samples["dist2"]

    def expectation(self) -> NDArray[np.float64]:
        """E dist2 (R,) by moment propagation. Raises Unsupported for reshuffled epochs."""
        found = carry_out(*self.built(), rounds=COMPARED, engine="exact", metrics=["dist2"], arithmetic="float64")
        return found.values["dist2"]


FEDAVG = Runs("FedAvg", "fedavg", 4, "1/4")
FEDAVG_NEAR = FEDAVG._replace(name="FedAvg near x*", from_minimiser=True)
RESHUFFLED = Runs("FedAvg reshuffled", "fedavg_reshuffled", 1, "1/8")


@cache
def _diabetes(*, from_minimiser: bool) -> least_squares.LeastSquares:
    start = None
    if from_minimiser:
        at_origin = _diabetes(from_minimiser=False)
        start = [f"{v:.2f}" for v in at_origin.nearest(np.zeros(at_origin.dim))]
    return least_squares.build(data="diabetes", clients=20, split="random", loss="half_mean", start=start)


@cache
def pool_of(runs: Runs, size: int) -> NDArray[np.float64]:
    """The curves (size, R) of seeds 0 to size - 1."""
    return np.concatenate([runs.curves(range(a, min(a + CHUNK, size))) for a in range(0, size, CHUNK)])


def pool(runs: Runs, size: int) -> Source:
    """Seeds drawn with replacement from those of a pool, whose mean is their expectation."""
    values = pool_of(runs, size)
    mean = values.mean(axis=0)
    return Source(f"{runs.name}, pool", mean, lambda generator, count: values[generator.integers(size, size=count)])


def fresh(runs: Runs, first: int) -> Source:
    """Seeds first, first + 1, ... of the sampled engine, each given out once; what `draw` is handed has no say."""
    left, following = np.empty((0, ROUNDS)), first

    def draw(generator: np.random.Generator, size: int) -> NDArray[np.float64]:
        nonlocal left, following
        while len(left) < size:
            left = np.concatenate([left, runs.curves(range(following, following + CHUNK))])
            following += CHUNK
        given, left = left[:size], left[size:]
        return given

    return Source(f"{runs.name}, fresh", runs.expectation(), draw)


def deviations(runs: Runs, size: int) -> NDArray[np.float64]:
    """(mean of the pool - exact expectation)/standard error, by round (R,)."""
    values = pool_of(runs, size)
    return (values.mean(axis=0) - runs.expectation()) / (values.std(axis=0, ddof=1) / np.sqrt(size))


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

    moment_ratio: E X^2/(E X)^2. The large value has probability 0.05 by default, and 0.1 with slack 1 and ratio 10.
    """
    chance = slack**2 / (slack**2 + moment_ratio - 1)
    large = 1 + (moment_ratio - 1) / slack

    def draw(generator: np.random.Generator, size: int) -> NDArray[np.float64]:
        return np.repeat(np.where(generator.random((size, 1)) < chance, large, 1 - slack), ROUNDS, axis=1)

    return Source(f"rare({slack:g})", np.ones(ROUNDS), draw)


class Crossings(NamedTuple):
    """First seed number (from 1; 0: never) at which each claim was made; shapes (levels, replications)."""

    levels: tuple[float, ...]
    exceeds: NDArray[np.int64]
    within: NDArray[np.int64]


def simulate(
    draw: Callable[[np.random.Generator, int], NDArray[np.float64]],
    bound: NDArray[np.float64],
    *,
    seeds: int,
    replications: int,
    levels: tuple[float, ...],
    generator: np.random.Generator,
    envelope: NDArray[np.float64] | None = None,
    least_probability: float = eprocess.RARE,
    block: int = 1000,
) -> Crossings:
    """Many replications of the test at once, monitored after every seed.

    draw(generator, B) gives one fresh seed for each of B replications, (B, R). Every step is the one that
    `SequentialTest.update` takes.
    """
    tests = [SequentialTest(bound, level, envelope, least_probability) for level in levels]
    limits, top = tests[0].bound, tests[0].envelope
    assert top is not None
    needed = np.array([1 / (1 - level) for level in levels])[:, None]
    exceeds, within = (np.zeros((len(levels), replications), dtype=np.int64) for _ in range(2))
    for begin in range(0, replications, block):
        part = slice(begin, min(begin + block, replications))
        size = part.stop - begin
        state = eprocess.start((size, limits.size))
        for seed in range(1, seeds + 1):
            state = eprocess.advance(state, draw(generator, size), limits, top)
            late = np.array([[seed >= test.seeds_needed] for test in tests])
            for first, reached in (
                (exceeds, state.exceeds >= needed),
                (within, late & (eprocess.evidence_within(state, limits, top).min(axis=-1) >= needed)),
            ):
                seen = first[:, part]
                seen[(seen == 0) & reached] = seed
    return Crossings(levels, exceeds, within)


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
            rows.append((claim, 1 - level, count, share_limits(count, replications, 0.99)[1]))
    return rows


def _levels(sources: Sequence[Source], seeds: int) -> Iterator[Row]:
    for source in sources:
        for claim, nominal, count, limit in false_alarms(source, seeds=seeds, replications=REPLICATIONS):
            what = f"{source.name}, {seeds} seeds: false {claim} at {nominal:.2g}, 99 % limit of the rate"
            yield Row(what, limit, most=round(ALLOWED * nominal, 4), note=f"{count} of {REPLICATIONS}")


def _power(sources: Sequence[Source]) -> Iterator[Row]:
    for source in sources:
        for factor, claim in ((0.9, "exceeds"), (1.5, "within"), (10.0, "within")):
            found = measure(source, factor, seeds=2 * SEEDS, replications=REPLICATIONS // 20)
            for level, first in zip(LEVELS, getattr(found, claim), strict=True):
                made = (first > 0).mean()
                note = f"median seeds {np.median(first[first > 0]):.0f}" if made > 0.5 else ""
                what = f"{source.name}, bound {factor:g} x the expectation: share of {claim.upper()} at {level:g}"
                yield Row(what, float(made), note=note)


def results() -> Iterator[Row]:
    for runs in (FEDAVG, FEDAVG_NEAR):
        away = float(np.abs(deviations(runs, POOL)).max())
        yield Row(f"{runs.name}: mean of {POOL} seeds from the exact one", away, "standard errors", most=AGREEMENT)
    pools = [pool(runs, POOL) for runs in (FEDAVG, FEDAVG_NEAR, RESHUFFLED)]
    laws = [normal(), lognormal()]
    yield from _levels([*laws, rare(), *pools], SEEDS)
    yield from _levels([fresh(runs, POOL) for runs in (FEDAVG, FEDAVG_NEAR)], FRESH)
    yield from _power([*laws, *pools])


if __name__ == "__main__":
    sys.exit(run(__doc__, results))
