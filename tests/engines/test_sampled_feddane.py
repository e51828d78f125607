"""Proximal terms, exact solves and gradient corrections in the sampled engine."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sampled_cases import NEAR, PATHS, SHARES, SIZES, STEP, WALKS, Doubles, weighted
from sampled_toys import Model, model

from boundcheck.engines.simulate import run_sampled
from boundcheck.engines.simulate.measure import measures
from boundcheck.engines.simulate.metrics import dissimilarity
from boundcheck.engines.simulate.oracles import ArrayOracle
from boundcheck.engines.simulate.solves import least_curvature
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import (
    Correction,
    Epochs,
    ExactSolve,
    Full,
    GradientSteps,
    Independent,
    Momentum,
    NoStep,
    Pattern,
    Proximal,
    WithReplacement,
)
from boundcheck.problems.build import build
from tests.engines.drawn_plans import plan
from tests.engines.outcomes import followed

F = Fraction
ROUNDS = 7


def test_the_gradient_cohort_is_a_draw_of_its_own() -> None:
    clients = Clients(SHARES, SIZES)
    own, same = plan(WALKS["feddane"], clients, 7, 300), plan(WALKS["same cohort"], clients, 7, 300)
    assert all(same.gradient_cohort(t) == same.cohort(t) for t in range(300))
    first = np.array([(own.cohort(t)[0], own.gradient_cohort(t)[0]) for t in range(300)])
    assert np.array_equal(own.cohorts, plan(WALKS["fedprox"], clients, 7, 300).cohorts)
    for side in (0, 1):
        seen = np.bincount(first[:, side], minlength=5) / 300
        for share, w in zip(seen, SHARES, strict=True):
            assert abs(share - w) < 5 * math.sqrt(w * (1 - w) / 300)
    alike = float(sum(w * w for w in SHARES))
    assert abs((first[:, 0] == first[:, 1]).mean() - alike) < 5 * math.sqrt(alike * (1 - alike) / 300)


@pytest.mark.parametrize("kind", ["logistic", "softmax"])
def test_newton_solves_the_subproblem(kind: str) -> None:
    """The gradient at what the client returns, by the reference's own gradients."""
    for ridge, prox in ((0.125, 0.5), (0.0, 1e-3)):
        problem = model(kind, ridge=ridge)
        oracle = ArrayOracle(problem.flat)
        rng = np.random.default_rng(3)
        for scale in (0.1, 30.0):
            x, shift = scale * rng.normal(size=(2, problem.dim)), rng.normal(size=(2, problem.dim))
            for client in range(4):
                with np.errstate(over="ignore"):
                    y = oracle.solve(client, x, shift, prox)
                    left = oracle.full(client, y) + shift + prox * (y - x)
                    first = oracle.full(client, x) + shift
                assert np.all(np.linalg.norm(left, axis=1) <= 1e-11 * np.linalg.norm(first, axis=1))
    with pytest.raises(BadInput, match="proximal weight or a ridge above 0"):
        ArrayOracle(model(kind, ridge=0.0).flat).solve(0, x, shift, 0.0)


@pytest.mark.parametrize("path", ["numpy", "auto"])
def test_newton_runs_and_is_certified(path: Any) -> None:
    problem = model("softmax")
    method = Method("m", WithReplacement(2), ExactSolve(F(1)), NoStep(), correction=Correction(WithReplacement(2)))
    curve = run_sampled(method, problem, 4, 2, ("loss", "inexactness"), [0, 2, 4], path=path)
    assert np.all(curve.samples["inexactness"][:, 1:] > 0)
    assert np.all(curve.samples["inexactness"] < 1e-10)
    with pytest.raises(Unsupported, match="solves no subproblem exactly"):
        run_sampled(method, problem, 4, 1, ("loss",), path="numba")


