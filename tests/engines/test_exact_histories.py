"""Runs on piecewise quadratic clients against a loop over all histories in fractions, written apart."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from boundcheck.engines.exact import paths_histories
from boundcheck.engines.run import run
from boundcheck.errors import Unsupported
from boundcheck.methods.build import build as method
from boundcheck.problems.build import build as problem

# a smoothed absolute value, one with a flat bottom, a client of two samples
CLIENTS = [
    {"knots": [-1, "1/2"], "slopes": [-2, 1]},
    {"knots": [1, "3/2", 2, 3], "slopes": [-1, 0, 0, 2]},
    {"components": [{"knots": [-3, -1], "slopes": [-1, 2]}, {"knots": [0, 4], "slopes": [-2, "1/3"]}]},
]
SAMPLES = [[c] if "knots" in c else c["components"] for c in CLIENTS]
METRICS = ("gap", "dist2", "grad2", "x", "virtual_gap", "virtual_grad2")


def slope(sample, x):
    """The slope at x, from its knots."""
    knots, values = ([Fraction(v) for v in sample[key]] for key in ("knots", "slopes"))
    if x <= knots[0]:
        return values[0]
    for (a, b), (c, d) in zip(itertools.pairwise(knots), itertools.pairwise(values), strict=True):
        if x <= b:
            return c + (d - c) * (x - a) / (b - a)
    return values[-1]


def client_slope(i, x):
    return sum(slope(s, x) for s in SAMPLES[i]) / len(SAMPLES[i])


def objective_slope(x):
    return sum(client_slope(i, x) for i in range(3)) / 3


def area(low, high):
    """The integral of F' by the trapezoidal rule on pieces where F' is linear: exact."""
    knots = sorted({Fraction(v) for own in SAMPLES for s in own for v in s["knots"]})
    cut = sorted({low, high, *(k for k in knots if min(low, high) < k < max(low, high))})
    found = sum((b - a) * (objective_slope(a) + objective_slope(b)) / 2 for a, b in itertools.pairwise(cut))
    return found if low <= high else -found


def minimiser():
    """Where F' = 0, by the secant on the piece on which it changes sign (it rises there)."""
    knots = sorted({Fraction(v) for own in SAMPLES for s in own for v in s["knots"]})
    for a, b in itertools.pairwise(knots):
        low, high = objective_slope(a), objective_slope(b)
        if low < 0 <= high:
            return a - low * (b - a) / (high - low)
    raise AssertionError


BEST = minimiser()


def measures(x):
    return {
        "gap": area(BEST, x),
        "dist2": (x - BEST) ** 2,
        "grad2": objective_slope(x) ** 2,
        "x": x,
    }


def visit(i, start, eta, steps, batch):
    """(probability, local points) of each history of a visit."""
    found = [(Fraction(1), (start,))]
    for _ in range(steps):
        longer = []
        for p, points in found:
            y = points[-1]
            if batch is None:
                longer.append((p, (*points, y - eta * client_slope(i, y))))
                continue
            own = SAMPLES[i]
            size = min(batch, len(own))
            for drawn in itertools.product(own, repeat=size):
                g = sum(slope(s, y) for s in drawn) / size
                longer.append((p / len(own) ** size, (*points, y - eta * g)))
        found = longer
    return found


