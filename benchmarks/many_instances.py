"""How many runs a second the exact reader carries out over an axis of instances, and one after the other.

Two clients in the plane with two samples each, over ten rounds: `python benchmarks/many_instances.py`. Processor time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact.run import run_exact
from boundcheck.engines.exact.stacks import Instances, StackRing, run_stacks
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem

COUNT, ROUNDS = 2048, list(range(11))
METHODS: list[dict[str, Any]] = [
    {"kind": "gradient_descent", "eta": "1/10"},
    {"kind": "fedavg_sgd", "eta_l": "1/10", "E": 1, "participation": {"kind": "uniform", "size": 1}},
    {"kind": "fedshuffle", "eta_l": "1/10", "E": 1},
    {"kind": "scaffold", "eta_l": "1/10", "K": 2},
    {"kind": "fedavg_async", "eta_l": "1/10", "K": 2, "times": ["1", "2"]},
]


def seconds(function: Callable[[], Any], times: int) -> float:
    """The least processor time of several calls, in seconds."""
    found: list[float] = []
    for _ in range(times):
        begun = time.process_time()
        function()
        found.append(time.process_time() - begun)
    return min(found)


def main() -> None:
    random = np.random.default_rng(0)
    half = random.integers(-8, 9, (COUNT, 4, 2, 2)) / 8
    A, b = half @ np.swapaxes(half, 2, 3) + np.eye(2) / 4, random.integers(-8, 9, (COUNT, 4, 2)) / 8
    instances = Instances(A, b, (2, 2), (Fraction(1, 2),) * 2, random.integers(-8, 9, (COUNT, 2)) / 8)
    parts = [{"A": A[0, j].tolist(), "b": b[0, j].tolist()} for j in range(4)]
    clients = [{"components": parts[:2]}, {"components": parts[2:]}]
    problem = build_problem({"kind": "quadratics", "clients": clients, "start": instances.start[0].tolist()})
    print(f"{'method':<20} {'together, a second':>20} {'one by one':>12} {'factor':>8}")
    for spec in METHODS:
        method = build_method(spec)
        many = COUNT / seconds(lambda m=method: run_stacks(m, problem, instances, ROUNDS, ["gap"], StackRing()), 5)
        one = 1 / seconds(lambda m=method: run_exact(m, problem, ROUNDS, ["gap"], arithmetic=Arithmetic.FLOAT64), 20)
        print(f"{spec['kind']:<20} {many:>20,.0f} {one:>12,.0f} {many / one:>8.0f}")


if __name__ == "__main__":
    main()
