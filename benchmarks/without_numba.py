"""Simulated runs in NumPy beside the compiled kernel: how much slower they are where numba is not installed.

Workload Q with many and with few seeds, and workload L; processor time of one run on one thread, compiled before.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import workload_l
import workload_q
from _table import Row, run, take_turns

from boundcheck.engines.simulate import run_sampled


def results() -> Iterator[Row]:
    q, regression = workload_q, workload_l
    runs: dict[str, tuple[Any, Any, int, int, str]] = {
        "workload Q": (q.METHOD, q.problem(), q.ROUNDS, q.SEEDS, "gap"),
        "workload Q, 20 seeds": (q.METHOD, q.problem(), q.ROUNDS, 20, "gap"),
        "workload L": (regression.METHOD, regression.Logistic(), regression.ROUNDS, regression.SEEDS, "loss"),
    }
    for name, (method, problem, rounds, seeds, metric) in runs.items():
        how = (method, problem, rounds, seeds, (metric,), (rounds,))
        seen = take_turns({p: lambda p=p, how=how: run_sampled(*how, path=p, threads=1) for p in ("numpy", "numba")}, 1)
        note = f"compiled {seen.median('numba'):.3g} s"
        yield Row(f"{name}: time in NumPy over the compiled kernel", seen.ratio("numpy", "numba"), "times", note=note)


if __name__ == "__main__":
    sys.exit(run(__doc__, results))
