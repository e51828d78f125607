"""Logistic regression without ridge: minima in closed form and in 50 digits of mpmath, constants, refusals."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from flint import arb

from boundcheck.core.linalg import precision
from boundcheck.engines.run import run
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.build import build as method
from boundcheck.problems._classifier import Classifier
from boundcheck.problems._losses import Logistic
from boundcheck.problems.build import build
from boundcheck.setting import Setting
from boundcheck.setting.missing_constants import reason_missing

WARMTH = [
    *("-4/10", "-1/10", "-3/10", "3/10", "-13/10", 0, "-3/10", "-3/10", 0, "6/10", "5/10", "-12/10"),
    *(0, "-2/10", "2/10", 0, "-7/10", "8/10", "-17/10", "5/10", "11/10", "9/10", "6/10"),
]
FAILED = [0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0]
OWNERS = [0] * 12 + [1] * 11
RINGS = {
    "kind": "logistic_regression",
    "data": {"X": [[v] for v in WARMTH], "y": FAILED, "client": OWNERS},
    "positive": "1",
    "ridge": 0,
}
# nine samples at a = 1 and one of the other class: x* = log 9, F* = log 10 - (9/10) log 9
NINE = {
    "kind": "logistic_regression",
    "data": {"X": [[1]] * 10, "y": [1] * 9 + [0], "client": [0] * 10},
    "positive": "1",
    "ridge": 0,
    "intercept": False,
}


def points() -> list[tuple[float, float]]:
    """The warmth as a double, and y."""
    return [(float(Fraction(w)), 2 * f - 1) for w, f in zip(WARMTH, FAILED, strict=True)]


def slope_of(rows, x):
    """The mean gradient of rows (a, y) with the intercept, at x (2,)."""
    r = [(-y / (1 + mp.exp(y * (mp.mpf(a) * x[0] + x[1]))), mp.mpf(a)) for a, y in rows]
    return [mp.fsum(v * a for v, a in r) / len(rows), mp.fsum(v for v, _ in r) / len(rows)]


def value_of(rows, x):
    return mp.fsum(mp.log(1 + mp.exp(-y * (mp.mpf(a) * x[0] + x[1]))) for a, y in rows) / len(rows)


def newton(gradient):
    return mp.findroot(lambda *x: gradient(x), (-1, -1), tol=1e-45)


def test_nine_against_one_in_closed_form() -> None:
    p = build(NINE)
    least = p.minimum
    assert abs(least.point[0] - math.log(9)) <= least.radius + 1e-15
    best = math.log(10) - 0.9 * math.log(9)
    assert least.low - 1e-15 <= best <= least.value + 1e-15
    assert least.radius < 1e-12
    assert least.value - least.low < 1e-12
    with precision(200):
        (x,), exact = p.minimiser_of(), arb(9).log()
        assert x.contains(exact) or x.overlaps(exact)
        assert x.rad() < arb(2) ** -180
        gap = p.metric_of("gap", [exact + 1])
        true = (9 * (1 + (-(exact + 1)).exp()).log() + (1 + (exact + 1).exp()).log()) / 10 - (
            arb(10).log() - exact * 9 / 10
        )
        assert gap.overlaps(true)
        assert gap.rad() < arb(2) ** -180
    constants = p.constants()
    assert 1 <= constants["B_grad"].value < 1 + Fraction(1, 10**9)
    assert constants["mu_ij"].value == 0
    assert "mu" not in constants


def test_the_minimum_of_the_rings_is_enclosed() -> None:
    p = build(RINGS)
    with mp.workdps(50):
        best = newton(lambda x: slope_of(points(), x))
        assert mp.norm(mp.matrix(slope_of(points(), best))) < mp.mpf(10) ** -40
        away = mp.sqrt(mp.fsum((mp.mpf(v) - b) ** 2 for v, b in zip(p.minimum.point.tolist(), best, strict=True)))
        assert away <= p.minimum.radius
        assert p.minimum.low <= value_of(points(), best) <= p.minimum.value
    assert p.minimum.radius < 1e-10
    # what the literature prints: 15.043 and -0.2322 a degree Fahrenheit
    assert p.minimum.point == pytest.approx([-2.322, 15.043 - 0.2322 * 70], abs=2e-2)


def test_the_radius_without_ridge_is_no_smaller_than_the_distance() -> None:
    """From points that are no minimisers: the bound that self-concordance gives, where it gives one."""
    p = build(NINE)
    best, seen = math.log(9), []
    with precision(128):
        for away in (0.5, 0.1, -0.3, -0.01, 1e-4):
            x = [arb(best + away)]
            size = abs(p._balls.whole(x)[0]).abs_upper()
            radius = float(p._balls.reach(x, size))
            assert abs(away) <= radius
            seen.append(radius / abs(away))
        assert seen[-1] < 1.01
        with pytest.raises(Unsupported, match="no minimiser could be enclosed"):
            p._balls.reach([arb(30)], abs(p._balls.whole([arb(30)])[0]).abs_upper())


def test_hypotheses_depend_on_the_ridge() -> None:
    bare, ridged = build(RINGS), build({**RINGS, "ridge": "1/10"})
    assert bare.violations("bounded_gradients") is None
    assert "grows without bound" in str(ridged.violations("bounded_gradients"))
    for name in ("strong_quasi_convexity", "strongly_convex_samples"):
        assert "ridge is 0" in str(bare.violations(name))
        assert ridged.violations(name) is None
        assert bare.decides(name, {"mu": Fraction(1, 10), "mu_ij": Fraction(1, 10)}) is False
    for name in ("smooth_samples", "convex_samples", "convexity", "bounded_below", "gradient_dissimilarity"):
        assert bare.violations(name) is None


def test_no_gradient_is_longer_than_the_bound() -> None:
    p = build(RINGS)
    bound = p.constants()["B_grad"].value
    assert bound == pytest.approx(math.hypot(1.7, 1))
    random = np.random.default_rng(0)
    sizes = [float(np.linalg.norm(p.gradient(i, x))) for i in (0, 1) for x in 10 * random.standard_normal((50, 2))]
    assert max(sizes) <= bound
    far = p.metric_of("grad2", [arb(10) ** 6, arb(0)])  # all that are wrong there pull with their whole length
    assert far < arb(float(bound)) ** 2


def test_constants_of_a_schedule_against_fifty_digits() -> None:
    """Client 0 twice as often as client 1, never both: R, Sigma and the distance of the start, from the definitions."""
    setting = Setting(method({"kind": "fedavg_async", "times": [1, 2], "K": 2, "eta_l": "1/100"}), build(RINGS))
    rows = [[row for row, i in zip(points(), OWNERS, strict=True) if i == k] for k in (0, 1)]
    with mp.workdps(50):
        whole = newton(lambda x: slope_of(points(), x))  # time based weights: the surrogate is F
        own = [newton(lambda x, r=r: slope_of(r, x)) for r in rows]
        excess = [value_of(r, whole) - value_of(r, x) for r, x in zip(rows, own, strict=True)]
        # q_i(n) of a round is w_i over the share of the rounds that are the client's
        expected = {
            "surrogate/R": (12 * excess[0] + 11 * excess[1]) / 23,
            "surrogate/Sigma": mp.fsum(
                w * mp.fsum(g * g for g in slope_of(r, whole)) / 23 for w, r in zip((12, 11), rows, strict=True)
            ),
            "start/dist2_surrogate": mp.fsum(v * v for v in whole),
        }
        for key, value in expected.items():
            found = setting.constant(key)
            assert found.side == "upper"
            assert value <= mp.mpf(found.value.numerator) / found.value.denominator <= value * (1 + mp.mpf(10) ** -10)
    assert 0 <= setting.constant("surrogate/S1").value < Fraction(1, 10**60)  # one client a round, at its own minimiser
    assert setting.constant("clients/gradient_bound").value == pytest.approx(math.hypot(1.7, 1))


def test_noise_of_single_samples_at_the_minimisers_of_rounds() -> None:
    """With single samples S1 is the mean of E|g|^2 over the rounds: two of client 0, one of client 1."""
    method_of = {"kind": "fedavg_async", "times": [1, 2], "K": 1, "batch": 1, "eta_l": "1/100"}
    setting, second = Setting(method(method_of), build(RINGS)), []
    for k in (0, 1):
        own = [row for row, i in zip(points(), OWNERS, strict=True) if i == k]
        with mp.workdps(50):
            x = newton(lambda v, own=own: slope_of(own, v))
            slopes = [slope_of([row], x) for row in own]
            second.append(mp.fsum(v * v for g in slopes for v in g) / len(own))
    expected = float((2 * second[0] + second[1]) / 3)
    assert setting.constant("surrogate/S1").value == pytest.approx(expected, rel=1e-11)
    assert setting.constant("surrogate/S2").value == pytest.approx(expected, rel=1e-11)


def test_a_run_agrees_with_fifty_digits() -> None:
    curve = run(
        method({"kind": "fedavg_sync", "K": 1, "eta_l": "1/2"}), build(RINGS), rounds=[0, 30], metrics=["gap", "grad2"]
    )
    with mp.workdps(50):
        best, x = newton(lambda v: slope_of(points(), v)), [mp.mpf(0), mp.mpf(0)]
        for _ in range(30):
            x = [v - g / 2 for v, g in zip(x, slope_of(points(), x), strict=True)]
        gap, grad2 = value_of(points(), x) - value_of(points(), best), mp.fsum(g * g for g in slope_of(points(), x))
        assert curve.low["gap"][1] <= gap <= curve.high["gap"][1]
        assert curve.low["grad2"][1] <= grad2 <= curve.high["grad2"][1]
    assert curve.high["gap"][1] - curve.low["gap"][1] <= 1e-12 * curve.high["gap"][1]


def test_clients_that_a_plane_separates_have_no_constants_of_their_own() -> None:
    """Together they have a minimum, alone they have none: no R, S1 or S2 for rounds of one client."""
    data = {"X": [[1], [2], [-1], [-3], [-4], [3]], "y": [1, 1, 0, 1, 0, 0], "client": [0, 0, 0, 1, 1, 1]}
    p = build({**RINGS, "data": data})
    assert p.attained
    assert not p.of_clients({0: Fraction(1)}).attained
    setting = Setting(method({"kind": "fedavg_async", "times": [1, 2], "K": 1, "eta_l": "1/100"}), p)
    assert not setting.has("surrogate/R")
    assert "a minimum of every round's objective" in str(reason_missing(setting.method, p))
    assert reason_missing(setting.method, build(RINGS)) is None
    with pytest.raises(Unsupported):
        _ = p.of_clients({0: Fraction(1)}).minimum
    both = Setting(method({"kind": "fedavg_sync", "K": 1, "eta_l": "1/100"}), p)
    assert both.has("surrogate/R")
    assert not both.has("surrogate/F_het")  # which needs each client's own minimum


def test_data_beyond_the_size_of_a_certificate_are_refused() -> None:
    p = build(NINE)
    assert isinstance(p, Classifier)
    assert isinstance(p.loss, Logistic)
    random = np.random.default_rng(0)
    big = {"X": random.standard_normal((1001, 200)), "y": [1, 0] * 500 + [1]}
    with pytest.raises(BadInput, match="computed for at most 200000 features"):
        build({**RINGS, "data": big, "clients": 2})
