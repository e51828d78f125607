"""The proof of Theorem 5.1 (FedShuffle) without convexity: the recursion of a round added up over the rounds.

    gap(t)  expected objective gap after t rounds        G(t)  expected squared gradient norm there
    mean    mean of G over the rounds 0 to R - 1

Each reading adds up the same reading of the recursion. The printed one leaves out the hypothesis B >= 1, which the
recursion needs, and inherits the factor L that Lemma C.2 loses.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.lemma import Lemma
from boundcheck.proof.rules import Accumulation
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total
from boundcheck.theory.discovery import statement as find_statement

READINGS = ("corrected", "as_printed", "sharp")

L, G2, B2, P2, sigma2, M, E, eta_l, eta_g = sp.symbols("L G2 B2 P2 sigma2 M E eta_l eta_g", real=True)
gap_0, grad2_0, R, t, mean = sp.symbols("gap_0 grad2_0 R t mean", real=True)
gap: Any = sp.Function("gap", real=True)
G: Any = sp.Function("G", real=True)(t)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    lemma = f"fedshuffle/recursion_nonconvex/{statement.reading}"
    round_bound = find_statement(lemma).bound
    printed = statement.reading == "as_printed"
    names = (*(f"condition {c.name}" for c in statement.conditions), *(["B at least 1"] if printed else []))
    share = -round_bound.coeff(grad2_0)
    noise = sp.expand(round_bound - gap_0 + share * grad2_0)
    facts = (
        Fact("index t", sp.And(t >= 0, t <= R - 1), "index", "rounds"),
        Fact("start", sp.Eq(gap_0, gap(0)), "metric", "the gap of the start"),
        Fact("mean", sp.Eq(mean, total(G, t, R) / R), "metric", "over the rounds 0 to R - 1, all alike"),
        Fact("gap >= 0", gap(t) >= 0, "metric", "F* is the infimum of F"),
        Fact("G >= 0", G >= 0, "metric", "a mean of squared norms"),
        Fact("last", gap(R) >= 0, "assumption", "F* is finite", "bounded_below"),
    )
    left_out = Step("B at least 1", B2 >= 1, (), Decide(), "the recursion needs it")
    steps = (
        *([left_out] if printed else []),
        Step(
            "decrease",
            sp.Le(gap(t + 1), gap(t) - share * G + noise),
            ("gap >= 0", "G >= 0", *names),
            Lemma(lemma, gap(t + 1), {gap_0: gap(t), grad2_0: G}),
            "the recursion in every round",
        ),
        Step(
            "sum",
            sp.Le(gap(R), gap(0) + total(-share * G + noise, t, R)),
            ("decrease",),
            Accumulation("decrease", gap(t), t, R),
            "all rounds",
        ),
        Step("share > 0", share > 0, (), Decide(), "a product of positive numbers"),
        Step(
            "conclusion",
            sp.Le(mean, statement.bound),
            ("sum", "start", "mean", "last", "share > 0", *names),
            Combine({"sum": 1 / (share * R), "last": 1 / (share * R)}),
            "divided by R and the coefficient of the gradient",
        ),
    )
    return Derivation(
        statement,
        (*scope_facts(statement), *facts),
        steps,
        conclusion="conclusion",
        target=mean,
        rounds=((gap(t), t), (G, t)),
    )
