"""Summaries over rounds: averages against fractions and on any grid, least values, verdicts, claims, the store."""

from __future__ import annotations

import itertools
import json
import pickle
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp
from compare_tools import known

import boundcheck as bc
from boundcheck.core.linalg import float_down, float_up
from boundcheck.core.store import Store
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.engines.run import run
from boundcheck.engines.simulate import concatenate, run_sampled
from boundcheck.engines.summaries import (
    Running,
    Summary,
    ends_of,
    exact_averages,
    places_of,
    summary_of,
    weights_of,
)
from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.evidence.claim_rounds import default_index, rounds_of
from boundcheck.evidence.compare import compare
from boundcheck.evidence.compared_points import points_of
from boundcheck.evidence.stored import arrays_of, curve_from, meta_of, run_or_recall
from boundcheck.methods.build import build as method
from boundcheck.problems.build import build as problem
from boundcheck.setting import Setting
from boundcheck.theory.dimension import LENGTH2, ONE
from boundcheck.theory.statement import ROUND, Algorithm, Average, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol, common
from boundcheck.verdict import Grade, Outcome

q, D, R, EVERY = common.mu.expr, common.dist2_0.expr, sp.Symbol("R", real=True), 3000
ROUNDS = Symbol("R", "rounds", ONE, integer=True, low=Fraction(1), index=True)
GROWING = (1 - q / 2) ** (-ROUND)
LINE = {"kind": "quadratics", "clients": [{"A": 2, "b": 0}], "start": [1]}
PARABOLA = method({"kind": "gradient_descent", "eta": "1/8"})  # x_r = (3/4)^r
# one client after the other: x -> 3x/4 + 1/4, x -> x/2; in turns at 1/5 and 2/5 in the end, with the minimiser at 1/3
PAIR = {"kind": "quadratics", "clients": [{"A": 1, "b": 1}, {"A": 2, "b": 0}], "start": [1]}
TURNS = method({"kind": "biased_sampling", "cohorts": [[0], [1]], "K": 1, "eta_l": "1/4"})
# a step of one client, drawn, with f' = x + 1 or x - 1 where a run gets to: x -> x/2 - 1/2 or x/2 + 1/2
CLIENTS = [{"knots": [-10, 10], "slopes": [-9, 11]}, {"knots": [-10, 10], "slopes": [-11, 9]}]
COIN = {"kind": "piecewise_quadratics", "clients": CLIENTS, "start": 3}
DRAWN = method({"kind": "uniform_sampling", "m": 1, "K": 1, "eta_l": "1/2"})
WEIGHTED = Summary("dist2", Average.MEAN, ROUND + 1)


def stated(bound: Any, more: Any = None, **metric: Any) -> Statement:
    """A summary of dist2 over the points before round R is at most a bound in q (= mu), D (= dist2_0) and R."""
    used = {s.name for e in (bound, sp.sympify(metric.get("weights", 1))) for s in e.free_symbols} | {"R"}
    declared = (common.mu.but(dimension=ONE), common.dist2_0, common.eta, ROUNDS)
    symbols = tuple(s for s in declared if s.name in used)
    own = Metric("dist2", LENGTH2, index="R", rounds=R, **metric)
    source = Source("none", "1", "these tests")
    return Statement(source, "as_printed", "a summary", symbols, own, bound, name="summarised", **(more or {}))


