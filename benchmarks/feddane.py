"""FedDANE on synthetic(1, 1): 30 devices, 10 draws a cohort, 200 rounds, 20 seeds, the training loss every ten rounds.

One local epoch and the paper's twenty. Steps of 0.01 on batches of 10, epochs in a fresh order, mu = 1. Every case runs
in a fresh process with all cores; the first run of a process, which compiles, is not counted.

The rival is what one writes without this project: a loop in NumPy over rounds, devices and batches, on one core. It is
measured for some rounds of one seed; its time for all rounds and seeds is extrapolated, not measured.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from _table import Row, fresh, peak_mb, run, timed

from boundcheck.engines.simulate import run_sampled
from boundcheck.methods.build import build as build_method
from boundcheck.problems._classifier import Classifier
from boundcheck.problems.build import build as build_problem

ROUNDS, SEEDS, DEVICES, COHORT = 200, 20, 30, 10
STEP, BATCH, MU = 0.01, 10, 1
EPOCHS = {1: 200, 20: 10}  # local epochs -> rounds that are measured: the long case is cut and extrapolated
RIVAL_ROUNDS = {1: 5, 20: 1}
SECONDS = 30.0


def problem() -> Classifier:
    built: Any = build_problem({"kind": "synthetic", "alpha": 1, "beta": 1, "devices": DEVICES, "seed": 0})
    return built


def once(epochs: str) -> dict[str, float]:
    """One case in this process: seconds by the clock and of processors, peak memory, the mean loss after few rounds."""
    E, devices = int(epochs), problem()
    solver = {"E": E, "eta": "1/100", "batch": BATCH, "sampling": "reshuffled"}
    method = build_method({"kind": "feddane", "mu": MU, "K": COHORT, "solver": solver})
    low = devices.minimum.low
    run_sampled(method, devices, 1, 1, ("gap",), [0, 1])
    grid = sorted({*range(0, EPOCHS[E] + 1, 10), RIVAL_ROUNDS[E], EPOCHS[E]})
    used = time.process_time()
    seconds, curve = timed(lambda: run_sampled(method, devices, EPOCHS[E], SEEDS, ("gap",), grid), time.perf_counter)
    loss = float((curve.values["gap"] + low)[grid.index(RIVAL_ROUNDS[E])])
    return {"seconds": seconds, "processor": time.process_time() - used, "peak": peak_mb(), "loss": loss}


def rival(E: int, rounds: int) -> tuple[float, float]:
    """Seconds a round of the plain loop, and its loss after those rounds (one seed)."""
    devices, rng = problem(), np.random.default_rng(0)
    parts = [slice(a, b) for a, b in zip(devices.offsets[:-1], devices.offsets[1:], strict=True)]
    data = [(devices.features[s], np.eye(10)[devices.labels[s]]) for s in parts]
    shares = np.array([float(w) for w in devices.weights])
    ridge = float(devices.ridge)

    def gradient(rows: Any, labels: Any, x: Any) -> Any:
        scores = rows @ x.T
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        scores /= scores.sum(axis=1, keepdims=True)
        return (scores - labels).T @ rows / len(rows) + ridge * x

    x = np.zeros((10, devices.features.shape[1]))
    began = time.perf_counter()
    for _ in range(rounds):
        asked = rng.choice(DEVICES, COHORT, p=shares)
        g = np.mean([gradient(*data[k], x) for k in asked], axis=0)
        ends: list[Any] = []
        for k in rng.choice(DEVICES, COHORT, p=shares):
            rows, labels = data[k]
            shift, y = g - gradient(rows, labels, x), x.copy()
            for _ in range(E):
                order = rng.permutation(len(rows))
                for first in range(0, len(rows), BATCH):
                    chosen = order[first : first + BATCH]
                    y -= STEP * (gradient(rows[chosen], labels[chosen], y) + shift + MU * (y - x))
            ends.append(y)
        x = np.mean(ends, axis=0)
    return (time.perf_counter() - began) / rounds, devices.objective.value(x.ravel())


def results() -> Iterator[Row]:
    for E, rounds in EPOCHS.items():
        own = fresh(__file__, E)
        whole = own["seconds"] * ROUNDS / rounds
        target, how = (
            (SECONDS, f"{own['processor']:.3g} s of processors") if rounds == ROUNDS else (None, "extrapolated")
        )
        yield Row(f"E = {E}: seconds by the clock", whole, "s", target, note=how)
        yield Row(f"E = {E}: peak memory", own["peak"], "MB")
        each, loss = rival(E, RIVAL_ROUNDS[E])
        note = f"extrapolated; losses after {RIVAL_ROUNDS[E]} rounds {loss:.4g}, ours {own['loss']:.4g} in the mean"
        yield Row(f"E = {E}: time of a NumPy loop over ours", each * ROUNDS * SEEDS / whole, "times", note=note)


if __name__ == "__main__":
    sys.exit(run(__doc__, results, once))
