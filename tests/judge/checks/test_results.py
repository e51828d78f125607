"""Results of named checks: words, replay, expected failures, what is not asked, and the pytest parametriser."""

from __future__ import annotations

import json
import re
import textwrap
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import boundcheck as bc
from boundcheck import pytest_plugin
from boundcheck.errors import BoundcheckError, UnknownName
from boundcheck.judge.checks.counts import Event, refuted, smallest
from boundcheck.judge.checks.outcomes import Outcomes
from boundcheck.judge.checks.result import CheckResult
from boundcheck.judge.checks.table import CHECKS
from boundcheck.judge.findings import Status
from boundcheck.judge.task import Task
from tests.judge.checks.wrong_fedavg import FULL, RIGHT, WRONG

pytest_plugins = ["pytester"]
QUICK = ["exact_after_one_round", "unequal_weights", "changing_step_size"]
UNWEIGHTED = WRONG["unweighted"].run


def test_names_and_sentences() -> None:
    names = [c.name for c in CHECKS]
    assert len(names) == len(set(names)) >= 15
    assert all(c.sentence.endswith(".") and c.sentence.count(".") == 1 for c in CHECKS)


def test_a_failure_says_where_they_part() -> None:
    found = bc.judge(FULL, UNWEIGHTED, checks=QUICK)
    assert not found.ok
    assert [r.status for r in found.results] == [Status.FAILED, Status.FAILED, Status.NOT_ASKED]
    parting = found["unequal_weights"].parting
    assert parting is not None
    # by hand, of the printed instance: weights 1/3, 1/5, 7/15; the middle client's is not that far from 1/3
    assert parting.round == 1
    assert Fraction(parting.expected) == pytest.approx(
        _one_round(found["unequal_weights"])[parting.coordinate], rel=1e-12
    )
    text = repr(found["unequal_weights"])
    for words in ("round 1", "client", "expected", "got", "weights 1/3, 1/5, 7/15", "Smallest error", "failures 0"):
        assert words in text
    assert "<table>" in found._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert "failed" in found["unequal_weights"]._repr_html_()  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(AssertionError, match="2 failed"):
        found.assert_passed()


def _one_round(result: CheckResult) -> list[float]:
    """FedAvg's first round in fractions, from the specification of the instance alone."""
    spec = result.cases[0].problem
    start = [Fraction(v) for v in spec["start"]]
    after = [Fraction(0)] * len(start)
    for client, w in zip(spec["clients"], spec["weights"], strict=True):
        y = list(start)
        for _ in range(2 * len(client["components"])):
            part = client["components"][0]
            slope = [sum(Fraction(a) * v for a, v in zip(row, y, strict=True)) - Fraction(b)
                     for row, b in zip(part["A"], part["b"], strict=True)]  # fmt: skip
            y = [v - Fraction(1, 10) * g for v, g in zip(y, slope, strict=True)]
        after = [v + Fraction(w) * u for v, u in zip(after, y, strict=True)]
    return [float(v) for v in after]


def test_expected_failures_are_strict() -> None:
    why = {"unequal_weights": "its server has no weights"}
    known = bc.judge(FULL, UNWEIGHTED, checks=["unequal_weights", "equal_clients"], expected=why)
    assert known.ok
    assert known.count(Status.EXPECTED_FAILURE) == 1
    assert "has no weights" in known["unequal_weights"].reason
    passed = bc.judge(FULL, RIGHT, checks=["unequal_weights"], expected=why)
    assert passed["unequal_weights"].status is Status.UNEXPECTED_PASS
    assert not passed.ok
    unasked = bc.judge(FULL, RIGHT, checks=QUICK, expected={"changing_step_size": "is constant"})
    assert unasked["changing_step_size"].status is Status.UNEXPECTED_PASS
    assert "not asked" in unasked["changing_step_size"].reason