def by_hand(cohorts, coefficient, rounds, eta, steps, batch=None, start=Fraction(5), eta_g=Fraction(1), stale=False):
    """The expected metrics of each round; cohorts(n): [(probability, clients)], coefficient(i): a_i."""
    states = [(Fraction(1), start, (start,) * 3)]
    rows = []
    for n in range(rounds + 1):
        row = dict.fromkeys(METRICS, Fraction(0))
        after = []
        for p, x, kept in states:
            for name, value in measures(x).items():
                row[name] += p * value
            for q, cohort in cohorts(n):
                starts = [kept[i] if stale else x for i in cohort]
                visits = [visit(i, y, eta, steps, batch) for i, y in zip(cohort, starts, strict=True)]
                for outcome in itertools.product(*visits):
                    w = p * q
                    for r, _ in outcome:
                        w *= r
                    move = [
                        eta_g
                        * sum(
                            coefficient(i) * (points[k] - points[0])
                            for i, (_, points) in zip(cohort, outcome, strict=True)
                        )
                        for k in range(steps + 1)
                    ]
                    for k in range(steps):
                        row["virtual_gap"] += w * measures(x + move[k])["gap"] / steps
                        row["virtual_grad2"] += w * measures(x + move[k])["grad2"] / steps
                    new = x + move[-1]
                    after.append((w, new, tuple(new if i in cohort else y for i, y in enumerate(kept))))
        rows.append(row)
        states = after
    return rows


