"""Random methods as a stranger writes them: right ones are not refuted, wrong ones are, and the mistake is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sampled_fedavg import BUGS, Run, averaged, shuffled

from boundcheck.errors import BadInput
from boundcheck.judge.comparison import compare_implementation
from boundcheck.judge.task import Task

FEDSHUFFLE: dict[str, Any] = {
    "kind": "fedshuffle",
    "E": 1,
    "eta_l": "1/10",
    "participation": {"kind": "uniform", "size": 2},
}
FEDAVG: dict[str, Any] = {"kind": "uniform_sampling", "K": 2, "eta_l": "1/10", "m": 2}
SUM_ONE: dict[str, Any] = {"kind": "fedavg_rr", "eta_l": "1/20", "participation": {"kind": "uniform", "size": 2}}
LOGISTIC: dict[str, Any] = {"kind": "logistic_regression", "data": "breast_cancer", "clients": 3, "ridge": "1/10"}


SUM = shuffled(weights="sum one", divided=False)  # its coefficients depend on the cohort: no limits are certain


@pytest.mark.parametrize(
    ("method", "run", "how"),
    [(FEDSHUFFLE, shuffled(), "expectation"), (FEDAVG, averaged(), "expectation"), (SUM_ONE, SUM, "two samples")],
)
def test_right_ones(method: dict[str, Any], run: Run, how: str) -> None:
    found = compare_implementation(method, run, rounds=2, seeds=64)
    assert found.agrees, found.reason
    assert found.how == how
    assert "no difference found in 64 seeds" in found.reason
    assert found.tried > 50


SLOW = ("samples: replacement", "uniform weights", "models instead of differences")  # 1,024 seeds each


@pytest.mark.parametrize("name", [pytest.param(b, marks=pytest.mark.slow) if b in SLOW else b for b in BUGS])
def test_wrong_ones(name: str) -> None:
    method = FEDAVG if "drawn" in name else FEDSHUFFLE
    make = averaged if "drawn" in name else shuffled
    rounds = 5 if name == "samples: replacement" else 2
    found = compare_implementation(method, make(**BUGS[name]), rounds=rounds, seeds=1024)
    assert not found.agrees
    assert found.difference is not None
    assert name in found.mistakes, found.reason


def test_a_seed_beyond_all_limits_refutes_at_once() -> None:
    def far(task: Task, seed: int) -> Any:
        return np.asarray(averaged()(task, seed)) * 10

    found = compare_implementation(FEDAVG, far, rounds=3, seeds=512)
    assert "beyond what any order of samples and any cohort can reach" in found.reason
    assert found.evidence["seeds"] < 512


def test_metrics_alone() -> None:
    def gaps(task: Task, seed: int, wrong: float = 1.0) -> Any:
        return {"gap": [wrong * float(task.problem.metric("gap", x)) for x in averaged()(task, seed)]}

    assert compare_implementation(FEDAVG, gaps, rounds=3, seeds=128).agrees
    found = compare_implementation(FEDAVG, lambda task, seed: gaps(task, seed, 1.2), rounds=3, seeds=512)
    assert not found.agrees
    assert found.difference is not None
    assert found.difference.what == "the mean of gap"


def test_two_samples_where_no_expectation_is_known() -> None:
    method = {**FEDSHUFFLE, "eta_l": "4"}
    right = compare_implementation(method, shuffled(), LOGISTIC, rounds=1, seeds=64)
    assert right.agrees, right.reason
    assert right.how == "two samples"
    assert "The reference is a sample" in right.reason
    wrong = compare_implementation(method, shuffled(divided=False), LOGISTIC, rounds=1, seeds=64)
    assert not wrong.agrees


def test_refusals() -> None:
    with pytest.raises(BadInput, match="seeds = 8"):
        compare_implementation(FEDAVG, averaged(), seeds=8)


@pytest.mark.slow
def test_rate_of_false_alarms() -> None:
    """500 right runs at a rate of 5 %: at most 25 alarms are expected, and 15 more are 3 standard deviations."""
    alarms, tries = 0, 500
    for k in range(tries):
        run = averaged(shift=64 * k)
        alarms += not compare_implementation(FEDAVG, run, rounds=2, seeds=64, rate=0.05).agrees
    assert alarms <= 25 + 3 * np.sqrt(25)
