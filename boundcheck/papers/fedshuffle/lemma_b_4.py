"""Lemma B.4: the variance of an unbiased sum over a random cohort."""

from __future__ import annotations

from boundcheck.papers.fedshuffle._cohort_variance import VARIANCE, weighted_squares
from boundcheck.papers.fedshuffle._shared import PAPER
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.statement import Belief, Source, Statement

BEST = "as_printed"

_squares = weighted_squares("sum over the clients of w_i^2 s_i/p_i |z_i|^2")

STATEMENTS = (
    Statement(
        source=Source(PAPER, "Lemma B.4", "Appendix B.3"),
        reading="as_printed",
        title="Variance of the sum of w_i z_i/p_i over a cohort",
        symbols=(_squares,),
        metric=VARIANCE,
        bound=_squares.expr,
        assumptions=(
            Assumption(
                "cohort_variance",
                "The cohort is drawn with inclusion probabilities p_i > 0, and P - p p^T is at most diag(p_i s_i), P "
                "being the matrix of the probabilities of pairs.",
            ),
        ),
        belief=Belief.TRUE,
    ),
)
