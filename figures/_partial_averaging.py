"""What the figures of partial averaging share: the two methods, the instances, and one sampled run looked into.

S. Lee, A. K. Sahu, C. He and S. Avestimehr, "Partial Model Averaging in Federated Learning", Figures 2 and 3: ResNet20
on CIFAR-10 with 128 workers. Here: quadratics, whose expectations the exact engine has, and softmax regression on the
digits of scikit-learn with 16 workers, by sampled runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import _common as c
import numpy as np

from boundcheck.engines.simulate.lowering import lower
from boundcheck.engines.simulate.paths import choose_path, known_clients
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Problem, flat_arrays

KINDS = ("periodic", "partial")
COLOURS = {"periodic": c.BOUND, "partial": c.METRIC}
TAU, SEEDS = 8, 5
DIGITS = {
    "kind": "softmax_regression",
    "data": "digits",
    "clients": 16,
    "split": "random",
    "seed": 0,
    "ridge": "1/100",
}
DIGITS_STEP, BATCH = "1/2", 4


def method(kind: str, step: Any, **more: Any) -> dict[str, Any]:
    """Periodic or partial averaging with the interval of the figures."""
    return {"kind": f"{kind}_averaging", "tau": TAU, "eta": step, **more}


def on_digits(kind: str) -> dict[str, Any]:
    """The methods of the digits."""
    return method(kind, DIGITS_STEP, batch=BATCH)


@dataclass(frozen=True)
class Trace:
    """One sampled run. discrepancy: by iteration, from 0. least, whole: the least gap of a local model and that of the
    averaged one, after `at` iterations.
    """

    discrepancy: c.Array
    at: c.Array
    least: c.Array
    whole: c.Array


def trace(problem: Problem, spec: Mapping[str, Any], iterations: int, seed: int, *, losses: bool) -> Trace:
    """A run of that seed, its local models looked at after every iteration.

    losses: whether gaps are measured, at the end of each period before its last step: the models are then as far apart
    as they get under periodic averaging.
    """
    chosen, arrays = build_method(spec), flat_arrays(problem)
    lowered = lower(chosen, known_clients(problem, arrays), iterations + 1)
    runner = choose_path("auto", problem, lowered, arrays)
    seeds, room = np.array([seed], dtype=np.uint64), np.empty((1, 1, problem.dim))
    state = runner.begin(seeds, np.array([float(v) for v in problem.start]))
    apart = np.empty(iterations + 1)
    rows: list[tuple[int, float, float]] = []
    for k in range(iterations + 1):
        whole, models = state[0, 0], state[0, 0] + state[0, 1:]  # clients keep how far their models are from the mean
        apart[k] = (state[0, 1:] ** 2).sum(1).mean()
        if losses and k % TAU == TAU - 1:
            gaps = problem.metric_many("gap", np.concatenate([models, whole[None]]))
            rows.append((k, float(gaps[:-1].min()), float(gaps[-1])))
        runner.advance(seeds, state, k, np.array([k + 1]), room)
    table = np.array(rows, dtype=float).reshape(-1, 3)
    return Trace(apart, table[:, 0], table[:, 1], table[:, 2])


def digits() -> Problem:
    """The digits, split at random over 16 workers: IID data."""
    return build_problem(DIGITS)
