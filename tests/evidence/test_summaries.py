"""Summaries over rounds on any grid: against fractions by hand, brute force over outcomes, simulation, verdicts."""

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

import boundcheck as bc
from boundcheck.core.store import Store
from boundcheck.engines.curve import Curve
from boundcheck.engines.run import run
from boundcheck.engines.simulate import concatenate, run_sampled
from boundcheck.engines.summaries import Running, Summary, places_of
from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.evidence.compare import compare
from boundcheck.evidence.compared_points import points_of
from boundcheck.evidence.stored import arrays_of, curve_from, meta_of, run_or_recall
from boundcheck.methods.build import build as method
from boundcheck.problems.build import build as problem
from boundcheck.setting import Setting
from boundcheck.theory.dimension import LENGTH2, ONE
from boundcheck.theory.statement import ROUND, Average, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol, common
from boundcheck.verdict import Outcome

D, R, EVERY = common.dist2_0.expr, sp.Symbol("R", real=True), 3000
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


def stated(bound: Any, **metric: Any) -> Statement:
    """A summary of dist2 over the points before round R is at most a bound in D (= dist2_0) and R."""
    index = Symbol("R", "rounds", ONE, integer=True, low=Fraction(1), index=True)
    return Statement(
        source=Source("none", "1", "these tests"),
        reading="as_printed",
        title="a summary",
        symbols=(common.dist2_0, index),
        metric=Metric("dist2", LENGTH2, index="R", rounds=R, **metric),
        bound=bound,
        name="summarised",
    )


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
