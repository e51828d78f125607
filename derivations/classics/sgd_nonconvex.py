"""Synchronous SGD on a smooth function that is bounded below, as checked steps.

Vectors are random and <u, v> is the expectation of their inner product.

    x(r)  point after r steps    s(r)  gradient there    g(r)  the workers' stochastic gradient there, averaged
    gap(r)  expected gap at x(r)                         mean  of E|s(r)|^2 over r = 0, ..., k-1
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
from boundcheck.proof.vectors import VectorEquality, inner, norm2, vector
from boundcheck.theory.assumptions import bounded_below, smooth_clients

READINGS = ("sharp", "as_printed")

L, eta, sigma2, sum_p2, gap_0, k, r, mean = sp.symbols("L eta sigma2 sum_p2 gap_0 k r mean", real=True)
gap: Any = sp.Function("gap", real=True)
s, g, x, then = vector("s", r), vector("g", r), vector("x", r), vector("x", r + 1)
variance = sigma2 * sum_p2

DRAWN = ((x, r), (s, r), (g, r + 1))
FACTS = (
    Fact("index r", sp.And(r >= 0, r <= k - 1), "index", "steps"),
    Fact("mean", sp.Eq(mean, total(norm2(s), r, k) / k), "metric", "over the points before the steps"),
    Fact("start", sp.Eq(gap_0, gap(0)), "metric", "the gap of the start"),
    pointwise("bounded", bounded_below, "a gap", gap=gap(k)),
    Fact("step", VectorEquality(then, x - g * eta), "algorithm", "one step with the averaged gradient"),
    Fact(
        "unbiased",
        sp.Ge(inner(g - s, s), 0),
        "assumption",
        "g has the mean s, since the averages have the weights of F",
        "block_variance",
    ),
    Fact(
        "unbiased, above",
        sp.Le(inner(g - s, s), 0),
        "assumption",
        "g has the mean s, since the averages have the weights of F",
        "block_variance",
    ),
    Fact(
        "noise",
        sp.Le(norm2(g - s), variance),
        "assumption",
        "independent noise of the workers, of variance sigma2 each, with the weights p_i",
        "block_variance",
    ),
    upper_model(
        "smooth",
        smooth_clients,
        "F, a mean of L-smooth functions, is L-smooth",
        Evaluation("F", x, s, gap(r)),
        Evaluation("F", then, value=gap(r + 1)),
    ),
)
least = eta * (1 - eta * L / 2)
noise = eta**2 * L * variance / 2


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
            sp.Le(gap(r + 1), gap(r) - factor * norm2(s) + noise),
            (
                "smooth",
                "step",
                "unbiased",
                "unbiased, above",
                "noise",
                *(("factor",) if printed else ()),
                "condition step size",
            ),
            Combine({"smooth": 1, "unbiased": eta, "unbiased, above": eta**2 * L, "noise": eta**2 * L / 2}),
            "the descent lemma, in expectation",
        ),
        Step(
            "sum",
            sp.Le(gap(k), gap(0) + total(-factor * norm2(s) + noise, r, k)),
            ("decrease",),
            Accumulation("decrease", gap(r), r, k),
            "all steps",
        ),
        Step(
            "conclusion",
            sp.Le(mean, (gap_0 / k + noise) / factor),
            ("sum", "mean", "start", "bounded", "factor > 0", "condition step size"),
            Combine({"sum": 1 / (factor * k), "bounded": 1 / (factor * k)}),
            "divided by the number of steps",
        ),
    )
    return Derivation(
        statement, (*scope_facts(statement), *FACTS), steps, conclusion="conclusion", target=mean, drawn=DRAWN
    )
