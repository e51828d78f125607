"""Assumptions held against instances: decided, supported at many points, or refuted at an exact one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import arb, fmpq

from boundcheck.certified.constant import Constant, Known
from boundcheck.errors import BadInput
from boundcheck.evidence import resolve
from boundcheck.evidence.assumptions import check_assumption, covers
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.problems.build import build
from boundcheck.problems.quadratics import Quadratics
from boundcheck.theory.assumptions import (
    CLASSES,
    Assumption,
    convexity,
    finite_gradient_noise,
    gradient_dissimilarity,
    hessian_similarity,
    smooth_clients,
    smooth_samples,
    strong_quasi_convexity,
    strongly_convex_samples,
)
from boundcheck.theory.dimension import GRADIENT2, LENGTH2, ONE
from boundcheck.theory.statement import Algorithm, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol, common
from boundcheck.verdict import Grade, Outcome, Verdict

APP_B = build({"kind": "scgd_appendix_b"})
APP_C = build({"kind": "scgd_appendix_c"})
DIABETES = build({"kind": "least_squares", "data": "diabetes", "clients": 20, "split": "random", "seed": 0})


def of(verdict: Verdict) -> tuple[Outcome, Grade | None]:
    return verdict.outcome, verdict.grade


@pytest.mark.parametrize("problem", [APP_B, APP_C, DIABETES], ids=lambda p: p.name)
def test_the_problems_own_constants_are_decided(problem: Any) -> None:
    for assumption in (strong_quasi_convexity, smooth_clients, finite_gradient_noise):
        assert of(check_assumption(assumption, problem)) == (Outcome.HOLDS, Grade.EXACT)


def test_appendix_b_is_tight_at_three_halves() -> None:
    """mu = 5/6 - log(9/4) = 0.0224...; a billionth more fails at x = 3/2, where F' = 2/3, F - F* = log(3/2) + 1/4."""
    mu = APP_B.constants()["mu"].value
    assert abs(arb(fmpq(5, 6)) - arb(fmpq(9, 4)).log() - float(mu)) < 1e-14
    refuted = check_assumption(strong_quasi_convexity, APP_B, {"mu": mu * (1 + Fraction(1, 10**9))})
    assert of(refuted) == (Outcome.VIOLATED, Grade.EXACT)
    assert refuted.witness["x"] == ["3/2"]
    assert refuted.witness["quantities"]["inner"] == "2/3"
    assert refuted.witness["quantities"]["dist2"] == "1"
    assert float(Fraction(refuted.witness["quantities"]["gap"])) == pytest.approx(np.log(1.5) + 0.25, rel=1e-15)


def test_appendix_b_sampled_with_the_true_mu_and_refuted_with_more() -> None:
    """A problem that does not decide it itself: the assumption under another name."""
    mine = replace(strong_quasi_convexity, name="mine")
    assert of(check_assumption(mine, APP_B)) == (Outcome.HOLDS, Grade.SUPPORTED)
    assert check_assumption(mine, APP_B).points >= 40
    assert check_assumption(mine, APP_B, {"mu": "23/1000"}).outcome is Outcome.VIOLATED
    assert of(check_assumption(replace(convexity, name="mine"), APP_B)) == (Outcome.VIOLATED, Grade.EXACT)


@pytest.mark.parametrize("problem", [APP_C, DIABETES], ids=lambda p: p.name)
@pytest.mark.parametrize(
    ("assumption", "name", "factor"),
    [
        (strong_quasi_convexity, "mu", 1 + 1e-6),
        (smooth_clients, "L", 1 - 1e-6),
        (finite_gradient_noise, "sigma2", 0.999),
    ],
    ids=lambda v: getattr(v, "name", ""),
)
def test_wrong_constants_are_refuted_exactly(problem: Any, assumption: Assumption, name: str, factor: float) -> None:
    own = problem.constants()[name].value
    if own == 0:  # Appendix C has no gradient noise, and no smaller value is allowed
        return
    wrong = check_assumption(assumption, problem, {name: own * Fraction(factor)})
    assert of(wrong) == (Outcome.VIOLATED, Grade.EXACT)
    safe = check_assumption(assumption, problem, {name: own / Fraction(factor)})
    assert of(safe) == (Outcome.HOLDS, Grade.EXACT)


