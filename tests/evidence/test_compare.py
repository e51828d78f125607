"""Verdicts on hand-made curves: every outcome and its precedence, every kind of claim, every arithmetic."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp
from compare_tools import HALVING, D, K, check_json, curve, known, n, q

from boundcheck.certified.constant import Known
from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.run import run
from boundcheck.errors import BadInput, UnknownName
from boundcheck.evidence import compared_points as points_module
from boundcheck.evidence.compare import compare
from boundcheck.evidence.compared_points import points_of
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Kind, Metric, Statement
from boundcheck.verdict import Grade, Outcome

# --- outcomes and precedence ------------------------------------------------------------------------------


def test_nothing_below_a_bound_of_nothing_has_no_ratio() -> None:
    v = compare(replace(HALVING, trivial=None), curve([0, 0, 0], start=0))
    assert v.outcome is Outcome.HOLDS
    assert v.tightness is not None
    assert math.isnan(v.tightness.ratio_min)
    assert math.isnan(v.tightness.ratio_max)


def test_holds_with_tightness_by_hand() -> None:
    # bounds 1, 1/2, 1/4; the bound is at most half of the start at K = 1 and 2, where bound/metric is 5/4 and 5/2
    v = compare(HALVING, curve([1, 0.4, 0.1]))
    assert (v.outcome, v.grade, v.points) == (Outcome.HOLDS, Grade.EXACT, 3)
    assert v.tightness is not None
    assert (v.tightness.ratio_min, v.tightness.ratio_max) == pytest.approx((1.25, 2.5))
    # promised log 2, actual log 2.5, both from K = 0 to K = 1
    assert v.tightness.decrease == pytest.approx(math.log(2) / math.log(2.5))
    assert v.witness["index"] == {"K": "1"}
    assert v.witness["constants"] == {"mu": "1/2", "n": "2", "dist2_0": "1"}
    assert v.details["assumptions"] == {"strong_quasi_convexity": "decided"}
    assert v.details["taken_for_granted"] == []
    check_json(v)


def test_violated_with_a_witness_at_the_worst_point() -> None:
    v = compare(HALVING, curve([1, 0.6, 0.5]))
    assert (v.outcome, v.grade) == (Outcome.VIOLATED, Grade.EXACT)
    assert (v.witness["round"], v.witness["index"]) == (4, {"K": "2"})  # 0.5/0.25 > 0.6/0.5
    assert v.witness["metric"] == [0.5, 0.5]
    assert v.witness["bound"] == [0.25, 0.25]


def test_a_touching_wide_point_is_not_the_witness_of_a_violation() -> None:
    v = compare(HALVING, curve([1, 0.6, 0.2], low=[1, 0.6, 0.0], high=[1, 0.6, 100.0]))
    assert v.outcome is Outcome.VIOLATED
    assert v.witness["round"] == 2


def test_out_of_scope_by_condition_by_algorithm_and_by_assumption() -> None:
    missed = compare(HALVING, curve([1, 5, 9], mu="4/5"))
    assert (missed.outcome, missed.grade) == (Outcome.OUT_OF_SCOPE, Grade.EXACT)
    assert "'small' fails" in missed.reason
    assert "0.05" in missed.reason
    other = compare(HALVING, curve([1, 5, 9], algorithms=("fedavg",)))
    assert (other.outcome, "the run is fedavg" in other.reason) == (Outcome.OUT_OF_SCOPE, True)
    unnamed = compare(HALVING, curve([1, 5, 9], algorithms=()))
    assert (unnamed.outcome, "no named method" in unnamed.reason) == (Outcome.OUT_OF_SCOPE, True)
    broken = compare(HALVING, curve([1, 5, 9], violations={"strong_quasi_convexity": "two minima.", "convexity": "x"}))
    assert (broken.outcome, broken.grade) == (Outcome.OUT_OF_SCOPE, Grade.EXACT)
    assert "strong_quasi_convexity fails: two minima" in broken.reason
    assert broken.details["violations"] == {"strong_quasi_convexity": "two minima."}
    assert broken.details["assumptions"] == {"strong_quasi_convexity": "broken"}
    for v in (missed, other, broken):
        check_json(v)


def test_a_condition_that_is_missed_by_less_than_a_double_can_hold() -> None:
    beyond = Fraction(3, 4) + Fraction(1, 10**400)
    found = compare(HALVING, curve([1, 5, 9], mu=beyond))
    assert (found.outcome, "is missed by 1e-400" in found.reason) == (Outcome.OUT_OF_SCOPE, True)


def test_the_grade_of_out_of_scope_rests_on_the_constants_of_the_scope_alone() -> None:
    plain = curve([1, 5, 9], Arithmetic.FLOAT64, mu="4/5")
    assert compare(HALVING, plain).grade is Grade.EXACT
    guessed = {**plain.constants, "mu": known("4/5", Known.ESTIMATED)}
    assert compare(HALVING, replace(plain, constants=guessed)).grade is Grade.SUPPORTED
    elsewhere = {**plain.constants, "dist2_0": known(1, Known.ESTIMATED)}
    assert compare(HALVING, replace(plain, constants=elsewhere)).grade is Grade.EXACT


def test_failed_comes_before_out_of_scope() -> None:
    stopped = curve([math.nan] * 3, Arithmetic.SAMPLED, mu="4/5", samples={"dist2": np.empty((0, 3))}, expectation=True)
    v = compare(HALVING, stopped)  # a run that was stopped before its first seed was done
    assert (v.outcome, v.grade, v.reason) == (Outcome.FAILED, None, "The run gave no number at round 0.")
    nowhere = compare(HALVING, curve([0.5, 0.25], rounds=[1, 3]))
    assert (nowhere.outcome, "admissible K" in nowhere.reason) == (Outcome.FAILED, True)


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("unknown", [(False, True, False), (True, True, True)])
def test_a_bound_without_a_value_at_some_points_is_a_failure(
    side: int, unknown: tuple[bool, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither side of a comparison with NaN is true, so that such a point would pass unseen."""
    enclose = points_module.enclose

    def gaps(expr: sp.Expr, *rest: Any) -> tuple[np.ndarray, ...]:
        ends = enclose(expr, *rest)
        return tuple(np.where(unknown, math.nan, end) if i == side else end for i, end in enumerate(ends))

    monkeypatch.setattr(points_module, "enclose", gaps)
    for values in ([1, 0.1, 0.1], [1, 2, 0.1]):
        verdict = compare(HALVING, curve(values))
        at = unknown.index(True)
        assert (verdict.outcome, verdict.reason) == (Outcome.FAILED, f"The bound has no value at K = {at}.")


