"""Clients that work on the server point they received last: the exact engine against plain fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact import contraction, limit_cycle, run_exact, stationary
from boundcheck.engines.exact.reduction import kept_models
from boundcheck.engines.exact.state import lower
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.method import Method
from boundcheck.methods.parts import (
    Constant,
    Cyclic,
    EpochRange,
    Epochs,
    Full,
    GradientSteps,
    Independent,
    Momentum,
    OneByWeight,
    Pattern,
    Same,
    ServerStep,
    Stale,
    Subsets,
    Unbiased,
    Uniform,
)
from boundcheck.problems.build import build
from boundcheck.problems.problem import clients_of

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
STEP = Constant(Fraction(1, 7))
POINT = ("dist2", "gap", "grad2")
VIRTUAL = ("round_gap", "virtual_round_gap", "virtual_gap", "virtual_grad2")
EXACT = Arithmetic.RATIONAL


def line(*targets, start=0):
    """f_i = (x - target_i)^2 / 2 on the line."""
    spec = {"kind": "quadratics", "clients": [{"components": [{"A": 1, "b": str(t)}]} for t in targets]}
    return build(spec | {"start": [start]})


def samples(*sizes, alike=False, d=1):
    """Clients with this many samples; `alike`: of one Hessian a client."""
    clients = []
    for i, size in enumerate(sizes):
        own = []
        for j in range(size):
            k = 0 if alike else j
            a = [[2 + i + k, 1 - k], [1 - k, 3]] if d == 2 else [[1 + i + k]]
            own.append({"A": a, "b": [1 + j - i, i - 2 * j][:d]})
        clients.append({"components": own})
    weights = [str(Fraction(s, sum(sizes))) for s in sizes]
    return build({"kind": "quadratics", "clients": clients, "weights": weights, "start": [2, -1][:d]})


def stale(participation, local, aggregation=None, eta_g=Fraction(4, 5)):
    return Method("m", participation, local, STEP, aggregation or Unbiased(), ServerStep(eta_g), exchange=Stale())


# --- who holds which model -----------------------------------------------------------------------------------------


def test_the_delays_of_a_hand_computed_run():
    # client 0 in rounds 0 and 3, client 1 in 1 and 2; eta_g a = 1, one step of 1/2 towards targets 4 and 8
    m = Method("m", Pattern(((0,), (1,), (1,), (0,))), GradientSteps(1), Constant(HALF), Same(), exchange=Stale())
    curve = run_exact(m, line(4, 8), [0, 1, 2, 3, 4], ["x"], arithmetic=EXACT)
    # 0; +(4-0)/2; +(8-0)/2 from x_0; +(8-6)/2 from 6; +(4-2)/2 from 2, which client 0 received after round 0
    assert curve.exact["x"] == (0, 2, 6, 7, 8)


def test_a_model_that_is_not_read_again_is_no_memory():
    # client 2 takes part before the pattern repeats only; its point stays for ever, and nothing depends on it
    m = stale(Pattern(((0,), (1,)), ((2,), (), (0, 2))), GradientSteps(1), Same(HALF))
    p = samples(1, 1, 1)
    found = contraction(m, p)
    assert found.converges
    without = contraction(stale(Pattern(((0,), (1,))), GradientSteps(1), Same(HALF)), p)
    assert max(found.radius_low, without.radius_low) <= min(found.radius_high, without.radius_high)
    cycle = limit_cycle(m, p, ["x"])
    assert cycle.first == 3
    run = run_exact(m, p, [2003, 2004], ["x"], arithmetic=Arithmetic.FLOAT64)
    np.testing.assert_allclose(run.values["x"], [float(v) for v in cycle.values["x"]], rtol=1e-12)


def test_clients_that_take_part_together_share_a_model():
    p = samples(1, 1, 1, 1, 1)
    clients = clients_of(p)
    method = stale(Pattern(((0, 2, 4), (1, 4))), GradientSteps(1))
    assert kept_models(method, clients) == (0, 1, 0, None, None)
    assert len(lower(method, p, ()).layout.keys) == 3
    drawn = stale(Subsets(((0, 1, 4), (2, 3, 4)), (THIRD, 1 - THIRD)), GradientSteps(1))
    assert kept_models(drawn, clients) == (0, 0, 1, 1, None)


def test_the_stationary_state_of_random_cohorts():
    p = samples(2, 2)
    m = stale(OneByWeight(), Epochs())
    names = [*POINT, *VIRTUAL]
    found = stationary(m, p, names)
    far = run_exact(m, p, [2000], names, arithmetic=Arithmetic.FLOAT64)
    for name in names:
        assert far.values[name][0] == pytest.approx(float(found.values[name]), rel=1e-9)
    assert found.values["gap"] > found.bias["gap"] >= 0


# --- everybody takes part -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("work", [GradientSteps(3), Epochs()], ids=["gradients", "samples"])
@pytest.mark.parametrize(
    "participation",
    [Full(), Pattern(((0, 1),)), Subsets(((0, 1),), (Fraction(1),)), Independent((Fraction(1), Fraction(1)))],
    ids=["full", "pattern", "subsets", "independent"],
)
def test_with_everybody_nothing_is_old(participation, work):
    p = samples(2, 2)
    names = [*POINT, *VIRTUAL]
    plain = Method("m", Full(), work, STEP, Unbiased(), ServerStep(Fraction(4, 5)))
    expected = run_exact(plain, p, [0, 1, 2, 7, 40], names, arithmetic=EXACT).exact
    m = stale(participation, work)
    assert run_exact(m, p, [0, 1, 2, 7, 40], names, arithmetic=EXACT).exact == expected
    assert len(lower(m, p, ()).layout.keys) == 1
    assert contraction(m, p).mean_radius_high == contraction(plain, p).mean_radius_high


# --- the examples of the paper ----------------------------------------------------------------------------------


def four(steps, eta, lead=()):
    """Example 1: clients 2 and 4 in even rounds, 1 and 3 in odd ones, q = 1/2; targets theta_1 = 1, theta_3 = 3."""
    method = Method(
        "async", Pattern(((1, 3), (0, 2)), lead), GradientSteps(steps), Constant(eta), Unbiased(), exchange=Stale()
    )
    return method, line(1, 1, 3, 3)


def test_example_1_follows_its_recursion():
    method, p = four(1, HALF, ((),))  # phi = 1/2, theta* = 2, from 0, 0
    curve = run_exact(method, p, range(8), ["x"], arithmetic=EXACT)
    assert curve.exact["x"] == tuple(Fraction(v) for v in ("0", "0", "1", "2", "5/2", "5/2", "9/4", "2"))
    for steps, eta in ((1, HALF), (3, Fraction(3, 4)), (2, Fraction(3, 2))):
        method, p = four(steps, eta)
        phi = 1 - (1 - eta) ** steps
        x = run_exact(method, p, range(20), ["x"], arithmetic=EXACT).exact["x"]
        assert x[1] == 2 * phi
        assert all(x[n + 2] - x[n + 1] + phi * x[n] == 2 * phi for n in range(18))


def test_example_1_has_an_orbit_of_period_six():
    method, p = four(1, Fraction(1), ((),))
    x = run_exact(method, p, range(25), ["x"], arithmetic=EXACT).exact["x"]
    # x - theta* = -2 (1, 1, 0, -1, -1, 0, ...)
    assert x == tuple(2 - 2 * (1, 1, 0, -1, -1, 0)[n % 6] for n in range(25))
    with pytest.raises(BadInput, match="could not be decided"):
        limit_cycle(method, p)


@pytest.mark.parametrize(("steps", "phi"), [(1, "3/2"), (2, "3/4"), (3, "9/8")])
def test_example_1_contracts_iff_phi_is_below_one(steps, phi):
    # with (1 - eta_l)^K = (-1/2)^K local gradient descent contracts in any case
    method, p = four(steps, Fraction(3, 2))
    found = contraction(method, p)
    assert found.rounds == 2  # two complex roots of modulus sqrt(phi) a round
    assert found.radius_low <= float(Fraction(phi)) <= found.radius_high <= found.radius_low + 1e-9
    assert math.sqrt(found.radius_low) == pytest.approx(math.sqrt(Fraction(phi)), rel=1e-9)
    assert found.converges is (Fraction(phi) < 1)
    if found.converges:
        assert limit_cycle(method, p, ["x", "gap"]).values == {"x": (2, 2), "gap": (0, 0)}
    else:
        with pytest.raises(BadInput, match=r"spectral radius of its map of 2 rounds is at least 1\.\d+, not below 1"):
            limit_cycle(method, p)


def two(q1, q2, eta, steps, targets=(0, 3)):
    """Example 2: client 1 in even rounds with weight q1, client 2 in odd ones with q2."""
    weights = Unbiased((q1 / 2, q2 / 2))  # divided by the share of rounds, 1/2
    method = Method("async", Pattern(((0,), (1,))), GradientSteps(steps), Constant(eta), weights, exchange=Stale())
    return method, line(*targets)


@pytest.mark.parametrize(
    ("q1", "q2", "eta", "steps"),
    [(1, HALF, Fraction(3, 10), 1), (1, HALF, Fraction(3, 10), 2), (Fraction(1, 4), 2, Fraction(1, 100), 1)],
)
def test_example_2_is_a_two_cycle(q1, q2, eta, steps):
    q1, q2, t1, t2 = Fraction(q1), Fraction(q2), Fraction(0), Fraction(3)
    method, p = two(q1, q2, eta, steps)
    phi = 1 - (1 - eta) ** steps
    a, b = phi * q1, phi * q2
    even = (a * t1 + b * t2 + a * b * t2) / (a + b + a * b)
    odd = (a * t1 + b * t2 + a * b * t1) / (a + b + a * b)
    cycle = limit_cycle(method, p, ["x", *VIRTUAL])
    assert cycle.points == ((even,), (odd,))
    assert cycle.values["x"] == (even, odd)
    assert cycle.values["round_gap"] == (q1 * (even - t1) ** 2 / 2, q2 * (odd - t2) ** 2 / 2)
    assert even != odd
    assert (q1 * t1 + q2 * t2) / (q1 + q2) not in (even, odd)  # the limit that the paper states
    assert stationary(method, p, ["x"]).values["x"] == even
    far = run_exact(method, p, [4000, 4001], ["x", *VIRTUAL], arithmetic=Arithmetic.FLOAT64)
    for name in far.values:
        np.testing.assert_allclose(far.values[name], [float(v) for v in cycle.values[name]], rtol=1e-9)


def test_example_2_in_balls_and_with_equal_weights_about_the_mean():
    method, p = two(Fraction(1), HALF, Fraction(3, 10), 1)
    assert limit_cycle(method, p).points == ((Fraction(13, 11),), (Fraction(10, 11),))
    low, high = limit_cycle(method, p, arithmetic=Arithmetic.BALL).points[0][0]
    assert Fraction(low) <= Fraction(13, 11) <= Fraction(high) <= Fraction(low) + Fraction(1, 10**12)
    method, p = two(HALF, HALF, Fraction(1, 5), 3)
    (even,), (odd,) = limit_cycle(method, p).points
    assert even != odd
    assert (even + odd) / 2 == Fraction(3, 2)


def test_a_cycle_of_random_local_work():
    p = samples(2, 2)
    m = stale(Pattern(((0,), (1,), ())), Epochs(), Same(HALF))
    names = [*POINT, *VIRTUAL]
    cycle = limit_cycle(m, p, names)
    assert cycle.period == 3
    far = run_exact(m, p, [900, 901, 902], names, arithmetic=Arithmetic.FLOAT64)
    for name in names:
        np.testing.assert_allclose(far.values[name], [float(v) for v in cycle.values[name]], rtol=1e-9, atol=1e-13)
    assert cycle.values["round_gap"][2] == 0  # nobody takes part
    assert cycle.points[2] == cycle.points[0]


# --- what is refused ----------------------------------------------------------------------------------------------


def test_what_is_not_carried_out_is_said():
    p = samples(1, 1)
    momentum = Method("m", Cyclic(), GradientSteps(1), STEP, momentum=Momentum(HALF), exchange=Stale())
    with pytest.raises(Unsupported, match="momentum or a correction"):
        run_exact(momentum, p, [1])
    many = build({"kind": "quadratics", "clients": [{"components": [{"A": 1}]}] * 40, "start": [1]})
    with pytest.raises(Unsupported, match="possible cohorts"):
        run_exact(stale(Uniform(20), GradientSteps(1)), many, [1])
    random = stale(OneByWeight(), Epochs(EpochRange(1, 2)))
    with pytest.raises(Unsupported, match="differ or are random, so that it has no virtual models"):
        run_exact(random, samples(1, 2), [1], ["virtual_gap"])
    with pytest.raises(Unsupported, match="differ or are random"):
        run_exact(stale(Full(), Epochs()), samples(1, 2), [1], ["virtual_grad2"])
    rows = [{"components": [{"A": a, "b": 1}]} for a in (-1, 3)]
    saddle = build({"kind": "quadratics", "clients": rows, "start": [1]})
    with pytest.raises(Unsupported, match="round 0's mean weights has no minimum"):
        run_exact(stale(Cyclic(), GradientSteps(1)), saddle, [0, 1], ["round_gap"])


def test_old_points_on_a_problem_that_is_not_quadratic():
    huber = build({"kind": "huber", "L": 1, "R": 1, "k": 4})
    old, plain = (Method("m", Full(), GradientSteps(1), STEP, exchange=e) for e in (Stale(), None))
    found = [run_exact(m, huber, [0, 1, 2, 9], arithmetic=EXACT).exact for m in (old, plain)]
    assert found[0] == found[1]  # the only client is never old
