"""The one-dimensional instances: SCGD's Appendices B and C, and the Huber function."""

import math
from fractions import Fraction

import numpy as np
import pytest

from boundcheck.core.linalg import precision
from boundcheck.errors import UnknownName
from boundcheck.problems._quadratic import OF_SAMPLES
from boundcheck.problems.build import build
from boundcheck.problems.scgd_appendix_b import largest_mu, value


def slope(p, x):
    return p.gradient(0, np.array([x], dtype=object))[0]


def test_appendix_b_is_continuously_differentiable():
    p = build({"kind": "scgd_appendix_b"})
    tiny = Fraction(1, 10**9)
    for kink, expected in ((Fraction(1, 2), 0), (Fraction(1), 1), (Fraction(3, 2), Fraction(2, 3))):
        assert slope(p, kink) == expected
        assert abs(slope(p, kink + tiny) - expected) <= 2 * tiny
        with precision(100):
            assert abs(float(value(kink + tiny) - value(kink)) - float(expected * tiny)) < 1e-16
    assert slope(p, Fraction(1, 4)) == 0
    assert slope(p, Fraction(3)) == Fraction(4, 3)


def test_appendix_b_largest_mu():
    mu = largest_mu()
    assert mu.side == "lower"
    assert float(mu.value) == pytest.approx(0.02240311711700457, rel=1e-12)
    assert mu.value < Fraction("0.022403117117004581")
    # the definition, at points of every piece: F* - F(x) >= -F'(x)(x - 1/2) + mu/2 (x - 1/2)^2, tight at 3/2
    p = build({"kind": "scgd_appendix_b"})
    for x in [Fraction(k, 40) for k in range(21, 400)]:
        u = x - Fraction(1, 2)
        with precision(100):
            best = 2 * (float(-Fraction(1, 4)) - float(value(x)) + float(slope(p, x) * u)) / float(u * u)
        assert best >= float(mu.value) * (1 - 1e-9)
        if x == Fraction(3, 2):
            assert best == pytest.approx(float(mu.value), rel=1e-9)


def test_appendix_b_constants_and_objections():
    p = build({"kind": "scgd_appendix_b", "clients": 3, "start": "3/4"})
    constants = {name: c.value for name, c in p.constants().items()}
    assert (constants["n"], constants["L"], constants["sigma2"], constants["dist2_0"]) == (3, 2, 0, Fraction(1, 16))
    assert p.metric("dist2", np.array([Fraction(-5)], dtype=object)) == 0
    assert p.metric("dist2", np.array([2.5])) == 4.0
    assert p.violations("strong_quasi_convexity") is None
    assert "concave" in p.violations("convexity")
    assert p.metric_range("dist2", Fraction(0), Fraction(1)) == (0, Fraction(1, 4))
    assert p.metric_range("dist2", Fraction(1), Fraction(2)) == (Fraction(1, 4), Fraction(9, 4))


def test_appendix_c_constants():
    p = build({"kind": "scgd_appendix_c"})
    constants = {name: c.value for name, c in p.constants().items()}
    plain = {"n": 3, "d": 1, "x_0": 1, "L": 6, "mu": Fraction(2, 3), "sigma2": 0, "dist2_0": 1}
    # slopes -2, -2, 6 with the mean 2/3: (4 + 4 + 36)/3 = 33 (2/3)^2, doubled; |6 - 2/3|; (2/3)/2
    apart = {"G2": 0, "B2": 66, "delta": Fraction(16, 3), "L_ij": 6, "P2": 0, "noise2": 0, "gap_0": Fraction(1, 3)}
    at_start = {"grad2_0": Fraction(4, 9), "B2_0": 33, "B2_only": 33, "L_f": Fraction(2, 3), "lam": 2}
    at_start["sigma2_star"] = 0  # all slopes are 0 at the minimiser 0
    assert constants == plain | apart | at_start
    assert "client 0" in p.violations("convex_clients")


def test_appendix_c_as_printed_is_unbounded_below():
    p = build({"kind": "scgd_appendix_c", "cubic": True})
    assert p.metrics == ("x",)
    for assumption in ("strong_quasi_convexity", "smooth_clients", "finite_gradient_noise"):
        assert p.violations(assumption)
    assert "mu" not in p.constants()
    # the printed local point of device 3: 1 -> 1 - 0.9 = 0.1 -> 0.1 - 0.009 = 0.091
    x = np.array([Fraction(1)], dtype=object)
    for expected in (Fraction(1, 10), Fraction(91, 1000)):
        x = x - Fraction(1, 10) * p.gradient(2, x)
        assert x[0] == expected


def test_huber_function():
    p = build({"kind": "huber", "L": 2, "R": 3, "k": 1})  # kink at 1
    x = [np.array([Fraction(v)], dtype=object) for v in ("1/2", 1, 3, -3)]
    assert [p.gradient(0, v)[0] for v in x] == [1, 2, 2, -2]
    assert [p.metric("gap", v) for v in x] == [Fraction(1, 4), 1, 5, 5]
    assert [p.metric("grad2", v) for v in x] == [1, 4, 4, 4]
    assert p.metric("gap", np.array([-3.0])) == 5.0
    assert p.violations("convexity") is None
    assert "linearly" in p.violations("strong_quasi_convexity")
    assert p.metric_range("gap", Fraction(-1), Fraction(1)) == (0, 1)


def test_floats_and_fractions_agree():
    for kind in ("huber", "scgd_appendix_b"):
        p = build({"kind": kind})
        for k in range(-8, 13):
            x = Fraction(k, 4)
            as_float = p.gradient(0, np.array([float(x)]))[0]
            assert math.isclose(as_float, float(slope(p, x)), rel_tol=1e-15, abs_tol=1e-15)


TRIVIAL = ("gradient_dissimilarity", "relaxed_dissimilarity", "local_variance", "hessian_similarity", "bounded_below")


@pytest.mark.parametrize("spec", [{"kind": "huber", "L": 3}, {"kind": "scgd_appendix_b", "clients": 4}])
def test_equal_clients_do_not_differ(spec):
    p = build(spec)
    found = {name: c.value for name, c in p.constants().items()}
    assert {k: found[k] for k in ("G2", "B2", "P2", "noise2", "delta")} == {
        "G2": 0,
        "B2": 1,
        "P2": 0,
        "noise2": 0,
        "delta": 0,
    }
    assert found["L_ij"] == found["L"]
    assert all(p.violations(name) is None for name in (*TRIVIAL, "smooth_samples"))
    assert p.violations("strongly_convex_samples") is not None


def test_the_huber_function_is_convex_and_appendix_b_is_not():
    huber, other = build({"kind": "huber", "L": 1, "R": 1, "k": 1}), build({"kind": "scgd_appendix_b"})
    assert huber.violations("convex_samples") is None
    assert "concave" in other.violations("convex_samples")
    # kink at 1/3: f(1) = 1/3 (1 - 1/6)
    assert huber.constants()["gap_0"].value == Fraction(5, 18)
    assert huber.constants()["mu_ij"].value == 0


def test_the_cubic_answers_what_it_knows():
    p = build({"kind": "scgd_appendix_c", "cubic": True})
    for name in ("smooth_samples", "convex_samples", "strongly_convex_samples", "bounded_below"):
        assert p.violations(name) is not None
    assert p.violations("hessian_similarity") is not None  # 18x - 6x is unbounded
    for name in ("gradient_dissimilarity", "local_variance"):
        with pytest.raises(UnknownName):
            p.violations(name)
    assert set(OF_SAMPLES) >= set(TRIVIAL)
