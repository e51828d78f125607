"""The shipped claims about numbers and schedules: all are met exactly, and each notices a small change of its bound."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
import sympy as sp

from boundcheck.cli import main
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.evidence.spec import claims_from_text, load_claims
from boundcheck.report.data import claim_data
from boundcheck.theory.decide import enclose
from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Kind
from boundcheck.verdict import Grade, Outcome

FILE = Path(__file__).parents[1] / "examples" / "numbers.toml"
CLAIMS = {claim.label(): claim for claim in load_claims(FILE, need_expect=True)}
# What a bound is multiplied by to be broken: bounds are met within a factor 2.3, equalities as they are.
CHANGED = {
    Kind.UPPER_BOUND: sp.Rational(2, 5),
    Kind.LOWER_BOUND: sp.Rational(5, 2),
    Kind.EQUALITY: 1 + sp.Rational(1, 10**12),
}


def test_all_claims_are_met_and_exact(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(FILE), "--workers", "1"]) == 0
    said = capsys.readouterr().out
    assert f"{len(CLAIMS)} of {len(CLAIMS)} claims met their expectation" in said
    assert f"{len(CLAIMS)} EXACT" in said


@pytest.mark.parametrize("name", CLAIMS)
def test_a_changed_bound_is_noticed(name: str) -> None:
    claim = CLAIMS[name]
    claimed = statement(claim.statement)
    changed = replace(claimed, bound=claimed.bound * CHANGED[claimed.kind])
    verdict = run_claim(replace(claim, statement=changed)).verdict
    assert (verdict.outcome, verdict.grade) == (Outcome.VIOLATED, Grade.EXACT)


def at(id: str, **numbers: object) -> Outcome:
    return run_claim(Claim(id, at=numbers)).verdict.outcome


def test_conditions_bound_what_is_claimed() -> None:
    """Numbers outside the conditions are out of scope, and there the claims fail."""
    numbers = {"K": 1, "L": 1, "eta_g": 1, "rho": 1, "alpha": 1, "tau": 0}
    assert at("async_fl/equation_98/corrected", **numbers, beta=9) is Outcome.HOLDS
    assert at("async_fl/equation_98/corrected", **numbers, beta=11) is Outcome.OUT_OF_SCOPE
    assert at("async_fl/equation_98/as_printed", **numbers, beta=11) is Outcome.VIOLATED
    assert at("async_fl/equation_98/as_printed", **numbers, beta=10) is Outcome.HOLDS  # c of (92) is 1


def test_the_largest_step_meets_its_constraint_with_equality() -> None:
    """The closed form of `equation_98` against the list of constraints, which is written elsewhere."""
    for reading in ("as_printed", "corrected"):
        solved, listed = (statement(f"async_fl/equation_98{part}/{reading}") for part in ("", "_constraints"))
        for K, tau, alpha, beta in (
            (1, 0, 1, 1),
            (3, 2, 1, 0),
            (2, 5, 0, 3),
            (7, 1, Fraction(1, 2), 20),
            (40, 0, 0, 0),
        ):
            values = {"K": K, "L": 2, "eta_g": Fraction(3, 7), "rho": Fraction(5, 4), "tau": tau}
            values |= {"alpha": alpha, "beta": beta}
            low, high = enclose(solved.metric.value, values, bits=200)
            assert enclose(listed.metric.value, {**values, "eta_l": low})[1] <= 1 + Fraction(1, 10**30)
            assert enclose(listed.metric.value, {**values, "eta_l": high})[0] >= 1 - Fraction(1, 10**30)


def test_the_operator_norm_is_the_largest_stretch() -> None:
    """(65) is met with equality by the vector that a symmetric matrix stretches most: here (1, 1), by 3."""
    matrix = {"a_11": 1, "a_12": 2, "a_21": 2, "a_22": 1}
    assert at("partial_averaging/other_lemma_1", **matrix, b_1=1, b_2=1) is Outcome.HOLDS
    shorter = replace(statement("partial_averaging/other_lemma_1"), kind=Kind.EQUALITY)
    equal = run_claim(Claim(shorter, at={**matrix, "b_1": 1, "b_2": 1})).verdict
    assert (equal.outcome, equal.grade) == (Outcome.HOLDS, Grade.EXACT)
    assert run_claim(Claim(shorter, at={**matrix, "b_1": 1, "b_2": 0})).verdict.outcome is Outcome.VIOLATED


def test_example_1_by_its_recursion() -> None:
    """theta^(n+1) = theta^n - z theta^(n-1) for a long time: the distances fall at the claimed rate."""
    radius = statement("async_fl/example_1_radius")
    for eta_g, eta_l, K in ((Fraction(1, 4), Fraction(1, 2), 2), (1, Fraction(1, 2), 3)):
        z = eta_g * (1 - (1 - eta_l) ** K)
        before, now = Fraction(1), Fraction(2, 3)
        sizes = []
        for _ in range(400):
            before, now = now, now - z * before
            before, now = Fraction(before).limit_denominator(10**200), Fraction(now).limit_denominator(10**200)
            sizes.append(max(abs(before), abs(now)))
        rate = (float(sizes[-1]) / float(sizes[199])) ** (1 / 200)
        assert rate == pytest.approx(radius.evaluate(eta_g=eta_g, eta_l=eta_l, K=K).value, rel=2e-2)


def test_corollary_2_has_the_order_of_theorem_3() -> None:
    """The corrected bound of Theorem 3 at W = N^a, tau = N^b, eta_l = N^(-c), over the claimed order, has a limit."""
    theorem = statement("async_fl/theorem_3/corrected")
    order = statement("async_fl/corollary_2/sharp")
    constants = {"K": 2, "L": 1, "eta_g": "1/1000", "rho": 1, "alpha": 1, "beta": 1, "q_bar": 1, "B": 1, "R": 1}
    for a, b, c in (("1/4", "1/2", "3/4"), ("1/2", "1/4", "3/4"), ("1/4", "1/4", "1/2")):
        ratios = []
        for root in (2**60, 2**70):  # N is its fourth power
            N, powers = root**4, [int(4 * Fraction(v)) for v in (a, b, c)]
            sizes = {"W": root ** powers[0], "tau": root ** powers[1], "eta_l": Fraction(1, root ** powers[2])}
            start = {"S1": 1, "S2": 1, "dist2_0": 1, "s": N, "period": 1}
            bound = theorem.evaluate(**constants, **sizes, **start).value
            ratios.append(bound / order.evaluate(N=N, a=a, b=b, c=c).value)
        assert ratios[1] == pytest.approx(ratios[0], rel=1e-3)


def test_a_report_repeats_the_claim_and_knows_what_the_data_meet() -> None:
    claim = CLAIMS["Lemma 7: the absent kind decides"]
    data = claim_data(run_claim(claim))
    (again,) = claims_from_text(data["toml"])
    assert replace(again, number=None) == replace(claim, number=None)
    assert {a["name"]: a["standing"] for a in data["statement"]["assumptions"]} == {
        "smooth_clients": "decided",
        "convex_clients": "decided",
    }
    roles = {s["name"]: s["role"] for s in data["statement"]["symbols"]}
    assert roles["gap_n"] == "computed from the other numbers"
