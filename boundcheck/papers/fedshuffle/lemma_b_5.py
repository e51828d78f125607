"""Lemma B.5: the variance of a mean of vectors that are drawn without replacement."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

NUMBER = common.n.but(key="", meaning="number of vectors", low=Fraction(1))
DRAWN = common.k.but(meaning="how many of them are drawn", low=Fraction(1), index=False)
VARIANCE = common.sigma2.but(key="", meaning="mean squared distance of the vectors to their mean")
n, k, sigma2 = NUMBER.expr, DRAWN.expr, VARIANCE.expr

theorem = Theorem(
    source=Source(PAPER, "Lemma B.5", "Appendix B.3, (21)"),
    title="Sampling without replacement",
    symbols=(NUMBER, DRAWN, VARIANCE),
    metric=Metric.last("sampling_variance", GRADIENT2, expectation="which vectors are drawn"),
    kind=Kind.EQUALITY,
    domain=(k <= n,),
    assumptions=(Assumption("without_replacement", "k of n fixed vectors are drawn, all subsets alike."),),
    belief=Belief.TRUE,
    readings={
        "as_printed": Reading(
            symbols=(NUMBER.but(low=Fraction(2)),),
            bound=(n - k) / (k * (n - 1)) * sigma2,
            remark="One vector is left out: it would be 0/0, and the variance is 0. The second sum of the printed "
            "proof lacks its 1/k^2.",
        ),
        "corrected": Reading(
            bound=(n - k) / (k * sp.Max(1, n - 1)) * sigma2,
            replaces="n - 1 by max(1, n - 1)",
            why="The lemma says any number of vectors, but is 0/0 for one. One vector is its own mean, so that sigma2 "
            "and the variance are 0; a client with a single sample needs this case.",
        ),
    },
)
