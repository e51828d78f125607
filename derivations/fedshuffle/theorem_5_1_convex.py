"""The proof of Theorem 5.1 (FedShuffle) with convexity: the recursion of a round added up over the rounds.

    dist2(t)  expected squared distance to the minimiser after t rounds
    gap(t)    expected objective gap there        mean  mean of the gaps over the rounds 0 to R - 1

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
dist2_0, gap_0, mu, R, t, mean = sp.symbols("dist2_0 gap_0 mu R t mean", real=True)
dist2: Any = sp.Function("dist2", real=True)
gap: Any = sp.Function("gap", real=True)(t)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    lemma = f"fedshuffle/recursion_convex/{statement.reading}"
    round_bound = sp.expand(find_statement(lemma).bound.subs(mu, 0))
    printed = statement.reading == "as_printed"
    names = (*(f"condition {c.name}" for c in statement.conditions), *(["B at least 1"] if printed else []))
    share = -round_bound.coeff(gap_0)
    noise = sp.expand(round_bound - dist2_0 + share * gap_0)
    facts = (
        Fact("index t", sp.And(t >= 0, t <= R - 1), "index", "rounds"),
        Fact("start", sp.Eq(dist2_0, dist2(0)), "metric", "the distance of the start"),
        Fact("mean", sp.Eq(mean, total(gap, t, R) / R), "metric", "over the rounds 0 to R - 1, all alike"),
        Fact("dist2 >= 0", dist2(t) >= 0, "metric", "a mean of squared norms"),
        Fact("last", dist2(R) >= 0, "metric", "a mean of squared norms"),
        Fact("gap >= 0", gap >= 0, "metric", "F* is the infimum of F"),
    )
    left_out = Step("B at least 1", B2 >= 1, (), Decide(), "the recursion needs it")
    steps = (
        *([left_out] if printed else []),
        Step(
            "decrease",
            sp.Le(dist2(t + 1), dist2(t) - share * gap + noise),
            ("dist2 >= 0", "gap >= 0", *names),
            Lemma(lemma, dist2(t + 1), {dist2_0: dist2(t), gap_0: gap}, {"mu": 0}),
            "the recursion in every round, with mu = 0",
        ),
        Step(
            "sum",
            sp.Le(dist2(R), dist2(0) + total(-share * gap + noise, t, R)),
            ("decrease",),
            Accumulation("decrease", dist2(t), t, R),
            "all rounds",
        ),
        Step("share > 0", share > 0, (), Decide(), "a product of positive numbers"),
        Step(
            "conclusion",
            sp.Le(mean, statement.bound),
            ("sum", "start", "mean", "last", "share > 0", *names),
            Combine({"sum": 1 / (share * R), "last": 1 / (share * R)}),
            "divided by R and the coefficient of the gap",
        ),
    )
    return Derivation(
        statement,
        (*scope_facts(statement), *facts),
        steps,
        conclusion="conclusion",
        target=mean,
        rounds=((dist2(t), t), (gap, t)),
    )
