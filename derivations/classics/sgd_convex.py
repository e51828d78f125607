"""Synchronous SGD on a smooth convex function, as checked steps.

Vectors are random and <u, v> is the expectation of their inner product; points are relative to a minimiser nearest to
the start.

    x(r)  point after r steps    s(r)  gradient there    g(r)  the workers' stochastic gradient there, averaged
    gap(r), low(r)  expected gap at x(r), and at x(r) - s(r)/L        mean  of gap(r) over r = 0, ..., k-1
    far(r)  E|x(r)|^2
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, lower_model, upper_model
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.rules import Accumulation
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import Vector, VectorEquality, inner, norm2, vector
from boundcheck.theory.assumptions import convexity, smooth_clients

READINGS = ("sharp", "as_printed")

L, eta, sigma2, sum_p2, dist2_0, k, r, mean = sp.symbols("L eta sigma2 sum_p2 dist2_0 k r mean", real=True)
gap, low = (sp.Function(name, real=True)(r) for name in ("gap", "low"))
s, g, x, then = vector("s", r), vector("g", r), vector("x", r), vector("x", r + 1)
first, last = x.at(r, 0), x.at(r, k)
variance = sigma2 * sum_p2
at_x, at_minimiser = Evaluation("F", x, s, gap), Evaluation("F", Vector(()), value=sp.Integer(0))
UNBIASED = "g has the mean s whatever happened before, since the averages have the weights of F"

DRAWN = ((x, r), (s, r), (g, r + 1))
FACTS = (
    Fact("index r", sp.And(r >= 0, r <= k - 1), "index", "steps"),
    Fact("mean", sp.Eq(mean, total(gap, r, k) / k), "metric", "over the points before the steps"),
    Fact("start", sp.Eq(dist2_0, norm2(first)), "metric", "positions are relative to a nearest minimiser"),
    Fact("gap", gap >= 0, "metric", "a gap"),
    Fact("minimum", low >= 0, "metric", "a gap"),
    Fact("step", VectorEquality(then, x - g * eta), "algorithm", "one step with the averaged gradient"),
    Fact("unbiased", sp.Ge(inner(g - s, x), 0), "assumption", UNBIASED, "block_variance"),
    Fact("unbiased, s", sp.Le(inner(g - s, s), 0), "assumption", UNBIASED, "block_variance"),
    Fact(
        "noise",
        sp.Le(norm2(g - s), variance),
        "assumption",
        "independent noise of the workers, of variance sigma2 each, with the weights p_i",
        "block_variance",
    ),
    lower_model("convex", convexity, "from x(r) to the minimiser", at_x, at_minimiser),
    upper_model(
        "smooth",
        smooth_clients,
        "F is L-smooth, from x(r) to x(r) - s(r)/L",
        at_x,
        Evaluation("F", x - s / L, value=low),
    ),
)
least = 2 * eta * (1 - eta * L)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading; as_printed: the decrease is rounded to eta times the gap."""
    printed = statement.reading == "as_printed"
    factor = eta if printed else least
    rounding = Step("factor", factor <= least, ("condition step size",), Decide(), "the step condition")
    steps = (
        Step("factor > 0", factor > 0, ("condition step size",), Decide(), "there is a decrease"),
        *((rounding,) if printed else ()),
        Step(
            "gradient",
            sp.Le(norm2(s), 2 * L * gap),
            ("smooth", "minimum"),
            Combine({"smooth": 2 * L, "minimum": 2 * L}),
            "the gap at x - s/L is not negative",
        ),
        Step(
            "decrease",
            sp.Le(norm2(then), norm2(x) - factor * gap + eta**2 * variance),
            (
                "step",
                "unbiased",
                "unbiased, s",
                "noise",
                "convex",
                "gradient",
                "gap",
                *(("factor",) if printed else ()),
            ),
            Combine(
                {
                    "unbiased": 2 * eta,
                    "unbiased, s": 2 * eta**2,
                    "noise": eta**2,
                    "convex": 2 * eta,
                    "gradient": eta**2,
                    "gap": least - factor,
                }
            ),
            "the square expanded, in expectation",
        ),
        Step(
            "sum",
            sp.Le(norm2(last), norm2(first) + total(-factor * gap + eta**2 * variance, r, k)),
            ("decrease",),
            Accumulation("decrease", norm2(x), r, k),
            "all steps",
        ),
        Step(
            "conclusion",
            sp.Le(mean, (dist2_0 / k + eta**2 * variance) / factor),
            ("sum", "mean", "start", "factor > 0", "condition step size"),
            Combine({"sum": 1 / (factor * k)}),
            "divided by the number of steps",
        ),
    )
    return Derivation(
        statement, (*scope_facts(statement), *FACTS), steps, conclusion="conclusion", target=mean, drawn=DRAWN
    )
