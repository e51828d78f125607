"""Gradient descent on a smooth convex function."""

from __future__ import annotations

from dataclasses import replace

from boundcheck.papers.classics._shared import SMOOTH_DESCENT, STEPS, TEXTBOOK, L, at_most, dist2_0, eta, k
from boundcheck.theory.assumptions import convexity
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Algorithm, Belief, Metric, Source, Statement
from boundcheck.theory.symbols import common

BEST = "sharp"

_printed = Statement(
    source=Source(
        TEXTBOOK, "gradient descent, convex", "Y. Nesterov, Introductory Lectures, Section 2.1.5, in its kind"
    ),
    reading="as_printed",
    title="Gradient descent on a smooth convex function",
    symbols=(common.L, common.eta, common.dist2_0, STEPS),
    metric=Metric("gap", VALUE, index="k", rounds=k),
    bound=dist2_0 / (2 * eta * k),
    algorithm=Algorithm("gradient_descent", ("eta",)),
    conditions=(at_most(1 / L),),
    assumptions=(*SMOOTH_DESCENT, convexity),
    trivial=L * dist2_0 / 2,
    belief=Belief.TRUE,
    printed_rate=1 / k,
)

STATEMENTS = (
    replace(
        _printed,
        reading="sharp",
        source=Source(
            "Performance of first-order methods for smooth convex minimization: a novel approach (Y. Drori, "
            "M. Teboulle)",
            "Theorem 3.1",
            "Mathematical Programming 145, 2014",
        ),
        bound=dist2_0 / (4 * eta * k + 2 / L),
        replaces="dist2_0/(2 eta k)",
        why="This is the exact worst case over all smooth convex functions; the Huber function attains it.",
    ),
    _printed,
)
