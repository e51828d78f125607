"""Averages over rounds: enclosures against fractions, weights beyond the floats, samples, grids, verdicts, claims."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp
from compare_tools import known

from boundcheck.core.linalg import float_down, float_up
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.engines.summaries import Running, ends_of, exact_averages, summary_of, weights_of
from boundcheck.errors import BadInput
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.evidence.claim_rounds import default_index, rounds_of
from boundcheck.evidence.compare import compare
from boundcheck.evidence.compared_points import points_of
from boundcheck.theory.dimension import LENGTH2, ONE
from boundcheck.theory.statement import ROUND, Algorithm, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol, common
from boundcheck.verdict import Grade, Outcome

q, D, R = common.mu.expr, common.dist2_0.expr, sp.Symbol("R", real=True)
ROUNDS = Symbol("R", "rounds", ONE, integer=True, low=Fraction(1), index=True)
GROWING = (1 - q / 2) ** (-ROUND)


def averaged(weights: Any, bound: Any, **more: Any) -> Statement:
    """The weighted mean of dist2 over r < R is at most a bound in q (= mu), D (= dist2_0) and R."""
    used = {s.name for e in (bound, sp.sympify(weights)) for s in e.free_symbols} | {"R"}
    declared = (common.mu.but(dimension=ONE), common.dist2_0, common.eta, ROUNDS)
    return Statement(
        source=Source("none", "1", "these tests"),
        reading="as_printed",
        title="an average",
        symbols=tuple(s for s in declared if s.name in used),
        metric=Metric("dist2", LENGTH2, index="R", rounds=R, average="mean", weights=sp.sympify(weights)),
        bound=bound,
        name="averaged",
        **more,
    )


def brute(weights: list[Fraction], values: list[Fraction], end: int) -> Fraction:
    """The definition."""
    total = sum((w * v for w, v in zip(weights[:end], values, strict=False)), Fraction(0))
    return total / sum(weights[:end], Fraction(0))


VALUES = [Fraction(3, 7) ** (r % 5) * (1 + Fraction(r * r % 11, 13)) for r in range(60)]
LOW, HIGH = (np.array([end(v) for v in VALUES]) for end in (float_down, float_up))
ENDS = [1, 2, 3, 10, 59, 60]


@pytest.mark.parametrize(
    ("formula", "weight"),
    [
        (sp.Integer(3), lambda r: Fraction(1)),
        (GROWING, lambda r: Fraction(4, 3) ** r),
        (q ** (40 * ROUND), lambda r: Fraction(1, 2) ** (40 * r)),  # ever smaller: 2^-2360 at the end
        (q ** (-40 * ROUND), lambda r: Fraction(2) ** (40 * r)),  # beyond all floats
        (q ** (-600 * ((-1) ** ROUND)), lambda r: Fraction(2) ** (600 * (-1) ** r)),  # up and down
        (1 + ROUND, lambda r: Fraction(1 + r)),
    ],
)
def test_enclosures_hold_the_exact_average_and_are_narrow(formula: Any, weight: Any) -> None:
    summary, rounds = summary_of(averaged(formula, D), {"mu": Fraction(1, 2)}), [end - 1 for end in ENDS]
    low, high = ends_of(summary, LOW, HIGH, rounds)
    exact = [brute([weight(r) for r in range(60)], VALUES, end) for end in ENDS]
    assert exact_averages(summary, VALUES, rounds) == exact
    for a, x, b in zip(low, exact, high, strict=True):
        assert Fraction(float(a)) <= x <= Fraction(float(b))
        assert b - a <= 1e-12 * b
    samples = np.stack([[float(v) for v in VALUES], [2 * float(v) for v in VALUES]])
    found = Running(summary, 2, 60).add(samples)[:, rounds]
    assert found[0] == pytest.approx([float(x) for x in exact], rel=1e-11)
    assert found[1] == pytest.approx([2 * float(x) for x in exact], rel=1e-11)


def test_signs_and_infinities() -> None:
    summary = summary_of(averaged(1 + ROUND, D), {})
    signed = np.array([1.0, -2.0, 3.0, -1.0])  # averages 1, (1 - 4)/3, (1 - 4 + 9)/6, (1 - 4 + 9 - 4)/10
    low, high = ends_of(summary, signed, signed, [0, 1, 2, 3])
    for a, x, b in zip(low, (1, -1, 1, Fraction(1, 5)), high, strict=True):
        assert Fraction(float(a)) <= x <= Fraction(float(b))
        assert b - a < 1e-13
    low, high = ends_of(summary, np.array([1, 1, 7, 1]), np.array([1, 1, np.inf, 1]), [1, 2, 3])
    assert high.tolist() == [1, np.inf, np.inf]
    assert low == pytest.approx([1, 4, 2.8])  # (1 + 2 + 21)/6, (1 + 2 + 21 + 4)/10
    row = np.array([1.0, np.nan, 7.0])  # what has no value makes no mean, and is not taken for 0
    for end in ends_of(summary, row, row, [0, 1, 2]):
        assert np.isnan(end).tolist() == [False, True, True]


def test_many_rounds_lose_little() -> None:
    """Constant metric 1/3: the average is 1/3 whatever the weights; 10000 rounds lose less than 1e-15."""
    count, third = 10_000, Fraction(1, 3)
    summary, rounds = summary_of(averaged(GROWING, D), {"mu": Fraction(1, 10)}), [0, 4999, count - 1]
    low, high = ends_of(summary, np.full(count, float_down(third)), np.full(count, float_up(third)), rounds)
    assert (low <= 1 / 3).all()
    assert (high >= 1 / 3).all()
    assert (high - low < 1e-15).all()
    assert Running(summary, 2, count).add(np.full((2, count), 0.25))[:, rounds] == pytest.approx(0.25, rel=1e-10)


def test_weights_must_be_positive() -> None:
    for weights, at in ((3 - ROUND, 3), (1 - 2 * q, 0)):
        with pytest.raises(BadInput, match=f"weight of round {at} is not positive"):
            weights_of(summary_of(averaged(weights, D), {"mu": Fraction(1, 2)}), 10)


# --- curves ---------------------------------------------------------------------------------------------------------


def curve(values: list[Any], arithmetic: Arithmetic = Arithmetic.BALL, **more: Any) -> Curve:
    enclosed = arithmetic in (Arithmetic.RATIONAL, Arithmetic.BALL)
    parts: dict[str, Any] = {
        "values": {"dist2": np.array([float(v) for v in values])},
        "low": {"dist2": np.array([float_down(Fraction(v)) for v in values])} if enclosed else {},
        "high": {"dist2": np.array([float_up(Fraction(v)) for v in values])} if enclosed else {},
        "exact": {"dist2": tuple(Fraction(v) for v in values)} if arithmetic is Arithmetic.RATIONAL else {},
        "constants": {"mu": known("1/2"), "dist2_0": known(1)},
        "start": {"dist2": Fraction(values[0])},
    }
    return Curve(rounds=np.arange(len(values)), arithmetic=arithmetic, **{**parts, **more})


def test_a_mean_that_meets_its_bound_exactly() -> None:
    """Values 2^-r: the mean over r < R is 2(1 - 2^-R)/R."""
    values = [Fraction(1, 2**r) for r in range(12)]
    tight = averaged(1, 2 * D * (1 - q**R) / R)
    for arithmetic, outcome in ((Arithmetic.RATIONAL, Outcome.HOLDS), (Arithmetic.BALL, Outcome.UNDECIDED)):
        verdict = compare(tight, curve(values, arithmetic))
        assert (verdict.outcome, verdict.points) == (outcome, 12)
    below = compare(replace(tight, bound=tight.bound * (1 - sp.Rational(1, 10**6))), curve(values))
    assert (below.outcome, below.grade) == (Outcome.VIOLATED, Grade.EXACT)
    above = replace(tight, bound=tight.bound * (1 + sp.Rational(1, 10**6)), trivial=D)
    assert compare(above, curve(values)).outcome is Outcome.HOLDS


def test_only_rounds_that_the_curve_holds_are_averaged() -> None:
    claimed, values = averaged(1, D), {"dist2_0": Fraction(1)}
    gaps = replace(curve([1, 1, 1, 1]), rounds=np.array([0, 1, 3, 4]))
    assert points_of(claimed, gaps, values).index == (1, 2)
    assert compare(claimed, replace(gaps, rounds=np.array([1, 2, 3, 4]))).outcome is Outcome.FAILED
    dense = curve([1] * 500)
    every = points_of(claimed, dense, values)
    assert every.index[:100] == tuple(range(1, 101))
    assert every.index[-1] == 500
    assert len(every) < 160
    assert points_of(claimed, dense, values, [Fraction(7), Fraction(501), Fraction(300)]).index == (7, 300)
    assert points_of(claimed, dense, values, [Fraction(7)]).rounds == (6,)


def test_samples_are_averaged_seed_by_seed_and_the_start_is_fixed() -> None:
    rows = np.array([[1.0, 0.5, 0.0], [1.0, 1.5, 3.0]])
    random = curve([1, 1, Fraction(3, 2)], Arithmetic.SAMPLED, samples={"dist2": rows}, expectation=True)
    points = points_of(averaged(1, D), random, {"dist2_0": Fraction(1)})
    assert points.samples is not None
    assert points.samples == pytest.approx(np.array([[1, 0.75, 0.5], [1, 1.25, 11 / 6]]))
    assert points.fixed.tolist() == [True, False, False]
    assert points.exact == (1, None, None)
    assert points.low == pytest.approx([1, 1, 7 / 6])


def test_rounds_of_an_average_are_those_of_its_last_points_and_limited() -> None:
    claimed = averaged(1, D)
    several = replace(claimed, metric=replace(claimed.metric, rounds=2 * R - 2))
    assert rounds_of(claimed, [Fraction(2), Fraction(5)], {}) == [0, 1, 4]
    assert rounds_of(several, [Fraction(3)], {}) == [0, 3]
    for own, index, count in ((claimed, 1_000_001, 1_000_001), (several, 1, 0)):
        with pytest.raises(BadInput, match=f"average over {count} rounds"):
            rounds_of(own, [Fraction(index)], {})
    grid = default_index(averaged(1, D / sp.sqrt(R)), {"dist2_0": Fraction(1)})
    assert (grid[0], grid[-1]) == (1, 10_000)


# --- claims ---------------------------------------------------------------------------------------------------------

ETA = common.eta
MEAN_OF_GD = averaged(
    1,
    D * (1 - (1 - ETA.expr * q) ** (2 * R)) / (R * (1 - (1 - ETA.expr * q) ** 2)),
    algorithm=Algorithm("gradient_descent", ("eta",)),
    trivial=D,
)
LINE = {"kind": "quadratics", "clients": [{"A": 2, "b": 0}], "start": [1]}


def test_gradient_descent_on_a_parabola_meets_its_mean_exactly() -> None:
    """x_r = (1 - 2 eta)^r: the mean of its squares is a geometric sum."""
    claim = Claim(MEAN_OF_GD, LINE, {"kind": "gradient_descent", "eta": "1/8"}, at={"R": [1, 3, 10]})
    exact = run_claim(replace(claim, arithmetic="rational"))
    assert (exact.verdict.outcome, exact.verdict.grade) == (Outcome.HOLDS, Grade.EXACT)
    assert exact.index == (1, 3, 10)
    assert exact.metric_low[1] == pytest.approx((1 + 9 / 16 + 81 / 256) / 3)
    short = replace(MEAN_OF_GD, bound=MEAN_OF_GD.bound * sp.Rational(999_999, 10**6))
    broken = run_claim(replace(claim, statement=short))
    assert (broken.verdict.outcome, broken.verdict.grade) == (Outcome.VIOLATED, Grade.EXACT)
    whole = run_claim(replace(claim, at={}, statement=replace(MEAN_OF_GD, bound=MEAN_OF_GD.bound * 2)))
    assert whole.verdict.outcome is Outcome.HOLDS
    assert whole.index[-1] > 100


def test_a_sampled_average_is_decided_by_statistics() -> None:
    pair = {"kind": "quadratics", "clients": [{"A": 1, "b": 1}, {"A": 1, "b": -1}], "start": [2]}
    method = {"kind": "fedavg", "E": 1, "eta": "1/10", "size": 1}
    bound = averaged(1, D / R + D / 2, trivial=D)
    asked = Claim(bound, pair, method, at={"R": [1, 2, 20, 40]}, engine="sampled", seeds=400)
    result = run_claim(asked)
    # the mean of 4 (81/100)^r + (1 - (81/100)^r)/19 over r < 40 is 0.575; the bound there 2.1
    assert (result.verdict.outcome, result.verdict.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    exact = run_claim(replace(asked, engine="exact"))
    assert exact.verdict.outcome is Outcome.HOLDS
    assert result.metric_low[-1] <= exact.metric_low[-1] <= result.metric_high[-1]


def test_a_claim_without_weights_has_failed() -> None:
    """Theorem E.1 as printed allows steps at which its own weights, powers of 1 - mu*et/2, are negative."""
    method = {"kind": "fedshuffle_gen", "eta_l": "largest", "weights": [5, 10, 15]}
    claim = Claim("fedshuffle/theorem_e_1_strongly_convex/as_printed", {"kind": "fedshuffle_36"}, method)
    verdict = run_claim(replace(claim, at={"R": [1000]})).verdict
    assert verdict.outcome is Outcome.FAILED
    assert "the weight of round 1 is not positive" in verdict.reason


@pytest.mark.parametrize("engine", ["exact", "sampled"])
def test_an_average_over_one_round_is_the_start(engine: str) -> None:
    """F(x_0) - F* is 1/12 at the start; the theorem's bound on the average over r < 1 is above it."""
    method, progress = {"kind": "fedshuffle", "eta_l": "largest"}, list[float]()
    claim = Claim("fedshuffle/theorem_5_1_strongly_convex/sharp", {"kind": "fedshuffle_36"}, method, engine=engine)
    found = run_claim(replace(claim, at={"R": [1]}), on_progress=progress.append)
    assert (found.verdict.outcome, found.verdict.grade) == (Outcome.HOLDS, Grade.EXACT)
    assert found.metric_high[0] == pytest.approx(1 / 12, rel=1e-12)
    assert found.bound[0] > 1 / 12
    assert all(0 <= share <= 1 for share in progress)
