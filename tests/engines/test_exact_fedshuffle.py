"""The exact engine on FedShuffle's equation (36): limits computed by hand, limits against long runs, ways to run."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact import contraction, run_exact, stationary
from boundcheck.engines.exact.cohorts import MAX_COHORTS
from boundcheck.engines.run import run
from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.methods.method import Method
from boundcheck.methods.parts import (
    Constant,
    Cyclic,
    Epochs,
    Full,
    GradientSteps,
    InverseCycle,
    Momentum,
    OneByWeight,
    SumOne,
    Unbiased,
    Uniform,
)
from boundcheck.problems.build import build

EIGHTH = Fraction(1, 8)
ETAS = (EIGHTH, Fraction(1, 3))
THIRDS = (Fraction(1, 3),) * 3


def problem(**more):
    return build({"kind": "fedshuffle_36", **more})


def method(eta, divide="none", participation=None, aggregation=None, **more):
    where = participation or Full()
    return Method("m", where, Epochs(divide=divide), Constant(eta, "eta_l"), aggregation or Unbiased(), **more)


def fedavg(eta):
    return method(eta)


def fedshuffle(eta, participation=None):
    return method(eta, "size", participation)


def fednova(eta):
    """wtilde = (1/3, 1/3, 1/3), c = 3."""
    return method(eta, "largest", aggregation=Unbiased(THIRDS))


def client_weights(limit):
    """The weight of each client in a point of (36): the sum of its own coordinates."""
    x = limit.mean
    assert x[1] == x[2]
    assert x[3] == x[4] == x[5]
    return x[0], x[1] + x[2], x[3] + x[4] + x[5]


# --- what (36) settles to -----------------------------------------------------------------------------------


@pytest.mark.parametrize("e", ETAS)
def test_fedavg_settles_at_weights_by_squares(e):
    whole = 14 - 11 * e + 3 * e**2
    expected = tuple(v / whole for v in (Fraction(1), 2 * (2 - e), 3 * (3 - 3 * e + e**2)))
    assert client_weights(stationary(fedavg(e), problem())) == expected


@pytest.mark.parametrize("e", ETAS)
def test_fedshuffle_settles_near_the_clients_weights(e):
    whole = 108 - 27 * e + 2 * e**2
    expected = tuple(v / whole for v in (Fraction(18), 9 * (4 - e), 2 * (27 - 9 * e + e**2)))
    assert client_weights(stationary(fedshuffle(e), problem())) == expected


def enumerated_floor(factors, steps):
    """The variance part of the stationary E gap on (36), from every order of every client's samples.

    One round with the local steps s_i and the server's factors f_i is x -> a x + noise, whose covariance is that of
    sum_i f_i s_i (e_{i,1} (1-s_i)^(k-1) + ...) over the k! orders; the gap's variance is its trace/2 over 1 - a^2.
    """
    own, trace, a = [[0], [1, 2], [3, 4, 5]], Fraction(0), 1 - sum(factors)
    for samples, f, s in zip(own, factors, steps, strict=True):
        k = len(samples)
        a += f * (1 - s) ** k
        points = [
            [f * s * (1 - s) ** (k - 1 - order.index(j)) for j in samples] for order in itertools.permutations(samples)
        ]
        mean = [sum(p[j] for p in points) / len(points) for j in range(k)]
        trace += sum(sum((v - m) ** 2 for v, m in zip(p, mean, strict=True)) for p in points) / len(points)
    return trace / 2 / (1 - a**2)


W = (Fraction(1, 6), Fraction(1, 3), Fraction(1, 2))


def test_fedavg_floor_is_bias_plus_reshuffling_noise():
    found = stationary(fedavg(EIGHTH), problem())
    assert client_weights(found) == (Fraction(64, 811), Fraction(240, 811), Fraction(507, 811))
    assert found.bias["gap"] == Fraction(53753, 7892652)
    variance = enumerated_floor(W, (EIGHTH,) * 3)
    assert float(variance) == pytest.approx(1.3202e-4, rel=1e-4)
    assert found.values["gap"] == Fraction(53753, 7892652) + variance


def test_fedshuffle_floor():
    found = stationary(fedshuffle(EIGHTH), problem())
    assert client_weights(found) == (Fraction(576, 3349), Fraction(1116, 3349), Fraction(1657, 3349))
    variance = enumerated_floor(W, (EIGHTH, EIGHTH / 2, EIGHTH / 3))
    assert found.values["gap"] == found.bias["gap"] + variance
    assert float(found.bias["gap"]) == pytest.approx(1.873e-5, rel=1e-3)
    assert float(variance) == pytest.approx(5.04e-6, rel=1e-3)
    assert float(found.values["gap"]) == pytest.approx(2.3768e-5, rel=1e-4)
    assert found.values["dist2"] == 2 * found.values["gap"]


def test_fednova_floor_and_contraction():
    p = problem()
    found = stationary(fednova(EIGHTH), p)
    variance = enumerated_floor(THIRDS, (EIGHTH / 3,) * 3)
    assert found.values["gap"] == found.bias["gap"] + variance
    assert float(found.bias["gap"]) == pytest.approx(2.05e-5, rel=3e-3)
    assert float(variance) == pytest.approx(2.60e-6, rel=2e-3)
    nova, shuffle = contraction(fednova(EIGHTH), p), contraction(fedshuffle(EIGHTH), p)
    assert nova.mean_radius_low == pytest.approx(0.9190, abs=5e-5)
    assert shuffle.mean_radius_high == pytest.approx(0.8789, abs=5e-5)
    assert shuffle.second_moment
    assert shuffle.radius_high == pytest.approx(shuffle.mean_radius_high**2, rel=1e-9)
    whole = method(EIGHTH, aggregation=Unbiased(THIRDS))
    assert float(stationary(whole, p).values["gap"]) == pytest.approx(2.686e-4, rel=1e-3)
    assert contraction(whole, p).mean_radius_low == pytest.approx(0.7702, abs=5e-5)


def test_sum_one_is_biased_and_the_unbiased_aggregation_is_not():
    p, e = problem(), Fraction(1, 100)
    summed = method(e, "size", Uniform(2), SumOne())
    assert float(stationary(summed, p).values["gap"]) == pytest.approx(1.1777e-3, rel=1e-4)
    assert float(stationary(fedshuffle(e, Uniform(2)), p).values["gap"]) == pytest.approx(1.918e-4, rel=5e-4)


@pytest.mark.parametrize(
    ("participation", "beta", "weighted", "uniform"),
    [
        (Full(), 2, 7.346e-5, 3.683e-3),
        (Uniform(2), Fraction(19, 8), 2.242e-3, 6.288e-3),
        (OneByWeight(), 3, 7.599e-3, 1.206e-2),
    ],
)
def test_averages_over_a_hundred_rounds(participation, beta, weighted, uniform):
    # the paper's largest step 1/(4 beta L); weights (1 - mu eta/2)^(-r). Numbers from an independent computation.
    eta = 1 / Fraction(4 * beta)
    gaps = run_exact(fedshuffle(eta, participation), problem(), range(100), ["gap"]).values["gap"]
    v = float(1 - eta / 2) ** -np.arange(100)
    assert (v * gaps).sum() / v.sum() == pytest.approx(weighted, rel=5e-4)
    assert gaps.mean() == pytest.approx(uniform, rel=5e-4)


def test_importance_sampling_of_figure_1_has_the_higher_floor():
    p, e = problem(sizes=[8, 1, 1]), Fraction(1, 20)
    assert float(stationary(fedshuffle(e, Uniform(1)), p).values["gap"]) == pytest.approx(0.00136, rel=5e-3)
    assert float(stationary(fedshuffle(e, OneByWeight()), p).values["gap"]) == pytest.approx(0.00260, rel=5e-3)


def test_sum_one_weights_as_the_step_vanishes():
    # 7/36, 16/45, 9/20 with two of three clients (Section 4.2); the next order is about eta
    found = stationary(method(Fraction(1, 10**9), "size", Uniform(2), SumOne()), problem())
    for near, limit in zip(client_weights(found), (Fraction(7, 36), Fraction(16, 45), Fraction(9, 20)), strict=True):
        assert abs(near - limit) < Fraction(1, 10**8)


# --- the limit and the run ----------------------------------------------------------------------------------

MVR = Momentum(Fraction(1, 5), start="gradient")
PRACTICAL = Momentum(Fraction(1, 2), variance_reduced=False)


@pytest.mark.parametrize("momentum", [None, MVR, PRACTICAL], ids=["plain", "mvr", "practical"])
@pytest.mark.parametrize("participation", [Full(), OneByWeight(), Cyclic()], ids=["full", "one", "cyclic"])
def test_long_runs_reach_the_solved_limit(momentum, participation):
    p = problem(sizes=[1, 2])
    m = method(Fraction(1, 20), "size", participation, momentum=momentum)
    names = ("gap", "drift") if momentum is None else ("gap", "drift", "epoch_grad2", "momentum_error2")
    ball = run_exact(m, p, [10**4], names)
    limit = stationary(m, p, names)
    enclosed = stationary(m, p, names, Arithmetic.BALL)
    near = stationary(m, p, names, Arithmetic.FLOAT64)
    for name in names:
        if (name, momentum, participation) == ("momentum_error2", MVR, Full()):
            assert limit.values[name] == 0  # every client tells its change of gradient
            continue
        assert limit.values[name] > 0
        np.testing.assert_allclose(ball.values[name][0], float(limit.values[name]), rtol=1e-11)
        low, high = enclosed.values[name]
        assert Fraction(low) <= limit.values[name] <= Fraction(high)
        assert high - low <= 1e-12 * high
        assert near.values[name] == pytest.approx(float(limit.values[name]), rel=1e-8)
    assert [float(v) for v in limit.mean] == pytest.approx(list(near.mean), rel=1e-9)


def test_the_limit_of_a_run_without_randomness():
    p = build({"kind": "quadratics", "clients": [{"A": 1, "b": 1}, {"A": 2, "b": -2}], "start": [5]})
    found = stationary(Method("gd", Full(), GradientSteps(1), Constant(EIGHTH)), p)
    assert found.mean == (Fraction(-1, 3),)
    assert found.values["gap"] == found.bias["gap"] == 0
    # two local steps: 1 - (1-e)^2 = 15/64, 1 - (1-2e)^2 = 7/16: x (15/64 + 28/64) = 15/64 - 28/64
    two = stationary(Method("fedavg", Full(), GradientSteps(2), Constant(EIGHTH)), p)
    assert two.mean == (Fraction(-13, 43),)
    assert two.values["dist2"] == Fraction(13, 43) ** 2 - Fraction(2, 3) * Fraction(13, 43) + Fraction(1, 9)


def test_directions_without_curvature_stay():
    p = build({"kind": "quadratics", "clients": [{"A": [[1, 1], [1, 1]], "b": [2, 2]}], "start": [3, 0]})
    found = stationary(method(EIGHTH), p)
    assert found.mean == (Fraction(5, 2), Fraction(-1, 2))
    assert found.values["dist2"] == 0
    rows = [{"A": [[1, 0], [0, 0]], "b": [1, 1]}, {"A": [[1, 0], [0, 0]], "b": [-1, -1]}]
    walk = build({"kind": "quadratics", "clients": [{"components": rows}], "start": [0, 0]})
    with pytest.raises(Unsupported, match="F is constant"):
        stationary(method(EIGHTH), walk)


def test_what_has_no_limit():
    with pytest.raises(BadInput, match=r"no stationary distribution.*not below 1"):
        stationary(method(Fraction(3)), problem())
    changing = Method("m", Full(), Epochs(), InverseCycle(EIGHTH))
    with pytest.raises(Unsupported, match="changes"):
        stationary(changing, problem())
    with pytest.raises(UnknownName, match="no momentum"):
        stationary(fedavg(EIGHTH), problem(), ["epoch_grad2"])


# --- drift, paths, limits -----------------------------------------------------------------------------------


def test_drift_of_the_first_round_by_hand():
    # x_0 = 0: client 1 does not move before its only step; before its second step client 2 is at (eta/2) e_j, client 3
    # at (eta/3) e_j, then at (eta/3)(1 - eta/3) e_j + (eta/3) e_k; each step weighs 1/|D| = 1/6
    e = EIGHTH
    third = (e / 3) ** 2 * ((1 - e / 3) ** 2 + 1)
    expected = ((e / 2) ** 2 + (e / 3) ** 2 + third) / 6
    found = run_exact(fedshuffle(e), problem(), [0], ["drift"], arithmetic=Arithmetic.RATIONAL)
    assert found.exact["drift"] == (expected,)
    assert run(fedshuffle(e), problem(), rounds=[0, 1], metrics=["drift"]).values["drift"][0] == float(expected)


def test_a_large_state_goes_round_by_round():
    d = 60  # 1891 packed moments: their map is not worth it for two rounds
    p = problem(sizes=[d - 3, 3])
    m = fedshuffle(Fraction(1, 2))
    curve = run_exact(m, p, [0, 1, 2], ["gap"], arithmetic=Arithmetic.FLOAT64)
    exact = run_exact(m, p, [0, 1], ["gap"], arithmetic=Arithmetic.BALL)
    np.testing.assert_allclose(curve.values["gap"][:2], exact.values["gap"], rtol=1e-12)
    assert (np.diff(curve.values["gap"]) < 0).all()


def test_too_many_cohorts_are_refused_where_each_would_have_to_be_looked_at():
    p = build({"kind": "random_quadratics", "clients": 40, "d": 1})
    summed = Method("m", Uniform(20), Epochs(), Constant(EIGHTH), SumOne())
    assert math.comb(40, 20) > MAX_COHORTS
    with pytest.raises(Unsupported, match=rf"at most {MAX_COHORTS}.*sampled"):
        run_exact(summed, p, [1])
    unbiased = Method("m", Uniform(20), Epochs(), Constant(EIGHTH), Unbiased())
    assert run_exact(unbiased, p, [10**4], ["gap"]).info["accuracy"] == "relative 1e-12"


def test_metrics_of_rounds_are_asked_for_by_name():
    p, m = problem(), fedshuffle(EIGHTH)
    assert "drift" not in run(m, p, rounds=2).values
    with pytest.raises(UnknownName, match="no momentum"):
        run(m, p, rounds=2, metrics=["momentum_error2"])
    huber = build({"kind": "huber"})
    with pytest.raises(UnknownName, match="'drift'"):
        run_exact(Method("gd", Full(), GradientSteps(1), Constant(EIGHTH)), huber, [1], ["drift"])


def test_too_many_second_moments_for_a_spectral_radius():
    p = problem(sizes=[20, 20])  # 820 second moments
    with pytest.raises(Unsupported, match=r"820 second moments.*at most 700"):
        stationary(fedshuffle(EIGHTH), p)
    assert contraction(Method("gd", Full(), GradientSteps(1), Constant(EIGHTH)), p).converges
