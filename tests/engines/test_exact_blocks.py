"""Averaging of models that workers keep: ways of computing against each other, and what the paper says.

The paper is S. Lee, A. K. Sahu, C. He, S. Avestimehr, "Partial Model Averaging in Federated Learning: Performance
Guarantees and Benefits".
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact import run_exact, stationary
from boundcheck.engines.exact.congruent import cheaper
from boundcheck.engines.exact.cycle import limit_cycle
from boundcheck.engines.exact.dynamics import Dynamics
from boundcheck.engines.exact.rings import BallRing, FloatRing, RationalRing
from boundcheck.engines.exact.spectral import contraction
from boundcheck.engines.exact.state import lower
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.build import build as build_method
from boundcheck.methods.method import Method
from boundcheck.methods.parts import (
    Blocks,
    Constant,
    Epochs,
    Full,
    HandOver,
    Uniform,
)
from boundcheck.problems.build import build

STEP = Fraction(1, 7)
METRICS = ("gap", "grad2", "discrepancy", "discrepancy:0")
RATIONAL = RationalRing()


def unlike(n=2, d=2, samples=2, weights=None):
    """Workers with different samples of different Hessians."""
    clients = []
    for i in range(n):
        own = []
        for j in range(samples):
            a = [[2 + (r == c) * (i + j) if r == c else 1 - j for c in range(d)] for r in range(d)]
            own.append({"A": a, "b": [(1 + j) * (-1) ** (i + r) + r for r in range(d)]})
        clients.append({"components": own})
    more = {} if weights is None else {"weights": weights}
    return build({"kind": "quadratics", "clients": clients, "start": [1, -2, 3][:d], **more})


def alike(n, d=2, common=True):
    """Workers that all hold the same two samples, of one Hessian or of different ones."""
    own = []
    for j in range(2):
        a = [[3 + r + j * (not common) if r == c else 1 for c in range(d)] for r in range(d)]
        own.append({"A": a, "b": [(1 + r) * (-1) ** j for r in range(d)]})
    return build({"kind": "quadratics", "clients": [{"components": own}] * n, "start": [1, -2, 3][:d]})


def method(tau=2, kind="partial_averaging", **more):
    return build_method({"kind": kind, "tau": tau, "eta": STEP, **more})


def computed(problem, m, rounds, arithmetic=Arithmetic.RATIONAL):
    return run_exact(m, problem, range(rounds + 1), METRICS, arithmetic=arithmetic)


HANDED = {"active": 2, "every": 2}


MORE = {
    "natural": {"tau": 3},
    "order": {"tau": 3, "order": [2, 0, 1]},
    "partition": {"tau": 2, "partition": [[0, 2], [1]]},
    "empty block": {"tau": 4},
    "periodic": {"tau": 3, "kind": "periodic_averaging"},
}


# --- handing models over ----------------------------------------------------------------------------------


def test_designs_differ_where_models_differ():
    runs = []
    for design in (1, 2):
        m = method(gradient="full", tau=3, hand_over={"active": 2, "every": 2, "design": design})
        runs.append(computed(unlike(3, samples=1, d=1), m, 5).exact["discrepancy"])
    assert runs[0] != runs[1]
    assert runs[0][2] == 0 < runs[1][2]


def test_hand_over_among_equal_clients_is_as_if_there_were_no_others():
    problem, m = alike(3, 1, common=False), method(tau=3, hand_over={**HANDED, "design": 2})
    assert lower(m, problem, ()).layout.copies == 1
    alone = replace(m, exchange=replace(m.exchange, hand_over=None))
    assert computed(problem, m, 6).exact == computed(alike(2, 1, common=False), alone, 6).exact


def test_hand_overs_that_are_refused():
    m = method(hand_over=HANDED)
    with pytest.raises(Unsupported, match="in 20160 ways"):
        computed(unlike(8), method(hand_over={"active": 6, "every": 2}), 2)
    with pytest.raises(Unsupported, match="repeat after 100010000"):
        computed(alike(2), replace(m, exchange=Blocks(10_001, "whole", hand_over=HandOver(1, 10_000, 1))), 2)


# --- compositions of maps M -> T M T' + C -----------------------------------------------------------------

GRIDS = [range(40), [0, 1, 7, 8, 9, 31, 32, 100], [*range(0, 90, 7), 500]]


@pytest.mark.parametrize("grid", GRIDS, ids=str)
@pytest.mark.parametrize("case", list(MORE))
def test_composed_rounds_are_the_rounds_one_by_one(case, grid):
    m, problem = method(**MORE[case]), alike(2, 3)
    for ring, equal in ((RATIONAL, grid[-1] < 50), (FloatRing(), False), (BallRing(), False)):
        if ring is RATIONAL and not equal:
            continue  # the fractions grow too long
        dynamics = Dynamics(ring, m, lower(m, problem, METRICS))
        maps = dynamics.congruences(STEP)
        assert maps is not None
        found = dynamics.composed(maps, STEP, list(grid), lambda _: None)
        plain = dynamics.stepwise(list(grid), lambda _: None)
        for name in METRICS:
            if equal:
                assert found[name] == plain[name]
            else:
                np.testing.assert_allclose([float(v) for v in found[name]], [float(v) for v in plain[name]], rtol=1e-9)


def test_composed_rounds_without_kept_models():
    m = Method("m", Full(), Epochs(2), Constant(STEP))
    problem = alike(3, 3)
    names = ("gap", "dist2", "drift", "grad2")
    dynamics = Dynamics(RATIONAL, m, lower(m, problem, names))
    maps = dynamics.congruences(STEP)
    assert maps is not None
    grid = list(range(12))
    composed = dynamics.composed(maps, STEP, grid, lambda _: None)
    assert composed == dynamics.stepwise(grid, lambda _: None)
    assert composed == dynamics.trajectory(STEP, grid, lambda _: None)


def test_no_composition_where_a_covariance_depends_on_the_state():
    dynamics = Dynamics(RATIONAL, method(), lower(method(), alike(2, common=False), ("gap",)))
    assert dynamics.congruences(STEP) is None
    drawn = Method("m", Uniform(1), Epochs(), Constant(STEP))
    assert Dynamics(RATIONAL, drawn, lower(drawn, alike(2), ("gap",))).congruences(STEP) is None


def test_composition_is_chosen_for_large_states_only():
    assert cheaper(FloatRing(), 129, 8, range(10_001), 2)
    assert not cheaper(FloatRing(), 3, 8, range(10_001), 2)


# --- what the paper says ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("m", "tau", "level"), [(2, 3, "3/2"), (4, 4, "9/2"), (128, 8, "889/32")])
def test_pure_noise(m, tau, level):
    """The discrepancy of partial averaging is constant from round tau on, and half the peak of periodic averaging."""
    problem = build({"kind": "pure_noise", "clients": m, "d": tau})
    found = {}
    for kind in ("partial_averaging", "periodic_averaging"):
        own = build_method({"kind": kind, "tau": tau, "eta": 1})
        names = ("discrepancy", *(f"discrepancy:{j}" for j in range(tau if kind == "partial_averaging" else 1)))
        found[kind] = run_exact(own, problem, range(4 * tau), names, arithmetic=Arithmetic.RATIONAL).exact
    partial, periodic = (found[k]["discrepancy"] for k in found)
    assert set(partial[tau - 1 :]) == {Fraction(level)}
    assert Fraction(level) == Fraction((m - 1) * tau * (tau - 1), 2 * m)
    assert periodic == tuple(Fraction(t % tau * tau * (m - 1), m) for t in range(4 * tau))
    assert max(periodic) == 2 * Fraction(level)
    assert sum(periodic[-tau:]) == sum(partial[-tau:])
    # block j was averaged after rounds j, j + tau, ...
    for j in range(tau):
        steps = [t if t <= j else (t - j - 1) % tau for t in range(4 * tau)]
        assert found["partial_averaging"][f"discrepancy:{j}"] == tuple(Fraction(c * (m - 1), m) for c in steps)


@pytest.mark.parametrize("common", [True, False])
def test_the_mean_of_equal_workers_does_not_see_the_schedule(common):
    """With one Hessian the mean model is SGD with averaged noise, whatever is averaged when; not with several."""
    problem = alike(3, 3, common)
    schedules = [method(1, "periodic_averaging"), method(3, "periodic_averaging"), method(3), method(order=[1, 0])]
    runs = [run_exact(m, problem, range(9), ("grad2",), arithmetic=Arithmetic.RATIONAL).exact for m in schedules]
    assert (len({tuple(r["grad2"]) for r in runs}) == 1) is common


def test_coupled_blocks():
    """E|grad F(u_k)|^2 tends to eta lam d/(m (2 - eta lam)); its mean over 20000 rounds is that of the recursion."""
    tau = 8
    for m, delta in ((2, Fraction(0)), (4, Fraction(1, 100))):
        problem = build({"kind": "coupled_blocks", "clients": m, "d": tau, "delta": delta})
        own = build_method({"kind": "partial_averaging", "tau": tau, "eta": "1/1000"})
        curve = run_exact(own, problem, range(20_000), ("grad2",), arithmetic=Arithmetic.BALL)
        eta, lam = Fraction(1, 1000), tau + delta
        limit = eta * lam * tau / (m * (2 - eta * lam))
        assert curve.low["grad2"][-1] <= limit * (1 + Fraction(1, 10**9))
        assert curve.high["grad2"][-1] >= limit * (1 - Fraction(1, 10**9))
        # along (1, ..., 1)/sqrt(d) the noise of the mean has the variance d/m
        kept, added = float((1 - eta * lam) ** 2), float(eta**2 * tau / m)
        variance, total = 0.0, 0.0
        for _ in range(20_000):
            total, variance = total + variance, kept * variance + added
        np.testing.assert_allclose(curve.values["grad2"].mean(), float(lam) ** 2 * total / 20_000, rtol=1e-9)
        if m == 2:
            assert round(float(curve.values["grad2"].mean()), 9) == 0.016013855
            floor = stationary(
                build_method({"kind": "partial_averaging", "tau": 2, "eta": "1/10"}),
                build({"kind": "coupled_blocks", "clients": 2, "d": 2, "delta": "1/3"}),
                ("grad2", "discrepancy"),
            )
            assert floor.values["grad2"] == Fraction(1, 10) * Fraction(7, 3) * 2 / (2 * (2 - Fraction(7, 30)))


def test_what_it_settles_to():
    """The solved limit is what a long run has at the ends of its periods; its cycle is the run's."""
    m, problem = method(3, order=[1, 2, 0]), alike(3, 3, common=False)
    found = limit_cycle(m, problem, METRICS)
    assert found.period == contraction(m, problem).rounds == 3
    late = run_exact(m, problem, [300, 301, 302], METRICS, arithmetic=Arithmetic.FLOAT64)
    for name in METRICS:
        np.testing.assert_allclose(late.values[name], [float(v) for v in found.values[name]], rtol=1e-9)
    assert len(set(found.values["discrepancy"])) == 3
    with pytest.raises(Unsupported, match="hands models over among clients that are not alike"):
        stationary(method(hand_over={"active": 1, "every": 2}), unlike(2, d=1))


def test_a_block_that_is_none():
    with pytest.raises(BadInput, match="the model has the blocks 0 to 1"):
        run_exact(method(), alike(2), [0, 1], ("discrepancy:2",))


def test_only_full_participation():
    m = replace(method(), participation=Uniform(1))
    with pytest.raises(Unsupported, match="while only some of them take part"):
        run_exact(m, alike(2), [0, 1], ("gap",))
