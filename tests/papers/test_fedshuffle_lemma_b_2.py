"""Lemma B.2 of FedShuffle: what is printed, and the cap on the logarithm of its tuned step."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from boundcheck.theory.discovery import statement

F = Fraction


def test_as_printed_has_the_papers_r_and_its_end_point() -> None:
    """The bound and its condition count by R, the average has R + 1 terms, and eta_max = 1/mu is allowed."""
    printed = statement("fedshuffle/lemma_b_2/as_printed")
    assert {s.name for s in printed.symbols} == {"mu", "eta_max", "d0", "c1", "R"}
    assert "R + 1" in printed.symbol("R").meaning
    found = float(printed.evaluate(mu=2, eta_max=F(1, 4), d0=3, c1=5, R=7).value)
    assert found == pytest.approx(6 * math.exp(-3.5) + 5 / 14)
    # 1/mu = 1/2 is allowed, and R >= 1/(2 eta_max mu) is attained at eta_max = 1/4
    for eta_max, inside in ((F(1, 2), True), (F(51, 100), False), (F(1, 4), True), (F(6, 25), False)):
        assert printed.scope(mu=2, eta_max=eta_max, d0=1, c1=1, R=1).in_scope is inside
    # the derived readings still leave the end point out: the step 1/mu has no weights
    tuned = statement("fedshuffle/lemma_b_2/corrected")
    assert tuned.scope(mu=2, eta_max=F(1, 2), d0=1, c1=1, c2=0, K=1).in_scope is False


def test_the_cap_on_the_logarithm_is_used() -> None:
    """With errors so small that the step is the largest one, ell is mu*eta_max*K = 5 and not log(10^10) = 23.03."""
    at = {"mu": 1, "eta_max": F(1, 2), "d0": 1, "c1": F(1, 10**9), "c2": F(1, 10**9), "K": 10}
    found = statement("fedshuffle/lemma_b_2/corrected").evaluate(**at)
    errors = float(found.value) - 3 * math.exp(-5)
    assert errors == pytest.approx((3 + 5) * 1e-10 + (3 + 25) * 1e-11, rel=1e-4)


@pytest.mark.parametrize(
    ("id", "cap"),
    [
        ("fedshuffle/lemma_b_2/corrected", "at most mu*eta_max*K"),
        ("fedshuffle/theorem_5_1_strongly_convex_tuned/corrected", "at most mu R/(8 beta L)"),
        ("fedshuffle/theorem_5_1_strongly_convex_tuned/sharp", "at most mu R/(8 beta L)"),
    ],
)
def test_the_cap_on_the_logarithm_is_said(id: str, cap: str) -> None:
    assert cap in statement(id).why
