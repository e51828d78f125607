"""The proof of Theorem E.1 (FedShuffle) with convexity: the recursion of a round added up over the rounds.

    dist2(t)  expected squared distance to the minimiser of fhat after t rounds
    gap(t)    expected objective gap there        mean  mean of the gaps over the rounds 0 to R - 1

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
dist2_0, gap_0, mu, R, t, mean = sp.symbols("dist2_0 gap_0 mu R t mean", real=True)
dist2: Any = sp.Function("dist2", real=True)
gap: Any = sp.Function("gap", real=True)(t)
SIZES = tuple(f"domain {name}" for name in NAMES.split())
RECURSION, SHARP = "fedshuffle/recursion_convex_gen/sharp", "fedshuffle/theorem_e_1_convex/sharp"

SLIP = "the middle term lacks L and W^2"


def _sharp(statement: Any) -> tuple[tuple[Fact, ...], tuple[Step, ...]]:
    """The recursion added up."""
    names = tuple(f"condition {c.name}" for c in statement.conditions)
    bound = sp.expand(find_statement(RECURSION).bound.subs(mu, 0))
    share = -bound.coeff(gap_0)
    noise = sp.expand(bound - dist2_0 + share * gap_0)
    facts = (
        Fact("index t", sp.And(t >= 0, t <= R - 1), "index", "rounds"),
        Fact("start", sp.Eq(dist2_0, dist2(0)), "metric", "the distance of the start"),
        Fact("mean", sp.Eq(mean, total(gap, t, R) / R), "metric", "over the rounds 0 to R - 1, all alike"),
        Fact("dist2 >= 0", dist2(t) >= 0, "metric", "a mean of squared norms"),
        Fact("last", dist2(R) >= 0, "metric", "a mean of squared norms"),
        Fact("gap >= 0", gap >= 0, "metric", "F* is the infimum of F"),
    )
    steps = (
        Step(
            "decrease",
            sp.Le(dist2(t + 1), dist2(t) - share * gap + noise),
            ("dist2 >= 0", "gap >= 0", *names, *SIZES),
            Lemma(RECURSION, dist2(t + 1), {dist2_0: dist2(t), gap_0: gap}, {"mu": 0}),
            "the recursion in every round, with mu = 0",
        ),
        Step(
            "sum",
            sp.Le(dist2(R), dist2(0) + total(-share * gap + noise, t, R)),
            ("decrease", "domain R", *SIZES),
            Accumulation("decrease", dist2(t), t, R),
            "all rounds",
        ),
        Step("share > 0", share > 0, SIZES, Decide(), "a product of positive numbers"),
        Step(
            "conclusion",
            sp.Le(mean, statement.bound),
            ("sum", "start", "mean", "last", "share > 0", "domain R", *names, *SIZES),
            Combine({"sum": 1 / (share * R), "last": 1 / (share * R)}),
            "divided by R and the coefficient of the gap",
        ),
    )
    return facts, steps


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    facts, steps = (
        _sharp(statement)
        if statement.reading == "sharp"
        else ((), from_sharper(statement, SHARP, mean, (("dist2_0", dist2_0), ("gap_0", gap_0)), SLIP))
    )
    return Derivation(
        statement,
        (*scope_facts(statement), *facts),
        steps,
        conclusion="conclusion",
        target=mean,
        rounds=((dist2(t), t), (gap, t)),
    )
