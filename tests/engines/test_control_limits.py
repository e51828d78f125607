"""Where methods with control variates end, how fast, and which compositions engines refuse."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from boundcheck.engines.exact.spectral import contraction
from boundcheck.engines.exact.stationary import stationary
from boundcheck.engines.rare_choices import rarest_choice
from boundcheck.engines.run import run
from boundcheck.engines.simulate import run_sampled
from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.evidence.deciding import NoLimit
from boundcheck.evidence.limits import exact_limit
from boundcheck.judge.mutants import mutants
from boundcheck.methods.build import build
from boundcheck.methods.parts import (
    ClientOptimizer,
    ControlVariates,
    Correction,
    ExactSolve,
    Full,
    Momentum,
    ReferencePoint,
    ServerMomentum,
    Stale,
    StochasticSteps,
    Uniform,
)
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Problem, clients_of
from boundcheck.setting import Setting
from boundcheck.setting.followed_objective import small_step_weights
from boundcheck.theory.discovery import statement

F = Fraction
EQUAL = [F(1, 3)] * 3
UNEQUAL = [F(1, 2), F(1, 3), F(1, 6)]
# three clients of two, one and two samples: other Hessians in every one, and in client 0
SAMPLES = [
    [([["1", "1/3"], ["1/3", "1/2"]], ["1", "-1/2"]), ([["1/2", "0"], ["0", "3/4"]], ["0", "1/3"])],
    [([["2/3", "-1/4"], ["-1/4", "1"]], ["-1", "1/5"])],
    [([["1/4", "0"], ["0", "1/2"]], ["1/2", "0"]), ([["1/4", "0"], ["0", "1/2"]], ["0", "-1"])],
]
START = ["1", "-1"]
UNIFORM2 = {"kind": "uniform", "size": 2}
OPTIONS = ("scaffold", "scaffold_option_1")
OWN_STEPS = {"eta_l": "1/4", "E": [1, 3, 2]}  # another number of local steps at every client


def problem(weights: list[Fraction], whole_clients: bool = False) -> Problem:
    own = [c[:1] for c in SAMPLES] if whole_clients else SAMPLES
    clients = [{"components": [{"A": a, "b": b} for a, b in client]} for client in own]
    return build_problem({"kind": "quadratics", "clients": clients, "weights": weights, "start": START})


def minimiser(weights: list[Fraction]) -> list[Fraction]:
    """Of clients that have their first sample alone, by Cramer's rule."""
    own = [sample for (sample, *_) in SAMPLES]
    a = [[sum(w * F(m[r][c]) for w, (m, _) in zip(weights, own, strict=True)) for c in range(2)] for r in range(2)]
    b = [sum(w * F(v[r]) for w, (_, v) in zip(weights, own, strict=True)) for r in range(2)]
    det = a[0][0] * a[1][1] - a[0][1] * a[1][0]
    return [(b[0] * a[1][1] - a[0][1] * b[1]) / det, (a[0][0] * b[1] - a[1][0] * b[0]) / det]


def line(curvatures: list[Fraction], start: str = "3") -> Problem:
    """f_i(x) = a_i (x -+ 1)^2/2."""
    clients = [{"components": [{"A": [[a]], "b": [a * (-1) ** i]}]} for i, a in enumerate(curvatures)]
    return build_problem({"kind": "quadratics", "clients": clients, "start": [start]})


# --- no drift -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", OPTIONS)
def test_scaffold_ends_at_the_minimiser_whatever_the_local_steps(kind: str) -> None:
    least = minimiser(EQUAL)
    found = stationary(build({"kind": kind, **OWN_STEPS}), problem(EQUAL, True))
    assert list(found.mean) == least
    assert set(found.values.values()) == {0}
    # the same work without control variates ends elsewhere
    apart = stationary(build({"kind": "fedavg_rr", **OWN_STEPS}), problem(EQUAL, True))
    assert list(apart.mean) != least
    assert apart.values["dist2"] > F(1, 1000)


