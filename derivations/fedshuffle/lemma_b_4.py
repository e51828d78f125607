"""The proof of Lemma B.4 (FedShuffle, Appendix B.3): a matrix inequality taken coordinate by coordinate.

Assumption (18) is about all vectors of one number a client. It is used for coordinate j of the a_i = w_i z_i/p_i,
and summed over the coordinates; no product of matrices is needed.

    V(j)  variance of coordinate j of what the cohort adds up        q(j)  sum over the clients of p_i s_i a_ij^2
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.rules import SumOver
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total

READINGS = ("as_printed",)

weighted_squares, variance, d, j = sp.symbols("weighted_squares variance d j", real=True)
V: Any = sp.Function("V", real=True)
q: Any = sp.Function("q", real=True)

FACTS = (
    Fact("coordinates", d >= 1, "count", "dimension of the vectors"),
    Fact("index j", sp.And(j >= 0, j <= d - 1), "index", "coordinates"),
    Fact("variance", sp.Eq(variance, total(V(j), j, d)), "metric", "the squared norm is the sum over the coordinates"),
    Fact("squares", sp.Eq(weighted_squares, total(q(j), j, d)), "metric", "likewise"),
    Fact(
        "cohort",
        sp.Le(V(j), q(j)),
        "assumption",
        "(18) for the numbers a_ij: V(j) is their form with the matrix P - p p^T",
        "cohort_variance",
    ),
)

STEPS = (
    Step(
        "1", sp.Le(total(V(j), j, d), total(q(j), j, d)), ("cohort", "coordinates"), SumOver("cohort", j, d), "summed"
    ),
    Step(
        "conclusion", sp.Le(variance, weighted_squares), ("1", "variance", "squares"), Combine(), "in the lemma's words"
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation."""
    return Derivation(statement, (*scope_facts(statement), *FACTS), STEPS, conclusion="conclusion", target=variance)
