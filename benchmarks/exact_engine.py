"""The exact engine on FedShuffle: time and memory of expectations, and what sampling would need for the same.

Small: FedShuffle on equation (36) of Horvath et al. (3 clients with 1, 2 and 3 samples in R^6, full participation, step
1/8 divided by |D_i|), E of three metrics after every one of 1000 rounds. Targets: 50 ms in doubles, and near that as
rigorous enclosures.

Large: 50 clients, d = 20, 10 samples each with one Hessian a client, 10 clients a round at random, E of three metrics
after every one of 1000 rounds. Targets: 5 s and 1 GB.

The factor over sampling: the sampled engine runs as many seeds as take some seconds; their variance gives the standard
error of the mean gap after the last round, measured. The time for a relative standard error of 1e-4 is extrapolated
from it by (error/1e-4)^2, not measured.

    python benchmarks/exact_engine.py                     all of it
    python benchmarks/exact_engine.py --one large ball    one run in this process: seconds and peak memory
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
from boundcheck.engines.exact import run_exact, stationary
from boundcheck.engines.simulate import run_sampled
from boundcheck.errors import Unsupported
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Constant, Epochs, Full, Unbiased, Uniform
from boundcheck.problems import fedshuffle_36, quadratics

ROUNDS = 1000
METRICS = ("dist2", "gap", "grad2")
TARGETS = {("small", "float64"): 0.05, ("small", "ball"): 0.05, ("large", "float64"): 5.0, ("large", "ball"): 5.0}
MEMORY = 1000.0  # MB
WANTED = 1e-4  # relative standard error
SAMPLING_SECONDS = 4.0
REPEATS = 9


def small() -> tuple[Method, Any]:
    method = Method("fedshuffle", Full(), Epochs(divide="size"), Constant(Fraction(1, 8), "eta_l"), Unbiased())
    return method, fedshuffle_36.build()


def large() -> tuple[Method, Any]:
    d, n, samples = 20, 50, 10
    rng = np.random.default_rng(0)
    clients: list[dict[str, Any]] = []
    for _ in range(n):
        root = rng.integers(-2, 3, (d, d))
        a = [[Fraction(int(v), 40) for v in row] for row in (root @ root.T + 10 * np.eye(d, dtype=int))]
        rows = rng.integers(-4, 5, (samples, d))
        clients.append({"components": [{"A": a, "b": [int(v) for v in b]} for b in rows]})
    method = Method("fedshuffle", Uniform(10), Epochs(divide="size"), Constant(Fraction(1, 20), "eta_l"), Unbiased())
    return method, quadratics.build(clients=clients, start=[0] * d, name="50 clients in dimension 20")


CASES = {"small": small, "large": large}
ARITHMETICS = ("float64", "ball")


def once(case: str, arithmetic: str) -> dict[str, float]:
    """One cold run in this process (the problem's own constants apart), a second one, and the peak memory."""
    method, problem = CASES[case]()
    problem.forms()
    seconds: list[float] = []
    for _ in range(2):
        began = time.perf_counter()
        curve = run_exact(method, problem, range(ROUNDS + 1), METRICS, arithmetic=Arithmetic(arithmetic))
        seconds.append(time.perf_counter() - began)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    return {"first_s": seconds[0], "second_s": seconds[1], "peak_mb": peak, "gap": float(curve.values["gap"][-1])}


def in_fresh_process(case: str, arithmetic: str) -> dict[str, float]:
    environment = dict(os.environ) | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, os.path.abspath(__file__), "--one", case, arithmetic]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(result.stdout)


def sampling(case: str) -> dict[str, Any] | None:
    """Seconds, seeds and relative standard error of the gap after the last round, sampled with one thread."""
    method, problem = CASES[case]()
    seeds, first = 16, 0
    try:
        run_sampled(method, problem, ROUNDS, range(2), ("gap",), [ROUNDS], threads=1)  # compiles
        while True:
            began = time.perf_counter()
            chosen = range(first, first + seeds)
            curve = run_sampled(method, problem, ROUNDS, chosen, ("gap",), [ROUNDS], threads=1)
            spent = time.perf_counter() - began
            if spent >= SAMPLING_SECONDS / 4:
                break
            seeds *= 4
    except Unsupported as why:
        print(f"  {case}: the sampled engine cannot carry it ({why})")
        return None
    rows = np.asarray(curve.samples["gap"])[:, -1]
    how = f"path {curve.info['path']}"
    error = float(rows.std(ddof=1) / np.sqrt(seeds) / rows.mean())
    return {"seconds": spent, "seeds": seeds, "error": error, "mean": float(rows.mean()), "how": how}


def main() -> None:
    print(f"{ROUNDS} rounds, every round measured, {len(METRICS)} metrics; one thread")
    method, problem = small()
    seconds: dict[tuple[str, str], float] = {}
    for arithmetic in ("float64", "ball"):
        spent: list[float] = []
        for _ in range(REPEATS + 1):
            began = time.perf_counter()
            run_exact(method, problem, range(ROUNDS + 1), METRICS, arithmetic=Arithmetic(arithmetic))
            spent.append(time.perf_counter() - began)
        seconds["small", arithmetic] = min(spent[1:])
    began = time.perf_counter()
    floor = stationary(method, problem, arithmetic=Arithmetic.RATIONAL)
    solved = time.perf_counter() - began
    gaps: dict[str, float] = {}
    for case in CASES:
        for arithmetic in ("float64", "ball"):
            found = in_fresh_process(case, arithmetic)
            own = seconds.setdefault((case, arithmetic), found["second_s"])
            target = TARGETS[case, arithmetic]
            gaps[case] = found["gap"]
            memory = f"peak memory {found['peak_mb']:.0f} MB"
            memory += f" (target {MEMORY:.0f})" if case == "large" else ""
            print(
                f"  {case:6s} {arithmetic:8s} {1e3 * own:9.1f} ms warm, {1e3 * found['first_s']:9.1f} ms cold "
                f"(target {1e3 * target:.0f} ms: {'met' if own <= target else 'MISSED'}), {memory}"
            )
    print(
        f"  small, the limit of infinitely many rounds as fractions: {1e3 * solved:.0f} ms (target 1000 ms), ", end=""
    )
    print(f"E gap {float(floor.values['gap']):.6e}")
    print(f"Sampling, one thread, the gap after {ROUNDS} rounds (time for {WANTED:g} extrapolated by the square)")
    for case in CASES:
        found = sampling(case)
        if found is None:
            continue
        needed = found["seconds"] * (found["error"] / WANTED) ** 2
        off = abs(found["mean"] / gaps[case] - 1) / found["error"]
        print(
            f"  {case} ({found['how']}): measured {found['seconds']:.2f} s for {found['seeds']:.0f} seeds, "
            f"relative standard error {found['error']:.2e} (its mean is {off:.1f} standard errors from the exact value)"
        )
        print(f"    extrapolated: {needed:.3g} s for {WANTED:g}")
        for arithmetic in ("float64", "ball"):
            own = seconds[case, arithmetic]
            print(f"    that time / time of the exact engine ({arithmetic}, all rounds): {needed / own:.3g}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", nargs=2, metavar=("CASE", "ARITHMETIC"))
    one = parser.parse_args().one
    if one and (one[0] not in CASES or one[1] not in ARITHMETICS):
        parser.error(f"--one takes {' or '.join(CASES)}, then {' or '.join(ARITHMETICS)}")
    if one:
        print(json.dumps(once(*one)))
    else:
        main()
