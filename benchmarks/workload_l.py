"""Workload L: logistic regression on the general compiled path beside a hand-written numba kernel.

d = 50, 100 clients with 50 samples each, 10 clients a round uniformly without replacement, one reshuffled local epoch
in batches of 10 with constant step 1/10, the average of what they return; 100 rounds, 20 seeds. The hand-written
kernel does just that, with its own random numbers and with fast-math flags, which let the compiler put sums side by
side: no plan, no tables, nothing recorded but the last point. Compilation is left out; both run in as many threads.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from _by_hand import in_blocks, random_numbers
from _table import Row, processors, run, take_turns

from boundcheck.engines.simulate import run_sampled
from boundcheck.methods.clients import Repeated
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Constant, Epochs, Uniform
from boundcheck.problems.problem import Arrays

DIM, CLIENTS, SAMPLES, COHORT, BATCH = 50, 100, 50, 10, 10
ROUNDS, SEEDS, RIDGE = 100, 20, 1e-3
METHOD = Method("fedavg_rr", Uniform(COHORT), Epochs(1, BATCH), Constant(Fraction(1, 10)))
GRIDS = (11, 21, 51)  # numbers of recorded rounds, evenly spread
TURNS = 15


class Logistic:
    """A synthetic logistic regression: normal features, labels of a random linear model with noise."""

    name = "logistic"
    dim = DIM
    clients = CLIENTS
    weights = Repeated(Fraction(1, CLIENTS), CLIENTS)
    sizes = Repeated(SAMPLES, CLIENTS)
    start = (Fraction(0),) * DIM
    metrics = ("loss",)

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.features = rng.normal(size=(CLIENTS * SAMPLES, DIM))
        model = rng.normal(size=DIM)
        noisy = self.features @ model + rng.logistic(size=len(self.features))
        self.labels = np.where(noisy >= 0, 1.0, -1.0)

    def arrays(self) -> Arrays:
        none = np.empty(0)
        return Arrays(
            "logistic", "mean", np.arange(0, CLIENTS * SAMPLES + 1, SAMPLES), none, none, self.features, self.labels,
            none, none, none, {}, RIDGE,
        )  # fmt: skip

    def metric(self, name: str, x: Any) -> float:
        return float(self.metric_many(name, np.asarray(x)[None])[0])

    def metric_many(self, name: str, points: np.ndarray) -> np.ndarray:
        margins = points @ self.features.T
        margins *= -self.labels
        # log(1 + e^m) = max(m, 0) + log(1 + e^-|m|)
        tail = np.log1p(np.exp(-np.abs(margins))).sum(axis=1)
        return (np.maximum(margins, 0, out=margins).sum(axis=1) + tail) / len(self.labels) + RIDGE / 2 * np.einsum(
            "kd,kd->k", points, points
        )


def hand_written() -> Callable[..., None]:
    from numba import njit

    draw, seeded = random_numbers()

    # The engine does without the flags: its order of operations is fixed.
    @njit(nogil=True, fastmath=True, error_model="numpy")
    def run(first, last, rounds, eta, ridge, a, target, out):
        s = np.empty(4, np.uint64)
        x, y, total = np.zeros(DIM), np.zeros(DIM), np.zeros(DIM)
        g = np.zeros(DIM)
        r = np.empty(BATCH)
        clients = np.arange(CLIENTS)
        order = np.empty(SAMPLES, np.int64)
        for seed in range(first, last):
            seeded(seed, s)
            x[:] = 0.0
            for _ in range(rounds):
                total[:] = 0.0
                for p in range(COHORT):
                    j = p + draw(s, CLIENTS - p)
                    clients[p], clients[j] = clients[j], clients[p]
                    begin = clients[p] * SAMPLES
                    for t in range(SAMPLES):
                        order[t] = begin + t
                    for t in range(SAMPLES - 1):
                        j = t + draw(s, SAMPLES - t)
                        order[t], order[j] = order[j], order[t]
                    y[:] = x
                    for at in range(0, SAMPLES, BATCH):
                        g[:] = 0.0
                        for t in range(BATCH):
                            row = a[order[at + t]]
                            v = 0.0
                            for k in range(DIM):
                                v += row[k] * y[k]
                            r[t] = v
                        for t in range(BATCH):
                            label = target[order[at + t]]
                            r[t] = -label / (1.0 + np.exp(label * r[t]))
                        for t in range(BATCH):
                            row = a[order[at + t]]
                            v = r[t]
                            for k in range(DIM):
                                g[k] += v * row[k]
                        for k in range(DIM):
                            y[k] -= eta * (g[k] / BATCH + ridge * y[k])
                    for k in range(DIM):
                        total[k] += y[k] - x[k]
                for k in range(DIM):
                    x[k] += total[k] / COHORT
            out[seed] = x

    return run


def rival(run: Callable[..., None], problem: Logistic, threads: int) -> np.ndarray:
    out, data = np.empty((SEEDS, DIM)), (problem.features, problem.labels)
    in_blocks(lambda first, last: run(first, last, ROUNDS, 0.1, RIDGE, *data, out), SEEDS, threads)
    return out


def ours(problem: Logistic, threads: int, recorded: int) -> np.ndarray:
    """Mean loss; recorded = 1: at the last round only."""
    grid = [ROUNDS] if recorded == 1 else np.linspace(0, ROUNDS, recorded).round().astype(int).tolist()
    curve = run_sampled(METHOD, problem, ROUNDS, SEEDS, ("loss",), grid, threads=threads)  # pyright: ignore
    assert curve.info["path"] == "numba"
    return curve.samples["loss"]


def results() -> Iterator[Row]:
    problem, kernel = Logistic(), hand_written()
    for threads in dict.fromkeys((1, processors())):
        sides: dict[str, Callable[[], np.ndarray]] = {"by hand": lambda n=threads: rival(kernel, problem, n)}
        sides |= {f"ours {k}": lambda n=threads, k=k: ours(problem, n, k) for k in (1, *GRIDS)}
        seen = take_turns(sides, TURNS, time.process_time if threads == 1 else time.perf_counter)
        theirs, mine = problem.metric_many("loss", seen.found["by hand"]), seen.found["ours 1"][:, 0]
        if abs(theirs.mean() - mine.mean()) > 6 * (theirs.std() + mine.std()) / SEEDS**0.5:
            raise SystemExit(f"the mean losses disagree: by hand {theirs.mean()}, engine {mine.mean()}")
        label = f"{threads} thread{'s' if threads > 1 else ''}"
        note = f"{1e3 * seen.median('ours 1'):.0f} ms"
        yield Row(f"{label}: time over numba by hand", seen.ratio("ours 1", "by hand"), most=1.5, note=note)
        for k in GRIDS:
            more = seen.ratio(f"ours {k}", "ours 1") - 1
            yield Row(f"{label}: what the loss at {k} rounds adds, over the run", more, most=1)


if __name__ == "__main__":
    sys.exit(run(__doc__, results))
