"""FedAvg as a stranger writes it: the right one agrees, and seven wrong ones are separated by their mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from corpus.loops import Loop, looped
from plain_fedavg import BUGS, LOOKS_LIKE, fedavg, scaled, weighted

import boundcheck as bc
from boundcheck.errors import BadInput, Unsupported
from boundcheck.judge.comparison import compare_implementation
from boundcheck.judge.task import Task
from boundcheck.pytest_plugin import Boundcheck

METHOD: dict[str, Any] = {"kind": "fedavg_sync", "K": 2, "eta_l": "1/10"}
LOGISTIC: dict[str, Any] = {"kind": "logistic_regression", "data": "breast_cancer", "clients": 3, "ridge": "1/10"}
ALIKE: dict[str, Any] = {"kind": "random_quadratics", "clients": 3, "d": 2, "seed": 1}


def test_the_right_one(boundcheck: Boundcheck) -> None:
    found = boundcheck.assert_matches(method=METHOD, run=fedavg, rounds=200)
    assert found.alike == ()
    assert found.tried > 40


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bugs(boundcheck: Boundcheck, bug: str) -> None:
    with pytest.raises(AssertionError, match="after round 1, coordinate 0"):
        boundcheck.assert_matches(method=METHOD, run=BUGS[bug], rounds=200)
    assert list(compare_implementation(METHOD, BUGS[bug]).mistakes) == [LOOKS_LIKE[bug]]


def test_numbers_of_a_difference_by_hand() -> None:
    """One client on the line: x = 3, gradient 2 x, K = 2 steps of 1/10: (8/10)^2 3 = 48/25; half of it: 2.43."""
    problem = {"kind": "quadratics", "clients": [{"A": [[2]], "b": [0]}], "start": [3]}
    found = compare_implementation(METHOD, BUGS["lr/2"], problem, rounds=3)
    assert found.difference is not None
    assert (found.difference.round, found.difference.what) == (1, "coordinate 0")
    assert found.difference.exact == "48/25"
    assert found.difference.got == pytest.approx(2.43)


def test_what_a_problem_does_not_show() -> None:
    found = compare_implementation(METHOD, BUGS["unweighted"], ALIKE, rounds=20)
    assert found.agrees
    assert "uniform weights" in found.alike
    assert "weights 0 and 2 swapped" in found.alike
    assert "cannot be told from the method: uniform weights" in found.reason


def test_unknown_factors_and_unknown_mistakes() -> None:
    found = compare_implementation(METHOD, scaled(0.7371), rounds=50)
    assert list(found.mistakes) == ["local step size times 0.7371"]
    found = compare_implementation(METHOD, weighted(1.037), rounds=50)
    assert list(found.mistakes) == ["models averaged with weights scaled by 1.037"]
    found = compare_implementation(
        METHOD, looped(Loop, share=lambda s, who: np.roll(s.task.weights, 1) ** 2), rounds=50
    )
    assert not found.agrees
    assert not found.mistakes
    assert "None of the" in found.reason


@pytest.mark.parametrize("bug", ["", "unweighted"])
def test_metrics_instead_of_iterates(bug: str) -> None:
    def gaps(task: Task, seed: int) -> dict[str, Any]:
        points = (BUGS[bug] if bug else fedavg)(task, seed)
        return {name: [task.problem.metric(name, x) for x in points] for name in ("gap", "grad2")}

    found = compare_implementation(METHOD, gaps, rounds=30)
    assert found.agrees == (not bug)
    if bug:
        assert found.difference is not None
        assert found.difference.what == "gap"
        assert LOOKS_LIKE[bug] in found.mistakes


def test_problems_that_are_not_quadratic() -> None:
    method = {**METHOD, "eta_l": "1"}
    assert compare_implementation(method, fedavg, LOGISTIC, rounds=30).agrees
    found = compare_implementation(method, BUGS["one step fewer"], LOGISTIC, rounds=30)
    assert not found.agrees
    assert "one local step fewer" in found.mistakes


def test_single_precision() -> None:
    def single(task: Task, seed: int) -> Any:
        return np.asarray(fedavg(task, seed), dtype=np.float32)

    found = compare_implementation(METHOD, single, rounds=60)
    assert found.agrees
    assert "The numbers are in single precision" in found.reason
    refused = compare_implementation(METHOD, single, tolerance=1e-9, rounds=60)
    assert not refused.agrees
    assert "which rounding in single precision explains" in refused.reason
    wrong = compare_implementation(METHOD, lambda t, s: np.asarray(BUGS["lr/2"](t, s), dtype=np.float32), rounds=60)
    assert list(wrong.mistakes) == [LOOKS_LIKE["lr/2"]]


def test_the_tolerance_of_a_precision_covers_its_rounding() -> None:
    """FedAvg carried out in float32 and float16, each operation rounded, with constant and with falling steps."""

    def rounded(task: Task, dtype: Any) -> Any:
        x, path = task.start.astype(dtype), list[Any]()
        for r in range(task.rounds):
            models = list[Any]()
            for client in task.clients:
                y = x
                for _ in range(int(task.parameters["E"])):
                    step = dtype(task.step_sizes[r]) * client.gradient(y.astype(float)).astype(dtype)
                    y = (y - step).astype(dtype)
                models.append(dtype(1 / len(task.clients)) * y)
            x = np.sum(models, axis=0, dtype=dtype)
            path.append(x)
        return path

    for steps in ({"eta": "1/10"}, {"eta0": "1/10"}):
        for dtype in (np.float32, np.float16):
            method = {"kind": "fedavg", "E": 2, **steps}
            found = compare_implementation(method, lambda t, s, d=dtype: rounded(t, d), rounds=60)
            assert found.agrees, found


def test_a_run_that_diverges() -> None:
    method = {**METHOD, "eta_l": "20"}
    problem = {"kind": "quadratics", "clients": [{"A": [[2]], "b": [0]}, {"A": [[1]], "b": [1]}], "start": [3]}
    with np.errstate(over="ignore", invalid="ignore"):
        assert compare_implementation(method, fedavg, problem).agrees
        assert not compare_implementation(method, BUGS["lr/2"], problem).agrees


def test_bad_input() -> None:
    nine = {"kind": "fedavg_async", "K": 1, "eta_l": 1, "times": [1] * 9}
    for method, run, how, error, said in (
        (METHOD, fedavg, {"tolerance": 0}, BadInput, "tolerance = 0"),
        (METHOD, [[1.0]], {}, BadInput, r"run = \[\[1.0\]\] is not allowed; it must be a function"),
        (METHOD, fedavg, {"rounds": 0}, BadInput, "rounds = 0"),
        (nine, fedavg, {}, Unsupported, "no problem of at most 8 clients"),
    ):
        with pytest.raises(error, match=said):
            bc.judge(method, run, **how)  # pyright: ignore


def test_a_proximal_weight_of_exact_solves() -> None:
    """One client with f(y) = y^2/2 goes from x to mu x/(1 + mu)."""
    problem = {"kind": "quadratics", "clients": [{"A": [[1]], "b": [0]}], "start": [6]}
    method = {"kind": "fedprox", "mu": "1/2", "solver": "exact"}

    def solved(weight: float) -> Any:
        def powers(task: Task, seed: int) -> Any:
            return 6 * (weight / (1 + weight)) ** np.arange(task.rounds + 1)

        return compare_implementation(method, powers, problem, rounds=5)

    assert solved(0.5).agrees
    assert list(solved(0.25).mistakes) == ["proximal weight halved"]
    assert list(solved(1.0).mistakes) == ["proximal weight doubled"]


def test_points_after_the_look_ahead_that_are_those_of_a_mistake_too() -> None:
    """On quadratics momentum that comes a round early has the points of the right method after its look-ahead."""

    def early(task: Task, seed: int) -> Any:
        x = y = task.start
        path = list[Any]()
        for k in range(task.rounds):
            new = y - 0.1 * sum(c.weight * c.gradient(y) for c in task.clients)
            y, x = new + (k + 1) / (k + 4) * (new - x), new
            path.append(x)
        return path

    method = {"kind": "accelerated_gradient", "eta": "1/10"}
    found = compare_implementation(method, early, rounds=30)
    assert found.agrees
    assert "momentum one round early" in found.alike
    assert "also the points of 'momentum one round early'" in found.reason
    logistic = {**LOGISTIC, "clients": 2}
    told = compare_implementation(method, early, logistic, rounds=30)
    assert list(told.mistakes) == ["momentum one round early"]
