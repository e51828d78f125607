"""Gradient descent on a smooth function that is bounded below."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from boundcheck.papers.classics._shared import SMOOTH_DESCENT, STEPS, TEXTBOOK, L, at_most, eta, gap_0, k
from boundcheck.theory.assumptions import bounded_below
from boundcheck.theory.dimension import GRADIENT2
from boundcheck.theory.statement import Algorithm, Belief, Metric, Source, Statement
from boundcheck.theory.symbols import common

BEST = "sharp"

_printed = Statement(
    source=Source(TEXTBOOK, "gradient descent, non-convex", "Y. Nesterov, Introductory Lectures, Section 1.2.3"),
    reading="as_printed",
    title="Mean squared gradient norm of gradient descent",
    symbols=(common.L, common.eta, common.gap_0, STEPS),
    metric=Metric(
        "grad2", GRADIENT2, index="k", rounds=k, average="mean over the k points before the steps", weights=sp.S.One
    ),
    bound=2 * gap_0 / (eta * k),
    algorithm=Algorithm("gradient_descent", ("eta",)),
    conditions=(at_most(1 / L),),
    assumptions=(*SMOOTH_DESCENT, bounded_below),
    trivial=2 * L * gap_0,
    belief=Belief.TRUE,
    printed_rate=1 / k,
)

STATEMENTS = (
    replace(
        _printed,
        reading="sharp",
        bound=gap_0 / (eta * (1 - eta * L / 2) * k),
        conditions=(at_most(2 / L, strict=True),),
        replaces="2 gap_0/(eta k) and eta <= 1/L",
        why="The descent lemma gives a decrease by eta (1 - eta L/2) |grad F|^2, of which eta/2 is the least.",
    ),
    _printed,
)
