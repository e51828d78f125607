"""The named checks: right implementations pass, each wrong one fails the check that is named for it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import boundcheck as bc
from boundcheck.judge.findings import Status
from boundcheck.judge.reference import sampled_iterates
from boundcheck.judge.task import Task
from tests.judge.checks.wrong_fedavg import BATCHES, FULL, MOMENTUM, RIGHT, SLOWING, SOME, WRONG

PARTIAL_CHECKS = {
    "seeds_differ",
    "unbiased_participation",
    "cohorts_are_drawn_anew",
    "choices_have_their_law",
    "mean_after_k_rounds",
}
U2 = {"kind": "uniform", "size": 2}
TIMES = [1, 2, "7/2"]
# Every shipped kind of method, and participation, momentum, corrections and schedules of all sorts.
METHODS: list[dict[str, Any]] = [
    {"kind": "scgd", "E": 2, "eta": "1/10"},
    {"kind": "gradient_descent", "eta": "1/10"},
    {"kind": "fedavg", "E": 2, "eta0": "1/10", "size": 2},
    {"kind": "fedavg_reshuffled", "E": 2, "eta": "1/10"},
    {"kind": "fedrr", "eta": "1/10"},
    {"kind": "local_rr", "eta": "1/10"},
    {"kind": "fedavg_rr", "eta_l": "1/10", "batch": 2, "participation": {"kind": "with_replacement", "size": 2}},
    {"kind": "fedavg_rr", "eta_l": "1/10", "participation": {"kind": "pattern", "cohorts": [[0, 1], [2]]}},
    {"kind": "fedavg_rr", "eta_l": "1/10", "momentum": {"a": "1/2", "form": "practical"}, "participation": U2},
    {"kind": "fedavg_sgd", "eta_l": "1/10", "E": 2},
    {"kind": "fedavg_min", "eta_l": "1/10"},
    {"kind": "fedavg_mean", "eta_l": "1/10", "participation": U2},
    {"kind": "fedavg_weighted", "eta_l": "1/10", "K": 2, "participation": U2},
    {"kind": "fednova", "eta": "1/10", "steps": [1, 2, 3]},
    {"kind": "fednova", "eta": "1/10", "eta_g": 2, "participation": U2},
    {"kind": "fedshuffle_nova", "eta_l": "1/10", "eta_g": 2},
    {"kind": "fedshuffle_nova_rr", "eta_l": "1/10", "participation": U2},
    {"kind": "fedshuffle", "eta_l": "1/10", "participation": {"kind": "importance", "b": 2}},
    {"kind": "fedshuffle_ascending", "eta_l": "1/10"},
    {
        "kind": "fedshuffle_sum_one",
        "eta_l": "1/10",
        "participation": {"kind": "independent", "probabilities": ["1/2", "1/3", "3/4"]},
    },
    {"kind": "fedshuffle_unfinished", "eta_l": "1/10", "missed": [0, 1, 1], "E": 2},
    {"kind": "fedshuffle_gen", "eta_l": "1/10", "E": {"low": 1, "high": 2}},
    {"kind": "fedshuffle_gen", "eta_l": "1/10", "E": [1, 2, 3], "c": "max", "weights": "nova"},
    {"kind": "fedshuffle_mvr", "eta_l": "1/10", "a": "1/2"},
    {"kind": "fedprox", "mu": 1, "eta": "1/10", "E": 2, "participation": "uniform", "K": 2},
    {"kind": "dane", "mu": 1},
    {"kind": "dane", "mu": 1, "steps": 3, "eta": "1/10"},
    {"kind": "feddane", "mu": 1, "K": 2},
    {"kind": "fedavg_sync", "K": 3, "eta_l": "1/10"},
    {"kind": "fedavg_async", "K": 2, "eta_l": "1/10", "times": TIMES},
    {"kind": "fedfix", "K": 2, "eta_l": "1/10", "times": TIMES, "dt": 1},
    {"kind": "fedbuff", "K": 2, "eta_l": "1/10", "times": TIMES, "m": 2},
    {"kind": "centralised", "eta_l": "1/10", "K": 3},
    {"kind": "md_sampling", "K": 2, "eta_l": "1/10", "m": 2},
    {"kind": "uniform_sampling", "K": 2, "eta_l": "1/10", "m": 2},
    {"kind": "biased_sampling", "K": 2, "eta_l": "1/10", "cohorts": [[0, 1], [2]]},
    {"kind": "sync_sgd", "eta": "1/10"},
    {"kind": "periodic_averaging", "tau": 3, "eta": "1/10"},
    {"kind": "partial_averaging", "tau": 3, "eta": "1/10"},
    {"kind": "block_averaging", "tau": 3, "eta": "1/10"},
    {"kind": "scaffold", "eta_l": "1/10", "K": 2},
    {"kind": "scaffold_option_1", "eta_l": "1/10", "K": 2, "participation": U2},
    {"kind": "saga", "eta": "1/10"},
    {"kind": "svrg", "eta": "1/10", "inner": 2},
    {"kind": "svrg_average", "eta": "1/10", "inner": 2},
    {"kind": "svrg_random", "eta": "1/10", "inner": 2},
    {"kind": "heavy_ball", "eta": "1/10", "momentum_g": "1/2"},
    {"kind": "nesterov", "eta": "1/10", "momentum_g": "1/2"},
    {"kind": "accelerated_gradient", "eta": "1/10"},
    {"kind": "fista", "eta": "1/10"},
    {"kind": "fedavgm", "eta_l": "1/10", "momentum_g": "1/2", "E": 2, "participation": U2},
    {"kind": "composed", "eta": "1/(r+10)", "local": {"part": "gradient_steps", "E": 2}, "aggregation": "sum_one"},
]
FAST = ("scgd", "dane", "fedavg_async", "partial_averaging", "scaffold_option_1", "nesterov")


def engine(task: Task, seed: int) -> Any:
    """The sampled engine as an implementation of every method."""
    return sampled_iterates(task.method, task.problem, range(task.rounds + 1), range(seed, seed + 1))[0]


@pytest.mark.parametrize(
    "spec", [FULL, SOME, SLOWING, MOMENTUM, BATCHES], ids=["full", "some", "slowing", "momentum", "batches"]
)
def test_the_right_one_passes(spec: dict[str, Any]) -> None:
    found = bc.judge(spec, RIGHT, seeds=40, checks="all")
    found.assert_passed()
    assert found.count(Status.FAILED) == 0
    assert found.count(Status.PASSED) >= 15
    asked = {r.check for r in found.results if r.status is not Status.NOT_ASKED}
    assert asked >= PARTIAL_CHECKS if spec is SOME else not asked & PARTIAL_CHECKS


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_one_fails_its_check(name: str) -> None:
    wrong = WRONG[name]
    found = bc.judge(wrong.spec, wrong.run, checks=[wrong.caught_by], seeds=150)[wrong.caught_by]
    assert found.status is Status.FAILED, repr(found)
    assert not found.rate or found.rate <= 1e-6
    if found.parting is not None:
        assert found.parting.round >= 1
        Fraction(found.parting.expected)
    if wrong.client:
        assert found.parting is not None
        assert found.parting.client == wrong.client


def label(spec: dict[str, Any]) -> str:
    return ",".join(str(v) for v in spec.values())


@pytest.mark.parametrize("spec", [m for m in METHODS if m["kind"] in FAST], ids=label)
def test_methods_as_the_engine_runs_them_pass(spec: dict[str, Any]) -> None:
    found = bc.judge(spec, engine, seeds=16, checks="all")
    found.assert_passed()
    assert found.count(Status.PASSED) >= 12


@pytest.mark.slow  # 52 methods, several minutes
@pytest.mark.parametrize("spec", METHODS, ids=label)
def test_every_method_as_the_engine_runs_it_passes(spec: dict[str, Any]) -> None:
    found = bc.judge(spec, engine, seeds=150, checks="all")
    found.assert_passed()
    assert found.count(Status.PASSED) >= (3 if spec["kind"] == "svrg_random" else 12), repr(found)


def test_every_shipped_kind_is_among_them() -> None:
    from boundcheck.methods.build import kinds

    # the sampled engine, which is the implementation here, has no functions of a round
    assert {m["kind"] for m in METHODS} == set(kinds()) - {"fedlin", "mime"}