PAIRS = [(Fraction(1, 3), pair) for pair in itertools.combinations(range(3), 2)]
PROBLEM = {"kind": "piecewise_quadratics", "clients": CLIENTS, "start": 5}
ETA = Fraction(1, 3)
CASES = {
    "synchronous": (
        {"kind": "fedavg_sync", "K": 2, "eta_l": "1/3", "eta_g": "3/2"},
        lambda: by_hand(lambda n: [(1, (0, 1, 2))], lambda i: Fraction(1, 3), 4, ETA, 2, eta_g=Fraction(3, 2)),
    ),
    "uniform cohorts": (
        {"kind": "uniform_sampling", "m": 2, "K": 2, "eta_l": "1/3"},
        lambda: by_hand(lambda n: PAIRS, lambda i: Fraction(1, 2), 3, ETA, 2),
    ),
    "samples drawn": (
        {"kind": "uniform_sampling", "m": 2, "K": 2, "batch": 1, "eta_l": "1/3"},
        lambda: by_hand(lambda n: PAIRS, lambda i: Fraction(1, 2), 1, ETA, 2, batch=1),
    ),
    "fixed cohorts": (
        {"kind": "biased_sampling", "cohorts": [[0, 1], [2]], "weights": "time_based", "K": 3, "eta_l": "1/3"},
        lambda: by_hand(lambda n: [(1, ((0, 1), (2,))[n % 2])], lambda i: Fraction(2, 3), 5, ETA, 3),
    ),
    # one client a round, in the order of finishing times 1, 2, 2, 3, 4, 4, ... (ties by number); weights by hand
    "stale": (
        {"kind": "fedavg_async", "times": [1, 2, 2], "K": 2, "eta_l": "1/3"},
        lambda: by_hand(
            lambda n: [(1, ((0,), (0,), (1,), (2,))[n % 4 : n % 4 + 1][0])],
            lambda i: Fraction(1, 3) * (2, 4, 4)[i],
            8,
            ETA,
            2,
            stale=True,
        ),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_fractions_are_those_of_a_loop_over_all_histories(case: str) -> None:
    spec, loop = CASES[case]
    rows = loop()
    if case == "stale":  # the loop's order and weights are the schedule's
        from boundcheck.setting import Setting

        own = Setting(method(spec), problem(PROBLEM))
        assert own.constant("schedule/period").value == 4
    curve = run(method(spec), problem(PROBLEM), rounds=len(rows) - 1, metrics=METRICS, arithmetic="rational")
    for name in METRICS:
        assert list(curve.exact[name]) == [row[name] for row in rows], name
    balls = run(method(spec), problem(PROBLEM), rounds=len(rows) - 1, metrics=METRICS)
    assert balls.info["accuracy"] == "relative 1e-12"
    for name in METRICS:
        for low, row, high in zip(balls.low[name], rows, balls.high[name], strict=True):
            assert Fraction(float(low)) <= row[name] <= Fraction(float(high))
            assert high - low <= 1e-11 * max(1.0, abs(high))
    floats = run(method(spec), problem(PROBLEM), rounds=len(rows) - 1, metrics=METRICS, arithmetic="float64")
    for name in METRICS:
        assert floats.values[name] == pytest.approx([float(row[name]) for row in rows], rel=1e-9, abs=1e-9)


def test_histories_with_the_same_points_become_one() -> None:
    # between -99 and 999 the slopes are constant, 2 and -1: from 0 each of n steps is -1 or 1/2, alike likely
    clients = [{"knots": [-100, -99], "slopes": [-1, 2]}, {"knots": [999, 1000], "slopes": [-1, 1]}]
    lattice = problem({"kind": "piecewise_quadratics", "clients": clients, "start": 0})
    spec = method({"kind": "uniform_sampling", "m": 1, "K": 1, "eta_l": "1/2"})
    best = Fraction(-298, 3)  # F' goes from -1 at -100 to 1/2 at -99
    for arithmetic in ("rational", "ball"):
        curve = run(spec, lattice, rounds=40, metrics=["dist2", "x"], arithmetic=arithmetic)
        squares = [(Fraction(-n, 4) - best) ** 2 + Fraction(9, 16) * n for n in range(41)]
        assert curve.values["x"].tolist() == [-n / 4 for n in range(41)]
        assert curve.values["dist2"].tolist() == [float(v) for v in squares]  # 2^40 histories


def test_a_run_of_too_many_histories_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths_histories, "MAX_HISTORIES", 100)
    spec = method({"kind": "uniform_sampling", "m": 2, "K": 2, "eta_l": "1/3"})
    with pytest.raises(Unsupported, match="more than 100 different histories"):
        run(spec, problem(PROBLEM), rounds=50, arithmetic="rational")
    long = method({"kind": "fedavg_sync", "K": 2, "eta_l": "1/3"})
    with pytest.raises(Unsupported, match="gradients of samples; step by step at most"):
        run(long, problem(PROBLEM), rounds=10**6)


def test_heavy_ball_by_hand() -> None:
    curve = run(
        method({"kind": "heavy_ball", "momentum_g": "1/2", "eta": "1/3"}),
        problem(PROBLEM),
        rounds=3,
        metrics=["x"],
        arithmetic="rational",
    )
    x, before = Fraction(5), Fraction(5)
    for value in curve.exact["x"]:
        assert value == x
        x, before = x + (x - before) / 2 - objective_slope(x) / 3, x


@pytest.mark.parametrize(
    ("spec", "rounds"),
    [
        ({"kind": "fedavg_rr", "E": 2, "eta_l": "1/7"}, 2),
        ({"kind": "fedavg_async", "times": [2, 3, 5], "K": 2, "eta_l": "1/50"}, 20),
        ({"kind": "md_sampling", "m": 2, "K": 2, "eta_l": "1/7"}, 2),
    ],
)
def test_between_the_knots_runs_are_those_of_quadratics(spec: dict[str, object], rounds: int) -> None:
    def sample(curvature: int, centre: int) -> tuple[dict[str, object], dict[str, object]]:
        wide = {"knots": [centre - 90, centre + 90], "slopes": [-90 * curvature, 90 * curvature]}
        return wide, {"A": curvature, "b": curvature * centre}

    parts = [[sample(1, 0)], [sample(2, 2)], [sample(1, 0), sample(3, 1)]]
    both = [[{"components": [pair[side] for pair in own]} for own in parts] for side in range(2)]
    wide = problem({"kind": "piecewise_quadratics", "clients": both[0], "start": 10})
    plain = problem({"kind": "quadratics", "clients": both[1], "start": [10]})
    names = ["gap", "dist2", "grad2"]
    found = run(method(spec), wide, rounds=rounds, metrics=names, arithmetic="rational")
    moments = run(method(spec), plain, rounds=rounds, metrics=names, arithmetic="rational")
    assert found.exact == moments.exact
    assert found.expectation == moments.expectation
