"""The exact engine on quadratics: hand-computed numbers, enclosures, far rounds, what is refused."""

import math
from fractions import Fraction

import numpy as np
import pytest

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact import contraction, run_exact
from boundcheck.engines.exact.run import MAX_VISITS
from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.methods.build import build as method_of
from boundcheck.methods.method import Method
from boundcheck.methods.parts import InverseCycle
from boundcheck.problems.build import build
from boundcheck.problems.quadratics import from_matrices


def fedavg(E, eta, **more):
    return method_of({"kind": "fedavg", "E": E, "eta": eta, **more})


def scgd(E, eta, **more):
    return method_of({"kind": "scgd", "E": E, "eta": eta, **more})


def random_problem(**more):
    return build({"kind": "random_quadratics", "clients": 3, "d": 2, "indefinite": True, "seed": 5, **more})


# --- SCGD, Appendix C: printed numbers ----------------------------------------------------------------------


def test_appendix_c_fedavg_and_scgd_multipliers():
    p = build({"kind": "scgd_appendix_c"})
    c = run_exact(fedavg(2, "1/10"), p, [0, 1, 100], arithmetic=Arithmetic.RATIONAL)
    assert c.exact["x"][1] == Fraction(76, 75)
    assert c.exact["x"][2] == Fraction(76, 75) ** 100
    assert c.values["x"][2] == pytest.approx(3.76039, abs=5e-6)
    order = method_of({"kind": "scgd", "E": 2, "eta": "1/10", "order": [2, 0, 1]})
    for m in (scgd(2, "1/10"), order):
        c = run_exact(m, p, [3], arithmetic=Arithmetic.RATIONAL)
        assert c.exact["x"] == (Fraction(5184, 15625),)
    first = run_exact(order, p, [1], arithmetic=Arithmetic.RATIONAL)
    assert first.exact["x"] == (Fraction(4, 25),)


def test_appendix_c_thresholds_are_exact():
    p = build({"kind": "scgd_appendix_c"})
    assert contraction(fedavg(2, "9/100"), p).converges is True
    assert contraction(fedavg(2, "92/1000"), p).converges is False
    edge = contraction(fedavg(2, "1/11"), p)
    assert (edge.multiplier, edge.converges) == (1, False)
    assert contraction(fedavg(2, "1/22"), p).multiplier == Fraction(32, 33)
    below, above = contraction(scgd(3, "0.242287"), p), contraction(scgd(3, "0.242288"), p)
    assert (below.converges, above.converges, below.rounds) == (True, False, 3)


@pytest.mark.parametrize("eta", ["1/10", "1/50", "0.0335"])
def test_appendix_c_one_random_device(eta):
    p = build({"kind": "scgd_appendix_c"})
    h = Fraction(eta)
    expected = 1 - 8 * h / 3 + 88 * h**2 - 800 * h**3 / 3 + 1328 * h**4 / 3
    m = fedavg(2, eta, size=1)
    c = run_exact(m, p, [0, 1, 2, 7], arithmetic=Arithmetic.RATIONAL)
    assert c.exact["dist2"] == (1, expected, expected**2, expected**7)
    assert c.expectation
    step = contraction(m, p)
    assert (step.multiplier, step.second_moment) == (expected, True)
    assert contraction(fedavg(2, "0.0335180", size=1), p).converges is True
    assert contraction(fedavg(2, "0.0335182", size=1), p).converges is False


# --- ways to the same numbers --------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [scgd(2, "1/9"), fedavg(2, "1/9", size=2)], ids=["in turn", "drawn"])
@pytest.mark.parametrize("grid", [[0], [7], [0, 199, 200], [1, 2, 3, 64, 65, 128, 199], range(5, 200, 7)], ids=str)
def test_grids_of_all_kinds_agree(m, grid):
    p = random_problem()
    every = run_exact(m, p, range(201), arithmetic=Arithmetic.BALL)
    some = run_exact(m, p, grid, arithmetic=Arithmetic.BALL)
    np.testing.assert_allclose(some.values["dist2"], every.values["dist2"][list(grid)], rtol=2e-15)


def test_expectation_of_the_point_itself():
    p = build({"kind": "quadratics", "clients": [{"A": 2, "b": 2}, {"A": 4, "b": -4}], "start": [1]})
    c = run_exact(fedavg(1, "1/8", size=1), p, [1, 2], ["x"], arithmetic=Arithmetic.RATIONAL)
    # x <- x - (2x - 2)/8 or x - (4x + 4)/8: on average 5x/8 - 1/8
    assert c.exact["x"] == (Fraction(1, 2), Fraction(3, 16))