@pytest.mark.parametrize("path", PATHS)
def test_certified_inexactness_is_no_less_than_the_true_one(path: Any) -> None:
    for kind in ("isotropic", "quadratic"):
        for name in ("feddane", "pipelined", "same cohort"):
            method, problem = WALKS[name], weighted(kind)
            method = replace(method, local=Proximal(F(8), Epochs(3, 1)))
            curve = run_sampled(method, problem, ROUNDS, range(5, 6), ("inexactness",), [0, 1, 2, 5, ROUNDS], path=path)
            world = Doubles(problem)
            played = followed(method, world, 5, ROUNDS)
            assert curve.samples["inexactness"][0, 0] == 0
            for value, t in zip(curve.samples["inexactness"][0, 1:], (1, 2, 5, ROUNDS), strict=True):
                true, certified = 0.0, 0.0
                for v in played[t - 1].visits:
                    x, y = v.begin, v.points[-1]
                    hessian, linear = world.subproblem(v.client, x, v.shift, float(v.visit.prox))
                    best = np.linalg.solve(hessian, linear)
                    true = max(true, np.linalg.norm(y - best) / np.linalg.norm(best - x))
                    error = np.linalg.norm(hessian @ y - linear) / np.linalg.eigvalsh(hessian)[0]
                    apart = np.linalg.norm(y - x) - error
                    certified = max(certified, error / apart if apart > 0 else math.inf)
                assert value == pytest.approx(certified, rel=1e-10)
                assert value >= true * (1 - 1e-12)
            assert np.any(np.isfinite(curve.samples["inexactness"][0, 1:]))
            plainer = run_sampled(method, problem, ROUNDS, range(5, 6), ("dist2",), [2, ROUNDS], path=path)
            beside = run_sampled(method, problem, ROUNDS, range(5, 6), ("dist2", "inexactness"), [2, ROUNDS], path=path)
            assert np.array_equal(plainer.samples["dist2"], beside.samples["dist2"])
    flat = Method("m", Full(), Proximal(F(1, 10**6), GradientSteps(1)), STEP)  # no curvature, so no certificate
    assert least_curvature(weighted().flat, 1) <= 0
    assert np.isposinf(run_sampled(flat, weighted(), 1, 1, ("inexactness",), [1], path=path).values["inexactness"][0])


def test_dissimilarity_by_its_definition() -> None:
    problem = model("logistic")
    slopes = ArrayOracle(problem.flat)

    class Known(Model):
        def gradient(self, client: int, x: Any) -> Any:
            return slopes.full(client, x[None])[0]

    method = Method("m", Full(), GradientSteps(1), STEP)
    curve = run_sampled(method, Known(problem.flat), 1, 1, ("B2",), [0])
    x = np.array([float(v) for v in problem.start])
    each = [slopes.full(i, x[None])[0] for i in range(4)]
    of_all = sum(float(w) * g for w, g in zip(problem.weights, each, strict=True))
    above = sum(float(w) * float(g @ g) for w, g in zip(problem.weights, each, strict=True))
    assert curve.values["B2"][0] == pytest.approx(above / float(of_all @ of_all), rel=1e-13)
    assert curve.values["B2"][0] > 1


def test_dissimilarity_as_the_problem_computes_it() -> None:
    problem: Any = build({"kind": "random_quadratics", "clients": 4, "d": 3, "seed": 1})
    points = np.random.default_rng(0).normal(size=(2, 3, 3))
    own = measures(problem, problem.arrays(), ("B2",))["B2"](points)
    np.testing.assert_allclose(own, dissimilarity(problem)(points), rtol=1e-12)
    assert np.all(own > 1)


PROX = WALKS["fedprox"]
UNSURE = replace(PROX, participation=Independent((F(1, 2),) * 5))
PUSHED = replace(PROX, participation=Full(), momentum=Momentum(F(1, 2)))
ROUND_GAP, INEXACTNESS = ("round_gap",), ("inexactness",)
REFUSED: list[tuple[Method, tuple[str, ...], type[Exception], str]] = [
    (PUSHED, ("dist2",), Unsupported, "momentum does not go with proximal"),
    (replace(PROX, local=NEAR.work, momentum=PUSHED.momentum), ("dist2",), Unsupported, "does not go with clients"),
    (replace(PUSHED, local=NEAR.work, correction=Correction()), ("dist2",), Unsupported, "does not go with a gradient"),
    (replace(UNSURE, correction=Correction()), ("dist2",), Unsupported, "one of no client"),
    (replace(PROX, local=NEAR.work), INEXACTNESS, Unsupported, "no proximal subproblems"),
    (Method("m", Pattern(((1,),)), ExactSolve(F(0)), NoStep()), ("dist2",), BadInput,
     "client 1 with the proximal weight 0 is not strongly convex"),
    (PROX, ROUND_GAP, Unsupported, "does not measure 'round_gap'"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "metrics", "error", "said"), REFUSED, ids=[row[3] for row in REFUSED])
def test_what_cannot_be_carried_out_is_named(method: Method, metrics: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        run_sampled(method, weighted(), 2, 1, metrics)
    run_sampled(replace(UNSURE, correction=Correction(Full())), weighted(), 2, 1)
