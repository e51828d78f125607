"""FedProx and FedDANE step by step on problems that are not quadratic: exactly on the line, by Newton elsewhere."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact import run_exact
from boundcheck.errors import Unsupported
from boundcheck.methods.build import build as method_of
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Constant, Correction, Full, GradientSteps, Pattern, Proximal
from boundcheck.problems.build import build

F = Fraction
CUBIC = build({"kind": "scgd_appendix_c", "cubic": True})
LOGISTIC = build(
    {"kind": "logistic_regression", "data": "breast_cancer", "clients": 3, "ridge": "1/10", "split": "sorted"}
)


def test_a_proximal_run_on_the_line_is_enclosed() -> None:
    p = build({"kind": "scgd_appendix_b", "clients": 2})
    m = Method("m", Full(), Proximal(F(3), GradientSteps(3)), Constant(F(1, 20)))
    exact = run_exact(m, p, [0, 2, 4], ["x"], arithmetic=Arithmetic.RATIONAL)
    ball = run_exact(m, p, [0, 2, 4], ["x"], arithmetic=Arithmetic.BALL)
    for value, low, high in zip(exact.exact["x"], ball.low["x"], ball.high["x"], strict=True):
        assert F(low) <= value <= F(high)
    wide = Method("m", Full(), Proximal(F(30), GradientSteps(3)), Constant(F(1, 20)))
    with pytest.raises(Unsupported, match="with the proximal weight 30"):
        run_exact(wide, p, [1], ["x"])
    with pytest.raises(Unsupported, match="no monotone map"):
        run_exact(
            Method("m", Full(), Proximal(F(3), GradientSteps(3)), Constant(F(1, 20)), correction=Correction()), p, [1]
        )


def test_exact_solves_of_logistic_regression() -> None:
    """One round of DANE by hand: a stationary point of every subproblem, found by many gradient steps."""
    mu = 3
    m = method_of({"kind": "dane", "mu": mu})
    curve = run_exact(m, LOGISTIC, [0, 1, 30], ["gap", "grad2"], arithmetic=Arithmetic.FLOAT64)
    assert 0 <= curve.info["inexactness"] < 1e-11
    x = np.zeros(LOGISTIC.dim)
    weights = [float(w) for w in LOGISTIC.weights]
    g = sum(w * LOGISTIC.gradient(k, x) for k, w in enumerate(weights))
    returned = []
    for k in range(3):
        own, y = LOGISTIC.gradient(k, x), x
        for _ in range(600):
            y = y - 0.1 * (LOGISTIC.gradient(k, y) + g - own + mu * (y - x))
        returned.append(y)
    expected = LOGISTIC.metric("grad2", np.mean(returned, axis=0))
    assert curve.values["grad2"][1] == pytest.approx(expected, rel=1e-9)
    assert curve.values["grad2"][2] < 1e-3 * curve.values["grad2"][0]


def test_inexact_solves_are_near_the_exact_ones() -> None:
    exact, steps = (
        run_exact(method_of({"kind": "dane", "mu": 3, **more}), LOGISTIC, [5], ["grad2"], arithmetic=Arithmetic.FLOAT64)
        for more in ({}, {"steps": 400, "eta": "1/10"})
    )
    assert steps.values["grad2"][0] == pytest.approx(exact.values["grad2"][0], rel=1e-9)
    assert "inexactness" not in steps.info


def test_a_pattern_of_cohorts() -> None:
    local = Proximal(F(2), GradientSteps(1))
    m = Method("m", Pattern(((0,), (1,))), local, Constant(F(1, 16)), correction=Correction(Pattern(((1,),))))
    found = run_exact(m, CUBIC, [0, 1, 2], ["x"], arithmetic=Arithmetic.RATIONAL).exact["x"]
    assert found[0] == CUBIC.start[0]
    for t in (0, 1):  # at x a corrected step of any client has the gradient of client 1
        slope = CUBIC.gradient(1, np.array([found[t]], dtype=object))[0]
        assert found[t + 1] == found[t] - slope / 16


def test_what_is_refused() -> None:
    with pytest.raises(Unsupported, match="Newton's method"):
        run_exact(method_of({"kind": "dane", "mu": 3}), LOGISTIC, [1])
    with pytest.raises(Unsupported, match="Newton's method"):
        run_exact(method_of({"kind": "dane", "mu": 3}), CUBIC, [1], arithmetic=Arithmetic.FLOAT64)
    with pytest.raises(Unsupported, match="Newton's method"):
        run_exact(method_of({"kind": "feddane", "mu": 3, "K": 2}), LOGISTIC, [1])
    with pytest.raises(Unsupported, match="use engine = 'sampled'"):
        run_exact(method_of({"kind": "feddane", "mu": 3, "K": 2}), CUBIC, [1], arithmetic=Arithmetic.FLOAT64)