def test_the_witness_of_a_wrong_mu_by_hand() -> None:
    """Appendix C: F = x^2/3, so inner = 2x^2/3, gap = x^2/3 and dist2 = x^2: mu is at most 2/3."""
    wrong = check_assumption(strong_quasi_convexity, APP_C, {"mu": "67/100"})
    x = Fraction(wrong.witness["x"][0])
    quantities = {k: Fraction(v) for k, v in wrong.witness["quantities"].items()}
    assert quantities == {"inner": 2 * x**2 / 3, "gap": x**2 / 3, "dist2": x**2}
    assert quantities["inner"] < quantities["gap"] + Fraction(67, 200) * quantities["dist2"]


def test_the_witness_of_a_wrong_L_names_client_and_points() -> None:
    wrong = check_assumption(smooth_clients, APP_C, {"L": "599/100"})
    assert wrong.witness["client"] == 2  # 3x^2; the other two have curvature -2
    x, y = (Fraction(wrong.witness[k][0]) for k in "xy")
    assert Fraction(wrong.witness["quantities"]["grad_difference2"]) == 36 * (x - y) ** 2


def test_an_instance_that_breaks_an_assumption_says_so() -> None:
    cubic = build({"kind": "scgd_appendix_c", "cubic": True})
    broken = check_assumption(strong_quasi_convexity, cubic)
    assert of(broken) == (Outcome.VIOLATED, Grade.EXACT)
    assert "unbounded below" in broken.reason
    huber = build({"kind": "huber"})
    assert of(check_assumption(convexity, huber)) == (Outcome.HOLDS, Grade.EXACT)
    assert of(check_assumption(replace(convexity, name="mine"), huber)) == (Outcome.HOLDS, Grade.SUPPORTED)
    assert check_assumption(strong_quasi_convexity, huber, {"mu": 1}).outcome is Outcome.VIOLATED


def test_a_rank_deficient_problem_measures_from_the_nearest_minimiser() -> None:
    flat = build({"kind": "random_quadratics", "clients": 3, "d": 3, "rank": 2, "seed": 4})
    mine = replace(strong_quasi_convexity, name="mine")
    assert of(check_assumption(mine, flat)) == (Outcome.HOLDS, Grade.SUPPORTED)
    mu = flat.constants()["mu"].value
    assert check_assumption(mine, flat, {"mu": mu * Fraction(1001, 1000)}).outcome is Outcome.VIOLATED


def test_what_cannot_be_asked_stays_undecided() -> None:
    wordy = Assumption("chung", "a recursion")
    assert of(check_assumption(wordy, APP_C)) == (Outcome.UNDECIDED, None)

    class Bare:
        """A problem that knows neither minimisers nor values."""

        name = "bare"
        dim = clients = 1
        weights = start = (Fraction(1),)
        metrics = ("x",)

        def constants(self) -> dict[str, Constant]:
            return {
                "L": Constant(Fraction(2), Known.EXACT, "exact", "given"),
                "mu": Constant(Fraction(1), Known.EXACT, "exact", "given"),
            }

        def gradient(self, client: int, x: Any) -> Any:
            return 2 * x

        def violations(self, assumption: str) -> str | None:
            return APP_C.violations("no such name " + assumption)

    bare: Any = Bare()
    lost = check_assumption(strong_quasi_convexity, bare)
    assert (lost.outcome, "which minimiser is nearest" in lost.reason) == (Outcome.UNDECIDED, True)
    assert of(check_assumption(smooth_clients, bare)) == (Outcome.HOLDS, Grade.SUPPORTED)
    assert of(check_assumption(smooth_clients, bare, {"L": "199/100"})) == (Outcome.VIOLATED, Grade.EXACT)
    with pytest.raises(BadInput, match="needs a value for sigma2"):
        check_assumption(finite_gradient_noise, bare)


