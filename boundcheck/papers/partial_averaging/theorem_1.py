"""Theorem 1: partial averaging on IID data, smooth non-convex objectives."""

from __future__ import annotations

from boundcheck.papers.partial_averaging._shared import (
    BLOCKS,
    COUPLED,
    GLOBAL,
    METHOD,
    PAPER,
    SEPARABLE,
    STEP_1,
    WEIGHTED,
    WEIGHTED_WHY,
    Reading,
    Smooth,
    iid,
    of_average,
    symbols_in,
    theorem_1_bound,
)
from boundcheck.theory.statement import Belief, Source, Statement

BEST = "corrected"


def _statement(reading: Reading, smooth: Smooth) -> Statement:
    bound = theorem_1_bound(smooth)
    return Statement(
        source=Source(PAPER, "Theorem 1", "Convergence analysis for IID data, (4); proof in Appendix B"),
        reading=reading.name,
        title="Averaged blocks on IID data: the mean squared gradient at the averaged model",
        symbols=symbols_in(bound, STEP_1, smooth=smooth),
        metric=of_average(),
        bound=bound,
        algorithm=METHOD,
        conditions=(STEP_1,),
        assumptions=iid(smooth),
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )


STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="Assumption 1 by a Lipschitz condition on the whole gradient with the weights L_j",
            why=f"{WEIGHTED_WHY}.",
            remark="Any number of iterations, any partition and any order that meets every block within tau steps.",
        ),
        WEIGHTED,
    ),
    _statement(
        Reading(
            "global",
            Belief.TRUE,
            replaces="Assumption 1 by smoothness with one constant L, taken for every L_j",
            why=f"{COUPLED}; with one constant it is plain smoothness.",
        ),
        GLOBAL,
    ),
    _statement(
        Reading(
            "separable",
            Belief.TRUE,
            replaces="Assumption 1 by |grad_j F(x) - grad_j F(y)| <= L_j |x_j - y_j| for all x and y",
            why="Step (30) uses exactly this inequality. It makes F a sum of functions of one block each, which no "
            "network with several layers is.",
        ),
        SEPARABLE,
    ),
    _statement(
        Reading("as_printed", Belief.FALSE, remark=f"Assumption 1 read block by block. {COUPLED}."),
        BLOCKS,
    ),
)