def averaged(weights: Any, bound: Any, **more: Any) -> Statement:
    """The weighted mean of dist2 over r < R."""
    return stated(bound, more, average="mean", weights=sp.sympify(weights))


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
    assert ((low <= 1 / 3) & (high >= 1 / 3) & (high - low < 1e-15)).all()
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
    drawn = {"kind": "fedavg", "E": 1, "eta": "1/10", "size": 1}
    bound = averaged(1, D / R + D / 2, trivial=D)
    asked = Claim(bound, pair, drawn, at={"R": [1, 2, 20, 40]}, engine="sampled", seeds=400)
    result = run_claim(asked)
    # the mean of 4 (81/100)^r + (1 - (81/100)^r)/19 over r < 40 is 0.575; the bound there 2.1
    assert (result.verdict.outcome, result.verdict.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    exact = run_claim(replace(asked, engine="exact"))
    assert exact.verdict.outcome is Outcome.HOLDS
    assert result.metric_low[-1] <= exact.metric_low[-1] <= result.metric_high[-1]


def test_a_claim_without_weights_has_failed() -> None:
    """Theorem E.1 as printed allows steps at which its own weights, powers of 1 - mu*et/2, are negative."""
    spec = {"kind": "fedshuffle_gen", "eta_l": "largest", "weights": [5, 10, 15]}
    claim = Claim("fedshuffle/theorem_e_1_strongly_convex/as_printed", {"kind": "fedshuffle_36"}, spec)
    verdict = run_claim(replace(claim, at={"R": [1000]})).verdict
    assert verdict.outcome is Outcome.FAILED
    assert "the weight of round 1 is not positive" in verdict.reason


@pytest.mark.parametrize("engine", ["exact", "sampled"])
def test_an_average_over_one_round_is_the_start(engine: str) -> None:
    """F(x_0) - F* is 1/12 at the start; the theorem's bound on the average over r < 1 is above it."""
    spec, progress = {"kind": "fedshuffle", "eta_l": "largest"}, list[float]()
    claim = Claim("fedshuffle/theorem_5_1_strongly_convex/sharp", {"kind": "fedshuffle_36"}, spec, engine=engine)
    found = run_claim(replace(claim, at={"R": [1]}), on_progress=progress.append)
    assert (found.verdict.outcome, found.verdict.grade) == (Outcome.HOLDS, Grade.EXACT)
    assert found.metric_high[0] == pytest.approx(1 / 12, rel=1e-12)
    assert found.bound[0] > 1 / 12
    assert all(0 <= share <= 1 for share in progress)


# --- on any grid ----------------------------------------------------------------------------------------------------


def weighted_mean(last: int) -> Fraction:
    total = sum((r + 1) * Fraction(9, 16) ** r for r in range(last + 1))
    return total / Fraction((last + 1) * (last + 2), 2)


@pytest.mark.parametrize("arithmetic", ["rational", "ball", "float64"])
def test_a_weighted_mean_on_a_grid_is_that_of_every_round(arithmetic: str) -> None:
    curve = run(PARABOLA, problem(LINE), rounds=[5, 40], arithmetic=arithmetic, summaries=[WEIGHTED])
    assert list(curve.rounds) == [5, 40]
    found = curve.summaries["mean dist2, weights r + 1"]
    assert list(found.rounds) == [4, 5, 39, 40]
    for k, r in enumerate((4, 5, 39, 40)):
        assert found.values["dist2"][k] == pytest.approx(float(weighted_mean(r)), rel=1e-12)
        if arithmetic != "float64":
            assert Fraction(float(found.low["dist2"][k])) <= weighted_mean(r) <= Fraction(float(found.high["dist2"][k]))
        if arithmetic == "rational":
            assert found.exact["dist2"][k] == weighted_mean(r)


def test_the_same_in_simulation_whatever_is_run_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = (WEIGHTED, Summary("dist2", Average.LEAST))
    short = method({"kind": "fedavg", "E": 1, "eta": "1/10", "size": 1})
    how: dict[str, Any] = {"summaries": asked, "memory_limit": 1 << 20}  # all rounds of all seeds would take 7 MB
    whole = run_sampled(short, problem(PAIR), EVERY, 300, ("dist2",), [17, EVERY], **how)
    dense = run_sampled(short, problem(PAIR), EVERY, 3, ("dist2",), range(EVERY + 1)).samples["dist2"]
    assert (whole.samples["dist2"][:3] == dense[:, [17, EVERY]]).all()
    weights = np.arange(1, EVERY + 2)
    means = whole.summaries[WEIGHTED.key].samples["dist2"]
    for k, r in enumerate((16, 17, EVERY - 1, EVERY)):
        by_hand = dense[:, : r + 1] @ weights[: r + 1] / weights[: r + 1].sum()
        assert means[:3, k] == pytest.approx(by_hand, rel=1e-12)
        assert (whole.summaries[asked[1].key].samples["dist2"][:3, k] == dense[:, : r + 1].min(axis=1)).all()
    parts = [
        run_sampled(short, problem(PAIR), EVERY, seeds, ("dist2",), [1, 17, EVERY], block=7, threads=1, summaries=asked)
        for seeds in (range(40), range(40, 300))
    ]
    joined = concatenate(parts).summaries[WEIGHTED.key]
    assert (joined.samples["dist2"][:, 2:] == means).all()  # bit for bit


def test_running_sums_do_not_depend_on_how_rounds_are_cut() -> None:
    values = np.random.default_rng(0).random((2, 50))
    values[1, 20] = np.inf
    grown = Summary("gap", Average.MEAN, sp.Integer(2) ** (60 * ROUND))
    for summary in (grown, Summary("gap"), Summary("gap", Average.LEAST)):
        once, pieces = Running(summary, 2, 50), Running(summary, 2, 50)
        cut = [pieces.add(values[:, a:b]) for a, b in itertools.pairwise((0, 1, 20, 21, 50))]
        assert (np.concatenate(cut, axis=1) == once.add(values)).all()
    assert Running(grown, 2, 50).add(values)[0] == pytest.approx(values[0])  # the last round has all the weight


def test_least_so_far_of_a_run_that_oscillates() -> None:
    """The heavy ball by its recursion in fractions; the last iterate is far above the least."""
    eta, beta = Fraction(1, 8), Fraction(19, 20)
    points = [Fraction(1), Fraction(1) - eta * 2]
    while len(points) <= 30:
        points.append(points[-1] - eta * 2 * points[-1] + beta * (points[-1] - points[-2]))
    ball = method({"kind": "heavy_ball", "eta": "1/8", "momentum_g": "19/20"})
    least = [min(x * x for x in points[: r + 1]) for r in (6, 7, 29, 30)]
    assert least[-1] < points[30] ** 2 / 100
    for arithmetic in ("rational", "ball"):
        found = run(ball, problem(LINE), rounds=[7, 30], arithmetic=arithmetic, summaries=["least"])
        own = found.summaries["least dist2"]
        for low, value, high in zip(own.low["dist2"], least, own.high["dist2"], strict=True):
            assert Fraction(float(low)) <= value <= Fraction(float(high))
            assert high - low <= 1e-12 * high
    exact = run(ball, problem(LINE), rounds=[7, 30], arithmetic="rational", summaries=["least"])
    assert exact.summaries["least dist2"].exact["dist2"] == tuple(least)


def expected_least(rounds: int) -> tuple[Fraction, Fraction]:
    """E min of gap = x^2/2, and min E, over rounds 0, ..., rounds: all outcomes of the coins one by one."""
    least, means = Fraction(0), [Fraction(0)] * (rounds + 1)
    for coins in itertools.product((-1, 1), repeat=rounds):
        x, seen = Fraction(3), [Fraction(9, 2)]
        for coin in coins:
            x = x / 2 + Fraction(coin, 2)
            seen.append(x * x / 2)
        least += min(seen) / 2**rounds
        means = [m + v / 2**rounds for m, v in zip(means, seen, strict=True)]
    return least, min(means)


def test_expected_least_value_of_a_run_whose_outcomes_are_followed() -> None:
    own, of_means = expected_least(6)
    assert own < of_means / 2  # the least expectation is another number
    found = run(DRAWN, problem(COIN), rounds=[2, 6], metrics=["gap"], arithmetic="rational", summaries=["least"])
    assert found.summaries["least gap"].exact["gap"] == tuple(expected_least(r)[0] for r in (1, 2, 5, 6))
    assert found.exact["gap"] == run(DRAWN, problem(COIN), rounds=[2, 6], arithmetic="rational").exact["gap"]
    balls = run(DRAWN, problem(COIN), rounds=[6], metrics=["gap"], summaries=["least", "mean"])
    low, high = (getattr(balls.summaries["least gap"], end)["gap"][-1] for end in ("low", "high"))
    assert Fraction(float(low)) <= own <= Fraction(float(high))
    assert high - low < 1e-12
    seeds = run(DRAWN, problem(COIN), rounds=[6], metrics=["gap"], engine="sampled", seeds=4000, summaries=["least"])
    samples = seeds.summaries["least gap"].samples["gap"][:, -1]
    error = samples.std(ddof=1) / np.sqrt(len(samples))
    assert abs(samples.mean() - float(own)) < 4.5 * error < float(of_means - own)


def test_expectations_have_no_least_value_of_a_run() -> None:
    with pytest.raises(Unsupported, match="and not of its least value so far; take engine = 'sampled'"):
        run(method({"kind": "fedavg", "E": 1, "eta": "1/10", "size": 1}), problem(PAIR), rounds=5, summaries=["least"])
    with pytest.raises(UnknownName, match="summary 'median'"):
        run(PARABOLA, problem(LINE), rounds=5, summaries=["median"])
    with pytest.raises(BadInput, match="at most 1000000 are allowed"):
        run(PARABOLA, problem(LINE), rounds=10**9, summaries=["mean"])


# --- verdicts on default curves -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def turns() -> Curve:
    """A default curve, on which the distance is least, 1/2304, after round 4 and at least 1/225 in the end."""
    return bc.run(TURNS, problem(PAIR), rounds=EVERY)


def test_least_so_far_on_a_default_curve(turns: Curve) -> None:
    assert len(turns.rounds) < 400
    least = sp.Rational(1, 2304)
    after = sp.Max(least, D * (5 - R))
    good = compare(stated(after * sp.Rational(1001, 1000), average="least"), turns)
    assert good.outcome is Outcome.HOLDS, good.reason
    assert good.points > 300
    assert compare(stated(after * sp.Rational(999, 1000), average="least"), turns).outcome is Outcome.VIOLATED
    assert compare(stated(after * 2), turns).outcome is Outcome.VIOLATED  # of the last iterate


def test_weighted_means_on_a_default_curve(turns: Curve) -> None:
    """In the end the means are those of 4/225 and 1/225 in turns."""
    for weights in (sp.S.One, ROUND + 1):
        claimed = stated(sp.Rational(5, 450) + D * 20 / R, average="mean", weights=weights)
        assert compare(claimed, turns).outcome is Outcome.HOLDS
        held = run(TURNS, problem(PAIR), rounds=EVERY, summaries=[claimed], metrics=["dist2"])
        points = points_of(claimed, held, {"dist2_0": Fraction(4, 9)})
        assert (points.rounds[-2:], points.index[-1]) == ((EVERY - 1, EVERY), EVERY + 1)
        assert points.high[-1] == pytest.approx(5 / 450, rel=0.05)
        assert compare(replace(claimed, bound=sp.Rational(5, 460) + D / R / 10), held).outcome is Outcome.VIOLATED
    with_last = stated(D, average="mean", weights=ROUND + 1, with_last=True)
    assert points_of(with_last, held, {"dist2_0": Fraction(1)}).index[-1] == EVERY


def test_a_curve_that_was_written_down_or_changed_is_not_run_again(turns: Curve) -> None:
    claimed = stated(D, average="mean", weights=ROUND + 1)
    read = Curve.from_dict(json.loads(json.dumps(turns.to_dict())))
    changed = replace(turns, values={k: v.copy() for k, v in turns.values.items()})
    old = Curve.from_dict({k: v for k, v in turns.to_dict().items() if k != "summaries"})
    for curve in (read, old, pickle.loads(pickle.dumps(turns)), changed):
        found = points_of(claimed, curve, {"dist2_0": Fraction(4, 9)})
        assert (compare(claimed, curve).points, found.index[-1]) == (101, 101)
        assert "run the method with the statement among `summaries`" in found.gap
    held = run(TURNS, problem(PAIR), rounds=EVERY, summaries=[claimed])
    kept = Curve.from_dict(json.loads(json.dumps(held.to_dict())))
    assert compare(claimed, kept).points == compare(claimed, turns).points > 300


@pytest.mark.parametrize("engine", ["exact", "sampled"])
def test_a_claim_keeps_summaries_and_no_round_between(engine: str) -> None:
    claim = Claim("summarised", PAIR, {"kind": "biased_sampling", "cohorts": [[0], [1]], "K": 1, "eta_l": "1/4"})
    claim = replace(claim, engine=engine, at={"R": [5, 1000]}, seeds=2)
    found = run_claim(replace(claim, statement=stated(sp.Rational(1, 2000) + D / R / 10**6, average="least")))
    assert (found.verdict.outcome, found.index, found.rounds) == (Outcome.HOLDS, (5, 1000), (4, 999))
    assert found.metric_low == pytest.approx([1 / 2304, 1 / 2304], rel=1e-9)


def test_stored_curves_have_their_summaries_and_old_ones_are_read(tmp_path: Any) -> None:
    spec = {"kind": "fedavg", "E": 1, "eta": "1/10", "size": 1}
    setting, store = Setting(method(spec), problem(PAIR)), Store(tmp_path)
    how: dict[str, Any] = {"rounds": [30], "metrics": ["dist2"], "summaries": (WEIGHTED,)}
    for engine, seeds in (("exact", range(0)), ("sampled", range(4))):
        first, again = (run_or_recall(store, setting, spec, seeds=seeds, engine=engine, **how) for _ in range(2))
        for key, own in first.summaries.items():
            assert (again.summaries[key].values["dist2"] == own.values["dist2"]).all()
            assert list(again.summaries[key].rounds) == list(places_of([30]))
    plain = run_or_recall(store, setting, spec, seeds=range(0), engine="exact", rounds=[30], metrics=["dist2"])
    meta = {k: v for k, v in meta_of(plain).items() if k != "summaries"}
    assert curve_from(arrays_of(plain), meta).summaries == {}
