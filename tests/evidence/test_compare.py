"""Verdicts on hand-made curves: every outcome and its precedence, every kind of claim, every arithmetic."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp

from boundcheck.constants.constant import Constant, Known
from boundcheck.core.linalg import float_down, float_up
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.engines.run import run
from boundcheck.errors import BadInput, UnknownName
from boundcheck.evidence.compare import compare, points_of
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.theory.assumptions import strong_quasi_convexity
from boundcheck.theory.dimension import LENGTH2, ONE
from boundcheck.theory.statement import Algorithm, Condition, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import common
from boundcheck.verdict import Grade, Outcome, Verdict

q, D, K, n = common.mu.expr, common.dist2_0.expr, common.K.expr, common.n.expr

# dist2 after nK rounds is at most (1 - mu)^K dist2_0
HALVING = Statement(
    source=Source("none", "1", "these tests"),
    reading="as_printed",
    title="geometric decrease",
    symbols=(common.mu.but(dimension=ONE), common.n, common.dist2_0, common.K),
    metric=Metric("dist2", LENGTH2, index="K", rounds=n * K),
    bound=(1 - q) ** K * D,
    algorithm=Algorithm("scgd"),
    conditions=(Condition("small", sp.Le(q, sp.Rational(3, 4))),),
    assumptions=(strong_quasi_convexity,),
    trivial=D,
    name="halving",
)


def known(value: Any, how: Known = Known.EXACT) -> Constant:
    return Constant(Fraction(value), how, "exact", "by hand")


def curve(
    values: Sequence[Any],
    arithmetic: Arithmetic = Arithmetic.BALL,
    *,
    rounds: Sequence[int] | None = None,
    mu: Any = "1/2",
    start: Any = 1,
    low: Sequence[float] | None = None,
    high: Sequence[float] | None = None,
    **more: Any,
) -> Curve:
    """dist2 at rounds 0, 2, 4, ...: n = 2 clients, mu = 1/2 and dist2_0 = 1 where nothing else is said."""
    floats = np.array([float(Fraction(v)) if isinstance(v, str) else float(v) for v in values])
    grid = np.array(range(0, 2 * len(values), 2) if rounds is None else rounds, dtype=np.int64)
    if arithmetic is Arithmetic.RATIONAL:
        low, high = ([end(Fraction(v)) for v in values] for end in (float_down, float_up))
    enclosed = arithmetic in (Arithmetic.RATIONAL, Arithmetic.BALL)
    made = Curve(
        rounds=grid,
        values={"dist2": floats},
        arithmetic=arithmetic,
        low={"dist2": floats if low is None else np.array(low)} if enclosed else {},
        high={"dist2": floats if high is None else np.array(high)} if enclosed else {},
        exact={"dist2": tuple(Fraction(v) for v in values)} if arithmetic is Arithmetic.RATIONAL else {},
        constants={"mu": known(mu), "n": known(2), "dist2_0": known(start)},
        assumptions={"strong_quasi_convexity": "decided"},
        algorithms=("scgd",),
    )
    return replace(made, **more)


def sampled(rows: np.ndarray, **more: Any) -> Curve:
    """One row a seed at rounds 0, 2, 4, ..."""
    made = curve(rows.mean(axis=0), Arithmetic.SAMPLED)
    return replace(made, samples={"dist2": rows}, expectation=True, **more)


def check_json(verdict: Verdict) -> None:
    text = json.dumps(verdict.to_dict(), allow_nan=False)
    assert Verdict.from_dict(json.loads(text)).to_dict() == verdict.to_dict()


# --- outcomes and precedence ------------------------------------------------------------------------------


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


def test_the_grade_of_out_of_scope_rests_on_the_constants_of_the_scope_alone() -> None:
    plain = curve([1, 5, 9], Arithmetic.FLOAT64, mu="4/5")
    assert compare(HALVING, plain).grade is Grade.EXACT
    guessed = {**plain.constants, "mu": known("4/5", Known.ESTIMATED)}
    assert compare(HALVING, replace(plain, constants=guessed)).grade is Grade.SUPPORTED
    elsewhere = {**plain.constants, "dist2_0": known(1, Known.ESTIMATED)}
    assert compare(HALVING, replace(plain, constants=elsewhere)).grade is Grade.EXACT


def test_failed_comes_before_out_of_scope() -> None:
    v = compare(HALVING, curve([1, math.nan, 0.1], mu="4/5"))
    assert (v.outcome, v.grade, v.reason) == (Outcome.FAILED, None, "The run gave no number at round 2.")
    nowhere = compare(HALVING, curve([0.5, 0.25], rounds=[1, 3]))
    assert (nowhere.outcome, "admissible K" in nowhere.reason) == (Outcome.FAILED, True)


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
    # (1 - 10^-20) dist2_0 is below dist2_0 by less than a double resolves, and is told from it exactly
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


# --- extreme numbers --------------------------------------------------------------------------------------


def test_a_diverged_run_violates() -> None:
    for arithmetic, low in ((Arithmetic.BALL, [1, 1e300]), (Arithmetic.FLOAT64, None)):
        c = curve([1, math.inf], arithmetic, low=low, high=None if low is None else [1, math.inf])
        v = compare(HALVING, c)
        assert v.outcome is Outcome.VIOLATED
        check_json(v)
    assert compare(HALVING, c).to_dict()["witness"]["metric"] == ["inf", "inf"]


def test_an_enormous_bound_is_not_exceeded_by_infinity() -> None:
    huge = replace(HALVING, bound=HALVING.bound + 10 ** (400 * K) * D, trivial=None)
    c = curve([1, 1e300], low=[1, 1e300], high=[1, 1.1e300])
    assert compare(huge, c).outcome is Outcome.HOLDS  # 10^400 is above every double
    beyond = curve([1, math.inf], low=[1, 1.7e308], high=[1, math.inf])
    assert compare(huge, beyond).outcome is Outcome.UNDECIDED


def test_a_negative_bound_is_exceeded_by_zero() -> None:
    negative = replace(HALVING, bound=HALVING.bound - 2 * D, trivial=None)
    v = compare(negative, curve([0, 0]))
    assert (v.outcome, v.grade) == (Outcome.VIOLATED, Grade.EXACT)
    # in double precision "equal" is relative to the size of the bound, on the right side of it
    almost = replace(HALVING, bound=-D + 0 * q, trivial=None)
    assert compare(almost, curve([-1 - 1e-12], Arithmetic.FLOAT64)).outcome is Outcome.UNDECIDED
    assert compare(almost, curve([-1.1], Arithmetic.FLOAT64)).outcome is Outcome.HOLDS


def test_both_sides_below_every_double_are_left_out_and_said() -> None:
    # 2^-2000 underflows: the bound is known to lie in [0, 5e-324], the metric too
    c = curve([1, 0.25, 0], rounds=[0, 2, 4000], low=[1, 0.25, 0], high=[1, 0.25, 5e-324])
    v = compare(HALVING, c)
    assert (v.outcome, v.points, v.details["negligible"]) == (Outcome.HOLDS, 2, 1)
    assert "1 more" in v.reason
    alone = curve([0], rounds=[4000], low=[0], high=[5e-324])
    assert compare(HALVING, alone).outcome is Outcome.UNDECIDED
    # a metric that is not negligible is compared with the underflown bound as with any other
    visible = curve([1, 1e-200], rounds=[0, 4000])
    assert compare(HALVING, visible).outcome is Outcome.VIOLATED
    # exact arithmetic needs no double: 2^-2000 is attained
    exact = curve([1, Fraction(1, 2**2000)], Arithmetic.RATIONAL, rounds=[0, 4000])
    assert compare(HALVING, exact).details["negligible"] == 0


# --- other kinds ------------------------------------------------------------------------------------------

POWER = replace(HALVING, kind=Kind.EQUALITY, trivial=None)


def test_equality_in_every_arithmetic() -> None:
    held = compare(POWER, curve([1, "1/2", "1/4"], Arithmetic.RATIONAL))
    assert (held.outcome, held.grade) == (Outcome.HOLDS, Grade.EXACT)
    off = compare(POWER, curve([1, Fraction(1, 2) - Fraction(1, 10**30), "1/4"], Arithmetic.RATIONAL))
    assert (off.outcome, off.grade, off.witness["round"]) == (Outcome.VIOLATED, Grade.EXACT, 2)
    ball = compare(POWER, curve([1, 0.5, 0.25]))
    assert (ball.outcome, ball.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    wide = compare(POWER, curve([1, 0.5], low=[1, 0.1], high=[1, 0.9]))
    assert wide.outcome is Outcome.UNDECIDED
    apart = compare(POWER, curve([1, 0.4], low=[1, 0.4], high=[1, 0.4999999999999]))
    assert (apart.outcome, apart.grade) == (Outcome.VIOLATED, Grade.EXACT)
    floats = compare(POWER, curve([1, 0.5 + 1e-12], Arithmetic.FLOAT64))
    assert (floats.outcome, floats.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    wrong = compare(POWER, curve([1, 0.5001], Arithmetic.FLOAT64))
    assert (wrong.outcome, wrong.grade) == (Outcome.VIOLATED, Grade.SUPPORTED)


def test_equality_of_a_negative_quantity() -> None:
    falling = replace(POWER, bound=-POWER.bound)
    assert compare(falling, curve([-1, "-1/2"], Arithmetic.RATIONAL)).outcome is Outcome.HOLDS
    assert compare(falling, curve([-1, "1/2"], Arithmetic.RATIONAL)).outcome is Outcome.VIOLATED


# limsup K^2 dist2 <= dist2_0
ORDER2 = replace(
    HALVING,
    kind=Kind.LIMSUP,
    metric=replace(HALVING.metric, scale=K**2),
    bound=D,
    trivial=None,
    conditions=(Condition("small", sp.Le(q, sp.Rational(3, 4))),),
)


def test_limsup_is_supported_or_undecided() -> None:
    under = [9.0] * 4 + [0.9 / k**2 for k in range(4, 8)]  # K = 0..7, the last half is below
    v = compare(ORDER2, curve(under))
    assert (v.outcome, v.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    over = [0.0] * 4 + [0.9 / k**2 for k in range(4, 7)] + [1.1 / 49]
    v = compare(ORDER2, curve(over))
    assert (v.outcome, v.grade) == (Outcome.UNDECIDED, Grade.SUPPORTED)


def test_scaled_metrics_are_rounded_outwards_and_scaled_exactly() -> None:
    values = {"mu": Fraction(1, 2), "n": Fraction(2), "dist2_0": Fraction(1)}
    points = points_of(ORDER2, curve([0.1, 0.1, 0.1, 0.1]), values)
    for k in range(4):
        product = k * k * Fraction(0.1)
        assert Fraction(float(points.low[k])) <= product <= Fraction(float(points.high[k]))
    assert (points.low[0], points.high[0]) == (0, 0)
    exact = points_of(ORDER2, curve(["1/3"] * 4, Arithmetic.RATIONAL), values)
    assert exact.exact == (0, Fraction(1, 3), Fraction(4, 3), 3)
    scaled = replace(HALVING, metric=replace(HALVING.metric, scale=2 + 0 * q), trivial=None)
    assert compare(scaled, curve(["1/2", "1/4"], Arithmetic.RATIONAL)).outcome is Outcome.HOLDS
    assert compare(scaled, curve(["1/2", "26/100"], Arithmetic.RATIONAL)).outcome is Outcome.VIOLATED


def test_limit() -> None:
    limit = replace(HALVING, kind=Kind.LIMIT, bound=D, trivial=None)
    arriving = compare(limit, curve([3, 1.5, 1.0005], start=1))
    assert (arriving.outcome, arriving.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    assert compare(limit, curve([3, 1.5, 1.1])).outcome is Outcome.UNDECIDED
    assert compare(limit, curve([3])).outcome is Outcome.UNDECIDED
    assert compare(limit, curve([3, math.inf], low=[3, 1e300], high=[3, math.inf])).outcome is Outcome.UNDECIDED
    # nothing is within 1/1000 of an infinite distance: bands of sampled runs may be infinite
    for end in (math.inf, 1.0005):
        wide = curve([3, 1, 1], low=[0, 0, 1], high=[math.inf, math.inf, end])
        assert compare(limit, wide).outcome is Outcome.UNDECIDED


# --- sampled curves ---------------------------------------------------------------------------------------


def rows(means: Sequence[float], seeds: int, spread: float = 0.3, seed: int = 0) -> np.ndarray:
    """Uniform on mean*(1 +- spread); round 0 is the same for all seeds."""
    random = np.random.default_rng(seed)
    table = np.array(means) * (1 + spread * random.uniform(-1, 1, size=(seeds, len(means))))
    table[:, 0] = means[0]
    return table


def test_sampled_within_exceeds_and_undecided() -> None:
    # start below the trivial value at round 0, so that round 0 is no obstacle
    held = compare(HALVING, sampled(rows([0.9, 0.2, 0.05], 400)))
    assert (held.outcome, held.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    broken = compare(HALVING, sampled(rows([0.9, 0.8, 0.05], 400)))
    assert (broken.outcome, broken.grade, broken.witness["round"]) == (Outcome.VIOLATED, Grade.SUPPORTED, 2)
    assert "mean over the seeds" in broken.reason
    few = compare(HALVING, sampled(rows([0.9, 0.2, 0.05], 3)))
    assert few.outcome is Outcome.UNDECIDED
    for v in (held, broken, few):
        check_json(v)
        statistics = v.details["statistics"]
        assert statistics["seeds"] == len(rows([1], {"HOLDS": 400, "VIOLATED": 400}.get(v.outcome, 3)))
        assert "independent" in statistics["assumptions"]
        assert 1 <= statistics["sample_ratio"] < 2
    assert few.details["statistics"]["upper"][1] == "inf"
    assert held.details["statistics"]["lower"][1] <= 0.2 <= float(held.details["statistics"]["upper"][1])


def test_round_0_is_not_drawn_and_does_not_keep_a_claim_undecided() -> None:
    # at K = 0 metric and bound are both 1/3, for every seed
    table = rows([1 / 3, 0.05, 0.01], 400)
    c = replace(sampled(table), constants={**sampled(table).constants, "dist2_0": known("1/3")})
    assert compare(HALVING, c).outcome is Outcome.UNDECIDED  # by doubles alone
    v = compare(HALVING, replace(c, start={"dist2": Fraction(1, 3)}))
    assert v.outcome is Outcome.HOLDS
    assert v.details["statistics"]["lower"][0] == pytest.approx(1 / 3)


def test_a_random_start_above_the_bound_is_seen_exactly() -> None:
    c = sampled(rows([1.0, 0.05], 400))
    assert compare(HALVING, replace(c, start={"dist2": Fraction(2)})).outcome is Outcome.VIOLATED


def test_a_deterministic_method_on_the_sampled_engine_needs_no_statistics() -> None:
    table = np.repeat(np.array([[0.9, 0.2]]), 5, axis=0)
    v = compare(HALVING, replace(sampled(table), expectation=False))
    assert (v.outcome, v.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    assert "statistics" not in v.details


def test_sampled_bounds_that_are_negative_or_beyond_the_doubles() -> None:
    table = rows([0.9, 0.2, 0.05], 400)
    negative = replace(HALVING, bound=HALVING.bound - 2 * D, trivial=None)
    assert compare(negative, sampled(table)).outcome is Outcome.VIOLATED
    huge = replace(HALVING, bound=HALVING.bound + 10 ** (400 * K) * D, trivial=None)
    assert compare(huge, sampled(table)).outcome is Outcome.HOLDS
    diverged = table.copy()
    diverged[7, 2] = math.inf
    assert compare(HALVING, sampled(diverged)).outcome is Outcome.VIOLATED
    assert compare(huge, sampled(diverged)).outcome is Outcome.UNDECIDED
    check_json(compare(HALVING, sampled(diverged)))


def test_a_heavy_sample_is_not_called_within() -> None:
    table = np.full((400, 2), 1e-3)
    table[:, 0] = 0.9
    table[::80, 1] = 5.0  # mean 0.0635 below the bound 1/2, mean square 78 times the squared mean
    v = compare(HALVING, sampled(table))
    assert v.outcome is Outcome.UNDECIDED
    assert v.details["statistics"]["sample_ratio"] == pytest.approx(76.2, rel=0.02)


def test_other_kinds_on_sampled_curves_use_the_band() -> None:
    off = compare(POWER, sampled(rows([1.0, 0.9], 400), start={"dist2": Fraction(1)}))
    assert (off.outcome, off.grade) == (Outcome.VIOLATED, Grade.SUPPORTED)
    near = compare(POWER, sampled(rows([1.0, 0.5], 400), start={"dist2": Fraction(1)}))
    assert near.outcome is Outcome.UNDECIDED
    under = compare(ORDER2, sampled(rows([1.0, 0.2, 0.05], 400)))
    assert (under.outcome, under.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    close = compare(ORDER2, sampled(rows([1.0, 0.99, 0.2475], 400)))
    assert close.outcome is Outcome.UNDECIDED  # below 1 on average, not known to be
    with pytest.raises(BadInput, match="never negative"):
        compare(POWER, sampled(-rows([1.0, 0.5], 10)))


# --- through the engines ----------------------------------------------------------------------------------


def test_a_run_carries_what_a_verdict_needs() -> None:
    problem = build_problem({"kind": "random_quadratics", "clients": 3, "d": 2, "seed": 1})
    method = build_method({"kind": "scgd", "E": 1, "eta": "1/100"})
    ran = run(method, problem, rounds=[0, 3, 6])
    assert ran.assumptions["strong_quasi_convexity"] == "decided"
    assert ran.start["dist2"] == problem.constants()["dist2_0"].value
    assert ran.algorithms == ("scgd",)
    assert set(ran.constants) >= {"mu", "L", "sigma2", "dist2_0", "n", "E", "eta"}
