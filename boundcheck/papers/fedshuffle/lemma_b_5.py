"""Lemma B.5: the variance of a mean of vectors that are drawn without replacement."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from boundcheck.papers.fedshuffle._shared import PAPER
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.dimension import GRADIENT2
from boundcheck.theory.statement import Belief, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import common

BEST = "as_printed"

_n = common.n.but(meaning="number of vectors", low=Fraction(2))
_k = common.k.but(meaning="how many of them are drawn", low=Fraction(1), index=False)
_sigma2 = common.sigma2.but(meaning="mean squared distance of the vectors to their mean")
n, k, sigma2 = _n.expr, _k.expr, _sigma2.expr

STATEMENTS = (
    Statement(
        source=Source(PAPER, "Lemma B.5", "Appendix B.3, (21)"),
        reading="as_printed",
        title="Sampling without replacement",
        symbols=(_n, _k, _sigma2),
        metric=Metric("sampling_variance", GRADIENT2, expectation="which vectors are drawn"),
        bound=(n - k) / (k * (n - 1)) * sigma2,
        kind=Kind.EQUALITY,
        domain=(sp.Le(k, n),),
        assumptions=(Assumption("without_replacement", "k of n fixed vectors are drawn, all subsets alike."),),
        belief=Belief.TRUE,
        remark="One vector is left out: it would be 0/0, and the variance is 0. The second sum of the printed proof "
        "lacks its 1/k^2.",
    ),
)
