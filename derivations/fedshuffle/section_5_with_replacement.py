"""Section 5 of FedShuffle: the order in R of unbiased noise, from the two terms that Lemma B.3 balances.

d/(et R) + c*et is least at et = sqrt(d/(c R)), where both terms agree; noise(R) and noise(1) are that term.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.identity import Decide
from boundcheck.proof.step import Fact, Step

READINGS = ("corrected",)

R, d, c, et, first, noise, start, order, root = sp.symbols("R d c et first noise start order root", real=True)

FACTS = (
    Fact("d", d > 0, "metric", "the distance of the start"),
    Fact("c", c > 0, "metric", "the coefficient of the noise"),
    Fact("et", sp.And(et > 0, sp.Eq(c * R * et**2, d)), "metric", "where d/(et R) and c et agree"),
    Fact("first", sp.And(first > 0, sp.Eq(c * first**2, d)), "metric", "the same for R = 1"),
    Fact("root", sp.Eq(root, sp.sqrt(R)), "definition", "the root of the rounds"),
    Fact("noise", sp.Eq(noise, c * et), "metric", "the term of R rounds"),
    Fact("start", sp.Eq(start, c * first), "metric", "the term of one round"),
    Fact("order", sp.Eq(order * start, noise), "metric", "how it falls with R"),
)
SIZES = ("d", "c", "domain R")
STEPS = (
    Step("ratio", sp.Eq(R * et**2, first**2), ("et", "first", *SIZES), Decide(), "both are d/c"),
    Step("root >= 0", root >= 0, ("root", "domain R"), Decide(), "a root"),
    Step("squares", sp.Eq(first**2, root**2 * et**2), ("ratio", "root", "domain R"), Decide(), "R is the root squared"),
    Step("first > 0", first > 0, ("first",), Decide(), "a step size"),
    Step("et > 0", et > 0, ("et",), Decide(), "a step size"),
    Step(
        "equal", sp.Eq(first, root * et), ("squares", "root >= 0", "first > 0", "et > 0"), Decide(), "both are positive"
    ),
    Step(
        "conclusion",
        sp.Eq(order, 1 / sp.sqrt(R)),
        ("order", "noise", "start", "root", "equal", "et", "first", *SIZES),
        Decide(),
        "divided",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of the corrected reading."""
    return Derivation(statement, (*scope_facts(statement), *FACTS), STEPS, conclusion="conclusion", target=order)
