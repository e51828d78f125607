"""What a bound promises and recommends, against runs carried out here by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp

from boundcheck.engines.run import run
from boundcheck.evidence.open_step_sizes import resolve_steps
from boundcheck.evidence.rounds_to_target import (
    Setup,
    bound_at,
    measures_progress,
    needed,
    prepare,
    promised,
    start_value,
)
from boundcheck.evidence.tuning import recommended, step_of, tune
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build
from boundcheck.problems.problem import clients_of
from boundcheck.theory.discovery import statement

SCGD = statement("scgd/theorem_3_3/corrected")
PROBLEM = build({"kind": "scgd_section_4"})
METHOD = {"kind": "scgd", "E": 2, "eta": "largest"}
SHARE = Fraction(1, 10)


def setup_of(name: str, problem: Any, method: dict[str, Any]) -> Setup:
    setup = prepare(statement(name), problem, method)
    assert not isinstance(setup, str)
    return setup


def test_the_promised_index_is_where_the_bound_first_meets_the_target() -> None:
    setup = setup_of(SCGD.id, PROBLEM, METHOD)
    target = start_value(setup) * SHARE
    index = promised(setup, target)
    assert index is not None
    at = setup.claimed.evaluate(**setup.values, K=index)
    well_before = setup.claimed.evaluate(**setup.values, K=index - index // 1000 - 1)
    assert float(at.value) <= float(target) < float(well_before.value)


def test_the_needed_index_is_the_first_of_a_run_round_by_round() -> None:
    setup = prepare(SCGD, PROBLEM, {**METHOD, "eta": "1/500"})
    assert isinstance(setup, str)  # far outside the scope
    setup = setup_of(SCGD.id, PROBLEM, METHOD)
    target = start_value(setup) * Fraction(9, 10)
    index = needed(setup, target)
    n = PROBLEM.clients
    curve = run(setup.method, PROBLEM, rounds=range(0, 400 * n, n), metrics=["dist2"], arithmetic="float64")
    below = [k for k, v in enumerate(curve.values["dist2"]) if k and v <= float(target)]
    assert index == below[0]


def test_a_statement_that_does_not_apply_says_why() -> None:
    why = prepare(SCGD, build({"kind": "fedshuffle_36"}), METHOD)
    assert isinstance(why, str)
    assert "plain_mean" in why


def test_the_recommendation_is_the_best_of_what_is_tried() -> None:
    setup, choice, _ = recommended(SCGD, PROBLEM, METHOD, SHARE, grid=(1, 2))
    assert setup is not None
    assert choice is not None
    others = []
    for e in (1, 2):
        for c in ("1", "1/2", "1/4"):
            other = prepare(SCGD, PROBLEM, {**METHOD, "E": e, "eta": f"{c}*largest"})
            assert not isinstance(other, str)
            others.append(promised(other, start_value(other) * SHARE))
    assert choice.index == min(k for k in others if k is not None)


def test_running_finds_a_better_choice_and_the_ratio_says_by_how_much() -> None:
    found = tune(SCGD, PROBLEM, METHOD, SHARE)
    assert found.recommended is not None
    assert found.best is not None
    assert (found.best.rounds or 0) < (found.really or 0) < (found.recommended.rounds or 0)
    assert found.best.rounds
    assert found.recommended.rounds
    assert found.ratio == found.recommended.rounds / found.best.rounds
    # the best choice does reach the target in as many rounds, and not one cycle earlier
    rounds, n = found.best.rounds, PROBLEM.clients
    curve = run(build_method(found.best.method), PROBLEM, rounds=[rounds - n, rounds], metrics=["dist2"])
    assert found.target is not None
    before, after = curve.values["dist2"]
    assert after <= float(found.target) < before


# --- metrics with a factor, of rounds, and proximal weights ---------------------------------------------------------

F = Fraction
CLIENTS = [{"A": [[2, 0], [0, 1]]}, {"A": [[1, 0], [0, 2]]}]
TWO = build({"kind": "quadratics", "start": [8, -6], "clients": CLIENTS})
SHIFTED = build({"kind": "quadratics", "start": [5], "clients": [{"A": [[1]], "b": [0]}, {"A": [[2]], "b": [4]}]})
DANE: dict[str, Any] = {"kind": "feddane", "mu": "best", "participation": "full"}
ASYNC: dict[str, Any] = {"kind": "fedavg_async", "K": 1, "eta_l": "largest", "times": [1, 2]}


def test_the_start_value_of_a_gap_of_rounds_is_its_mean_over_a_period() -> None:
    """Times 1 and 2: client 0 contributes in two rounds of three, with d = (3/4, 3/2)."""
    setup = setup_of("async_fl/theorem_1/corrected", SHIFTED, ASYNC)
    # L_0 = x^2/2 and L_1 = x^2 - 4x with the minima 0 and -4, at x = 5
    gaps = [F(25, 2), F(5) + 4]
    weights = build_method(setup.spec).factors((0, 1), clients_of(SHIFTED))
    assert start_value(setup) == (2 * weights[0] * gaps[0] + weights[1] * gaps[1]) / 3


def test_a_factor_of_the_metric_is_taken_off_both_sides() -> None:
    plain = setup_of("classics/gradient_descent_convex/sharp", TWO, {"kind": "gradient_descent", "eta": "1/10"})
    claimed = plain.claimed
    k = claimed.symbol("k").expr
    scaled = replace(claimed, metric=replace(claimed.metric, scale=2 * k), bound=claimed.bound * 2 * k)
    doubled = replace(plain, claimed=scaled)
    target = start_value(plain) / 10
    assert start_value(doubled) == start_value(plain)
    assert bound_at(doubled, 7) == pytest.approx(bound_at(plain, 7), rel=1e-12)
    assert promised(doubled, target) == promised(plain, target)
    assert needed(doubled, target) == needed(plain, target)


def test_a_metric_that_tells_no_progress_is_no_target() -> None:
    assert not measures_progress(statement("partial_averaging/lemma_2/sharp"))


def test_the_best_proximal_weight_promises_the_fewest_rounds() -> None:
    claimed = statement("feddane/theorem_6/corrected")
    assert step_of(claimed, DANE) == "mu"
    setup, choice, why = recommended(claimed, TWO, DANE, F(1, 10))
    assert setup is not None
    assert choice is not None
    assert why == ""
    chosen = F(setup.spec["mu"])
    others = []
    for factor in (F(1, 2), F(4, 5), F(19, 20), F(21, 20), F(5, 4), F(2)):
        found = recommended(claimed, TWO, {**DANE, "mu": str(chosen * factor)}, F(1, 10))[1]
        others.append(None if found is None else found.index)
    assert choice.index is not None
    assert all(index is None or index >= choice.index for index in others)
    assert others[-1] is not None
    assert others[-1] > choice.index


def test_a_weight_that_guarantees_nothing_says_so() -> None:
    setup, _, why = recommended(statement("feddane/theorem_6/corrected"), TWO, {**DANE, "mu": 3}, F(1, 10))
    assert setup is None
    assert "positive decrease" in why


def test_a_statement_about_many_methods_leaves_the_step_to_itself() -> None:
    claimed = statement("async_fl/theorem_1/corrected")
    assert step_of(claimed) is None
    assert step_of(claimed, ASYNC) == "eta_l"
    solved = resolve_steps(ASYNC, claimed, TWO)
    setup = setup_of(claimed.id, TWO, {**ASYNC, "eta_l": solved["eta_l"]})
    assert setup.values["eta_l"] == claimed.largest("eta_l", **setup.values)
    found = tune(claimed, TWO, ASYNC, F(9, 10))
    assert found.step == "eta_l"
    assert found.recommended is not None
    assert found.best is not None
    assert found.ratio is not None
    assert found.ratio > 1


def test_a_missing_constant_is_told_by_the_hypothesis_that_fails() -> None:
    why = prepare(statement("async_fl/theorem_3/corrected"), TWO, ASYNC)
    assert why == "assumption bounded_gradients fails: client 0 is a quadratic, whose gradient grows without bound"
    own = prepare(statement("async_fl/theorem_2/corrected"), TWO, {**ASYNC, "eta_l": "1/10000"})
    assert isinstance(own, str)
    assert own.startswith("no value for U, mean of the sum over absent kinds")


def test_a_factor_may_depend_on_the_index() -> None:
    """Theorem 6 of FedDANE as printed has (T + 1)/T times the mean over t = 0, ..., T."""
    setup = setup_of("feddane/theorem_6/as_printed", TWO, {**DANE, "mu": 10})
    assert setup.claimed.metric.scale.free_symbols
    values = {setup.claimed.symbol(n).expr: sp.Rational(v.numerator, v.denominator) for n, v in setup.values.items()}
    T = setup.claimed.symbol("T").expr
    by_hand = (setup.claimed.bound / setup.claimed.metric.scale).subs({**values, T: 9})
    assert bound_at(setup, 9) == pytest.approx(float(by_hand), rel=1e-12)
