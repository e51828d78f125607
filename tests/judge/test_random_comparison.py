"""Random methods as a stranger writes them: right ones are not refuted, wrong ones are, and the mistake is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from corpus.loops import Loop, Reshuffled, looped
from corpus.wrong_samples import FedShuffle

from boundcheck.errors import BadInput
from boundcheck.judge.comparison import compare_implementation
from boundcheck.judge.task import Task

U2: dict[str, Any] = {"participation": {"kind": "uniform", "size": 2}}
FEDSHUFFLE: dict[str, Any] = {"kind": "fedshuffle", "E": 1, "eta_l": "1/10", **U2}
FEDAVG: dict[str, Any] = {"kind": "uniform_sampling", "K": 2, "eta_l": "1/10", "m": 2}
SUM_ONE: dict[str, Any] = {"kind": "fedavg_rr", "eta_l": "1/20", **U2}
LOGISTIC: dict[str, Any] = {"kind": "logistic_regression", "data": "breast_cancer", "clients": 3, "ridge": "1/10"}


class Averaged(FedShuffle):
    """K whole gradients of two clients, and differences with weights w_i/p_i."""

    batches, direction = Loop.batches, Loop.direction


class SumOne(Reshuffled):
    """Its coefficients depend on the cohort: no limits are certain."""

    size = 2


def own_weights(s: Any, cohort: Any) -> Any:
    return s.task.weights[list(cohort)]


@pytest.mark.parametrize(
    ("method", "base", "how"),
    [(FEDSHUFFLE, FedShuffle, "expectation"), (FEDAVG, Averaged, "expectation"), (SUM_ONE, SumOne, "two samples")],
)
def test_right_ones(method: dict[str, Any], base: type[Loop], how: str) -> None:
    found = compare_implementation(method, looped(base), rounds=2, seeds=64)
    assert found.agrees, found.reason
    assert found.how == how
    assert "no difference found in 64 seeds" in found.reason
    assert found.tried > 50


WRONG: dict[str, tuple[dict[str, Any], type[Loop], dict[str, Any]]] = {
    "clients drawn with replacement": (FEDAVG, Averaged, {"cohort": lambda s: s.rng.integers(s.n, size=2)}),
    "weights not divided by p_i": (FEDSHUFFLE, FedShuffle, {"share": own_weights}),
    "one client more in a cohort": (
        FEDSHUFFLE, FedShuffle, {"size": 3, "share": lambda s, who: own_weights(s, who) * s.n / 2},
    ),
    "models instead of differences": (
        FEDSHUFFLE, FedShuffle, {"visit": Loop.visit, "server": lambda s, x, mean, who: mean},
    ),
}  # fmt: skip
SLOW = ("models instead of differences",)  # 1,024 seeds


@pytest.mark.parametrize("name", [pytest.param(b, marks=pytest.mark.slow) if b in SLOW else b for b in WRONG])
def test_wrong_ones(name: str) -> None:
    method, base, pieces = WRONG[name]
    found = compare_implementation(method, looped(base, **pieces), rounds=2, seeds=1024)
    assert not found.agrees
    assert found.difference is not None
    assert name in found.mistakes, found.reason


def test_a_seed_beyond_all_limits_refutes_at_once() -> None:
    def far(task: Task, seed: int) -> Any:
        return np.asarray(looped(Averaged)(task, seed)) * 10

    found = compare_implementation(FEDAVG, far, rounds=3, seeds=512)
    assert "beyond what any order of samples and any cohort can reach" in found.reason
    assert found.evidence["seeds"] < 512


def test_metrics_alone() -> None:
    def gaps(task: Task, seed: int, wrong: float = 1.0) -> Any:
        return {"gap": [wrong * float(task.problem.metric("gap", x)) for x in looped(Averaged)(task, seed)]}

    assert compare_implementation(FEDAVG, gaps, rounds=3, seeds=128).agrees
    found = compare_implementation(FEDAVG, lambda task, seed: gaps(task, seed, 1.2), rounds=3, seeds=512)
    assert not found.agrees
    assert found.difference is not None
    assert found.difference.what == "the mean of gap"


def test_two_samples_where_no_expectation_is_known() -> None:
    method = {**FEDSHUFFLE, "eta_l": "4"}
    right = compare_implementation(method, looped(FedShuffle), LOGISTIC, rounds=1, seeds=64)
    assert right.agrees, right.reason
    assert right.how == "two samples"
    assert "The reference is a sample" in right.reason
    undivided = looped(FedShuffle, direction=Loop.direction)
    assert not compare_implementation(method, undivided, LOGISTIC, rounds=1, seeds=64).agrees
    with pytest.raises(BadInput, match="seeds = 8"):
        compare_implementation(FEDAVG, looped(Averaged), seeds=8)


@pytest.mark.slow  # 500 comparisons of 64 seeds
def test_rate_of_false_alarms() -> None:
    """500 right runs at a rate of 5 %: at most 25 alarms are expected, and 15 more are 3 standard deviations."""
    alarms, run = 0, looped(Averaged)
    for k in range(500):
        found = compare_implementation(
            FEDAVG, lambda task, seed, k=k: run(task, seed + 64 * k), rounds=2, seeds=64, rate=0.05
        )
        alarms += not found.agrees
    assert alarms <= 25 + 3 * np.sqrt(25)
