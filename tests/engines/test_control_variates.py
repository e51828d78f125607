"""Sampled seeds of methods with control variates against plain loops with the same plan."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from control_loops import Samples, saga, scaffold, svrg, vector

from boundcheck.engines.run import run
from boundcheck.engines.sampled import plan, run_sampled
from boundcheck.engines.sampled.paths import Path
from boundcheck.implementations.altered import OppositeControl
from boundcheck.methods.build import build
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Problem, clients_of

F = Fraction
EQUAL = [F(1, 3)] * 3
UNEQUAL = [F(1, 2), F(1, 3), F(1, 6)]
# three clients of two, one and two samples: other Hessians in every one, and in client 0
SAMPLES = [
    [([["1", "1/3"], ["1/3", "1/2"]], ["1", "-1/2"]), ([["1/2", "0"], ["0", "3/4"]], ["0", "1/3"])],
    [([["2/3", "-1/4"], ["-1/4", "1"]], ["-1", "1/5"])],
    [([["1/4", "0"], ["0", "1/2"]], ["1/2", "0"]), ([["1/4", "0"], ["0", "1/2"]], ["0", "-1"])],
]
START = ["1", "-1"]
UNIFORM2 = {"kind": "uniform", "size": 2}
OPTIONS = {"scaffold": "II", "scaffold_option_1": "I"}


def problem(weights: list[Fraction], whole_clients: bool = False) -> Problem:
    own = [c[:1] for c in SAMPLES] if whole_clients else SAMPLES
    clients = [{"components": [{"A": a, "b": b} for a, b in client]} for client in own]
    return build_problem({"kind": "quadratics", "clients": clients, "weights": weights, "start": START})


def data(number: Any, whole_clients: bool = False) -> list[Samples]:
    def matrix(rows: list[list[str]]) -> np.ndarray:
        return np.array([[number(F(v)) for v in row] for row in rows])

    def column(values: list[str]) -> np.ndarray:
        return np.array([number(F(v)) for v in values])

    own = [c[:1] for c in SAMPLES] if whole_clients else SAMPLES
    return [[(matrix(a), column(b)) for a, b in client] for client in own]


def minimiser(weights: list[Fraction], whole_clients: bool = False) -> np.ndarray:
    """By Cramer's rule."""
    a, b = np.array([[F(0)] * 2] * 2), vector([0, 0])
    for w, own in zip(weights, data(F, whole_clients), strict=True):
        a = a + w * sum(s[0] for s in own) / len(own)
        b = b + w * sum(s[1] for s in own) / len(own)
    det = a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]
    return vector([b[0] * a[1, 1] - a[0, 1] * b[1], a[0, 0] * b[1] - a[1, 0] * b[0]]) / det


def dist2(points: list[np.ndarray], least: np.ndarray) -> np.ndarray:
    return np.array([((x - least) ** 2).sum() for x in points])


SAMPLED = {
    "everyone": {"K": 3},
    "two of three": {"K": 2, "participation": UNIFORM2},
    "orders": {"E": 1, "participation": UNIFORM2},
    "epochs drawn": {"E": {"low": 1, "high": 2}, "participation": {"kind": "pattern", "cohorts": [[0, 1]]}},
    "fresh samples": {"K": 2, "batch": 1, "participation": UNIFORM2},
    "independent": {"K": 2, "participation": {"kind": "independent", "probabilities": ["1/2", "1/3", "3/4"]}},
    "in turn": {"K": 2, "batch": 2, "participation": {"kind": "pattern", "cohorts": [[0, 1], [2], []]}},
}


@pytest.mark.parametrize("path", ["numpy", "general"])
@pytest.mark.parametrize("kind", OPTIONS)
@pytest.mark.parametrize("case", SAMPLED)
def test_a_sampled_run_of_scaffold_is_the_loop_with_the_same_plan(case: str, kind: str, path: Path) -> None:
    own, weighted = problem(UNEQUAL), case == "independent"
    more = {"weights": "data"} if weighted else {}
    method = build({"kind": kind, "eta_l": "1/5", "eta_g": "1/2", "start": "gradient", **SAMPLED[case], **more})
    curve = run_sampled(method, own, 12, range(3, 6), ["dist2"], range(13), path=path)
    least = minimiser(UNEQUAL).astype(float)
    for row, seed in zip(curve.samples["dist2"], range(3, 6), strict=True):
        source = plan(method, clients_of(own), seed, 12)
        points = scaffold(
            data(float), np.array([1.0, -1.0]), source, 12, 0.2, 0.5, OPTIONS[kind], "gradient",
            *(([0.5, 1 / 3, 1 / 6], [0.5, 1 / 3, 0.75]) if weighted else ()),
        )  # fmt: skip
        np.testing.assert_allclose(row, dist2(points, least), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("path", ["numpy", "general"])
@pytest.mark.parametrize("kind", ["saga", "svrg", "svrg_random", "svrg_average"])
def test_a_sampled_run_of_saga_and_svrg_is_the_loop_with_the_same_plan(kind: str, path: Path) -> None:
    own, more = problem(EQUAL), {} if kind == "saga" else {"inner": 4}
    method = build({"kind": kind, "eta": "1/5", **more})
    curve = run_sampled(method, own, 12, range(3, 6), ["dist2"], range(13), path=path)
    least, start = minimiser(EQUAL).astype(float), np.array([1.0, -1.0])
    for row, seed in zip(curve.samples["dist2"], range(3, 6), strict=True):
        source = plan(method, clients_of(own), seed, 12)
        if kind == "saga":
            points = saga(data(float), start, source, 12, 0.2)
        else:
            points = svrg(data(float), start, source, 3, 4, 0.2, kind.removeprefix("svrg_").replace("svrg", "last"))
        np.testing.assert_allclose(row, dist2(points, least), rtol=1e-13, atol=1e-15)


def test_both_paths_know_the_sign_of_the_correction() -> None:
    method = build({"kind": "scaffold", "eta_l": "1/5", "K": 2, "start": "gradient"})
    wrong = replace(method, control=OppositeControl(start="gradient"))
    runs = [run_sampled(wrong, problem(EQUAL), 9, 2, ["dist2"], range(10), path=p) for p in ("numpy", "general")]
    np.testing.assert_allclose(runs[0].samples["dist2"], runs[1].samples["dist2"], rtol=1e-13)
    exact = run(wrong, problem(EQUAL), rounds=range(10), metrics=["dist2"])
    np.testing.assert_allclose(exact.values["dist2"], runs[1].samples["dist2"][0], rtol=1e-12)
    right = run(method, problem(EQUAL), rounds=range(10), metrics=["dist2"])
    assert abs(right.values["dist2"][9] / exact.values["dist2"][9] - 1) > 1e-3