# --- asymptotics, long runs, edges --------------------------------------------------------------------------


def test_squared_bias_falls_with_the_square_of_the_step_except_under_sampling():
    p = build({"kind": "scgd_section_4", "heterogeneity": "device"})
    ratios = {}
    for name, make in (
        ("fedavg-all", lambda eta: fedavg(4, eta)),
        ("scgd", lambda eta: scgd(4, eta)),
        ("fedavg-3", lambda eta: fedavg(4, eta, size=3)),
    ):
        floors = [run_exact(make(eta), p, [10**9]).values["dist2"][0] for eta in ("2e-6", "1e-6")]
        ratios[name] = floors[0] / floors[1]
    assert ratios["fedavg-all"] == pytest.approx(4, rel=0.02)
    assert ratios["scgd"] == pytest.approx(4, rel=0.02)
    assert ratios["fedavg-3"] == pytest.approx(2, rel=0.02)


def test_billions_of_rounds_on_diabetes():
    p = build({"kind": "least_squares", "data": "diabetes", "split": "sorted"})
    grid = [20 * 10**k for k in range(10)]
    for m in (scgd(4, "1e-5"), fedavg(4, "1e-5", size=3)):
        c = run_exact(m, p, grid, ["dist2", "gap"])
        assert c.info["accuracy"] == "relative 1e-12"
        for metric in ("dist2", "gap"):
            assert (c.low[metric] <= c.values[metric]).all()
            assert (c.values[metric] <= c.high[metric]).all()
            assert (c.high[metric] - c.low[metric] <= 2e-12 * c.high[metric]).all()
            assert (np.diff(c.values[metric])[:6] < 0).all()
        plain = run_exact(m, p, grid, ["dist2"], arithmetic=Arithmetic.FLOAT64)
        np.testing.assert_allclose(plain.values["dist2"], c.values["dist2"], rtol=1e-6)


def test_the_limit_is_the_fixed_point():
    # f1 = (x-1)^2/2, f2 = (x+1)^2: SCGD with E = 1 maps x to (1-2e)((1-e)x + e) - 2e
    p = build({"kind": "quadratics", "clients": [{"A": 1, "b": 1}, {"A": 2, "b": -2}], "start": [5]})
    e = Fraction(1, 10)
    fixed = ((1 - 2 * e) * e - 2 * e) / (1 - (1 - 2 * e) * (1 - e))
    expected = (fixed + Fraction(1, 3)) ** 2  # minimiser -1/3
    c = run_exact(scgd(1, "1/10"), p, [10**12])
    assert Fraction(c.low["dist2"][0]) <= expected <= Fraction(c.high["dist2"][0])
    assert c.high["dist2"][0] - c.low["dist2"][0] <= 1e-12 * c.high["dist2"][0]


def test_precision_is_raised_where_balls_would_drown():
    # the fast direction is gone after a few rounds and only 2^-600 is left of the slow one's square
    p = from_matrices([[[1, "999/1000"], ["999/1000", 1]]], [[0, 0]], start=[1, 1])
    c = run_exact(fedavg(1, "1/2"), p, [300, 600, 10**6])
    assert c.info["bits"] > 128
    assert c.info["accuracy"] == "relative 1e-12"
    # start = the eigenvector of 1999/1000, multiplied by 1/2000 a round
    expected = 2 * Fraction(1, 2000) ** 600
    assert c.low["dist2"][0] == 0.0
    assert Fraction(c.high["dist2"][0]) >= expected
    small = run_exact(fedavg(1, "1/2"), p, [40])
    exact = 2 * Fraction(1, 2000) ** 80
    assert Fraction(small.low["dist2"][0]) <= exact <= Fraction(small.high["dist2"][0])
    assert small.low["dist2"][0] > 0


def test_exact_zeros_stay_zero():
    p = build({"kind": "quadratics", "clients": [{"A": 4, "b": 4}], "start": [3]})
    c = run_exact(fedavg(1, "1/4"), p, [0, 1, 10**9])
    assert c.values["dist2"].tolist() == [4.0, 0.0, 0.0]
    assert c.high["dist2"].tolist() == [4.0, 0.0, 0.0]


