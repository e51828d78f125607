"""Gradient descent on a smooth function that is bounded below, as checked steps.

x(r)  point after r steps    s(r)  gradient there    gap(r)  its gap    mean  of |s(r)|^2 over r = 0, ..., k-1
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, pointwise, upper_model
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.rules import Accumulation
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import VectorEquality, norm2, vector
from boundcheck.theory.assumptions import bounded_below, smooth_clients

READINGS = ("sharp", "as_printed")

L, eta, gap_0, k, r, mean = sp.symbols("L eta gap_0 k r mean", real=True)
gap: Any = sp.Function("gap", real=True)
s, x, then = vector("s", r), vector("x", r), vector("x", r + 1)

FACTS = (
    Fact("index r", sp.And(r >= 0, r <= k - 1), "index", "steps"),
    Fact("mean", sp.Eq(mean, total(norm2(s), r, k) / k), "metric", "over the points before the steps"),
    Fact("start", sp.Eq(gap_0, gap(0)), "metric", "the gap of the start"),
    pointwise("bounded", bounded_below, "a gap", gap=gap(k)),
    Fact("step", VectorEquality(then, x - s * eta), "algorithm", "gradient descent"),
    upper_model(
        "smooth",
        smooth_clients,
        "F, a mean of L-smooth functions, is L-smooth",
        Evaluation("F", x, s, gap(r)),
        Evaluation("F", then, value=gap(r + 1)),
    ),
)
least = eta * (1 - eta * L / 2)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading; as_printed: the decrease is rounded to eta/2 |s|^2."""
    printed = statement.reading == "as_printed"
    factor = eta / 2 if printed else least
    rounding = Step("factor", factor <= least, ("condition step size",), Decide(), "the step condition")
    steps = (
        Step("factor > 0", factor > 0, ("condition step size",), Decide(), "there is a decrease"),
        *((rounding,) if printed else ()),
        Step(
            "decrease",
            sp.Le(gap(r + 1), gap(r) - factor * norm2(s)),
            ("smooth", "step", *(("factor",) if printed else ())),
            Combine({"smooth": 1}),
            "the descent lemma",
        ),
        Step(
            "sum",
            sp.Le(gap(k), gap(0) + total(-factor * norm2(s), r, k)),
            ("decrease",),
            Accumulation("decrease", gap(r), r, k),
            "all steps",
        ),
        Step(
            "conclusion",
            sp.Le(mean, gap_0 / (factor * k)),
            ("sum", "mean", "start", "bounded", "factor > 0", "condition step size"),
            Combine({"sum": 1 / (factor * k), "bounded": 1 / (factor * k)}),
            "divided by the number of steps",
        ),
    )
    return Derivation(statement, (*scope_facts(statement), *FACTS), steps, conclusion="conclusion", target=mean)
