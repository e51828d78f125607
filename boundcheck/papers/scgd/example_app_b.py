"""Appendix B: a strongly quasi-convex function that is not convex."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.scgd.definitions import PAPER
from boundcheck.theory.statement import Belief, Kind, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

theorem = Theorem(
    source=Source(PAPER, "Appendix B", "the function of equation (6)"),
    title="The largest strong quasi-convexity constant of the example",
    symbols=(),
    metric=Metric("none", None),
    kind=Kind.FORMULA,
    bound=sp.Rational(5, 6) - sp.log(sp.Rational(9, 4)),
    readings={
        "as_printed": Reading(
            belief=Belief.TRUE, remark="Attained at x = 3/2, where the third piece meets the fourth."
        ),
    },
)