def test_a_metric_without_a_value_at_some_points_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    doubled = replace(HALVING, metric=replace(HALVING.metric, scale=sp.Integer(2)), bound=2 * HALVING.bound)
    enclose = points_module.enclose

    def gaps(expr: sp.Expr, *rest: Any) -> tuple[np.ndarray, ...]:
        ends = enclose(expr, *rest)
        return tuple(np.where([False, True, False], math.nan, end) for end in ends) if expr == 2 else ends

    monkeypatch.setattr(points_module, "enclose", gaps)
    verdict = compare(doubled, curve([1, 0.1, 0.1]))
    assert (verdict.outcome, verdict.reason) == (Outcome.FAILED, "The run gave no number at round 2.")


def test_violated_comes_before_vacuous_and_undecided() -> None:
    # the bound at K = 0 alone is the trivial value: nothing was compared, unless it is violated there
    start = compare(HALVING, curve([1]))
    assert (start.outcome, "compare at later values of K" in start.reason) == (Outcome.UNDECIDED, True)
    assert compare(HALVING, curve([1.5])).outcome is Outcome.VIOLATED
    touching = curve([1, 0.5, 0.3], low=[1, 0.4, 0.3], high=[1, 0.6, 0.3])
    assert compare(HALVING, touching).outcome is Outcome.VIOLATED


def test_vacuous_comes_before_undecided() -> None:
    loose = replace(HALVING, bound=HALVING.bound + D)
    v = compare(loose, curve([1, 2, 1.25], low=[1, 0.4, 0.25], high=[1, 2.6, 2.25]))
    assert (v.outcome, v.grade) == (Outcome.VACUOUS, Grade.EXACT)


def test_a_decrease_below_one_float_is_not_vacuous() -> None:
    # (1 - 10^-20) dist2_0 is below dist2_0 by less than a double resolves, and is distinguished exactly
    v = compare(HALVING, curve(["1/3", "1/4"], Arithmetic.RATIONAL, mu=Fraction(1, 10**20), start="1/3"))
    assert v.outcome is Outcome.HOLDS


def test_undecided_names_the_point() -> None:
    v = compare(HALVING, curve([1, 0.5, 0.1], low=[1, 0.45, 0.1], high=[1, 0.55, 0.1]))
    assert (v.outcome, v.grade) == (Outcome.UNDECIDED, Grade.SUPPORTED)
    assert v.reason.endswith("K = 1.")
    assert v.witness["round"] == 2


