"""Simulated runs in NumPy beside the compiled kernel: how much slower they are where numba is not installed.

Workload Q with many and with few seeds, and workload L; processor time of one run on one thread, compiled before.

    python benchmarks/without_numba.py
"""

from __future__ import annotations

import time
from typing import Any

import workload_l
import workload_q

from boundcheck.engines.simulate import run_sampled


def seconds(path: Any, method: Any, problem: Any, rounds: int, seeds: int, metric: str) -> float:
    run_sampled(method, problem, 3, 2, (metric,), (3,), path=path, threads=1)
    began = time.process_time()
    run_sampled(method, problem, rounds, seeds, (metric,), (rounds,), path=path, threads=1)
    return time.process_time() - began


def main() -> None:
    q, regression = workload_q, workload_l
    few = ("Q, 20 seeds", q.METHOD, q.problem(), q.ROUNDS, 20, "gap")
    many = ("Q", q.METHOD, q.problem(), q.ROUNDS, q.SEEDS, "gap")
    last = ("L", regression.METHOD, regression.Logistic(), regression.ROUNDS, regression.SEEDS, "loss")
    for name, *run in (many, few, last):
        slow, fast = (seconds(path, *run) for path in ("numpy", "numba"))
        print(f"{name:12s} NumPy {slow:8.2f} s   compiled {fast:6.3f} s   ratio {slow / fast:6.1f}")


if __name__ == "__main__":
    main()