@pytest.mark.parametrize("arithmetic", [Arithmetic.BALL, Arithmetic.FLOAT64])
def test_divergence_is_recorded(arithmetic):
    p = build({"kind": "scgd_appendix_c"})
    c = run_exact(fedavg(2, "1/5"), p, [0, 10, 10**5, 10**9], ["dist2"], arithmetic=arithmetic)
    assert c.diverged == 10**5
    assert c.values["dist2"][2:].tolist() == [math.inf, math.inf]
    if arithmetic is Arithmetic.BALL:
        assert c.low["dist2"][2] > 1e308
    random = run_exact(fedavg(2, "1/5", size=1), p, [0, 10**6], ["dist2"], arithmetic=arithmetic)
    assert random.diverged == 10**6


def test_vanishing_values_are_enclosed_by_zero():
    p = build({"kind": "quadratics", "clients": [{"A": 1}]})
    c = run_exact(fedavg(1, "1/3"), p, [10**4])
    assert (c.low["dist2"][0], c.values["dist2"][0]) == (0.0, 0.0)
    assert 0 < c.high["dist2"][0] < 1e-300


def test_rank_deficient_least_squares_forget_the_null_space():
    # rows (1, 1) only: x - y never moves, x + y converges
    p = build({"kind": "quadratics", "clients": [{"A": [[1, 1], [1, 1]], "b": [2, 2]}], "start": [3, 0]})
    m = fedavg(1, "1/4")
    c = run_exact(m, p, [1, 2], arithmetic=Arithmetic.RATIONAL)
    assert c.exact["dist2"] == (Fraction(1, 8), Fraction(1, 32))
    step = contraction(m, p)
    assert step.converges is True
    assert (step.radius_low, step.radius_high) == (pytest.approx(0.5, rel=1e-9), pytest.approx(0.5, rel=1e-9))


def test_contraction_in_the_plane_encloses_the_spectral_radius():
    p = random_problem()
    for m in (scgd(2, "1/7"), fedavg(2, "1/7"), fedavg(2, "3"), fedavg(2, "1/7", size=2)):
        found = contraction(m, p)
        rounds = 4000 * found.rounds
        c = run_exact(m, p, [rounds, 2 * rounds], ["grad2"])
        if found.converges:
            assert found.radius_high < 1
            assert found.radius_high - found.radius_low < 1e-9
            assert c.diverged is None
        else:
            assert found.radius_low > 1
            assert c.diverged is not None
    assert contraction(fedavg(2, "3"), p).converges is False


# --- what is refused ----------------------------------------------------------------------------------------


def test_rational_arithmetic_stops_at_its_digits():
    with pytest.raises(Unsupported, match=r"100000 digits.*ball"):
        run_exact(scgd(2, "1/1000"), random_problem(), [10**6], ["dist2"], arithmetic=Arithmetic.RATIONAL)


def test_changing_steps_stop_at_their_limit():
    p = random_problem()
    m = method_of({"kind": "scgd", "E": 2, "eta0": 1})
    limit = MAX_VISITS[Arithmetic.BALL]
    with pytest.raises(Unsupported, match=str(limit)):
        run_exact(m, p, [limit + 1])


def test_unsupported_work_names_the_engine_that_can():
    p = random_problem()
    rows = [{"A": [[1, k], [k, k * k]]} for k in range(60)]
    many = build({"kind": "quadratics", "clients": [{"components": rows}], "start": [1, 1]})
    with pytest.raises(Unsupported, match=r"60 samples with different Hessians.*about 1\d samples.*sampled"):
        run_exact(method_of({"kind": "fedavg_reshuffled", "E": 1, "eta": "1/10"}), many, [1])
    with pytest.raises(Unsupported, match="changes"):
        contraction(method_of({"kind": "scgd", "E": 2, "eta0": 1}), p)


def test_bad_grids_and_metrics():
    p = random_problem()
    m = fedavg(1, "1/2")
    for grid in ([], [3, 2], [-1, 2], [1, 1]):
        with pytest.raises(BadInput, match="increasing"):
            run_exact(m, p, grid)
    with pytest.raises(UnknownName, match="'dist2'"):
        run_exact(m, p, [1], ["dist"])
    with pytest.raises(BadInput, match="draws no samples"):
        run_exact(m, p, [1], arithmetic=Arithmetic.SAMPLED)


@pytest.mark.parametrize("E", [3, 4])
def test_many_local_steps_are_the_same_by_power_and_one_by_one(E):
    # up to D = 3 local steps the stepwise path applies them singly, beyond as a power
    p = random_problem()
    constant = scgd(E, "1/9")
    slow = Method("slow", constant.participation, constant.local, InverseCycle(Fraction(1, 9), rounds_per_cycle=10**6))
    grid = [0, 1, 5, 9]
    jumps, steps = (run_exact(m, p, grid, arithmetic=Arithmetic.RATIONAL).exact for m in (constant, slow))
    assert jumps == steps