def test_what_an_implementation_lacks_is_not_asked() -> None:
    without = bc.judge(FULL, UNWEIGHTED, lacks=["unequal weights", "server step size"], seeds=20, checks="all")
    assert without.ok
    assert without["unequal_weights"].status is Status.NOT_ASKED
    assert "unequal weights" in without["unequal_weights"].reason
    assert without.count(Status.NOT_ASKED) > bc.judge(FULL, RIGHT, seeds=20, checks="all").count(Status.NOT_ASKED)

    def only_equal(task: Task, seed: int) -> Any:
        if len(set(task.weights)) > 1:
            raise NotImplementedError("unequal weights")
        return UNWEIGHTED(task, seed)

    raised = bc.judge(FULL, only_equal, seeds=20, checks="all")
    assert raised.ok
    assert raised["unequal_weights"].status is Status.NOT_ASKED
    nothing = bc.judge(FULL, RIGHT, checks=["changing_step_size"])
    assert not nothing.ok  # nothing was asked, and that is not a pass
    with pytest.raises(AssertionError, match="no check was passed"):
        nothing.assert_passed()


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (lambda task, seed: 1 / 0, "ZeroDivisionError"),
        (lambda task, seed: np.ones((2, 2)), "shape"),
        (lambda task, seed: {"gap": np.ones(task.rounds)}, "iterates"),
        (lambda task, seed: np.full((task.rounds, task.dimension), np.nan), "round 1"),
        (lambda task, seed: np.full((task.rounds, task.dimension), np.inf), "round 1"),
    ],
)
def test_an_error_of_the_implementation_is_a_failure(returned: Any, words: str) -> None:
    found = bc.judge(FULL, returned, seeds=20, checks="all")
    assert found.count(Status.PASSED) <= 3  # NaN repeats, is its own prefix and changes no input
    assert words in repr(found["exact_after_one_round"])
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("method", "options", "words"),
    [
        (FULL, {"checks": ["exact_after_one_rounds"]}, "exact_after_one_round"),
        (FULL, {"lacks": ["partial"]}, "capability"),
        (FULL, {"expected": {"nothing": "why"}}, "check"),
        (FULL, {"expected": {"translation": "why"}, "checks": QUICK}, "not among"),
        (FULL, {"seeds": 0}, "seeds"),
        (FULL, {"tolerance": 2}, "tolerance"),
        (FULL, {"rate": 0}, "rate"),
        ({"kind": "fedavgg"}, {}, "fedavg"),
        ("fedavg", {}, "method = 'fedavg' is not allowed; it must be a"),
        ({**FULL, "participation": {"kind": "uniform", "size": 50}}, {}, "at most 32 clients"),
        ({**FULL, "participation": {"kind": "pattern", "cohorts": [[0, 40]]}}, {}, "at most 32 clients"),
    ],
)
def test_bad_input(method: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(BoundcheckError, match=words):
        bc.judge(method, RIGHT, **{"checks": "all", **options})


def test_the_lists_of_a_method_say_how_many_clients_there_are() -> None:
    method = {"kind": "fedshuffle_gen", "eta_l": "1/10", "E": [1, 2, 3, 1]}
    found = bc.judge(method, RIGHT, checks=["seeds_repeat"])
    assert len(found["seeds_repeat"].cases[0].problem["clients"]) == 4


def test_single_precision_is_tolerated_where_the_iterates_are_in_it() -> None:
    single = WRONG["single precision"].run
    refused = bc.judge(FULL, single, seeds=20, checks="all")
    assert not refused.ok
    (allowed,) = re.findall(r"tolerance = (\S+) allows that", refused["exact_after_one_round"].reason)
    assert "tolerance" not in bc.judge(FULL, UNWEIGHTED, checks=QUICK)["unequal_weights"].reason
    bc.judge(FULL, single, seeds=20, tolerance=4 * float(allowed), checks="all").assert_passed()
    bc.judge(FULL, lambda t, s: np.float32(single(t, s)), seeds=20, checks="all").assert_passed()


def test_the_parametriser(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        textwrap.dedent(
            """
            from boundcheck.pytest_plugin import judge
            from tests.judge.checks.wrong_fedavg import FULL, RIGHT, WRONG

            QUICK = ["exact_after_one_round", "unequal_weights", "translation", "changing_step_size"]

            @judge(RIGHT, method=FULL, checks=QUICK)
            def test_right(check):
                check()

            @judge(
                WRONG["unweighted"].run,
                FULL,
                checks=QUICK,
                expected={"unequal_weights": "not yet", "translation": "surely"},
            )
            def test_wrong(check):
                check()
            """
        )
    )
    found = pytester.runpytest_inprocess("-q", "-p", "no:cacheprovider", "-rfxs").parseoutcomes()
    # exact_after_one_round fails, and translation passes although a failure was expected
    assert found == {"passed": 3, "failed": 2, "xfailed": 1, "skipped": 2}
    with pytest.raises(UnknownName):
        pytest_plugin.judge(RIGHT, FULL, tolerances=1)


def test_outcomes_are_the_expectation_of_the_engine() -> None:
    """The mean over the choices is E x of the exact engine, whose second moments go another way."""
    problem = bc.problem(kind="quadratics", clients=[{"A": [[1]], "b": [2]}, {"A": [[2]], "b": [-1]}, {"A": [[3]]}])
    for spec in (
        {"kind": "fedavg", "E": 2, "eta": "1/5", "size": 2},
        {"kind": "fedshuffle", "eta_l": "1/5", "participation": {"kind": "importance", "b": 2}},
        {"kind": "fedshuffle_gen", "eta_l": "1/5", "E": {"low": 1, "high": 3}},
        {"kind": "fedshuffle_mvr", "eta_l": "1/5", "a": "1/3"},
        {"kind": "feddane", "mu": 1, "K": 2},
    ):
        method = bc.method(spec)
        outcomes = Outcomes(method, problem)
        assert sum(c.p for c in outcomes.choices) == 1
        exact = bc.run(method, problem, rounds=4, metrics=["x"], arithmetic="rational").exact["x"]
        assert [row[0] for row in outcomes.mean(4)] == list(exact)
        low, high = outcomes.limits(4)
        path = np.array([[float(v) for v in p] for p in outcomes.path([len(outcomes.choices) - 1] * 4)])
        assert ((low <= path + 1e-12) & (path <= high + 1e-12)).all()


def test_counts() -> None:
    """Against the binomial distribution by hand: 10 of 10 heads have probability 2^-10."""
    heads = [Event("heads", 0.5, 10, 10)]
    assert refuted(heads, 2.01 * 2**-10) == heads[0]
    assert refuted(heads, 1.99 * 2**-10) is None
    assert refuted([Event("never", 0.0, 1, 10)], 1e-9) is not None
    assert refuted([Event("always", 1.0, 9, 10)], 1e-9) is not None
    assert refuted([Event("always", 1.0, 10, 10), Event("never", 0.0, 0, 10)], 0.5) is None
    # with rate 2^-9 only all heads or all tails of 10 refute; heads must have probability 0.99^(1/10) to be seen
    assert smallest([Event("heads", 0.5, 5, 10)], 2.01 * 2**-10) == pytest.approx(0.99 ** (1 / 10) - 0.5, abs=1e-9)
    assert smallest([Event("heads", 0.5, 5, 1000)], 1e-6) < smallest([Event("heads", 0.5, 5, 100)], 1e-6)


def test_a_failed_check_says_what_to_look_at_first() -> None:
    def forgets(task: Any, seed: int) -> Any:
        return [task.start + r for r in range(task.rounds)]

    method = {"kind": "gradient_descent", "eta": "1/10"}
    (found,) = bc.judge(method, forgets, checks=["starts_at_the_start"]).results
    assert found.reason.endswith("Look first at a model that is initialised anew.")
