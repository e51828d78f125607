"""Lemma B.4: the variance of an unbiased sum over a random cohort."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

GIVEN = (
    nonnegative("weighted_squares", "sum over the clients of w_i^2 s_i/p_i |z_i|^2", GRADIENT2,
                r"(\sum_i \frac{s_i w_i^2}{p_i}\|z_i\|^2)"),
    common.n.but(meaning="number of clients", low=Fraction(1)),
    count("b", "clients in a round"),
    nonnegative("squares", "sum over the clients of |w_i z_i|^2", GRADIENT2, r"(\sum_i \|w_i z_i\|^2)"),
    nonnegative("norm2_sum", "squared norm of the sum of the w_i z_i", GRADIENT2, r"\|\sum_i w_i z_i\|^2"),
)  # fmt: skip
weighted_squares, n, b, squares, norm2_sum = (symbol.expr for symbol in GIVEN)

theorem = Theorem(
    source=Source(PAPER, "Lemma B.4", "Appendix B.3"),
    title="Variance of the sum of w_i z_i/p_i over a cohort",
    symbols=GIVEN,
    metric=Metric.last("participation_variance", GRADIENT2, expectation="cohort"),
    belief=Belief.TRUE,
    best="as_printed",
    readings={
        "as_printed": Reading(
            bound=weighted_squares,
            assumptions=(
                Assumption(
                    "cohort_variance",
                    "The cohort is drawn with inclusion probabilities p_i > 0, and P - p p^T is at most diag(p_i s_i), "
                    "P being the matrix of the probabilities of pairs.",
                ),
            ),
        ),
        "uniform": Reading(
            title="Variance of the sum of w_i z_i/p_i over a cohort, all cohorts of one size alike",
            bound=(n - b) / (b * sp.Max(1, n - 1)) * (n * squares - norm2_sum),
            kind=Kind.EQUALITY,
            domain=(sp.Le(b, n), sp.Le(norm2_sum, n * squares)),
            assumptions=(Assumption("uniform_cohort", "b of the n clients are drawn, all subsets alike."),),
            replaces="the bound for any cohort by the variance itself, for b clients drawn uniformly",
            why="The sum is n times the mean of b of the w_i z_i drawn without replacement, so that Lemma B.5 gives "
            "its variance. Without the squared norm of the sum it is the printed bound, which is attained where that "
            "is 0.",
        ),
    },
)
