"""Workload Q: the sampled engine beside a hand-written loop, a plain NumPy loop and a vectorised one.

Equation (36) of FedShuffle (Horvath et al.): 3 clients with 1, 2 and 3 points in R^6, f_ij(x) = |x - e_j|^2 / 2. Each
round all clients run one reshuffled epoch of single-sample steps and the server averages; 1000 rounds, 1000 seeds,
constant step 1/8, F(x) - F* recorded on a log grid of rounds. All contestants do the same steps and record the
same grid; each draws its own orders from its own generator (the engine from its plan streams). The hand-written loop
knows sizes, dimension and that all matrices are the identity; the engine with general matrices does not.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from _by_hand import in_blocks, random_numbers
from _table import Row, fresh, peak_mb, processors, run, take_turns, timed

from boundcheck.engines.simulate import run_sampled
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Constant, Epochs, Full
from boundcheck.problems import quadratics
from boundcheck.problems.problem import Arrays

ROUNDS, SEEDS, ETA = 1000, 1000, 1 / 8
SIZES = (1, 2, 3)
GRID = np.unique(np.geomspace(1, ROUNDS, 60).round().astype(np.int64))
METHOD = Method("fedavg_rr", Full(), Epochs(1, 1), Constant(Fraction(1, 8)))
TURNS = 9
PLAIN_SEEDS = 10  # the plain NumPy loop is timed on so many seeds and scaled


def problem() -> quadratics.Quadratics:
    identity = [[int(i == k) for k in range(6)] for i in range(6)]
    clients = [{"components": [{"A": identity, "b": identity[j]} for j in own]} for own in ((0,), (1, 2), (3, 4, 5))]
    weights = [Fraction(s, 6) for s in SIZES]  # of F; the plain average of the method ignores them
    return quadratics.build(clients=clients, weights=weights, start=[0] * 6, name="(36)")


@dataclass(frozen=True)
class Dense:
    """The same problem with its matrices written out, so that the general oracle runs."""

    inner: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def arrays(self) -> Arrays:
        return replace(self.inner.arrays(), kind="quadratic", A=np.tile(np.eye(6), (6, 1, 1)))


def hand_written() -> Callable[..., None]:
    """A numba loop for this problem alone, with the point in registers and random numbers of xoshiro256++."""
    from numba import njit

    draw, seeded = random_numbers()

    @njit(nogil=True)
    def gap(x):
        v = 0.0
        for k in range(6):
            v += (x[k] - 1 / 6) ** 2
        return v / 2

    @njit(nogil=True)
    def moved(y, eta, points, j):
        return (
            y[0] - eta * (y[0] - points[j, 0]),
            y[1] - eta * (y[1] - points[j, 1]),
            y[2] - eta * (y[2] - points[j, 2]),
            y[3] - eta * (y[3] - points[j, 3]),
            y[4] - eta * (y[4] - points[j, 4]),
            y[5] - eta * (y[5] - points[j, 5]),
        )

    @njit(nogil=True)
    def unrolled(first, last, rounds, eta, points, grid, out):
        s = np.empty(4, np.uint64)
        for seed in range(first, last):
            seeded(seed, s)
            x = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
            g = 0
            for r in range(1, rounds + 1):
                u = moved(x, eta, points, 0)
                j = draw(s, 2)
                v = moved(moved(x, eta, points, 1 + j), eta, points, 2 - j)
                a = draw(s, 3)
                b = (a + 1 + draw(s, 2)) % 3
                w = moved(moved(moved(x, eta, points, 3 + a), eta, points, 3 + b), eta, points, 6 - a - b)
                x = (
                    (u[0] + v[0] + w[0]) / 3,
                    (u[1] + v[1] + w[1]) / 3,
                    (u[2] + v[2] + w[2]) / 3,
                    (u[3] + v[3] + w[3]) / 3,
                    (u[4] + v[4] + w[4]) / 3,
                    (u[5] + v[5] + w[5]) / 3,
                )
                if grid[g] == r:
                    out[seed, g] = gap(x)
                    g += 1

    return unrolled


def threaded(loop: Callable[..., None], threads: int) -> np.ndarray:
    out, points = np.empty((SEEDS, len(GRID))), np.eye(6)
    in_blocks(lambda first, last: loop(first, last, ROUNDS, ETA, points, GRID, out), SEEDS, threads)
    return out


def plain_numpy(seeds: int) -> np.ndarray:
    """One seed after the other, one small array operation after the other."""
    out = np.empty((seeds, len(GRID)))
    points = np.eye(6)
    own = [points[0:1], points[1:3], points[3:6]]
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        x = np.zeros(6)
        g = 0
        for r in range(1, ROUNDS + 1):
            total = np.zeros(6)
            for mine in own:
                y = x
                for j in rng.permutation(len(mine)):
                    y = y - ETA * (y - mine[j])
                total += y
            x = total / 3
            if GRID[g] == r:
                out[seed, g] = np.sum((x - 1 / 6) ** 2) / 2
                g += 1
    return out


def vectorised_numpy() -> np.ndarray:
    """All seeds at once: arrays (seeds, 6); orders by sorting random keys."""
    out = np.empty((SEEDS, len(GRID)))
    points = np.eye(6)
    rng = np.random.default_rng(0)
    x = np.zeros((SEEDS, 6))
    g = 0
    for r in range(1, ROUNDS + 1):
        total = x - ETA * (x - points[0])
        coin = rng.integers(0, 2, SEEDS)
        y = x - ETA * (x - points[1 + coin])
        y -= ETA * (y - points[2 - coin])
        total += y
        order = 3 + rng.random((SEEDS, 3)).argsort(axis=1)
        y = x - ETA * (x - points[order[:, 0]])
        y -= ETA * (y - points[order[:, 1]])
        y -= ETA * (y - points[order[:, 2]])
        total += y
        x = total / 3
        if GRID[g] == r:
            out[:, g] = ((x - 1 / 6) ** 2).sum(axis=1) / 2
            g += 1
    return out


def engine(instance: Any, threads: int) -> np.ndarray:
    curve = run_sampled(METHOD, instance, ROUNDS, SEEDS, ("gap",), GRID.tolist(), path="numba", threads=threads)
    return np.asarray(curve.samples["gap"])


def once() -> dict[str, float]:
    """Seconds of a first run in this process, which compiles or loads what was compiled, and peak memory."""
    seconds, _ = timed(lambda: engine(problem(), processors()), time.perf_counter)
    return {"first": seconds, "peak": peak_mb()}


def results() -> Iterator[Row]:
    loop, isotropic = hand_written(), problem()
    dense = Dense(isotropic)
    for threads in dict.fromkeys((1, processors())):
        sides: dict[str, Callable[[], np.ndarray]] = {
            "ours": lambda n=threads: engine(isotropic, n),
            "general": lambda n=threads: engine(dense, n),
            "by hand": lambda n=threads: threaded(loop, n),
        }
        seen = take_turns(sides, TURNS, time.process_time if threads == 1 else time.perf_counter)
        ends = {name: float(found[:, -1].mean()) for name, found in seen.found.items()}
        if max(ends.values()) > 1.2 * min(ends.values()):
            raise SystemExit(f"the mean gaps in the end disagree: {ends}")
        label = f"{threads} thread{'s' if threads > 1 else ''}"
        note = f"{1e3 * seen.median('ours'):.0f} ms"
        yield Row(f"{label}: time over numba by hand", seen.ratio("ours", "by hand"), note=note)
        yield Row(f"{label}: time with general matrices over numba by hand", seen.ratio("general", "by hand"))
        if threads == 1:
            plain, _ = timed(lambda: plain_numpy(PLAIN_SEEDS))
            factor = plain * SEEDS / PLAIN_SEEDS / seen.median("ours")
            yield Row("time of a NumPy loop over ours", factor, "times", note=f"of {PLAIN_SEEDS} seeds")
            vectorised, _ = timed(vectorised_numpy)
            yield Row("time of NumPy over all seeds at once over ours", vectorised / seen.median("ours"), "times")
    with tempfile.TemporaryDirectory() as cache:
        for state in ("an empty", "a filled"):
            own = fresh(__file__, NUMBA_CACHE_DIR=cache)
            yield Row(f"{state} compilation cache: first run", own["first"], "s")
            yield Row(f"{state} compilation cache: peak memory", own["peak"], "MB", most=300)


if __name__ == "__main__":
    sys.exit(run(__doc__, results, once))