def test_an_undecided_condition_leaves_the_claim_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    scope = HALVING.scope(mu="1/2")
    monkeypatch.setattr(Statement, "scope", lambda self, **values: replace(scope, in_scope=None))
    v = compare(HALVING, curve([1, 5, 9]))
    assert (v.outcome, v.grade) == (Outcome.UNDECIDED, None)


# --- arithmetics ------------------------------------------------------------------------------------------


def test_touching_is_decided_by_exact_arithmetic_and_by_nothing_else() -> None:
    thirds = ["1/3", "1/6", "1/12"]
    exact = compare(HALVING, curve(thirds, Arithmetic.RATIONAL, start="1/3"))
    assert (exact.outcome, exact.grade) == (Outcome.HOLDS, Grade.EXACT)
    third = Fraction(1, 3)
    around = {"low": [float(v) * (1 - 1e-15) for v in (third, third / 2, third / 4)]}
    around |= {"high": [float(v) * (1 + 1e-15) for v in (third, third / 2, third / 4)]}
    ball = compare(HALVING, curve([third, third / 2, third / 4], Arithmetic.BALL, start="1/3", **around))
    assert ball.outcome is Outcome.UNDECIDED
    plain = compare(HALVING, curve([third, third / 2, third / 4], Arithmetic.FLOAT64, start="1/3"))
    assert plain.outcome is Outcome.UNDECIDED


def test_exact_arithmetic_sees_what_a_double_does_not() -> None:
    over = Fraction(1, 2) + Fraction(1, 10**40)
    v = compare(HALVING, curve([1, over], Arithmetic.RATIONAL))
    assert (v.outcome, v.grade, v.witness["round"]) == (Outcome.VIOLATED, Grade.EXACT, 2)
    under = Fraction(1, 2) - Fraction(1, 10**40)
    assert compare(HALVING, curve([1, under], Arithmetic.RATIONAL)).outcome is Outcome.HOLDS


def test_the_exact_start_decides_round_0_of_any_arithmetic() -> None:
    third = Fraction(1, 3)
    values = [third, third / 4]
    for arithmetic in (Arithmetic.BALL, Arithmetic.FLOAT64):
        bounds = {"low": [0.33, 0.08], "high": [0.34, 0.09]} if arithmetic is Arithmetic.BALL else {}
        without = curve(values, arithmetic, start=third, **bounds)
        assert compare(HALVING, without).outcome is Outcome.UNDECIDED
        assert compare(HALVING, replace(without, start={"dist2": third})).outcome is Outcome.HOLDS


