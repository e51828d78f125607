"""Exact partial averaging: the discrepancy and E|grad F(u)|^2 at every round, by exchangeability of the workers.

128 workers that hold the same four samples (one Hessian, drawn with replacement, so that noise is shared by nobody),
8 blocks, dimension 64, every one of 100000 rounds measured. Targets: 10 s, 500 MB, and no more with 128 workers than
1.5 times what 2 take. Every case runs in a fresh process on one thread.

The rival is what one writes without this project: a recursion in NumPy on the joint second moments of all m models,
(m d)^2 numbers, which keeps the Hessian's blocks apart (so that a round takes 4 m^2 d^3 operations and not 4 (m d)^3).
It is measured for some rounds with few workers, where its values are compared with those of the engine. Its time for
128 workers and all rounds is extrapolated, by m^2 and by the number of rounds, not measured.

    python benchmarks/partial_averaging.py                       all of it
    python benchmarks/partial_averaging.py --one 128 float64     one run in this process: seconds and peak memory
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact import run_exact
from boundcheck.methods.build import build
from boundcheck.problems._alike import AlikeQuadratics, alike
from boundcheck.problems.quadratics import Component

WORKERS, TAU, DIM, ROUNDS = 128, 8, 64, 100_000
SMALL_DIM = 8  # of the rigorous run
ARITHMETICS = ("float64", "ball")
METRICS = ("discrepancy", "grad2")
SECONDS, MEMORY, RATIO = 10.0, 500.0, 1.5
ETA = Fraction(1, 16)
RIVAL_WORKERS, RIVAL_ROUNDS = (2, 4, 8), 40


def instance(workers: int, dim: int) -> AlikeQuadratics:
    """Workers that all hold four samples with one random Hessian, eigenvalues about 0.1 to 4."""
    rng = np.random.default_rng(0)
    root = rng.integers(-4, 5, (dim, dim))
    scaled = root @ root.T + dim * np.eye(dim, dtype=int)
    hessian = tuple(tuple(Fraction(int(v), 8 * dim) for v in row) for row in scaled)
    rows = rng.integers(-3, 4, (4, dim))
    samples = tuple(Component(hessian, tuple(Fraction(int(v)) for v in row)) for row in rows)
    return alike(f"{workers} equal workers", {"kind": "benchmark"}, workers, samples, (Fraction(1),) * dim)


def once(workers: int, arithmetic: str) -> dict[str, Any]:
    """One cold run in this process: seconds, peak memory, and the first and last values."""
    dim = DIM if arithmetic == "float64" else SMALL_DIM
    began = time.perf_counter()
    problem = instance(workers, dim)
    problem.forms()
    built = time.perf_counter() - began
    method = build({"kind": "partial_averaging", "tau": TAU, "eta": ETA})
    began = time.perf_counter()
    curve = run_exact(method, problem, range(ROUNDS + 1), METRICS, arithmetic=Arithmetic(arithmetic))
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    first = {name: curve.values[name][: RIVAL_ROUNDS + 1].tolist() for name in METRICS}
    means = {name: float(curve.values[name].mean()) for name in METRICS}
    return {"built_s": built, "seconds": seconds, "peak_mb": peak, "first": first, "means": means}


def in_fresh_process(workers: int, arithmetic: str) -> dict[str, Any]:
    environment = dict(os.environ) | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, os.path.abspath(__file__), "--one", str(workers), arithmetic]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(result.stdout)


def rival(workers: int) -> tuple[float, dict[str, list[float]]]:
    """Seconds a round of the joint recursion, and its values at rounds 0, 1, ..., RIVAL_ROUNDS."""
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
    began = time.perf_counter()
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
    return (time.perf_counter() - began) / (RIVAL_ROUNDS + 1), found


def against_rival(own: dict[str, Any], full_seconds: float) -> None:
    """The rival's time, its agreement with the engine for 2 workers, and what 128 would take."""
    each = 0.0
    for workers in RIVAL_WORKERS:
        each, found = rival(workers)
        print(f"  joint recursion in NumPy, m = {workers}: {1e3 * each:.2f} ms a round (of {RIVAL_ROUNDS}, measured)")
        if workers == 2:
            off = max(
                float(np.max(np.abs(np.array(found[k]) - own["first"][k]) / np.maximum(own["first"][k], 1e-3)))
                for k in METRICS
            )
            print(f"    its values differ from the engine's by at most a relative {off:.1e}")
    most = RIVAL_WORKERS[-1]
    whole = each * (WORKERS / most) ** 2 * ROUNDS
    print(f"  extrapolated from m = {most} by m^2 and rounds: {whole:.3g} s for m = {WORKERS}, {ROUNDS} rounds")
    memory = (WORKERS * DIM) ** 2 * 8 / 1e6
    print(f"    (and {memory:.0f} MB for one state); that time / time of the engine: {whole / full_seconds:.3g}")


def main() -> None:
    print(f"tau = {TAU}, every one of {ROUNDS} rounds, metrics {', '.join(METRICS)}; one thread, cold")
    found = {workers: in_fresh_process(workers, "float64") for workers in (2, WORKERS)}
    for workers, own in found.items():
        print(
            f"  m = {workers:3d}, d = {DIM}, float64: {own['seconds']:.2f} s, the problem {own['built_s']:.2f} s, "
            f"{own['peak_mb']:.0f} MB; mean discrepancy {own['means']['discrepancy']:.6e}"
        )
    full, small = found[WORKERS], found[2]
    ratio = full["seconds"] / small["seconds"]
    print(f"  targets: {SECONDS:.0f} s {'met' if full['seconds'] <= SECONDS else 'MISSED'}, ", end="")
    print(f"{MEMORY:.0f} MB {'met' if full['peak_mb'] <= MEMORY else 'MISSED'}, ", end="")
    print(f"m = {WORKERS} / m = 2 {ratio:.2f} (at most {RATIO}: {'met' if ratio <= RATIO else 'MISSED'})")
    ball = in_fresh_process(WORKERS, "ball")
    print(f"  m = {WORKERS}, d = {SMALL_DIM}, rigorous enclosures: {ball['seconds']:.2f} s, {ball['peak_mb']:.0f} MB")
    against_rival(small, full["seconds"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", nargs=2, metavar=("WORKERS", "ARITHMETIC"))
    one = parser.parse_args().one
    if one and not (one[0].isdigit() and int(one[0]) > 0 and one[1] in ARITHMETICS):
        parser.error(f"--one takes a number of workers, then {' or '.join(ARITHMETICS)}")
    if one:
        print(json.dumps(once(int(one[0]), one[1])))
    else:
        main()
