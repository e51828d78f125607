"""Many instances at once are the exact engine's runs of each, whatever the method."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact.each import Each, EachStep
from boundcheck.engines.exact.run import run_exact
from boundcheck.engines.exact.stacks import Instances, StackRing, mean_stacks, run_stacks
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.setting.metrics import needed_for, of_a_round

CLIENTS, SAMPLES, DIM, COUNT = 3, 2, 2, 4
GRID = [0, 1, 2, 3, 7, 10]
PAIRS = {"kind": "uniform", "size": 2}
METHODS: list[dict[str, Any]] = [
    {"kind": "gradient_descent", "eta": "1/10"},
    {"kind": "heavy_ball", "eta": "1/10", "momentum_g": "1/2"},
    {"kind": "accelerated_gradient", "eta": "1/10"},
    {"kind": "fedavg", "E": 2, "eta0": "1/4"},
    {"kind": "sync_sgd", "eta": "1/10"},
    {"kind": "fedavg_rr", "eta_l": "1/10", "E": 2},
    {"kind": "fedshuffle", "eta_l": "1/10", "E": 2, "participation": PAIRS},
    {"kind": "fedshuffle_mvr", "eta_l": "1/10", "a": "1/2", "E": 1},
    {"kind": "scaffold", "eta_l": "1/10", "K": 2},
    {"kind": "svrg", "eta": "1/10", "inner": 2},
    {"kind": "saga", "eta": "1/10"},
    {"kind": "uniform_sampling", "m": 2, "K": 3, "eta_l": "1/10", "batch": 1},
    {"kind": "fedfix", "K": 2, "eta_l": "1/10", "dt": "1", "times": ["1/2", "2", "3"]},
    {"kind": "block_averaging", "tau": 2, "eta": "1/10"},
    {"kind": "feddane", "mu": "2", "K": 2},
]


def some() -> tuple[Instances, list[Any]]:
    """Random instances of short binary fractions, together and one by one."""
    random = np.random.default_rng(0)
    samples = CLIENTS * SAMPLES
    half = random.integers(-8, 9, (COUNT, samples, DIM, DIM)) / 8
    A = half @ np.swapaxes(half, 2, 3) + np.eye(DIM) / 4
    b, start = random.integers(-8, 9, (COUNT, samples, DIM)) / 8, random.integers(-8, 9, (COUNT, DIM)) / 8
    sizes, weights = (SAMPLES,) * CLIENTS, (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    problems: list[Any] = []
    for k in range(COUNT):
        parts = [{"A": A[k, j].tolist(), "b": b[k, j].tolist()} for j in range(samples)]
        clients = [{"components": parts[SAMPLES * i : SAMPLES * (i + 1)]} for i in range(CLIENTS)]
        spec = {
            "kind": "quadratics",
            "clients": clients,
            "start": start[k].tolist(),
            "weights": list(map(str, weights)),
        }
        problems.append(build_problem(spec))
    return Instances(A, b, sizes, weights, start), problems


@pytest.mark.parametrize("spec", METHODS, ids=lambda spec: str(spec["kind"]))
def test_stacks_are_the_runs_of_each(spec: dict[str, Any]) -> None:
    instances, problems = some()
    method = build_method(spec)
    names = ["gap", "dist2", "grad2"]
    for name in ("round_gap", "virtual_gap", "movement2", "drift", "work_grad2", "discrepancy"):
        if name in of_a_round() and needed_for(name, method) is None:
            names.append(name)
    try:
        run_exact(method, problems[0], [0], names, arithmetic=Arithmetic.FLOAT64)
    except Exception:  # the method has no metric of a round
        names = names[:3]
    found = run_stacks(method, problems[0], instances, GRID, names, StackRing())
    for k, problem in enumerate(problems):
        curve = run_exact(method, problem, GRID, names, arithmetic=Arithmetic.FLOAT64)
        for name in names:
            np.testing.assert_allclose(found[name][k], curve.values[name], rtol=1e-8, atol=1e-11, err_msg=name)


@pytest.mark.parametrize("kind", ["gradient_descent", "sync_sgd"])
def test_means_by_doubling_are_those_of_the_rounds(kind: str) -> None:
    instances, problems = some()
    method = build_method({"kind": kind, "eta": "1/10"})
    period, means = mean_stacks(method, problems[0], instances, 3, ["gap"], StackRing())
    every = run_stacks(method, problems[0], instances, range(8 * period), ["gap"], StackRing())["gap"]
    for k in range(4):
        np.testing.assert_allclose(means["gap"][:, k], every[:, : period << k].mean(1), rtol=1e-9)


@pytest.mark.parametrize("kind", ["gradient_descent", "heavy_ball", "nesterov", "sync_sgd"])
def test_numbers_of_each_instance_are_those_of_its_own_method(kind: str) -> None:
    """1 stands for all steps, so that a shortcut of a factor 1 would lose the values."""
    instances, problems = some()
    random = np.random.default_rng(0)
    given = {"eta": [Fraction(int(v), 1000) for v in random.integers(20, 200, size=len(instances))]}
    if kind in ("heavy_ball", "nesterov"):
        given["momentum_g"] = [Fraction(int(v), 1000) for v in random.integers(100, 900, size=len(instances))]
    first = {"eta": Fraction(1), "momentum_g": Fraction(1, 2)}
    many = {name: Each(first[name], np.array([float(v) for v in own])) for name, own in given.items()}
    found = run_stacks(build_method({"kind": kind, **many}), problems[0], instances, GRID, ["gap"], StackRing())
    for k, problem in enumerate(problems):
        method = build_method({"kind": kind, **{name: own[k] for name, own in given.items()}})
        curve = run_exact(method, problem, GRID, ["gap"], arithmetic=Arithmetic.FLOAT64)
        np.testing.assert_allclose(found["gap"][k], curve.values["gap"], rtol=1e-8, atol=1e-11)


def test_steps_that_change_with_the_round_are_those_of_each_instance() -> None:
    instances, problems = some()
    scale = np.linspace(0.02, 0.1, len(instances))
    method = replace(
        build_method({"kind": "gradient_descent", "eta": "1"}), schedule=EachStep(lambda r: scale / (r + 1))
    )
    found = run_stacks(method, problems[0], instances, [0, 1, 2, 5], ["gap"], StackRing())
    for k, problem in enumerate(problems):
        own = build_method({"kind": "gradient_descent", "eta": f"{float(scale[k])!r}/(r + 1)"})
        curve = run_exact(own, problem, [0, 1, 2, 5], ["gap"], arithmetic=Arithmetic.FLOAT64)
        np.testing.assert_allclose(found["gap"][k], curve.values["gap"], rtol=1e-8, atol=1e-11)
