"""The proof of Theorem E.1 (FedShuffle) with strong convexity: the recursion of a round, weighted over the rounds.

    dist2(t)  expected squared distance to the minimiser of fhat after t rounds
    gap(t)    expected objective gap of fhat there
    f         factor of the recursion, 1 - mu et/2                         mean     weighted mean of the gaps
    part(t)   weighted sum of the first t gaps                             V(t)     sum of their weights

The corrected bound is larger than the sharp one, term by term.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.rounds import FACTOR, R, dist2, gap, mean, positive, t, weighted
from boundcheck.proof.rules import Induction
from boundcheck.proof.step import Step
from boundcheck.theory.discovery import statement as find_statement

READINGS = ("corrected", "sharp")

mu, W, eta_l, eta_g = sp.symbols("mu W eta_l eta_g", real=True)


def _rounded(statement: Any, sharp: Any) -> tuple[Step, ...]:
    """The sharp bound rounded up."""
    left = (1 - mu * W * eta_g * eta_l / 2) ** R
    return (
        Step(
            "positive R",
            positive(R),
            ("positive 0", "positive t", *FACTOR),
            Induction("positive 0", "positive t", t, R),
            "a power",
        ),
        Step("left > 0", left > 0, ("positive R", "f"), Decide(), "in the statement's symbols"),
        Step("left", left < 1, ("positive R", "power", "f", *FACTOR), Decide(), "what the contractions leave"),
        Step(
            "terms",
            sp.Le(sharp, statement.bound, evaluate=False),
            ("left", "left > 0"),
            Decide(),
            "term by term",
        ),
        Step(
            "conclusion",
            sp.Le(mean, statement.bound, evaluate=False),
            ("sharp", "terms", "left"),
            Combine({"sharp": 1, "terms": 1}),
            "together",
        ),
    )


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    sharp = statement.reading == "sharp"
    bound = find_statement("fedshuffle/theorem_e_1_strongly_convex/sharp").bound
    name = "conclusion" if sharp else "sharp"
    facts, steps = weighted(statement, "fedshuffle/recursion_convex_gen/sharp", bound, name)
    return Derivation(
        statement,
        (*scope_facts(statement), *facts),
        (*steps, *(() if sharp else _rounded(statement, bound))),
        conclusion="conclusion",
        target=mean,
        quantities=frozenset({"dist2_0"}),
        rounds=((dist2(t), t), (gap(t), t)),
    )
