"""The proof of the first part of Lemma B.6 (FedShuffle, Appendix B.4), inequality (22)."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.rules import Triangle, Young
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.vectors import inner, norm2, vector

READINGS = ("as_printed", "sharp")

a, norm2_u, norm2_v, norm2_of_sum = sp.symbols("a norm2_u norm2_v norm2_of_sum", real=True)
u, v = vector("u"), vector("v")

FACTS = (
    Fact("u", sp.Eq(norm2_u, norm2(u)), "metric", "squared norm"),
    Fact("v", sp.Eq(norm2_v, norm2(v)), "metric", "squared norm"),
    Fact("sum", sp.Eq(norm2_of_sum, norm2(u + v)), "metric", "squared norm"),
)

STEPS = (
    Step(
        "1",
        sp.Le(2 * inner(u, v), a * norm2(u) + norm2(v) / a),
        ("domain a",),
        Young(u, v, a),
        "the square that the printed identity subtracts",
    ),
    Step(
        "conclusion",
        sp.Le(norm2_of_sum, (1 + a) * norm2_u + (1 + 1 / a) * norm2_v),
        ("1", "u", "v", "sum", "domain a"),
        Combine({"1": 1}),
        "the squared norm expanded",
    ),
)


SHARP = (
    Step("0", sp.Ge(norm2(u + v), 0, evaluate=False), (), Combine(), "a squared norm"),
    Step(
        "1",
        sp.Le(sp.sqrt(norm2(u + v)), sp.sqrt(norm2(u)) + sp.sqrt(norm2(v))),
        (),
        Triangle(u, v),
        "the triangle inequality",
    ),
    Step(
        "2",
        sp.Le(sp.sqrt(norm2_of_sum), sp.sqrt(norm2_u) + sp.sqrt(norm2_v)),
        ("0", "1", "u", "v", "sum"),
        Decide(),
        "in the lemma's words",
    ),
    Step(
        "conclusion",
        sp.Le(norm2_of_sum, (sp.sqrt(norm2_u) + sp.sqrt(norm2_v)) ** 2),
        ("0", "2", "sum", "domain norm2_u", "domain norm2_v"),
        Decide(),
        "both sides squared",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    steps = SHARP if statement.reading == "sharp" else STEPS
    facts = (*scope_facts(statement), *FACTS)
    return Derivation(statement, facts, steps, conclusion="conclusion", target=norm2_of_sum)