@pytest.mark.parametrize("kind", OPTIONS)
def test_the_weights_say_whose_minimiser_it_is(kind: str) -> None:
    own = problem(UNEQUAL, True)
    plain = stationary(build({"kind": kind, **OWN_STEPS}), own)
    weighted = stationary(build({"kind": kind, **OWN_STEPS, "weights": "data"}), own)
    assert list(plain.mean) == minimiser(EQUAL) != minimiser(UNEQUAL)
    assert list(weighted.mean) == minimiser(UNEQUAL)
    assert weighted.values["dist2"] == 0


@pytest.mark.parametrize("kind", OPTIONS)
def test_with_some_clients_a_round_the_variance_vanishes_too(kind: str) -> None:
    method = build({"kind": kind, "eta_l": "1/4", "K": 3, "participation": UNIFORM2})
    assert contraction(method, problem(EQUAL, True), only_decide=True).converges
    assert stationary(method, problem(EQUAL, True)).values["dist2"] == 0


def test_samples_leave_noise_that_control_variates_of_clients_do_not_take_away() -> None:
    method = build({"kind": "scaffold", "eta_l": "1/8", "K": 2, "batch": 1})
    assert stationary(method, problem(EQUAL)).values["dist2"] > 0


# --- published rates ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("sharp", [1, 0, -1])  # how many terms have curvature L: one, none, all but one
def test_saga_is_as_fast_as_theorem_1_says(n: int, sharp: int) -> None:
    # Defazio et al. 2014, Theorem 1: with gamma = 1/(2 (mu n + L)) the expectation of (1/n) sum f_i(phi_i) - F* -
    # (1/n) sum <grad f_i(x*), phi_i - x*> + c |x - x*|^2, c = 1/(2 gamma (1 - gamma mu) n), shrinks by 1 - gamma mu a
    # step (as PEPit's example `saga` states it, too)
    L, mu = F(1), F(1, 10)
    some = sharp % n
    own = line([L] * some + [mu] * (n - some))
    gamma = 1 / (2 * (mu * n + L))
    rate = 1 - gamma * mu
    method = build({"kind": "saga", "eta": gamma})
    found = contraction(method, own)
    assert found.radius_high <= rate
    curve = run(method, own, rounds=range(41), metrics=["dist2", "gap"], arithmetic="rational")
    first = curve.exact["dist2"][0] + 2 * n * gamma * rate * curve.exact["gap"][0]
    assert all(value <= rate**k * first for k, value in enumerate(curve.exact["dist2"]))
    if some == 0:  # the mean shrinks by 1 - gamma mu a step, so that no square shrinks faster than by the square of it
        assert rate**2 <= found.radius_low < 1.001 * rate**2


@pytest.mark.parametrize("kind", ["svrg_random", "svrg_average"])
def test_svrg_is_as_fast_as_theorem_1_says(kind: str) -> None:
    # Johnson and Zhang 2013, Theorem 1, for option II: E F(w_s) - F* <= alpha^s (F(w_0) - F*) with alpha below; by
    # convexity it holds for the mean of the points as well
    L, mu, m = F(2), F(1), 60
    eta = 1 / (10 * L)
    alpha = 1 / (mu * eta * (1 - 2 * L * eta) * m) + 2 * L * eta / (1 - 2 * L * eta)
    assert alpha < 1
    method = build({"kind": kind, "eta": eta, "inner": m})
    gaps = run(method, line([L, mu, L]), rounds=[0, m, 2 * m, 3 * m], metrics=["gap"]).high["gap"]
    assert all(gaps[s] <= float(alpha) ** s * gaps[0] for s in range(4))
    assert gaps[1] > gaps[0] / 1000  # far from a method that jumps to the minimiser


# --- what is known of such a method -------------------------------------------------------------------------------


