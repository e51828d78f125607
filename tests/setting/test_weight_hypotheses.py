"""Which weights a method and a problem agree on, and what the drift and the verdicts make of others."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.run import run
from boundcheck.evidence.compare import compare
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.setting.constants import joint_objections
from boundcheck.setting.followed_objective import surrogate
from boundcheck.theory.discovery import statement
from boundcheck.verdict import Outcome

OFFSETS = ((1,), (-3, 4, -2))  # sample j of client i: (x - b)^2/2
FEDAVG = {"kind": "fedshuffle_gen", "eta_l": "1/10", "c": "max"}


def spec(weights: tuple[str, ...], offsets: Any = OFFSETS, start: Any = 0) -> dict[str, Any]:
    clients = [{"components": [{"A": [[1]], "b": [b]} for b in own]} for own in offsets]
    return {"kind": "quadratics", "clients": clients, "weights": list(weights), "start": [start]}


DATA = spec(("1/4", "3/4"))


def drift(weights: tuple[Fraction, ...]) -> Fraction:
    """From 0, one epoch of step size 1/30, by all orders of the samples."""
    total = Fraction(0)
    for own, w in zip(OFFSETS, weights, strict=True):
        orders = list(permutations(own))
        for order in orders:
            y = Fraction(0)
            for b in order:
                total += w * y**2 / len(own) / len(orders)
                y -= (y - b) / 30
    return total


def test_the_drift_has_the_weights_of_the_objective() -> None:
    # FedAvg's weights in fhat are in proportion to the squares of the sizes
    what, w = (Fraction(1, 10), Fraction(9, 10)), (Fraction(1, 4), Fraction(3, 4))
    assert drift(what) == Fraction(52229, 8100000)
    problem, method = build_problem(DATA), build_method(FEDAVG)
    for instance, weights in ((problem, w), (surrogate(method, problem), what)):
        found = run(method, instance, rounds=[0], metrics=["drift"], arithmetic=Arithmetic.RATIONAL)
        assert found.exact["drift"] == (drift(weights),)


def weight_hypotheses(method: Any, problem: Any) -> dict[str, str | None]:
    found = joint_objections(method, problem)
    return {name: found[name] for name in ("data_weights", "followed_objective") if name in found}


def test_hypotheses_on_weights() -> None:
    problem, fedshuffle = build_problem(DATA), build_method({"kind": "fedshuffle", "eta_l": 1})
    assert weight_hypotheses(fedshuffle, problem) == {"data_weights": None, "followed_objective": None}
    half = weight_hypotheses(fedshuffle, build_problem(spec(("1/2", "1/2"))))
    assert half["data_weights"] == "client 0 has the weight 1/2, but 1 of 4 samples."
    assert half["followed_objective"] is None
    fedavg = build_method(FEDAVG)
    assert "surrogate" in str(weight_hypotheses(fedavg, problem)["followed_objective"])
    followed = weight_hypotheses(fedavg, surrogate(fedavg, problem))
    assert followed["followed_objective"] is None
    assert followed["data_weights"] == "its clients report other weights than they have in the objective."
    # a method outside the family follows something else than fhat
    assert set(weight_hypotheses(build_method({"kind": "fedavg_rr", "eta_l": 1}), problem)) == {"data_weights"}
    population = build_problem({"kind": "population", "clients": 2000})
    assert weight_hypotheses(fedshuffle, population) == {"data_weights": None}


def test_a_run_on_another_objective_says_nothing_about_fhat() -> None:
    method = build_method({**FEDAVG, "eta_l": "1/100", "weights": ["99/10", "1/10"]})
    flat = build_problem(spec(("1/4", "3/4"), ((1,), (0, 0, 0))))
    sharp = statement("fedshuffle/theorem_e_1_strongly_convex/sharp")
    other = compare(sharp, run(method, flat, rounds=range(3000)))
    assert other.outcome is Outcome.OUT_OF_SCOPE
    assert "followed_objective" in other.reason
    assert compare(sharp, run(method, surrogate(method, flat), rounds=range(3000))).outcome is Outcome.HOLDS
