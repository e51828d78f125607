"""Constraints of a user's own, and the same programmes as cvxpy states them."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import boundcheck as bc
from boundcheck.errors import BadInput, Unsupported
from boundcheck.theory.discovery import statement
from boundcheck.worst_case.case import Case
from boundcheck.worst_case.certificate import examined
from boundcheck.worst_case.constraints import Run
from boundcheck.worst_case.forms import Form

ONE = "feddane/theorem_3/sharp"
COHORT = {"K": 1, "participation": {"kind": "uniform", "size": 1}}
CONVEX: dict[str, Any] = {"L": 1, "eta": "3/2", "dist2_0": 1, "k": 2}
ID = "classics/gradient_descent_convex/as_printed"


def bounded(run: Run) -> list[Any]:
    return [run.gap(0) <= 0.1]


def by_hand(k: int, eta: float, more: Callable[[Any, Any], list[Any]]) -> float:
    """Gradient descent on 1-smooth convex functions from the distance 1: the largest gap after k steps.

    G is the Gram matrix of x_0 - x*, g_0, ..., g_k; f the k + 1 values less F*. more: further constraints on G and f.
    """
    size = k + 2
    gram, values = cp.Variable((size, size), PSD=True), cp.Variable(k + 1)
    unit = np.eye(size)
    points = [unit[0] - eta * unit[1 : j + 1].sum(axis=0) for j in range(k + 1)] + [np.zeros(size)]
    slopes = [*unit[1:], np.zeros(size)]
    level = [*(values[j] for j in range(k + 1)), 0]
    form = lambda a, b: cp.trace(gram @ (np.outer(a, b) + np.outer(b, a)) / 2)  # noqa: E731
    constraints: list[Any] = [form(unit[0], unit[0]) <= 1, *more(gram, values)]
    for i in range(k + 2):
        for j in range(k + 2):
            gap = slopes[i] - slopes[j]
            constraints.append(
                level[i] >= level[j] + form(slopes[j], points[i] - points[j]) + form(gap, gap) / 2
            ) if i != j else None
    problem = cp.Problem(cp.Maximize(values[k]), constraints)
    problem.solve(solver="CLARABEL")
    return float(problem.value)  # pyright: ignore[reportArgumentType]


def test_a_worst_case_under_a_constraint_is_that_of_cvxpy(tmp_path: Path) -> None:
    free = bc.worst_case(ID, **CONVEX)
    found = bc.worst_case(ID, **CONVEX, constraints=bounded)
    assert found.upper is not None
    assert free.upper is not None
    assert found.upper < free.upper
    assert float(free.upper) == pytest.approx(by_hand(2, 1.5, lambda g, f: []), rel=1e-5)
    assert float(found.upper) == pytest.approx(by_hand(2, 1.5, lambda g, f: [f[0] <= 0.1]), rel=1e-5)
    assert found.lower is None
    assert "constraints of your own" in found.why_not[0]
    certificate = json.loads(json.dumps(found.certificate))
    row = examined(certificate, tmp_path / "c.json")
    assert row["valid"]
    assert any("of the user" in text for text in row["shown"])
    assert certificate["own"][0]["const"] == "-1/10"
    certificate["own"][0]["const"] = "-1/5"  # a weaker constraint does not carry this value
    assert not examined(certificate, tmp_path / "c.json")["valid"]


def test_what_is_proved_under_constraints_says_so() -> None:
    inside: dict[str, Any] = {**CONVEX, "eta": "1"}
    found = bc.worst_case(ID, **inside, constraints=bounded)
    assert found.outcome == "PROVED"
    assert found.lines()[-1].endswith("of these sizes and constants that meets the constraints given exceeds the bound")
    assert "constraints" not in bc.worst_case(ID, **inside).lines()[-1]


def test_a_constraint_that_always_holds_changes_nothing() -> None:
    """Steps up to 1/L never raise the objective, and 1/L contracts the distance."""
    given: dict[str, Any] = {**CONVEX, "eta": "1"}
    free = bc.worst_case(ID, **given)
    found = bc.worst_case(
        ID, **given, constraints=lambda run: [run.gap(1) <= run.gap(0), run.dist2(2) <= run.dist2(1), run.grad2(0) >= 0]
    )
    assert float(found.upper or 0) == pytest.approx(float(free.upper or 0), rel=1e-6)


def test_inner_products_and_clients() -> None:
    """Clients with orthogonal gradients at the start: |grad F|^2 is the sum of the |grad f_i|^2/4."""

    def orthogonal(run: Run) -> list[Any]:
        one, other = run.gradient(0, 0), run.gradient(0, 1)
        return [
            run.inner(one, other) == 0,
            run.inner(run.point(0), 2 * run.gradient(0) - one - other) == 0,
        ]

    given = CASES["feddane/theorem_3/as_printed"]
    free = bc.worst_case("feddane/theorem_3/as_printed", clients=2, **given)
    found = bc.worst_case("feddane/theorem_3/as_printed", clients=2, **given, constraints=orthogonal)
    assert found.upper is not None
    assert free.upper is not None
    assert found.upper <= free.upper + Fraction(1, 10**6)


CASES: dict[str, dict[str, Any]] = {
    "classics/gradient_descent_strongly_convex/sharp": {"mu": "1/10", "L": 1, "eta": 1, "k": 2, "dist2_0": 1},
    "feddane/theorem_3/as_printed": {"L": 1, "B2": 4, "gamma": 0, "mu": 20, "gap_0": 10, "grad2_0": 1},
    "scgd/theorem_3_3/corrected": {
        "mu": "1/10", "L": 1, "n": 2, "E": 1, "eta": "1/1000", "sigma2": 1, "dist2_0": 1, "K": 1,
    },
}  # fmt: skip


@pytest.mark.parametrize("id", CASES)
def test_the_same_programme_stated_in_cvxpy_has_the_same_value(id: str) -> None:
    """The inequalities of the case, each as a cvxpy constraint on a Gram matrix and values."""
    claimed = statement(id)
    clients = 1 if id.startswith("classics") else 2
    case = Case(claimed, CASES[id], (1,) * clients)
    programme = case.programme
    gram = cp.Variable((programme.rows, programme.rows), PSD=True)
    values = cp.Variable(max(1, programme.values))

    def stated(form: Form) -> Any:
        matrix = np.zeros((programme.rows, programme.rows))
        for (a, b), c in form.quad.items():
            matrix[a, b] += float(c) / 2
            matrix[b, a] += float(c) / 2
        slopes = np.zeros(max(1, programme.values))
        for k, c in form.lin.items():
            slopes[k] = float(c)
        return cp.sum(cp.multiply(matrix, gram)) + slopes @ values + float(form.const)

    own = [stated(q.form) == 0 if q.equal else stated(q.form) <= 0 for q in programme.inequalities]
    problem = cp.Problem(cp.Maximize(stated(programme.objective)), own)
    problem.solve(solver="CLARABEL")
    found = bc.worst_case(claimed, clients=clients, **CASES[id])
    assert float(found.upper or 0) == pytest.approx(float(problem.value), rel=1e-5)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("constraints", "says"),
    [
        (lambda run: [run.gap(3) <= 1], "round 3 is not allowed in a constraint; the run has the rounds 0 to 2"),
        (lambda run: [cp.square(run.gap(1)) <= 1], "is not affine in single quantities"),
        (lambda run: [cp.Variable() <= run.gap(1)], "is not affine in single quantities"),
        (lambda run: [True], "is no equality or inequality of cvxpy"),
        (lambda run: [run.gap(1) <= 1] * 201, "201 constraints of your own are too many"),
        (lambda run: [run.gradient(0, 5)], "client = 5 is not allowed"),
    ],
)
def test_one_sentence_says_what_a_constraint_may_be(constraints: Any, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        bc.worst_case(ID, **CONVEX, constraints=constraints)


def test_a_run_with_chance_takes_no_constraints() -> None:
    given = CASES["feddane/theorem_3/as_printed"]
    with pytest.raises(Unsupported, match="without chance"):
        bc.worst_case(ONE, clients=2, method=COHORT, **given, constraints=bounded)
