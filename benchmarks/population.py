"""Peak memory and time by the number of clients: 100 of them take part in each of 50 rounds, whatever their number.

The clients' data are made when they take part (problem kind "population"), so that memory should not grow with their
number. Every number of clients is run in a fresh process.

    python benchmarks/population.py
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

MODELS = ("isotropic", "logistic")
COUNTS = (10**4, 10**5, 10**6)
ROUNDS, COHORT, SAMPLES, DIM = 50, 100, 50, 50


def run(model: str, clients: int) -> dict[str, Any]:
    from boundcheck.engines.simulate import run_sampled
    from boundcheck.methods.method import Method
    from boundcheck.methods.parts import Constant, Epochs, Unbiased, Uniform
    from boundcheck.problems.build import build

    def peak() -> float:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6

    problem = build({"kind": "population", "model": model, "clients": clients, "samples": SAMPLES, "dim": DIM})
    local = Epochs(1, 10, divide="size")
    method = Method("fedshuffle", Uniform(COHORT), local, Constant(Fraction(1, 2)), Unbiased())
    small = build({"kind": "population", "model": model, "clients": 2 * COHORT, "samples": SAMPLES, "dim": DIM})
    run_sampled(method, small, 2, 1, threads=1)  # compiles, or loads what was compiled
    before = peak()
    began = time.perf_counter()
    curve = run_sampled(method, problem, ROUNDS, 1, ("dist2",), [0, ROUNDS], threads=1)
    seconds = time.perf_counter() - began
    return {"before": before, "peak": peak(), "seconds": seconds, "dist2": curve.values["dist2"].tolist()}


def main() -> None:
    print(f"{COHORT} clients of {SAMPLES} samples in each of {ROUNDS} rounds, d = {DIM}, one seed, one thread")
    heads = ("clients", "before, MB", "peak, MB", "seconds", "dist2 at the end")
    print("  model     " + "".join(f"{h:>{w}s}" for h, w in zip(heads, (10, 12, 10, 9, 18), strict=True)))
    for model in MODELS:
        for clients in COUNTS:
            command = [sys.executable, os.path.abspath(__file__), "--one", model, str(clients)]
            found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            print(
                f"  {model:10s} {clients:9d} {found['before']:11.0f} {found['peak']:9.0f} {found['seconds']:8.2f} "
                f"{found['dist2'][-1]:17.3e}"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", nargs=2, metavar=("MODEL", "CLIENTS"))
    one = parser.parse_args().one
    if one and not (one[0] in MODELS and one[1].isdigit() and int(one[1]) >= 2 * COHORT):
        parser.error(f"--one takes {' or '.join(MODELS)}, then a number of clients from {2 * COHORT} on")
    if one:
        print(json.dumps(run(one[0], int(one[1]))))
    else:
        main()
