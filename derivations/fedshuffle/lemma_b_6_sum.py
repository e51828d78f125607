"""The proof of the second part of Lemma B.6 (FedShuffle, Appendix B.4), inequality (23)."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.rules import CauchySchwarz
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import norm2, vector

READINGS = ("as_printed",)

tau, squares, norm2_of_sum, i = sp.symbols("tau squares norm2_of_sum i", real=True)
v = vector("v", i)

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


def derivation(statement: Any) -> Derivation:
    """The derivation."""
    return Derivation(statement, (*scope_facts(statement), *FACTS), STEPS, conclusion="conclusion", target=norm2_of_sum)
