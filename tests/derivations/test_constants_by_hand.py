"""What derivations say, against numbers by hand, exact enumeration, and instances on which a bound is an equality."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import pytest
import sympy as sp

from boundcheck.methods.parts.exchange import Blocks
from boundcheck.proof.derive import recorded
from boundcheck.proof.discovery import derivation

F = Fraction
R = sp.Rational


def claim(id: str, name: str) -> sp.Expr:
    return next(s.claim for s in derivation(id).steps if s.name == name)


# what derivations rest on, and what their readings share


@pytest.mark.parametrize(
    ("id", "names"),
    [
        ("feddane/theorem_5/as_printed", "smooth_clients lower_curvature inexact_solves unbiased_gradient_cohort "
         "dissimilarity_at_start"),  # neither that F is convex nor that the cohorts are independent
        ("scgd/fedavg_full_participation/corrected", "strong_quasi_convexity smooth_clients finite_gradient_noise"),
    ],
)  # fmt: skip
def test_no_other_assumption_is_transcribed(id: str, names: str) -> None:
    assert {f.assumption for f in derivation(id).facts if f.assumption} == set(names.split())


@pytest.mark.parametrize(
    ("id", "written"),
    [
        ("drift_of_a_visit/corrected", {"local step", "divisor", "start"}),
        ("gradient_of_a_visit/corrected", set()),
        ("progress_of_a_visit/corrected", set()),
        ("movement_of_a_round_gen/corrected", {"participation"}),
        ("lemma_e_3/raw", {"round"}),
        ("recursion_convex_gen/sharp", set()),
        ("recursion_nonconvex_gen/sharp", set()),
    ],
)
def test_no_expectation_is_transcribed(id: str, written: set[str]) -> None:
    """Unbiased cohorts, whole epochs and means over the clients are laws; what is written says what symbols are."""
    facts = derivation(f"fedshuffle/{id}").facts
    assert {f.name for f in facts if f.kind == "algorithm"} == written
    assert all(f.instance is not None for f in facts if f.kind == "assumption")


# asynchronous


def test_the_witness_against_105_by_the_papers_formulas() -> None:
    v = {k: R(x) for k, x in recorded("async_fl/equation_105/as_printed").result("conclusion").witness.items()}
    spread = v["gap_n"] + v["spread_n"]
    assert v["far"] <= 4 * v["L"] * v["chi2_n"] * spread / v["q"] + 4 * v["L"] * v["absent"]
    assert v["slope2"] <= 2 * v["L"] * v["gap_n"] / v["q"]
    assert v["g2"] <= 2 * v["far"] + 2 * v["slope2"]
    assert v["g2"] > 4 * v["L"] * ((v["chi2_n"] / v["q"] + 1 / v["q"] ** 2) * v["gap_n"] + v["absent"]) + (
        4 * v["L"] * v["chi2_n"] / v["q"] * v["spread_n"]
    )


# partial averaging


def test_the_step_condition_by_numbers() -> None:
    """Lmax^2 eta^2 tau (tau - 1) + eta Lmax <= 1 exactly when eta Lmax tau <= 1, on a grid that has the limit on it."""
    for interval in range(1, 9):
        for n in range(4 * interval + 1):
            e = F(n, 2 * interval)
            assert (e**2 * interval * (interval - 1) + e <= 1) is (e * interval <= 1)
    t, Lmax, tau = sp.symbols("t Lmax tau", real=True)
    forth, back = (claim("partial_averaging/step_condition/factored", n) for n in ("necessary", "sufficient"))
    assert forth.args == back.args[::-1]
    assert forth.args == (sp.Le(Lmax**2 * t**2 * tau * (tau - 1) + t * Lmax, 1), sp.Le(t * Lmax * tau, 1))


@pytest.mark.parametrize("partition", ["even", "whole"])
@pytest.mark.parametrize("period", [1, 2, 3, 5])
def test_the_stretches_of_a_block_are_its_iterations(partition: str, period: int) -> None:
    """By the method's own schedule: each begins in agreement, has at most tau steps, and together they are 0..K-1."""
    pattern = Blocks(period, partition).pattern(6)
    for K, coordinate in product((1, period, 2 * period + 1, 11), range(6)):
        averaged = [k + 1 for k in range(K) if coordinate in pattern[k % len(pattern)]]
        lengths = [b - a for a, b in pairwise(sorted({0, *averaged, K}))]
        assert sum(lengths) == K
        assert all(1 <= length <= period for length in lengths)
        assert sum(length * (length - 1) for length in lengths) <= K * (period - 1)  # (49), (63): 0 + 1 + ...


# textbooks and SCGD


def test_the_series_of_scgd_is_what_the_recursion_sums_to() -> None:
    """By hand: mu = 1, L = 2, s = 1/20, sigma2 = 3, D0 = 7, in exact fractions."""
    factor, noise, worst = 1 - F(1, 60), 4 * 4 * F(1, 20) ** 3 * 3, F(7)
    bound = claim("scgd/theorem_3_3/corrected", "conclusion").rhs
    for cycles in range(6):
        at = {"mu": 1, "L": 2, "s": R(1, 20), "sigma2": 3, "dist2_0": 7, "K": cycles}
        found = bound.subs({sp.Symbol(n, real=True): x for n, x in at.items()})
        assert worst <= F(str(found)) == F(59, 60) ** cycles * 7 + F(12 * 4 * 3, 400)
        worst = factor * worst + noise


# FedShuffle


def test_the_constants_of_lemma_d_4() -> None:
    """At eta_l = 1/(4L) = 1/(40 delta E): 10.43, 10.43, 3.48, 6.10, below the printed 24, 24, 4, 8."""
    outer = 3 * (1 + 2 * F(1, 16))
    of_h, of_grads, of_noise = outer * 3 * (1 + F(48, 1600)), outer * (1 + F(48, 1600)), 6 + outer * F(48, 1600)
    assert (of_h, of_grads, of_noise) == (F(8343, 800), F(2781, 800), F(4881, 800))
    gap = sp.expand(claim("fedshuffle/lemma_d_4/corrected", "length.3").rhs)
    names = ["h2", "gam2", "S", "sigma2_i", "D_i", "E", "eta_l", "L", "a"]
    at = dict(zip((sp.Symbol(n, real=True) for n in names), (0, 0, 0, 0, 1, 1, 1, 1, 1), strict=True))
    found = [F(str(gap.subs({**at, symbol: 1}))) for symbol in list(at)[:4]]
    assert found == [of_h, of_h, of_grads, of_noise]