def test_parameters_and_constants_have_keys() -> None:
    method = build({"kind": "scaffold", "eta_l": "1/8", "eta_g": 2, "K": 3, "participation": UNIFORM2})
    own = Setting(method, problem(EQUAL, True))
    values = {"eta_l": F(1, 8), "eta_g": 2, "E": 3, "size": 2}
    assert {name: own.constant(f"method/{name}").value for name in values} == values
    assert own.constant("clients/n").value == 3
    assert own.constant("participation/b").value == 2
    svrg = Setting(build({"kind": "svrg_random", "eta": "1/8", "inner": 5}), problem(EQUAL, True))
    assert svrg.constant("method/inner").value == 5
    assert svrg.algorithms == ("svrg_random",)
    assert own.hypothesis("plain_mean").holds
    assert not Setting(method, problem(UNEQUAL, True)).hypothesis("plain_mean").holds


def test_the_draw_of_a_reference_point_is_a_choice_that_seeds_must_see() -> None:
    clients = clients_of(problem(EQUAL))
    found = rarest_choice(build({"kind": "svrg_random", "eta": "1/8", "inner": 8}), clients)
    assert found is not None
    assert (found.probability, found.event) == (1 / 8, "a given point becomes the reference point")
    of_cohorts = rarest_choice(build({"kind": "svrg", "eta": "1/8", "inner": 8}), clients)
    assert of_cohorts is not None
    assert of_cohorts.probability == pytest.approx(1 / 3)


def test_the_objective_that_is_followed_has_the_shares_of_the_variates() -> None:
    clients = clients_of(problem(UNEQUAL))
    assert small_step_weights(build({"kind": "scaffold", **OWN_STEPS}), clients) == EQUAL
    assert small_step_weights(build({"kind": "scaffold", **OWN_STEPS, "weights": "data"}), clients) == UNEQUAL


@pytest.mark.parametrize(
    ("spec", "instance_of"),
    [
        ({"kind": "scaffold", "K": 2}, {"scaffold"}),
        ({"kind": "scaffold_option_1", "K": 2, "batch": 2, "start": "gradient"}, {"scaffold_option_1"}),
        ({"kind": "scaffold", "E": 2}, set()),  # reshuffled samples are not drawn independently
        ({"kind": "scaffold", "K": 2, "weights": "data"}, set()),
        ({"kind": "scaffold", "K": 2, "participation": {"kind": "pattern", "cohorts": [[0], [1, 2]]}}, set()),
        ({"kind": "scaffold", "K": 1, "participation": {"kind": "uniform", "size": 1}}, {"scaffold"}),
        (
            {"kind": "scaffold", "K": 1, "participation": {"kind": "uniform", "size": 1}, "start": "gradient"},
            {"scaffold", "saga"},
        ),
    ],
)
def test_what_statements_about_a_kind_are_about(spec: dict[str, Any], instance_of: set[str]) -> None:
    assert set(Setting(build({"eta_l": "1/8", **spec}), problem(EQUAL)).algorithms) == instance_of


# --- refusals -----------------------------------------------------------------------------------------------------

BASE = build({"kind": "scaffold", "eta_l": "1/8", "K": 2})


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"momentum": Momentum(F(1, 2))}, "do not go with a momentum"),
        ({"correction": Correction(Full())}, "do not go with a gradient correction"),
        ({"exchange": Stale()}, "do not go with models that clients keep"),
        ({"server_momentum": ServerMomentum(F(1, 2))}, "do not go with a momentum of the server's step"),
        ({"client_optimizer": ClientOptimizer(F(1, 2))}, "do not go with local steps that are not plain"),
        ({"local": ExactSolve(F(1))}, "do not go with proximal local work"),
    ],
)
def test_parts_without_an_agreed_meaning_beside_control_variates(other: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=f"the control variates of scaffold {words}"):
        replace(BASE, **other)


