"""The exact engine on gradient oracles: Huber, SCGD's Appendix B, the cubic of Appendix C."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact import paths_rounds, run_exact
from boundcheck.engines.exact.paths_rounds import MAX_STEPS
from boundcheck.errors import Unsupported
from boundcheck.methods.build import build as method_of
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Constant, Full, GradientSteps, Visit
from boundcheck.problems.build import build


def gd(eta):
    return method_of({"kind": "gradient_descent", "eta": eta})


@pytest.mark.parametrize("k", [1, 4, 10])
@pytest.mark.parametrize("arithmetic", list(Arithmetic)[:3])
def test_gradient_descent_meets_its_bound_on_huber(k, arithmetic):
    p = build({"kind": "huber", "L": 3, "R": 2, "k": k})
    c = run_exact(gd("1/3"), p, [k, k + 200], ["gap"], arithmetic=arithmetic)
    worst = Fraction(3 * 2**2, 4 * k + 2)
    assert c.values["gap"][0] == pytest.approx(float(worst), rel=1e-12)
    assert c.values["gap"][1] <= 1e-30
    if arithmetic is Arithmetic.RATIONAL:
        assert c.exact["gap"] == (worst, 0)
    if arithmetic is Arithmetic.BALL:
        assert Fraction(c.low["gap"][0]) <= worst <= Fraction(c.high["gap"][0])


def test_appendix_b_by_hand():
    # from 2: slope 8/9, then log's slope 1/x, then 2x - 1
    p = build({"kind": "scgd_appendix_b"})
    c = run_exact(gd("3/4"), p, [0, 1, 2, 3], ["x"], arithmetic=Arithmetic.RATIONAL)
    x2 = Fraction(4, 3) - Fraction(3, 4) / Fraction(4, 3)
    assert c.exact["x"] == (2, Fraction(4, 3), x2, x2 - Fraction(3, 4) * (2 * x2 - 1))


def test_enclosures_contain_the_exact_run_and_narrow_as_needed():
    p = build({"kind": "scgd_appendix_b", "clients": 2})
    m = method_of({"kind": "scgd", "E": 2, "eta": "1/20"})
    exact = run_exact(m, p, [0, 4, 8], ["dist2", "x"], arithmetic=Arithmetic.RATIONAL)
    ball = run_exact(m, p, [0, 4, 8, 400], ["dist2", "x"], arithmetic=Arithmetic.BALL)
    for metric in ("dist2", "x"):
        for value, low, high in zip(exact.exact[metric], ball.low[metric], ball.high[metric], strict=False):
            assert Fraction(low) <= value <= Fraction(high)
            assert high - low <= 2e-12 * high
    # dist2 of about 1e-70 is still known to twelve digits
    assert 0 < ball.low["dist2"][3] <= ball.high["dist2"][3] < 1e-60
    assert ball.high["dist2"][3] - ball.low["dist2"][3] <= 2e-12 * ball.high["dist2"][3]
    assert ball.info["bits"] > 128


def test_floats_follow_the_enclosure():
    p = build({"kind": "scgd_appendix_b"})
    grid = [0, 10, 50, 200]
    for m in (gd("1/50"), method_of({"kind": "gradient_descent", "eta0": "1/2"})):
        ball, plain = (run_exact(m, p, grid, ["dist2"], arithmetic=a) for a in (Arithmetic.BALL, Arithmetic.FLOAT64))
        keep = ball.values["dist2"] > 1e-10
        assert keep.sum() >= 2
        np.testing.assert_allclose(plain.values["dist2"][keep], ball.values["dist2"][keep], rtol=1e-6)


def test_the_cubic_of_appendix_c():
    p = build({"kind": "scgd_appendix_c", "cubic": True})
    m = method_of({"kind": "scgd", "E": 2, "eta": "1/10"})
    c = run_exact(m, p, [3, 6, 7], arithmetic=Arithmetic.RATIONAL)
    assert c.values["x"][0] == pytest.approx(-4.70005, abs=5e-6)
    far = run_exact(m, p, [3, 60], arithmetic=Arithmetic.FLOAT64)
    assert far.diverged == 60


def test_what_cannot_be_enclosed_is_said():
    huber, cubic = build({"kind": "huber"}), build({"kind": "scgd_appendix_c", "cubic": True})
    with pytest.raises(Unsupported, match="exceeds 1/L"):
        run_exact(gd("3/2"), huber, [1])
    with pytest.raises(Unsupported, match="no L"):
        run_exact(gd("1/2"), cubic, [1])
    with pytest.raises(Unsupported, match="sampled"):
        run_exact(method_of({"kind": "fedavg", "E": 1, "size": 1, "eta": 1}), cubic, [1])


def test_limits_are_stated(monkeypatch):
    huber, cubic = build({"kind": "huber"}), build({"kind": "scgd_appendix_c", "cubic": True})
    for arithmetic, limit in MAX_STEPS.items():
        with pytest.raises(Unsupported, match=str(limit)):
            run_exact(gd(1), huber, [limit + 1], arithmetic=arithmetic)
    m = method_of({"kind": "scgd", "E": 2, "eta": "1/10"})
    monkeypatch.setattr(paths_rounds, "MAX_DIGITS", 1000)
    with pytest.raises(Unsupported, match="1000 digits"):
        run_exact(m, cubic, [1000], arithmetic=Arithmetic.RATIONAL)


@dataclass(frozen=True)
class Scaled:
    """One step with the whole gradient, of a multiple of the schedule's size."""

    scale: Fraction
    by_cohort = is_random = False

    def visits(self, client, cohort, clients):
        return ((Fraction(1), Visit("full", 1, self.scale)),)


@pytest.mark.parametrize(("eta", "scale"), [(Fraction(3, 2), Fraction(1, 2)), (Fraction(3, 4), Fraction(2))])
def test_enclosures_ask_for_the_step_that_a_client_takes(eta, scale):
    p = build({"kind": "scgd_appendix_b"})
    largest = 1 / p.constants()["L"].value
    method = Method("m", Full(), Scaled(scale), Constant(eta * largest))
    if eta * scale < 1:
        found = run_exact(method, p, [3], ["x"], arithmetic=Arithmetic.BALL)
        same = Method("m", Full(), GradientSteps(1), Constant(eta * scale * largest))
        exact = run_exact(same, p, [3], ["x"], arithmetic=Arithmetic.RATIONAL).exact["x"][0]
        assert Fraction(found.low["x"][0]) <= exact <= Fraction(found.high["x"][0])
    else:
        with pytest.raises(Unsupported, match="exceeds 1/L"):
            run_exact(method, p, [3], ["x"], arithmetic=Arithmetic.BALL)
