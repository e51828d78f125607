"""Lemma B.4: the variance of an unbiased sum over a random cohort."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from boundcheck.papers.fedshuffle._cohort_variance import VARIANCE, weighted_squares
from boundcheck.papers.fedshuffle._shared import PAPER
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.dimension import GRADIENT2, ONE
from boundcheck.theory.statement import Belief, Kind, Source, Statement
from boundcheck.theory.symbols import Symbol, common

BEST = "as_printed"

_SOURCE = Source(PAPER, "Lemma B.4", "Appendix B.3")
_TITLE = "Variance of the sum of w_i z_i/p_i over a cohort"
_squares = weighted_squares("sum over the clients of w_i^2 s_i/p_i |z_i|^2")
_clients = common.n.but(meaning="number of clients", low=Fraction(1))
_cohort = Symbol("b", "clients in a round", ONE, integer=True, low=Fraction(1))
_own = Symbol("squares", "sum over the clients of |w_i z_i|^2", GRADIENT2, low=Fraction(0))
_all = Symbol("norm2_sum", "squared norm of the sum of the w_i z_i", GRADIENT2, low=Fraction(0))
n, b = _clients.expr, _cohort.expr

STATEMENTS = (
    Statement(
        source=_SOURCE,
        reading="as_printed",
        title=_TITLE,
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
    Statement(
        source=_SOURCE,
        reading="uniform",
        title=_TITLE + ", all cohorts of one size alike",
        symbols=(_clients, _cohort, _own, _all),
        metric=VARIANCE,
        bound=(n - b) / (b * sp.Max(1, n - 1)) * (n * _own.expr - _all.expr),
        kind=Kind.EQUALITY,
        domain=(sp.Le(b, n), sp.Le(_all.expr, n * _own.expr)),
        assumptions=(Assumption("uniform_cohort", "b of the n clients are drawn, all subsets alike."),),
        belief=Belief.TRUE,
        replaces="the bound for any cohort by the variance itself, for b clients drawn uniformly",
        why="The sum is n times the mean of b of the w_i z_i drawn without replacement, so that Lemma B.5 gives its "
        "variance. Without the squared norm of the sum it is the printed bound, which is attained where that is 0.",
    ),
)
