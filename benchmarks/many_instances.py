"""How many runs a second the exact reader carries out over an axis of instances, and one after the other.

Two clients in the plane with two samples each, over ten rounds, by method. Processor time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from _table import Row, run, take_turns

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


def results() -> Iterator[Row]:
    random = np.random.default_rng(0)
    half = random.integers(-8, 9, (COUNT, 4, 2, 2)) / 8
    A, b = half @ np.swapaxes(half, 2, 3) + np.eye(2) / 4, random.integers(-8, 9, (COUNT, 4, 2)) / 8
    instances = Instances(A, b, (2, 2), (Fraction(1, 2),) * 2, random.integers(-8, 9, (COUNT, 2)) / 8)
    parts = [{"A": A[0, j].tolist(), "b": b[0, j].tolist()} for j in range(4)]
    clients = [{"components": parts[:2]}, {"components": parts[2:]}]
    problem = build_problem({"kind": "quadratics", "clients": clients, "start": instances.start[0].tolist()})
    for spec in METHODS:
        method = build_method(spec)
        sides = {
            "together": lambda m=method: run_stacks(m, problem, instances, ROUNDS, ["gap"], StackRing()),
            "one": lambda m=method: run_exact(m, problem, ROUNDS, ["gap"], arithmetic=Arithmetic.FLOAT64),
        }
        seen = take_turns(sides, 9)
        rate = f"{COUNT / seen.median('together'):,.0f} and {1 / seen.median('one'):,.0f} a second"
        yield Row(
            f"{spec['kind']}, {COUNT} runs together over one by one",
            COUNT * seen.ratio("one", "together"),
            "times",
            note=rate,
        )


if __name__ == "__main__":
    sys.exit(run(__doc__, results))
