"""Exact partial averaging: the discrepancy and E|grad F(u)|^2 at every round, by exchangeability of the workers.

128 workers that hold the same four samples (one Hessian, drawn with replacement, so that noise is shared by nobody),
8 blocks, dimension 64, every one of 100000 rounds measured. Every case runs in a fresh process on one thread.

The rival is what one writes without this project: a recursion in NumPy on the joint second moments of all m models,
(m d)^2 numbers, which keeps the Hessian's blocks apart (so that a round takes 4 m^2 d^3 operations and not 4 (m d)^3).
It is measured for some rounds with 8 workers, and its values are held against the engine's with 2. Its time for 128
workers and all rounds is extrapolated, by m^2 and by the number of rounds, not measured.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from _table import Row, fresh, peak_mb, run, timed

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact import run_exact
from boundcheck.methods.build import build
from boundcheck.problems._alike import AlikeQuadratics, alike
from boundcheck.problems.quadratics import Component

WORKERS, TAU, DIM, ROUNDS = 128, 8, 64, 100_000
SMALL_DIM = 8  # of the rigorous run
METRICS = ("discrepancy", "grad2")
SECONDS, MEMORY, RATIO = 10.0, 500.0, 1.5
ETA = Fraction(1, 16)
RIVAL_WORKERS, RIVAL_ROUNDS = 8, 40


def instance(workers: int, dim: int) -> AlikeQuadratics:
    """Workers that all hold four samples with one random Hessian, eigenvalues about 0.1 to 4."""
    rng = np.random.default_rng(0)
    root = rng.integers(-4, 5, (dim, dim))
    scaled = root @ root.T + dim * np.eye(dim, dtype=int)
    hessian = tuple(tuple(Fraction(int(v), 8 * dim) for v in row) for row in scaled)
    rows = rng.integers(-3, 4, (4, dim))
    samples = tuple(Component(hessian, tuple(Fraction(int(v)) for v in row)) for row in rows)
    return alike(f"{workers} equal workers", {"kind": "benchmark"}, workers, samples, (Fraction(1),) * dim)


def once(workers: str, arithmetic: str) -> dict[str, Any]:
    """One cold run in this process: seconds, peak memory, and the first values."""
    problem = instance(int(workers), DIM if arithmetic == "float64" else SMALL_DIM)
    problem.forms()
    method = build({"kind": "partial_averaging", "tau": TAU, "eta": ETA})
    rounds, how = range(ROUNDS + 1), Arithmetic(arithmetic)
    seconds, curve = timed(lambda: run_exact(method, problem, rounds, METRICS, arithmetic=how))
    first = {name: curve.values[name][: RIVAL_ROUNDS + 1].tolist() for name in METRICS}
    return {"seconds": seconds, "peak": peak_mb(), "first": first}


def rival(workers: int) -> dict[str, list[float]]:
    """Values of the joint recursion at rounds 0, 1, ..., RIVAL_ROUNDS."""
    problem, eta = instance(workers, DIM), float(ETA)
    parts = problem.components[0]
    hessian = np.array(parts[0].A, dtype=float)
    offsets = np.array([p.b for p in parts], dtype=float)
    centre = np.linalg.solve(hessian, offsets.mean(axis=0))
    noise = eta**2 * np.cov(offsets.T, bias=True)
    step = np.eye(DIM) - eta * hessian
    apart = np.ones(DIM) - centre
    moment = np.tile(np.outer(apart, apart), (workers, workers, 1, 1))  # E (y_i - c)(y_j - c)', (m, m, d, d)
    found: dict[str, list[float]] = {name: [] for name in METRICS}
    for t in range(RIVAL_ROUNDS + 1):
        of_mean = moment.mean(axis=(0, 1))
        total = sum(np.trace(moment[i, i]) for i in range(workers)) / workers
        found["discrepancy"].append(float(total - np.trace(of_mean)))
        found["grad2"].append(float(np.sum((hessian @ of_mean) * hessian)))
        moment = step @ moment @ step
        for i in range(workers):
            moment[i, i] += noise
        chosen = slice(DIM * (t % TAU) // TAU, DIM * (t % TAU + 1) // TAU)
        moment[:, :, chosen, :] = moment[:, :, chosen, :].mean(axis=0, keepdims=True)
        moment[:, :, :, chosen] = moment[:, :, :, chosen].mean(axis=1, keepdims=True)
    return found


def results() -> Iterator[Row]:
    small, full = (fresh(__file__, workers, "float64") for workers in (2, WORKERS))
    name = f"{WORKERS} workers, d = {DIM}, {ROUNDS} rounds in doubles"
    yield Row(f"{name}: processor time", full["seconds"], "s", SECONDS)
    yield Row(f"{name}: peak memory", full["peak"], "MB", MEMORY)
    yield Row(f"{name}: time over that of 2 workers", full["seconds"] / small["seconds"], most=RATIO)
    ball = fresh(__file__, WORKERS, "ball")
    yield Row(f"the same with enclosures, d = {SMALL_DIM}: processor time", ball["seconds"], "s")
    values = rival(2)
    for metric in METRICS:
        np.testing.assert_allclose(small["first"][metric], values[metric], rtol=1e-6, atol=1e-9)
    seconds, _ = timed(lambda: rival(RIVAL_WORKERS))
    whole = seconds / (RIVAL_ROUNDS + 1) * (WORKERS / RIVAL_WORKERS) ** 2 * ROUNDS
    yield Row("time of the joint recursion over ours", whole / full["seconds"], "times", note="extrapolated")


if __name__ == "__main__":
    sys.exit(run(__doc__, results, once))
