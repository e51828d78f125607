"""The proof of Theorem 6 (FedDANE) as checked steps: the decreases of Theorem 5 added up.

    gap(t)  expected gap after t iterations    G(t)  E|grad f|^2 there

The corrected reading takes the mean over t = 0, ..., T - 1; the printed one over t = 1, ..., T, for which the decrease
is needed after T iterations too.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import pointwise
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.lemma import Lemma
from boundcheck.proof.rules import Accumulation
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total
from boundcheck.theory.assumptions import bounded_below

READINGS = ("corrected", "as_printed", "sharp")

gap_0, grad2_0, T, t, mean = sp.symbols("gap_0 grad2_0 T t mean", real=True)
gap: Any = sp.Function("gap", real=True)
G: Any = sp.Function("G", real=True)(t)

SCOPE = (
    "condition proximal weight",
    "condition positive decrease",
    *(f"domain {name}" for name in ("L", "mu", "gamma", "B2")),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    sharp, printed = (statement.reading == name for name in ("sharp", "as_printed"))
    rho = next(c for c in statement.conditions if c.name == "positive decrease").relation.lhs
    lemma = f"feddane/theorem_6_iteration/{'sharp' if sharp else 'as_printed'}"
    points = T + 1 if printed else T
    bound = gap_0 / (rho * T) + (grad2_0 / T if printed else 0)
    own = ["domain K"] if sharp else []
    first = ["domain grad2_0"] if printed else []
    facts = (
        Fact("index t", sp.And(t >= 0, t <= points - 1), "index", "iterations"),
        Fact("start", sp.Eq(gap_0, gap(0)), "metric", "the gap of the start"),
        Fact("mean", sp.Eq(mean, total(G, t, points) / T), "metric", "over the points of the run"),
        Fact("gap >= 0", gap(t) >= 0, "metric", "f* is the infimum of f"),
        Fact("G >= 0", G >= 0, "metric", "a mean of squared norms"),
        pointwise("bounded", bounded_below, "f* is finite", gap=gap(points)),
    )
    steps = (
        Step(
            "decrease",
            sp.Le(gap(t + 1), gap(t) - rho * G),
            ("gap >= 0", "G >= 0", *SCOPE, *own),
            Lemma(lemma, gap(t + 1), {gap_0: gap(t), grad2_0: G}),
            "Theorem 5 at the point after t iterations",
        ),
        Step(
            "sum",
            sp.Le(gap(points), gap(0) + total(-rho * G, t, points)),
            ("decrease", "domain T", *SCOPE, *own),
            Accumulation("decrease", gap(t), t, points),
            "all iterations",
        ),
        Step(
            "conclusion",
            sp.Le(mean, bound),
            ("sum", "start", "mean", "bounded", "domain T", *SCOPE, *own, *first),
            Combine({"sum": 1 / (rho * T), "bounded": 1 / (rho * T)} | dict.fromkeys(first, 1 / T)),
            "divided by rho T",
        ),
    )
    return Derivation(
        statement,
        (*scope_facts(statement), *facts),
        steps,
        conclusion="conclusion",
        target=mean,
        rounds=((gap(t), t), (G, t)),
    )
