"""A bound alone is a weak test: what it misses is named, and the proposed window and the reference catch it."""

from __future__ import annotations

from typing import Any

import pytest
from corpus.loops import looped
from corpus.wrong_samples import FedShuffle
from plain_fedavg import BUGS, LOOKS_LIKE, fedavg

import boundcheck as bc
from boundcheck.errors import BadInput
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.judge.against_bound import check_against_bound
from boundcheck.judge.instances import telling_problem
from boundcheck.judge.power import power_of
from boundcheck.pytest_plugin import Boundcheck
from boundcheck.verdict import Grade, Outcome

METHOD: dict[str, Any] = {"kind": "fedavg_sync", "K": 2, "eta_l": "largest"}
PROBLEM = dict(telling_problem(bc.method(kind="fedavg_sync", K=2, eta_l="1/10")).spec)
STATEMENT = "async_fl/corollary_1"
ROUNDS = 1000


def test_a_curve_against_a_bound_and_its_power(boundcheck: Boundcheck) -> None:
    found = boundcheck.assert_curve(STATEMENT, problem=PROBLEM, method=METHOD, run=fedavg, rounds=ROUNDS)
    assert found.verdict.outcome is Outcome.HOLDS
    assert found.verdict.grade is Grade.SUPPORTED
    assert "that the curve was made by the method given (fedavg_sync)" in found.reason
    assert found.power is not None
    missed = {j.mutant.name for j in found.power.missed}
    assert len(missed) > len(found.power.caught)
    assert f"misses {len(missed)}" in found.reason
    for bug, name in LOOKS_LIKE.items():  # what the power says of each planted bug is what happens with it
        planted = _planted(bug)
        assert (planted is Outcome.HOLDS) == (name in missed), bug


def _planted(bug: str) -> Outcome:
    checker = Boundcheck([])
    try:
        found = checker.assert_curve(
            STATEMENT, problem=PROBLEM, method=METHOD, run=BUGS[bug], rounds=ROUNDS, power=False
        )
    except AssertionError:
        return Outcome.VIOLATED
    return found.verdict.outcome


def test_the_proposed_window_catches_what_it_says() -> None:
    claim = Claim(STATEMENT, PROBLEM, METHOD)
    found = power_of(claim)
    assert found.window is not None
    assert set(found.by_window) <= {j.mutant.name for j in found.missed}
    low, high = found.window
    for judged in found.missed:
        assert (judged.mutant.name in found.by_window) == (not low <= judged.tightness <= high)
    assert len(found.by_window) > len(found.caught)
    narrow = Claim(STATEMENT, PROBLEM, METHOD, tightness=found.window)
    assert run_claim(narrow).failures == ()


def test_a_random_method_and_a_bound_that_says_nothing() -> None:
    method = {"kind": "fedshuffle", "eta_l": "largest", "participation": {"kind": "uniform", "size": 2}}
    claim = Claim("fedshuffle/theorem_5_1_convex/corrected", PROBLEM, method, at={"R": [1, 2]})
    found = check_against_bound(claim, looped(FedShuffle), seeds=10)
    assert "that the 10 seeds are independent runs" in found.reason
    assert found.power is not None
    assert found.power.outcome is found.verdict.outcome is Outcome.VACUOUS
    assert found.reason.endswith("The claim is VACUOUS for the method itself, so it tests no implementation.")


def test_bad_input() -> None:
    with pytest.raises(BadInput, match="seeds = 0"):
        check_against_bound(Claim(STATEMENT, PROBLEM, METHOD), fedavg, seeds=0)
