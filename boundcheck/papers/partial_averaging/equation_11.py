"""Equation (11): the averaging matrix P_(1,1) of the example with m = 2, tau = 2 and blocks of 2 and 1 numbers."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.partial_averaging._matrices import of_matrices
from boundcheck.papers.partial_averaging._shared import Reading, d, m, tau
from boundcheck.theory.assumptions import averages_uniformly
from boundcheck.theory.statement import Belief, Condition

BEST = "corrected"

_EXAMPLE = (
    Condition("workers", sp.Eq(m, 2)),
    Condition("blocks", sp.Eq(tau, 2)),
    Condition("numbers", sp.Eq(d, 3), "blocks of 2 and 1"),
)


def _statement(reading: Reading, bound: object):
    return of_matrices(
        reading,
        "equation (11)",
        "What the second worker's number weighs in the first one's average",
        "averaging_cross_weight",
        bound=bound,
        conditions=_EXAMPLE,
        assumptions=(averages_uniformly,),
    )


STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="diag(1/2, 1/2) by the matrix with all entries 1/2",
            why="(8) gives (1/m) 1 1' kron I. The printed matrix halves every model: its rows sum to 1/2, against "
            "property 1, and J P is not J, against property 2.",
        ),
        sp.Rational(1, 2),
    ),
    _statement(Reading("as_printed", Belief.FALSE, remark="The entry off the diagonal is printed as 0."), sp.S.Zero),
)
