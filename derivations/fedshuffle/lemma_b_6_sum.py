"""The proof of the second part of Lemma B.6 (FedShuffle, Appendix B.4), inequality (23)."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Identity
from boundcheck.proof.rules import CauchySchwarz
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import VectorEquality, inner, norm2, vector

READINGS = ("as_printed", "sharp")

tau, squares, spread, norm2_of_sum, i = sp.symbols("tau squares spread norm2_of_sum i", real=True)
v, mean = vector("v", i), vector("mean")

FACTS = (
    Fact("index i", sp.And(i >= 0, i <= tau - 1), "index", "the vectors"),
    Fact("squares", sp.Eq(squares, total(norm2(v), i, tau)), "metric", "sum of the squared norms"),
    Fact("sum", sp.Eq(norm2_of_sum, norm2(vector_total(v, i, tau))), "metric", "squared norm of the sum"),
)

STEPS = (
    Step(
        "1",
        sp.Le(norm2(vector_total(v, i, tau)), tau * total(norm2(v), i, tau)),
        ("domain tau",),
        CauchySchwarz(v, i, tau),
        "Jensen's inequality for the mean",
    ),
    Step("conclusion", sp.Le(norm2_of_sum, tau * squares), ("1", "squares", "sum"), Combine(), "in the lemma's words"),
)


MORE = (
    Fact("mean", VectorEquality(mean, vector_total(v, i, tau) / tau), "definition", "of the vectors"),
    Fact(
        "deviations",
        sp.Eq(total(inner(v - mean, mean), i, tau), 0),
        "metric",
        "the differences of the vectors to their mean add up to 0",
    ),
    Fact("spread", sp.Eq(spread, total(norm2(v - mean), i, tau)), "metric", "squared distances to the mean"),
)
SHARP = (
    Step(
        "1",
        sp.Eq(norm2_of_sum, tau**2 * norm2(mean)),
        ("sum", "mean", "domain tau"),
        Identity(),
        "the sum is tau times the mean",
    ),
    Step(
        "conclusion",
        sp.Eq(norm2_of_sum, tau * (squares - spread)),
        ("1", "deviations", "squares", "spread", "domain tau"),
        Identity(),
        "the squared distances expanded",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    sharp = statement.reading == "sharp"
    facts = (*scope_facts(statement), *FACTS, *(MORE if sharp else ()))
    steps = SHARP if sharp else STEPS
    return Derivation(statement, facts, steps, conclusion="conclusion", target=norm2_of_sum)