def test_the_search_is_a_function_of_its_seed() -> None:
    wrong = {"mu": APP_C.constants()["mu"].value + 1}
    first, again = (check_assumption(strong_quasi_convexity, APP_C, wrong, seed=3) for _ in range(2))
    assert first == again


def test_which_side_is_safe_is_read_off_the_inequality() -> None:
    own = {k: Constant(Fraction(1), Known.EXACT, "exact", "") for k in ("mu", "L", "sigma2", "c")}
    for assumption, name, safe in (
        (strong_quasi_convexity, "mu", -1),
        (smooth_clients, "L", 1),
        (finite_gradient_noise, "sigma2", 1),
    ):
        for way in (-1, 0, 1):
            moved = {name: 1 + Fraction(way, 2)}
            assert covers(assumption, own, moved) is (way in (0, safe))
    # neither way: c stands with a signed quantity
    inner, c = sp.symbols("inner c", real=True)
    signed = Assumption("signed", "", sp.Ge(c * inner, -1))
    assert covers(signed, own, {"c": Fraction(1)})
    assert not covers(signed, own, {"c": Fraction(2)})
    assert not covers(strong_quasi_convexity, {}, {"mu": Fraction(1)})
    assert set(CLASSES) >= {"convexity", "smooth_clients"}


def test_a_claim_with_a_wrong_mu_is_out_of_scope_and_not_violated() -> None:
    """mu is 2/3 on Appendix C; with mu = 2 the theorem would promise more than SCGD does."""
    method = {"kind": "scgd", "E": 1, "eta": "1/100000"}
    at = {"K": [0, 10, 100]}
    wrong = run_claim(Claim("scgd/theorem_3_3", {"kind": "scgd_appendix_c"}, method, at=at, constants={"mu": 2}))
    assert wrong.verdict.outcome is Outcome.OUT_OF_SCOPE
    assert "strong_quasi_convexity fails: It fails at x" in wrong.verdict.reason
    smaller = run_claim(Claim("scgd/theorem_3_3", {"kind": "scgd_appendix_c"}, method, at=at, constants={"mu": "1/2"}))
    assert of(smaller.verdict) == (Outcome.HOLDS, Grade.EXACT)
    assert set(smaller.verdict.details["assumptions"].values()) == {"decided"}


def test_hypotheses_about_clients_and_the_start() -> None:
    alike, unlike = ([{"A": [[1]], "b": [1]}, {"A": [[1]], "b": [b]}] for b in (1, 2))
    for clients, start, outcomes in (
        (alike, [0], (Outcome.HOLDS, Outcome.HOLDS)),
        (unlike, [3], (Outcome.VIOLATED, Outcome.VIOLATED)),
    ):
        instance = build({"kind": "quadratics", "clients": clients, "start": start})
        found = [check_assumption(CLASSES[name], instance) for name in ("iid_clients", "zero_at_start")]
        assert tuple(v.outcome for v in found) == outcomes
        assert {v.grade for v in found} == {Grade.EXACT}
    far = build({"kind": "population", "clients": 2, "dim": 1, "model": "logistic"})
    assert check_assumption(CLASSES["iid_clients"], far).grade is Grade.SUPPORTED


# --- decided hypotheses -----------------------------------------------------------------------------------


class Deciding(Quadratics):
    """Clients x^2 (1 -+ 1/2) by hand: sum of w_i |f_i'|^2 = (1 + 1/4) (2x)^2/... is B2 = 5/4 exactly, with G2 = 0."""

    def decides(self, assumption: str, constants: Mapping[str, Fraction]) -> bool | None:
        if assumption == "gradient_dissimilarity":
            return constants["B2"] >= Fraction(5, 4) and constants["G2"] >= 0
        return None


UNEVEN = {"kind": "quadratics", "clients": [{"A": 3}, {"A": 1}], "start": [1]}
SAME = build(UNEVEN)
assert isinstance(SAME, Quadratics)
DECIDING = Deciding(SAME.name, SAME.spec, SAME.components, SAME.reduction, SAME.weights, SAME.start)