def test_plain_doubles_support_at_most() -> None:
    held = compare(HALVING, curve([0.9, 0.4, 0.1], Arithmetic.FLOAT64))
    assert (held.outcome, held.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    broken = compare(HALVING, curve([0.9, 0.6], Arithmetic.FLOAT64))
    assert (broken.outcome, broken.grade) == (Outcome.VIOLATED, Grade.SUPPORTED)
    hair = compare(HALVING, curve([0.9, 0.5 * (1 + 1e-12)], Arithmetic.FLOAT64))
    assert hair.outcome is Outcome.UNDECIDED


def test_estimated_constants_cap_the_grade() -> None:
    c = curve([1, 0.4])
    guessed = {**c.constants, "mu": known("1/2", Known.ESTIMATED)}
    assert compare(HALVING, replace(c, constants=guessed)).grade is Grade.SUPPORTED
    certified = {**c.constants, "mu": known("1/2", Known.CERTIFIED)}
    assert compare(HALVING, replace(c, constants=certified)).grade is Grade.EXACT


def test_an_assumption_that_nobody_decided_caps_the_grade() -> None:
    for state, name in (({}, "granted"), ({"strong_quasi_convexity": "sampled"}, "sampled")):
        v = compare(HALVING, curve([1, 0.6], assumptions=state))
        assert (v.outcome, v.grade) == (Outcome.VIOLATED, Grade.SUPPORTED)
        assert v.details["assumptions"] == {"strong_quasi_convexity": name}
        assert v.details["taken_for_granted"] == ["strong_quasi_convexity"]


def test_a_larger_mu_than_the_problem_has_is_not_covered_by_its_answer() -> None:
    c = curve([1, 0.3], mu="1/2")
    assert compare(HALVING, c, {"mu": "3/8"}).details["assumptions"] == {"strong_quasi_convexity": "decided"}
    assert compare(HALVING, c, {"mu": "5/8"}).details["assumptions"] == {"strong_quasi_convexity": "granted"}


# --- constants and indices --------------------------------------------------------------------------------


def test_missing_unknown_and_impossible_constants() -> None:
    bare = curve([1, 0.4], constants={"n": known(2)})
    with pytest.raises(BadInput, match="no value for mu, dist2_0"):
        compare(HALVING, bare)
    assert compare(HALVING, bare, {"mu": "1/2", "dist2_0": 1}).outcome is Outcome.HOLDS
    with pytest.raises(UnknownName, match="did you mean 'mu'"):
        compare(HALVING, curve([1, 0.4]), {"muu": 1})
    with pytest.raises(BadInput, match="outside its domain"):
        compare(HALVING, curve([1, 0.4]), {"mu": -1})


def test_given_constants_do_not_contradict_the_run() -> None:
    with pytest.raises(BadInput, match="dist2_0 = 1/2 contradicts the problem, where dist2_0 is 1;"):
        compare(HALVING, curve([1, 0.4]), {"dist2_0": "1/2"})
    bare = curve([1, 0.4], constants={"n": known(2), "mu": known("1/2")})
    violated = compare(HALVING, bare, {"dist2_0": "1/2"})
    assert (violated.outcome, violated.grade) == (Outcome.VIOLATED, Grade.SUPPORTED)  # nobody can check dist2_0 here


def test_rounds_between_cycles_are_not_compared() -> None:
    # round 1 and 3 are in the middle of a cycle of n = 2 rounds and far above any bound
    points = points_of(
        HALVING,
        curve([1, 99, 0.4, 99, 0.1], rounds=range(5)),
        {"mu": Fraction(1, 2), "n": Fraction(2), "dist2_0": Fraction(1)},
    )
    assert points.rounds == (0, 2, 4)
    assert points.index == (0, 1, 2)
    assert compare(HALVING, curve([1, 99, 0.4, 99, 0.1], rounds=range(5))).outcome is Outcome.HOLDS


def test_an_index_with_an_offset() -> None:
    late = replace(
        HALVING,
        metric=replace(HALVING.metric, rounds=n * (K - 1)),
        symbols=tuple(s.but(low=Fraction(1)) if s.name == "K" else s for s in HALVING.symbols),
    )
    # rounds 0, 2, 4 are K = 1, 2, 3: bounds 1/2, 1/4, 1/8
    v = compare(late, curve([0.4, 0.2, 0.2]))
    assert (v.outcome, v.witness["index"], v.witness["bound"]) == (Outcome.VIOLATED, {"K": "3"}, [0.125, 0.125])


def test_a_statement_without_index_has_one_round() -> None:
    once = replace(
        HALVING, metric=Metric("dist2", LENGTH2, rounds=2 * n), bound=D / 4 + 0 * q, symbols=HALVING.symbols[:3]
    )
    v = compare(once, curve([1, 9, 0.2, 9], rounds=[0, 2, 4, 6]))
    assert (v.outcome, v.points, v.witness["round"]) == (Outcome.HOLDS, 1, 4)
    assert compare(once, curve([1, 9], rounds=[0, 2])).outcome is Outcome.FAILED


def test_missing_metric_and_formula() -> None:
    with pytest.raises(BadInput, match="which the curve does not hold"):
        compare(HALVING, replace(curve([1]), values={}, low={}, high={}))
    with pytest.raises(BadInput, match="is a formula"):
        compare(replace(HALVING, kind=Kind.FORMULA), curve([1]))


def test_a_run_out_of_scope_may_lack_the_metric() -> None:
    bare = replace(curve([1]), values={}, low={}, high={}, violations={"strong_quasi_convexity": "none."})
    v = compare(HALVING, bare)
    assert v.outcome is Outcome.OUT_OF_SCOPE


# --- through the engines ----------------------------------------------------------------------------------


def test_a_run_carries_what_a_verdict_needs() -> None:
    problem = build_problem({"kind": "random_quadratics", "clients": 3, "d": 2, "seed": 1})
    method = build_method({"kind": "scgd", "E": 1, "eta": "1/100"})
    ran = run(method, problem, rounds=[0, 3, 6])
    assert ran.assumptions["strong_quasi_convexity"] == "decided"
    assert ran.start["dist2"] == problem.constants()["dist2_0"].value
    assert "scgd" in ran.algorithms
    assert set(ran.constants) >= {
        "objective/mu",
        "clients/L",
        "clients/sigma2",
        "start/dist2",
        "clients/n",
        "method/E",
        "method/eta",
    }
