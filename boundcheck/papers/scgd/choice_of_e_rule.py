"""The rule for E below "Choice of E"."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.scgd.definitions import HORIZON, PAPER, ell, mu
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Belief, Kind, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

theorem = Theorem(
    source=Source(PAPER, "Choice of E", "Section 3.2, the rule for the number of local steps"),
    title="The number of local steps that makes the contraction T^(-2)",
    symbols=HORIZON,
    metric=Metric("none", ONE),
    kind=Kind.FORMULA,
    readings={
        "corrected": Reading(
            sp.ceiling(6 / (mu * ell)),
            belief=Belief.TRUE,
            replaces="the rule E = ceil(4/(mu*ell))",
            why="With the factor 1/3 of Theorem 3.3 the printed rule gives T^(-4/3) only.",
        ),
        "as_printed": Reading(
            sp.ceiling(4 / (mu * ell)),
            belief=Belief.FALSE,
            remark="The order T^(-2) claimed for it does not follow from Theorem 3.3.",
        ),
    },
)