def test_a_problem_decides_for_given_constants() -> None:
    for B2, outcome in (("5/4", Outcome.HOLDS), ("6/5", Outcome.VIOLATED)):
        found = check_assumption(gradient_dissimilarity, DECIDING, {"G2": 0, "B2": B2})
        assert (found.outcome, found.grade) == (outcome, Grade.EXACT)
        assert f"B2 = {B2}" in found.reason
        # the same by trying points, where the problem does not decide
        unknown = replace(gradient_dissimilarity, name="mine")
        tried = check_assumption(unknown, SAME, {"G2": 0, "B2": B2})
        assert tried.outcome is outcome
        assert tried.grade is (Grade.EXACT if outcome is Outcome.VIOLATED else Grade.SUPPORTED)


def test_a_claim_rests_on_what_the_problem_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    G2, B2 = (
        Symbol(n, "dissimilarity", d, low=Fraction(0), key=f"clients/{n}") for n, d in (("G2", GRADIENT2), ("B2", ONE))
    )
    D, eta, K = common.dist2_0, common.eta, common.K
    claimed = Statement(
        Source("none", "1", "these tests"), "as_printed", "t", (D, eta, K, G2, B2),
        Metric("dist2", LENGTH2, index="K", rounds=K.expr), D.expr * (1 + B2.expr) + G2.expr * eta.expr**2,
        algorithm=Algorithm("gradient_descent", ("eta",)), assumptions=(gradient_dissimilarity,), name="d",
    )  # fmt: skip
    monkeypatch.setattr(resolve, "build_problem", lambda spec: DECIDING)
    descent = {"kind": "gradient_descent", "eta": "1/10"}
    claim = Claim(claimed, UNEVEN, descent, at={"K": [0, 1]}, constants={"G2": 0, "B2": "5/4"})
    found = run_claim(claim)
    assert of(found.verdict) == (Outcome.HOLDS, Grade.EXACT)
    assert found.verdict.details["assumptions"] == {"gradient_dissimilarity": "decided"}
    broken = run_claim(replace(claim, constants={"G2": 0, "B2": 1}))
    assert of(broken.verdict) == (Outcome.OUT_OF_SCOPE, Grade.EXACT)


SAMPLES = build(
    {"kind": "quadratics", "clients": [{"components": [{"A": 4}, {"A": 2, "b": 1}]}, {"A": 1}], "start": [1]}
)


def test_hypotheses_about_every_sample() -> None:
    """Curvatures of the samples 4, 2 and 1; of the clients 3 and 1, of F 2."""
    for value, outcome in ((4, Outcome.HOLDS), ("399/100", Outcome.VIOLATED)):
        assert check_assumption(smooth_samples, SAMPLES, {"L": value}).outcome is outcome
    for value, outcome in ((1, Outcome.HOLDS), ("101/100", Outcome.VIOLATED)):
        assert check_assumption(strongly_convex_samples, SAMPLES, {"mu": value}).outcome is outcome
    for value, outcome in ((1, Outcome.HOLDS), ("99/100", Outcome.VIOLATED)):
        assert check_assumption(hessian_similarity, SAMPLES, {"delta": value}).outcome is outcome
    broken = check_assumption(smooth_samples, SAMPLES, {"L": 3})
    assert (broken.grade, broken.witness["client"], broken.witness["sample"]) == (Grade.EXACT, 0, 0)


def test_samples_of_a_flat_layout_are_tried_in_double_precision() -> None:
    """Least squares on the diabetes data, f_ij = (a_j'x - y_j)^2/2: L is the largest |a_j|^2."""
    problem: Any = build({"kind": "least_squares", "data": "diabetes", "clients": 20})
    top = max(sum(v * v for v in row) for client in problem.rows for row in client)
    held = replace(smooth_samples, name="mine")
    assert check_assumption(held, problem, {"L": top}).outcome is Outcome.HOLDS
    missed = check_assumption(held, problem, {"L": top * Fraction(1, 100)})
    assert (missed.outcome, missed.grade) == (Outcome.VIOLATED, Grade.SUPPORTED)
