"""A momentum of the server's step in every engine: closed forms, runs by hand, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sampled_toys import random_toy, small_problem

from boundcheck.core.linalg import nearest_float
from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact import run_exact
from boundcheck.engines.exact.growing import stays_away
from boundcheck.engines.exact.spectral import contraction
from boundcheck.engines.exact.stationary import stationary
from boundcheck.engines.run import run
from boundcheck.engines.simulate import run_sampled
from boundcheck.errors import UnknownName, Unsupported
from boundcheck.methods.build import algorithms, build
from boundcheck.methods.method import Method
from boundcheck.methods.parts import (
    Constant,
    Correction,
    Epochs,
    Full,
    GradientSteps,
    Momentum,
    ServerMomentum,
    Stale,
    SumOne,
)
from boundcheck.methods.parts.proximal import ExactSolve, Proximal
from boundcheck.problems.build import build as build_problem

F = Fraction
STEP = Constant(F(1, 16))
HEAVY, AHEAD = ServerMomentum(F(1, 3)), ServerMomentum(F(2, 5), nesterov=True)


def quadratic(*curvatures: Fraction, start: int = 1) -> Any:
    d = len(curvatures)
    a = [[str(c) if i == j else 0 for j in range(d)] for i, c in enumerate(curvatures)]
    return build_problem({"kind": "quadratics", "clients": [{"A": a, "b": [0] * d}], "start": [start] * d})


def test_heavy_ball_has_the_spectral_radius_of_its_text_book() -> None:
    """With eta = 4/(sqrt L + sqrt mu)^2 and beta = ((sqrt L - sqrt mu)/(sqrt L + sqrt mu))^2 the radius is sqrt beta.

    With mu = 1 and L = 9: eta = 1/4, beta = 1/4. At both ends of the spectrum the roots coincide, x_k = (a + b k)/2^k
    up to signs; from x_1 = (1 - eta) x_0 follow the values below.
    """
    method = build({"kind": "heavy_ball", "eta": "1/4", "momentum_g": "1/4"})
    curve = run_exact(method, quadratic(F(1)), range(9), ["dist2"], arithmetic=Arithmetic.RATIONAL)
    assert curve.exact["dist2"] == tuple((F(2 + k, 2) / 2**k) ** 2 for k in range(9))
    curve = run_exact(method, quadratic(F(9)), range(9), ["dist2"], arithmetic=Arithmetic.RATIONAL)
    assert curve.exact["dist2"] == tuple((F(2 + 3 * k, 2) / 2**k) ** 2 for k in range(9))
    far = run_exact(method, quadratic(F(1), F(4), F(9)), [400, 401], ["dist2"])
    assert far.high["dist2"][1] / far.low["dist2"][0] == pytest.approx(1 / 4, rel=6e-3)  # sqrt(beta)^2 (1 + 1/401)^2


def test_nesterov_on_a_parabola_by_hand() -> None:
    """f = x^2/2, eta = 1/2, beta = 1/3: x_1 = 1/2; y = 1/2 - 1/6 = 1/3, x_2 = 1/6; y = 1/18, x_3 = 1/36."""
    method = build({"kind": "nesterov", "eta": "1/2", "momentum_g": "1/3"})
    curve = run_exact(method, quadratic(F(1)), range(4), ["dist2"], arithmetic=Arithmetic.RATIONAL)
    assert curve.exact["dist2"] == (1, F(1, 4), F(1, 36), F(1, 36**2))


def test_growing_momentum_by_hand() -> None:
    """f = x^2/2, eta = 1/2: momentum 0 in the first two rounds, then 1/4 and 2/5; x = 1, 1/2, 1/4, 3/32, 1/64."""
    method = build({"kind": "accelerated_gradient", "eta": "1/2"})
    curve = run_exact(method, quadratic(F(1)), range(5), ["dist2"], arithmetic=Arithmetic.RATIONAL)
    assert curve.exact["dist2"] == tuple(F(*v) ** 2 for v in ((1, 1), (1, 2), (1, 4), (3, 32), (1, 64)))


def test_the_momentum_of_fista_is_its_recursion_rounded_down() -> None:
    own, t = ServerMomentum("fista", nesterov=True), 1.0
    for r in range(1, 200):
        following = (1 + (1 + 4 * t * t) ** 0.5) / 2
        assert nearest_float(own.at(r)) == pytest.approx((t - 1) / following, rel=1e-10, abs=1e-13)
        t = following
    assert own.at(0) == own.at(1) == 0


@pytest.mark.parametrize("local", [Proximal(F(1, 2), GradientSteps(2)), ExactSolve(F(1, 2))])
def test_proximal_terms_are_about_the_point_that_a_client_receives(local: Any) -> None:
    method = Method("m", Full(), local, STEP, SumOne(), server_momentum=AHEAD)
    p = build_problem({"kind": "quadratics", "clients": [{"A": 2, "b": 2}, {"A": 4, "b": -4}], "start": [1]})
    x = before = F(1)
    expected: list[Fraction] = []
    for _ in range(5):
        s = x + F(2, 5) * (x - before)
        before, x = x, s
        for a, b in ((2, 2), (4, -4)):
            y = s
            for _ in range(2):
                y = y - F(1, 16) * (a * y - b + F(1, 2) * (y - s))
            if isinstance(local, ExactSolve):
                y = (b + F(1, 2) * s) / (a + F(1, 2))
            x = x + (y - s) / 2
        expected.append((x + F(1, 3)) ** 2)
    assert list(run_exact(method, p, range(1, 6), ["dist2"], arithmetic=Arithmetic.RATIONAL).exact["dist2"]) == expected
    doubles = run_sampled(method, p, 5, 1, ("dist2",), range(1, 6)).values["dist2"]
    assert doubles == pytest.approx([float(v) for v in expected], rel=1e-12)


def test_problems_that_are_not_quadratic() -> None:
    huber = build_problem({"kind": "huber", "L": 1, "R": 3, "k": 2})
    for kind, more in (("heavy_ball", {"momentum_g": "1/2"}), ("nesterov", {"momentum_g": "1/2"}), ("fista", {})):
        method = build({"kind": kind, "eta": "1/2", **more})
        x = before = F(3)
        expected: list[Fraction] = [x * x]
        assert method.server_momentum is not None
        for r in range(12):
            ahead = x + method.server_momentum.at(r) * (x - before)
            at = ahead if kind != "heavy_ball" else x
            x, before = ahead - F(1, 2) * huber.gradient(0, np.array([at], dtype=object))[0], x
            expected.append(x * x)
        curve = run_exact(method, huber, range(13), ["dist2"], arithmetic=Arithmetic.RATIONAL)
        assert list(curve.exact["dist2"]) == expected
        doubles = run_sampled(method, huber, 12, 1, ("dist2",), range(13))
        assert doubles.values["dist2"] == pytest.approx([float(v) for v in expected], rel=1e-12)
        with pytest.raises(Unsupported, match="no monotone map"):
            run_exact(method, huber, range(3), ["dist2"])


def test_kinds_and_their_constants() -> None:
    ball = build({"kind": "heavy_ball", "eta": "1/10", "momentum_g": "1/3"})
    assert algorithms(ball) == ("fedavgm", "heavy_ball")
    assert ball.parameters()["momentum_g"] == F(1, 3)
    assert "gradient_descent" not in algorithms(ball)
    averaged = build({"kind": "fedavgm", "eta_l": "1/10", "eta_g": 2, "momentum_g": "9/10", "E": 2, "batch": 4})
    assert algorithms(averaged) == ("fedavgm",)
    assert averaged.to_dict()["server_momentum"] == {"part": "ServerMomentum", "momentum": "9/10", "nesterov": False}
    assert algorithms(build({"kind": "fedavgm", "eta_l": "1/10", "momentum_g": "9/10", "K": 2, "nesterov": True})) == ()
    assert algorithms(build({"kind": "nesterov", "eta": "1/10", "momentum_g": "(r-1)/(r+2)"})) == (
        "accelerated_gradient",
        "nesterov",
    )
    assert "momentum_g" not in build({"kind": "fista", "eta": "1/10"}).parameters()
    plain = build({"kind": "gradient_descent", "eta": 1})
    assert "server_momentum" not in plain.to_dict()


@pytest.mark.parametrize(
    "other",
    [{"momentum": Momentum(F(1, 2), False)}, {"correction": Correction()}, {"exchange": Stale()}],
    ids=["momentum", "correction", "stale"],
)
def test_combinations_without_a_meaning_are_refused(other: dict[str, Any]) -> None:
    method = Method("m", Full(), GradientSteps(1), STEP, SumOne(), server_momentum=HEAVY, **other)
    with pytest.raises(Unsupported, match="momentum of the server's step"):
        run_exact(method, small_problem(1, 1), [1], ["dist2"])
    with pytest.raises(Unsupported, match="momentum of the server's step"):
        run_sampled(method, random_toy("isotropic", 1, (1, 1)), 1, 1, ("dist2",), [1])


def test_metrics_of_a_round_are_refused() -> None:
    with pytest.raises(UnknownName, match="no server step without momentum"):
        run(
            Method("m", Full(), Epochs(1, 2), STEP, server_momentum=HEAVY),
            small_problem(2, 1),
            rounds=[1],
            metrics=["drift"],
        )


def test_the_spectral_radius_and_the_stationary_state_are_those_of_the_runs() -> None:
    ball = build({"kind": "heavy_ball", "eta": "1/4", "momentum_g": "1/4"})
    found = contraction(ball, quadratic(F(1), F(9)))
    assert found.converges
    assert found.mean_radius_low <= 0.5 <= found.mean_radius_high < 0.5 + 1e-9  # sqrt(beta)
    clients = [{"A": 1, "b": 1}, {"A": 3, "b": -1}]
    p = build_problem({"kind": "quadratics", "clients": clients, "start": [3]})
    one = {"kind": "uniform", "size": 1}
    averaged = build({"kind": "fedavgm", "eta_l": "1/8", "K": 2, "momentum_g": "1/2", "participation": one})
    limit = stationary(averaged, p, ["dist2"]).values["dist2"]
    assert run_exact(averaged, p, [400], ["dist2"]).values["dist2"][0] == pytest.approx(float(limit), rel=1e-9)
    growing = build({"kind": "accelerated_gradient", "eta": "1/9"})
    with pytest.raises(Unsupported, match="momentum of accelerated_gradient changes"):
        contraction(growing, quadratic(F(1)))
    with pytest.raises(Unsupported, match="is decided for plain methods"):
        stays_away(ball, quadratic(F(1)))