def test_parts_say_what_they_do_not_know() -> None:
    for made, said in (
        (lambda: ControlVariates(update="II"), "update of the control variates 'II'"),  # pyright: ignore
        (lambda: ReferencePoint(inner=2, point="best"), "choice of the reference point 'best'"),  # pyright: ignore
    ):
        with pytest.raises(UnknownName, match=said):
            made()


def test_a_new_reference_point_takes_the_gradients_of_all_clients() -> None:
    lazy = build_problem({"kind": "population", "clients": 50, "samples": 4, "dim": 2})
    method = build({"kind": "svrg", "eta": "1/8", "inner": 3})
    with pytest.raises(Unsupported, match="no gradients of all clients"):
        run_sampled(method, lazy, 3, 2, path="numba")
    assert run_sampled(method, lazy, 3, 2, ["grad2"]).info["path"] == "numpy"


def test_both_engines_agree_on_a_problem_that_is_not_quadratic() -> None:
    huber = build_problem({"kind": "huber"})
    exact = run(BASE, huber, rounds=[0, 1, 7, 100], metrics=["gap"], arithmetic="float64")
    curve = run(BASE, huber, rounds=[0, 1, 7, 100], metrics=["gap"], engine="sampled", seeds=2)
    np.testing.assert_allclose(exact.values["gap"], curve.values["gap"], rtol=1e-12)
    assert curve.values["gap"][3] < curve.values["gap"][0] / 2


@pytest.mark.parametrize("metric", ["drift", "virtual_gap", "momentum_error2"])
def test_metrics_of_plain_rounds_are_refused(metric: str) -> None:
    with pytest.raises(UnknownName, match="'scaffold' has no"):
        run(BASE, problem(EQUAL), rounds=2, metrics=[metric])


def test_a_client_without_steps_has_no_difference_to_be_divided() -> None:
    own = {"kind": "fedshuffle_unfinished", "eta_l": "1/8", "missed": [2, 0, 0], "reweighted": False}
    method = replace(BASE, local=build(own).local)
    for engine in ("exact", "sampled"):
        with pytest.raises(BadInput, match="client 0 takes no local step"):
            run(method, problem(EQUAL), rounds=2, engine=engine, seeds=2)


def test_a_reference_point_makes_a_period_of_rounds() -> None:
    # with samples, noise remains, and another one between two renewals than after one
    noisy = replace(BASE, participation=Uniform(1), local=StochasticSteps(1), control=ReferencePoint(inner=3))
    found = exact_limit(statement("fedshuffle/section_4_1_limit/as_printed"), noisy, problem(EQUAL))
    assert isinstance(found, NoLimit)
    assert "a cycle of 3 values" in found.why


def test_the_exact_engine_refuses_a_state_of_too_many_clients() -> None:
    many = line([F(1)] * 600)
    with pytest.raises(Unsupported, match="the control variates of scaffold make a state of 602 numbers"):
        run(BASE, many, rounds=2, metrics=["dist2"])


def test_both_paths_know_the_sign_of_the_correction() -> None:
    method = build({"kind": "scaffold", "eta_l": "1/5", "K": 2, "start": "gradient"})
    (wrong,) = (m.method for m in mutants(method, problem(EQUAL)) if m.name == "control variates with the wrong sign")
    runs = [run_sampled(wrong, problem(EQUAL), 9, 2, ["dist2"], range(10), path=p) for p in ("numpy", "numba")]
    np.testing.assert_allclose(runs[0].samples["dist2"], runs[1].samples["dist2"], rtol=1e-13)
    exact = run(wrong, problem(EQUAL), rounds=range(10), metrics=["dist2"])
    np.testing.assert_allclose(exact.values["dist2"], runs[1].samples["dist2"][0], rtol=1e-12)
    right = run(method, problem(EQUAL), rounds=range(10), metrics=["dist2"])
    assert abs(right.values["dist2"][9] / exact.values["dist2"][9] - 1) > 1e-3
