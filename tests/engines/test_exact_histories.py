"""Runs on piecewise quadratic clients against a loop over all histories in fractions, written apart."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from boundcheck.engines.exact import paths_histories
from boundcheck.engines.run import run
from boundcheck.errors import Unsupported
from boundcheck.methods.build import build as method
from boundcheck.problems.build import build as problem
from tests.engines.brute import World, exact, vector
from tests.engines.outcomes import expected

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
    knots, values = ([exact(v) for v in sample[key]] for key in ("knots", "slopes"))
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
    knots = sorted({exact(v) for own in SAMPLES for s in own for v in s["knots"]})
    cut = sorted({low, high, *(k for k in knots if min(low, high) < k < max(low, high))})
    found = sum((b - a) * (objective_slope(a) + objective_slope(b)) / 2 for a, b in itertools.pairwise(cut))
    return found if low <= high else -found


def minimiser():
    """Where F' = 0, by the secant on the piece on which it changes sign (it rises there)."""
    knots = sorted({exact(v) for own in SAMPLES for s in own for v in s["knots"]})
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


class Pieces(World):
    """The clients in fractions, by the slopes of their samples."""

    def __init__(self):
        super().__init__(SAMPLES, [Fraction(1, 3)] * 3, vector([5]))

    def one(self, i, j, x):
        return np.array([slope(SAMPLES[i][j], x[0])], dtype=object)

    def measure(self, name, x):
        return measures(x[0])[name]


PROBLEM = {"kind": "piecewise_quadratics", "clients": CLIENTS, "start": 5}
CASES = {
    "synchronous": ({"kind": "fedavg_sync", "K": 2, "eta_l": "1/3", "eta_g": "3/2"}, 4),
    "uniform cohorts": ({"kind": "uniform_sampling", "m": 2, "K": 2, "eta_l": "1/3"}, 3),
    "samples drawn": ({"kind": "uniform_sampling", "m": 2, "K": 2, "batch": 1, "eta_l": "1/3"}, 1),
    "fixed cohorts": (
        {"kind": "biased_sampling", "cohorts": [[0, 1], [2]], "weights": "time_based", "K": 3, "eta_l": "1/3"}, 5
    ),
    "stale": ({"kind": "fedavg_async", "times": [1, 2, 2], "K": 2, "eta_l": "1/3"}, 8),
    "heavy ball": ({"kind": "heavy_ball", "momentum_g": "1/2", "eta": "1/3"}, 3),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_fractions_are_those_of_a_loop_over_all_histories(case: str) -> None:
    spec, rounds = CASES[case]
    own, names = method(spec), METRICS[: 4 if case == "heavy ball" else 6]
    found = expected(own, Pieces(), names, rounds)
    curve = run(own, problem(PROBLEM), rounds=rounds, metrics=names, arithmetic="rational")
    assert {name: tuple(curve.exact[name]) for name in names} == found
    floats = run(own, problem(PROBLEM), rounds=rounds, metrics=names, arithmetic="float64")
    for name, row in found.items():
        assert floats.values[name] == pytest.approx([float(v) for v in row], rel=1e-9, abs=1e-9)
    if case == "heavy ball":  # no monotone map
        return
    balls = run(own, problem(PROBLEM), rounds=rounds, metrics=names)
    assert balls.info["accuracy"] == "relative 1e-12"
    for name, row in found.items():
        for low, value, high in zip(balls.low[name], row, balls.high[name], strict=True):
            assert Fraction(float(low)) <= value <= Fraction(float(high))
            assert high - low <= 1e-11 * max(1.0, abs(high))


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
