"""The proof of Lemma 3 (partial model averaging, Appendix C): the discrepancy by the gradients at the averaged model.

Lemma 2 bounds how far the models drift by the clients' gradients at their own models; these are here compared with
the gradients at the averaged model u. The vectors of Lemma 2 are those of stretches; the others are of an iteration r,
whole models, with <u, v> the mean over the clients of the expectation of the inner product, and points relative to u:

    z(r)  local model        p(r)  gradient of the client's objective there
    h(r)  gradient of the client's objective at u        s(r)  gradient of F at u
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, pointwise
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.discovery import body
from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.rules import SumOver
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import Vector, norm2, vector
from boundcheck.theory.assumptions import (
    block_dissimilarity,
    smooth_globally,
    smooth_weighted,
    total_dissimilarity,
)

READINGS = ("corrected", "without_gradients", "as_printed_separable", "as_printed")
DRIFT = "partial_averaging/lemma_2/as_printed"
THEOREM_2 = "partial_averaging/theorem_2/corrected"

eta, tau, K, Lmax, beta2, kappa2 = sp.symbols("eta tau K Lmax beta2 kappa2", real=True)
sigma2, mean_grad2, apart, r = sp.symbols("sigma2 mean_grad2 apart r", real=True)
scaled: Any = sp.Function("scaled", real=True)(r)
z, p, h, s = (vector(name, r) for name in ("z", "p", "h", "s"))
u = Vector(())
A = 2 * eta**2 * tau * (tau - 1) * Lmax**2
at_u, at_own = Evaluation("f_i", u, h, which=r), Evaluation("f_i", z, p, which=r)
of_models, of_gradients, at_mean = (total(norm2(v), r, K) / K for v in (z, p, s))

DISCREPANCY = Fact("discrepancy", sp.Eq(apart, of_models), "metric", "over the first K iterations")
GLOBAL = (
    pointwise("smooth", smooth_globally, "(111), for the whole gradient", at_u, at_own),
    pointwise("dissimilar", total_dissimilarity, "Assumption 4", Evaluation("F", u, s), client_grad2=norm2(h)),
)
SEPARABLE = (
    pointwise("blocks", smooth_weighted, "(111), the blocks added up", at_u, at_own, scaled_difference2=scaled),
    Fact("largest", sp.Le(scaled, Lmax**2 * norm2(z)), "metric", "every L_j is at most Lmax"),
    pointwise(
        "dissimilar",
        block_dissimilarity,
        "Assumption 4, the blocks added up",
        Evaluation("F", u, s),
        client_grad2=norm2(h),
        kappa2_j=kappa2,
    ),
)
BLOCKS = Step(
    "smooth",
    sp.Le(norm2(h - p), Lmax**2 * norm2(z)),
    ("blocks", "largest"),
    Combine({"blocks": 1, "largest": 1}),
    "with the largest L_j for each block",
)

one, other, across = sp.symbols("one other across", real=True)
ACROSS = (Fact("across", sp.And(across >= 0, across <= Lmax), "range", "how two blocks may be coupled"),)
PRINTED = (
    Step(
        "(111) for coupled blocks",
        sp.Le((Lmax * one + across * other) ** 2, Lmax**2 * one**2, evaluate=False),
        ("across",),
        Decide(),
        "F = Lmax (one^2 + other^2)/2 + across one other: block 1 of its gradient, by the square of block 1",
    ),
    Step(
        "blocks",
        SEPARABLE[0].claim,
        ("(111) for coupled blocks",),
        Combine(),
        "as if Assumption 1 gave it",
    ),
)


def _solved(of_u: Any) -> Step:
    """(113); of_u: the mean squared gradient at u."""
    return Step(
        "(113)",
        sp.Le((1 - A) * apart, eta**2 * (tau - 1) * sigma2 + 2 * eta**2 * tau * (tau - 1) * (beta2 * of_u + kappa2)),
        (*("all stretches", "iterations", "local gradients", "all iterations", "sigma2", "discrepancy", "mean"),),
        Combine(
            {
                "all stretches": 1,
                "iterations": 1,
                "local gradients": eta**2 * tau * (tau - 1),
                "all iterations": eta**2 * tau * (tau - 1) / K,
                "sigma2": eta**2 * (tau - 1),
            }
        ),
        "Lemma 2, and the clients' gradients by those at u",
    )


def without_gradients(statement: Any) -> Derivation:
    """With Theorem 2 for the gradients at u, whose derivation has the rest as well."""
    theorem = derivation_of(THEOREM_2)
    facts, steps = body(THEOREM_2)
    bound = replace(theorem.steps[-1], name="Theorem 2")
    ending = (
        replace(_solved(theorem.target), name="solved"),
        Step(
            "conclusion",
            sp.Le(apart, statement.bound),
            ("solved", "Theorem 2", "condition A below 1"),
            Combine({"solved": 1 / (1 - A), "Theorem 2": 2 * eta**2 * tau * (tau - 1) * beta2 / (1 - A)}),
            "the gradients at u bounded",
        ),
    )
    return Derivation(
        statement,
        (*scope_facts(statement), *facts, DISCREPANCY),
        (*steps, bound, *ending),
        conclusion="conclusion",
        target=apart,
        drawn=theorem.drawn,
        laws=theorem.laws,
    )


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    if statement.reading == "without_gradients":
        return without_gradients(statement)
    separable, printed = statement.reading != "corrected", statement.reading == "as_printed"
    drift = derivation_of(DRIFT)
    facts, steps = body(DRIFT, ("mean", "local"))
    whole, local = (f.claim.rhs for f in drift.facts if f.name in ("mean", "local"))
    facts = (
        *facts,
        Fact("index r", sp.And(r >= 0, r <= K - 1), "index", "iterations"),
        *(f for f in (SEPARABLE if separable else GLOBAL) if not printed or f.name != "blocks"),
        *(ACROSS if printed else ()),
        DISCREPANCY,
        Fact("mean", sp.Eq(mean_grad2, at_mean), "metric", "as measured"),
        Fact("iterations", sp.Le(of_models, whole), "metric", "every iteration of a block is a step of one stretch"),
        Fact("local gradients", sp.Le(local, of_gradients), "metric", "and every step of a stretch is an iteration"),
    )
    steps = (
        *(PRINTED if printed else ()),
        *((BLOCKS,) if separable else ()),
        *steps,
        Step(
            "(112)",
            sp.Le(norm2(p), 2 * Lmax**2 * norm2(z) + 2 * beta2 * norm2(s) + 2 * kappa2),
            ("smooth", "dissimilar"),
            Combine({"smooth": 2, "dissimilar": 2}),
            "the gradients at u subtracted and added",
        ),
        Step(
            "all iterations",
            sp.Ge(
                2 * Lmax**2 * total(norm2(z), r, K)
                + 2 * beta2 * total(norm2(s), r, K)
                + 2 * K * kappa2
                - total(norm2(p), r, K),
                0,
            ),
            ("(112)",),
            SumOver("(112)", r, K),
            "summed",
        ),
        _solved(mean_grad2),
        Step(
            "conclusion",
            sp.Le(apart, statement.bound),
            ("(113)", "condition A below 1"),
            Combine({"(113)": 1 / (1 - A)}),
            "solved for the discrepancy",
        ),
    )
    averages = "averages_uniformly" if separable else "averages_as_objective"
    return Derivation(
        statement,
        (*scope_facts(statement), *facts),
        steps,
        conclusion="conclusion",
        target=apart,
        drawn=(*drift.drawn, *((v, r) for v in (z, p, h, s))),
        laws=tuple(replace(law, of=averages) if law.name == "clients" else law for law in drift.laws),
    )
