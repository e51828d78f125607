"""Promises where a metric carries a factor, is one of rounds, or the bound is to choose a proximal weight."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp

from boundcheck.errors import BadInput
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

F = Fraction
CLIENTS = [{"A": [[2, 0], [0, 1]]}, {"A": [[1, 0], [0, 2]]}]
PROBLEM = build({"kind": "quadratics", "start": [8, -6], "clients": CLIENTS})
SHIFTED = build({"kind": "quadratics", "start": [5], "clients": [{"A": [[1]], "b": [0]}, {"A": [[2]], "b": [4]}]})
DANE: dict[str, Any] = {"kind": "feddane", "mu": "best", "participation": "full"}
ASYNC: dict[str, Any] = {"kind": "fedavg_async", "K": 1, "eta_l": "largest", "times": [1, 2]}


def _setup(name: str, problem: Any, method: dict[str, Any]) -> Setup:
    setup = prepare(statement(name), problem, method)
    assert not isinstance(setup, str)
    return setup


def test_the_start_value_of_a_gap_of_rounds_is_its_mean_over_a_period() -> None:
    """Times 1 and 2: client 0 contributes in two rounds of three, with d = (3/4, 3/2)."""
    setup = _setup("async_fl/theorem_1/corrected", SHIFTED, ASYNC)
    # L_0 = x^2/2 and L_1 = x^2 - 4x with the minima 0 and -4, at x = 5
    gaps = [F(25, 2), F(5) + 4]
    weights = build_method(setup.spec).factors((0, 1), clients_of(SHIFTED))
    assert start_value(setup) == (2 * weights[0] * gaps[0] + weights[1] * gaps[1]) / 3


def test_a_factor_of_the_metric_is_taken_off_both_sides() -> None:
    plain = _setup("classics/gradient_descent_convex/sharp", PROBLEM, {"kind": "gradient_descent", "eta": "1/10"})
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
    claimed = statement("partial_averaging/lemma_2/sharp")
    assert not measures_progress(claimed)
    descent = {"kind": "gradient_descent", "eta": "1/10"}
    setup = replace(_setup("classics/gradient_descent_convex/sharp", PROBLEM, descent), claimed=claimed)
    with pytest.raises(BadInput, match="no share of whose value at the start can be a target"):
        start_value(setup)


def test_the_best_proximal_weight_promises_the_fewest_rounds() -> None:
    claimed = statement("feddane/theorem_6/corrected")
    assert step_of(claimed, DANE) == "mu"
    setup, choice, why = recommended(claimed, PROBLEM, DANE, F(1, 10))
    assert setup is not None
    assert choice is not None
    assert why == ""
    chosen = F(setup.spec["mu"])
    others = []
    for factor in (F(1, 2), F(4, 5), F(19, 20), F(21, 20), F(5, 4), F(2)):
        found = recommended(claimed, PROBLEM, {**DANE, "mu": str(chosen * factor)}, F(1, 10))[1]
        others.append(None if found is None else found.index)
    assert choice.index is not None
    assert all(index is None or index >= choice.index for index in others)
    assert others[-1] is not None
    assert others[-1] > choice.index


def test_a_weight_that_guarantees_nothing_says_so() -> None:
    setup, _, why = recommended(statement("feddane/theorem_6/corrected"), PROBLEM, {**DANE, "mu": 3}, F(1, 10))
    assert setup is None
    assert "positive decrease" in why


def test_a_statement_about_many_methods_leaves_the_step_to_itself() -> None:
    claimed = statement("async_fl/theorem_1/corrected")
    assert step_of(claimed) is None
    assert step_of(claimed, ASYNC) == "eta_l"
    solved = resolve_steps(ASYNC, claimed, PROBLEM)
    setup = _setup(claimed.id, PROBLEM, {**ASYNC, "eta_l": solved["eta_l"]})
    assert setup.values["eta_l"] == claimed.largest("eta_l", **setup.values)
    found = tune(claimed, PROBLEM, ASYNC, F(9, 10))
    assert found.step == "eta_l"
    assert found.recommended is not None
    assert found.best is not None
    assert found.ratio is not None
    assert found.ratio > 1


def test_a_missing_constant_is_told_by_the_hypothesis_that_fails() -> None:
    why = prepare(statement("async_fl/theorem_3/corrected"), PROBLEM, ASYNC)
    assert why == "assumption bounded_gradients fails: client 0 is a quadratic, whose gradient grows without bound"
    own = prepare(statement("async_fl/theorem_2/corrected"), PROBLEM, {**ASYNC, "eta_l": "1/10000"})
    assert isinstance(own, str)
    assert own.startswith("no value for U, mean of the sum over absent kinds")


def test_a_factor_may_depend_on_the_index() -> None:
    """Theorem 6 of FedDANE as printed has (T + 1)/T times the mean over t = 0, ..., T."""
    setup = _setup("feddane/theorem_6/as_printed", PROBLEM, {**DANE, "mu": 10})
    assert setup.claimed.metric.scale.free_symbols
    values = {setup.claimed.symbol(n).expr: sp.Rational(v.numerator, v.denominator) for n, v in setup.values.items()}
    T = setup.claimed.symbol("T").expr
    by_hand = (setup.claimed.bound / setup.claimed.metric.scale).subs({**values, T: 9})
    assert bound_at(setup, 9) == pytest.approx(float(by_hand), rel=1e-12)
