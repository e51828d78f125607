"""FedDANE on synthetic(1, 1): 30 devices, 10 draws a cohort, 200 rounds, 20 seeds, the training loss every ten rounds.

One local epoch (target: 30 s on two cores) and the paper's twenty. Steps of 0.01 on batches of 10, epochs in a fresh
order, mu = 1. Every case runs in a fresh process with all cores; the first run of a process, which compiles, is not
counted and is reported apart.

The rival is what one writes without this project: a loop in NumPy over rounds, devices and batches, on one core (for
steps as small as these a second one does not help). It is measured for some rounds of one seed; its time for all
rounds and seeds is extrapolated, not measured. Its loss after those rounds is printed beside the engine's mean over
seeds: both are random, so that they agree in order only.

    python benchmarks/feddane.py            all of it
    python benchmarks/feddane.py --one 20   one case in this process: seconds, peak memory, losses
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

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


def once(E: int) -> dict[str, Any]:
    """One case in this process: seconds of compiling and of the run, peak memory, mean gap at the recorded rounds."""
    devices, rounds = problem(), EPOCHS[E]
    solver = {"E": E, "eta": "1/100", "batch": BATCH, "sampling": "reshuffled"}
    method = build_method({"kind": "feddane", "mu": MU, "K": COHORT, "solver": solver})
    began = time.perf_counter()
    low = devices.minimum.low
    minimum = time.perf_counter() - began
    began = time.perf_counter()
    run_sampled(method, devices, 1, 1, ("gap",), [0, 1])
    first = time.perf_counter() - began
    grid = sorted({*range(0, rounds + 1, 10), RIVAL_ROUNDS[E], rounds})
    began, used = time.perf_counter(), time.process_time()
    curve = run_sampled(method, devices, rounds, SEEDS, ("gap",), grid)
    seconds, processor = time.perf_counter() - began, time.process_time() - used
    loss = curve.values["gap"] + low
    return {
        "minimum_s": minimum,
        "first_s": first,
        "seconds": seconds,
        "processor_s": processor,
        "threads": curve.info["threads"],
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6,
        "rival_loss": float(loss[grid.index(RIVAL_ROUNDS[E])]),
        "end_loss": float(loss[-1]),
    }


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


def in_fresh_process(E: int) -> dict[str, Any]:
    environment = dict(os.environ) | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, os.path.abspath(__file__), "--one", str(E)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(result.stdout)


def main() -> None:
    print(f"FedDANE on synthetic(1, 1): {DEVICES} devices, {COHORT} draws a cohort, {SEEDS} seeds, mu = {MU}")
    for E, rounds in EPOCHS.items():
        own = in_fresh_process(E)
        whole = own["seconds"] * ROUNDS / rounds
        print(
            f"  E = {E:2d}, {rounds} rounds: {own['seconds']:.2f} s wall, {own['processor_s']:.2f} s of processor time "
            f"on {own['threads']} threads, {own['peak_mb']:.0f} MB; first run {own['first_s']:.2f} s, the certified "
            f"minimum {own['minimum_s']:.2f} s; mean loss in the end {own['end_loss']:.4g}"
        )
        if rounds == ROUNDS:
            print(f"    target {SECONDS:.0f} s: {'met' if whole <= SECONDS else 'MISSED'}")
        else:
            print(f"    {ROUNDS} rounds, extrapolated from {rounds}: {whole:.3g} s")
        each, loss = rival(E, RIVAL_ROUNDS[E])
        total = each * ROUNDS * SEEDS
        print(
            f"    plain NumPy loop: {each:.3g} s a round and seed (of {RIVAL_ROUNDS[E]}, measured), {total:.4g} s for "
            f"all (extrapolated); that time / time of the engine: {total / whole:.3g}"
        )
        print(
            f"    loss after {RIVAL_ROUNDS[E]} rounds: {loss:.4g} (one seed), {own['rival_loss']:.4g} (engine's mean)"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", type=int, choices=sorted(EPOCHS), metavar="EPOCHS")
    one = parser.parse_args().one
    if one:
        print(json.dumps(once(one)))
    else:
        main()
