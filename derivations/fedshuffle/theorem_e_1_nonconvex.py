"""The proof of Theorem E.1 (FedShuffle) without convexity: the recursion of a round added up over the rounds.

    gap(t)  expected gap of fhat after t rounds        G(t)  expected squared gradient norm there
    mean    mean of G over the rounds 0 to R - 1

The corrected bound is larger than the sharp one, term by term. The printed one needs the step conditions and B >= 1 for
the same average, and its middle term lacks L and W^2.
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
from boundcheck.proof.weaker import from_sharper
from boundcheck.theory.discovery import statement as find_statement

READINGS = ("corrected", "as_printed", "sharp")

NAMES = "L G2 B2 P2_gen sigma2_gen M1 W eta_l eta_g"
L, G2, B2, P2_gen, sigma2_gen, M1, W, eta_l, eta_g = sp.symbols(NAMES, real=True)
gap_0, grad2_0, R, t, mean = sp.symbols("gap_0 grad2_0 R t mean", real=True)
gap: Any = sp.Function("gap", real=True)
G: Any = sp.Function("G", real=True)(t)
SIZES = tuple(f"domain {name}" for name in NAMES.split())
RECURSION, SHARP = "fedshuffle/recursion_nonconvex_gen/sharp", "fedshuffle/theorem_e_1_nonconvex/sharp"

SLIP = "the middle term lacks L and W^2"


def _sharp(statement: Any) -> tuple[tuple[Fact, ...], tuple[Step, ...]]:
    """The recursion added up."""
    names = tuple(f"condition {c.name}" for c in statement.conditions)
    bound = sp.expand(find_statement(RECURSION).bound)
    share = -bound.coeff(grad2_0)
    noise = sp.expand(bound - gap_0 + share * grad2_0)
    facts = (
        Fact("index t", sp.And(t >= 0, t <= R - 1), "index", "rounds"),
        Fact("start", sp.Eq(gap_0, gap(0)), "metric", "the gap of the start"),
        Fact("mean", sp.Eq(mean, total(G, t, R) / R), "metric", "over the rounds 0 to R - 1, all alike"),
        Fact("gap >= 0", gap(t) >= 0, "metric", "F* is the infimum of F"),
        Fact("G >= 0", G >= 0, "metric", "a mean of squared norms"),
        Fact("last", gap(R) >= 0, "assumption", "F* is finite", "bounded_below"),
    )
    steps = (
        Step(
            "decrease",
            sp.Le(gap(t + 1), gap(t) - share * G + noise),
            ("gap >= 0", "G >= 0", *names, *SIZES),
            Lemma(RECURSION, gap(t + 1), {gap_0: gap(t), grad2_0: G}),
            "the recursion in every round",
        ),
        Step(
            "sum",
            sp.Le(gap(R), gap(0) + total(-share * G + noise, t, R)),
            ("decrease", "domain R", *SIZES),
            Accumulation("decrease", gap(t), t, R),
            "all rounds",
        ),
        Step("share > 0", share > 0, SIZES, Decide(), "a product of positive numbers"),
        Step(
            "conclusion",
            sp.Le(mean, statement.bound),
            ("sum", "start", "mean", "last", "share > 0", "domain R", *names, *SIZES),
            Combine({"sum": 1 / (share * R), "last": 1 / (share * R)}),
            "divided by R and the coefficient of the gradient",
        ),
    )
    return facts, steps


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    facts, steps = (
        _sharp(statement)
        if statement.reading == "sharp"
        else ((), from_sharper(statement, SHARP, mean, (("gap_0", gap_0),), SLIP))
    )
    return Derivation(
        statement,
        (*scope_facts(statement), *facts),
        steps,
        conclusion="conclusion",
        target=mean,
        rounds=((gap(t), t), (G, t)),
    )
