"""Constants of methods with proximal subproblems: inexactness of the solves and the means of Theorem 7 of FedDANE."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from boundcheck.certified.constant import Known
from boundcheck.engines.run import run
from boundcheck.methods.build import build as method_of
from boundcheck.methods.method import Method
from boundcheck.methods.parts import (
    Constant,
    Correction,
    Cyclic,
    Epochs,
    Full,
    GradientSteps,
    Proximal,
    SumOne,
    WithReplacement,
)
from boundcheck.problems.build import build
from boundcheck.problems.problem import clients_of
from boundcheck.setting.constants import joint_constants
from boundcheck.setting.participation import general, participation_constants
from boundcheck.setting.setting import describe_constants

F = Fraction
# L_k = 2, 5 and 1, the last one not convex
CLIENTS = [
    {"A": [[2, 0], [0, 1]], "b": [1, 0]},
    {"A": [[1, 2], [2, 4]], "b": [0, 1]},
    {"A": [[1, 0], [0, "-1/2"]], "b": [0, 0]},
]
P = build({"kind": "quadratics", "clients": CLIENTS, "start": [1, 2]})
L = (F(2), F(5), F(1))


def values(spec: dict[str, Any], problem: Any = P) -> dict[str, Fraction]:
    return {k: c.value for k, c in joint_constants(method_of(spec), problem).items()}


def test_means_over_all_clients() -> None:
    mu = (F(4), F(8), F(2))
    found = values({"kind": "feddane", "mu": list(mu), "participation": "full"})
    assert found["inv_mu"] == sum(1 / m for m in mu) / 3
    assert found["inv_mu2"] == found["gamma2_inv_mu2"] == sum(1 / m**2 for m in mu) / 3
    assert found["L_inv_mu2"] == found["L_gamma2_inv_mu2"] == sum(k / m**2 for k, m in zip(L, mu, strict=True)) / 3
    assert found["gamma"] == found["gamma_inv_mu"] == 0
    assert found["cohort_size"] == found["gradient_cohort_size"] == 3


def test_the_inexactness_of_gradient_steps() -> None:
    # I - (H_k + mu I)/8 with mu = 4: eigenvalues 1/4 and 3/8; 1/2 and -1/8; 3/8 and 9/16
    solver = {"steps": 3, "eta": "1/8"}
    found = values({"kind": "feddane", "mu": 4, "participation": "full", "solver": solver})
    gamma = [F(3, 8) ** 3, F(1, 2) ** 3, F(9, 16) ** 3]
    assert found["gamma"] == max(gamma)
    assert found["gamma_inv_mu"] == sum(gamma) / 3 / 4
    assert found["gamma2_inv_mu2"] == sum((1 + v) ** 2 for v in gamma) / 3 / 16
    assert found["L_gamma2_inv_mu2"] == sum(k * (1 + v) ** 2 for k, v in zip(L, gamma, strict=True)) / 3 / 16


def test_gamma_bounds_every_solve_and_is_reached() -> None:
    """Definition 1 on the line, where the contraction is one number: exactly; in the plane: never exceeded."""
    line = build({"kind": "quadratics", "clients": [{"A": [[3]], "b": [1]}], "start": [2]})
    m = method_of({"kind": "dane", "mu": 2, "steps": 2, "eta": "1/8"})
    gamma = joint_constants(m, line)["gamma"]
    ends = [run(s, line, rounds=1, arithmetic="rational", metrics=["x"]).exact["x"][1] for s in (
        m, method_of({"kind": "dane", "mu": 2}))]  # fmt: skip
    assert abs(ends[0] - ends[1]) == gamma.value * abs(ends[1] - 2)
    assert (gamma.known, gamma.value) == (Known.EXACT, F(3, 8) ** 2)
    rng = np.random.default_rng(3)
    for _ in range(20):
        root = rng.normal(size=(3, 3))
        h, mu, eta, steps = root @ root.T, 0.5, 0.15, 4
        one = build({"kind": "quadratics", "clients": [{"A": h.tolist(), "b": [1, 0, 1]}], "start": [0, 0, 0]})
        spec = {"kind": "dane", "mu": mu, "steps": steps, "eta": eta}
        bound = float(joint_constants(method_of(spec), one)["gamma"].value)
        power = np.linalg.matrix_power(np.eye(3) - eta * (h + mu * np.eye(3)), steps)
        assert np.linalg.norm(power, 2) == pytest.approx(bound, rel=1e-9)
        assert np.linalg.norm(power, 2) <= bound * (1 + 1e-12)


def test_drawn_cohorts_have_the_least_favourable_client() -> None:
    constants = joint_constants(method_of({"kind": "feddane", "mu": [4, 8, 2], "K": 2}), P)
    assert (constants["inv_mu"].value, constants["inv_mu"].side) == (F(1, 8), "lower")
    assert (constants["L_inv_mu2"].value, constants["L_inv_mu2"].side) == (F(1, 4), "upper")
    assert (constants["inv_mu2"].value, constants["cohort_size"].value) == (F(1, 4), 2)
    common = joint_constants(method_of({"kind": "feddane", "mu": 4, "K": 2}), P)
    assert (common["inv_mu"].value, common["inv_mu"].known) == (F(1, 4), Known.EXACT)


def test_what_cannot_be_had_is_left_out() -> None:
    sampled = values({"kind": "fedprox", "mu": 2, "E": 1, "eta": "1/9"})
    assert not {"gamma", "gamma_inv_mu", "gamma2_inv_mu2", "gradient_cohort_size"} & set(sampled)
    assert {"inv_mu", "L_inv_mu2", "cohort_size"} <= set(sampled)
    weak = values({"kind": "dane", "mu": "1/2", "steps": 2, "eta": "1/9"})  # H_3 + I/2 is singular
    assert "gamma" not in weak
    free = values({"kind": "feddane", "mu": 0, "participation": "full", "solver": {"steps": 2, "eta": "1/9"}})
    assert "inv_mu" not in free
    turns = Method("m", Cyclic(), Proximal(F(3), GradientSteps(1)), Constant(F(1, 9)))
    assert joint_constants(turns, P)["cohort_size"].value == 1


def test_regression() -> None:
    p = build({"kind": "logistic_regression", "data": "breast_cancer", "clients": 3, "ridge": "1/10"})
    spec = {"kind": "dane", "mu": 4, "steps": 3, "eta": "1/10"}
    constants = describe_constants(method_of(spec), p)
    ends = p.client_curvatures()
    assert max(high for _, high in ends) == p.constants()["L"].value
    expected = [max(abs(1 - (low + 4) / 10), abs(1 - (high + 4) / 10)) ** 3 for low, high in ends]
    assert constants["gamma"].known is Known.CERTIFIED
    assert constants["gamma"].value == max(expected)
    assert constants["prox"].value == 4
    # every client's solve from the start, measured against many more steps
    x = np.zeros(p.dim)
    for k in range(3):
        points = []
        for steps in (3, 3000):
            y = x
            for _ in range(steps):
                y = y - 0.1 * (p.gradient(k, y) + 4 * (y - x))
            points.append(y)
        off, moved = np.linalg.norm(points[0] - points[1]), np.linalg.norm(points[1] - x)
        assert 0 < off <= float(constants["gamma"].value) * moved


@pytest.mark.parametrize(
    ("cohort", "empty"),
    [
        ({"kind": "independent", "probabilities": ["1/2", "1/3", "9/10"]}, True),
        ({"kind": "independent", "probabilities": ["1/2", "1/3", 1]}, False),
        ({"kind": "subsets", "subsets": [[], [0, 1, 2]], "probabilities": ["1/10", "9/10"]}, True),
        ({"kind": "subsets", "subsets": [[0], [0, 1, 2]], "probabilities": ["1/10", "9/10"]}, False),
        ({"kind": "pattern", "cohorts": [[0, 1], []]}, True),
        ({"kind": "pattern", "cohorts": [[0, 1]], "lead": [[]]}, True),
        ({"kind": "with_replacement", "size": 1}, False),
    ],
)
def test_a_round_in_which_no_device_solves_is_outside_the_theorems(cohort: dict[str, Any], empty: bool) -> None:
    """Of two alike devices |w|^2/2 at w = 1 with mu = 5 Theorem 3 promises 2/5, but w stays where S'_t is empty."""
    spec = {"kind": "feddane", "mu": 4, "participation": cohort, "gradient_participation": "full"}
    curve = run(method_of(spec), P, rounds=1)
    assert ("inexact_solves" in curve.violations) is empty
    assert curve.assumptions.get("inexact_solves") == (None if empty else "decided")
    sampled = method_of({**spec, "solver": {"E": 1, "eta": "1/9"}})
    assert "inexact_solves" not in run(sampled, P, rounds=1).assumptions


def test_constants_of_other_papers_know_nothing_of_repeated_clients_and_corrections() -> None:
    clients = clients_of(P)
    drawn = Method("m", WithReplacement(2), Epochs(), Constant(F(1, 9)), SumOne())
    assert participation_constants(drawn, clients) is None
    assert general(drawn, clients) is None
    plain = Method("m", Full(), Epochs(), Constant(F(1, 9)), SumOne())
    corrected = Method("m", Full(), Epochs(), Constant(F(1, 9)), SumOne(), correction=Correction())
    assert general(plain, clients) is not None
    assert general(corrected, clients) is None
