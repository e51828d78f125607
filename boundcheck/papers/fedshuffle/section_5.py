"""Section 5, remarks after Theorem 5.1: M of three ways to draw clients, the middle term, and noise with replacement.

The smallest M among samplings that draw clients independently is, for two clients, one expected, taken at p_1 : p_2 =
sqrt(w_1) : sqrt(w_2), where (1 - p_i) w_i/p_i is the same for both.
"""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

CLIENTS = common.n.but(meaning="number of clients", low=Fraction(1))
COHORT = count("b", "clients in a round", key="participation/b")
LARGEST = positive("w_max", "the largest weight of a client", high=Fraction(1), key="clients/w_max")
n_clients, b, w_max = CLIENTS.expr, COHORT.expr, LARGEST.expr

LEAST = positive("w_min", "the smallest weight of a client", high=Fraction(1), key="clients/w_min")
MEAN_COHORT = positive("b", "expected number of clients in a round", key="participation/b")
w_min, b_mean = LEAST.expr, MEAN_COHORT.expr

# either of the two will do
WEIGHT = positive("w", "weight of one of the two clients", high=Fraction(1), high_open=True, key="clients/w_min")
w = WEIGHT.expr

dist2, slope = sp.symbols("dist2 slope", real=True)
BALANCED = (
    positive("dist2", "squared distance of the start", LENGTH2),
    positive("slope", "coefficient of the step in the noise", GRADIENT2, "c"),
)


def noise(rounds: Any) -> Any:
    """The term slope et at the step et that makes dist2/(et R) + slope et least, where both are equal."""
    return slope * sp.sqrt(dist2 / (slope * rounds))


theorems = {
    "section_5_full_participation": Theorem(
        source=Source(PAPER, "Section 5", "the remarks after Theorem 5.1, with s_i of uniform sampling from Section 3"),
        title="M of b of n clients drawn uniformly",
        symbols=(CLIENTS, COHORT, LARGEST),
        metric=Metric.constant("participation/M", ONE, "the participation"),
        kind=Kind.EQUALITY,
        domain=(b <= n_clients,),
        assumptions=(Assumption("uniform_participation", "b of the n clients are drawn, all subsets alike."),),
        belief=Belief.TRUE,
        readings={
            "corrected": Reading(
                bound=(n_clients - b) / sp.Max(1, n_clients - 1) * n_clients / b * w_max,
                replaces="n - 1 by max(1, n - 1)",
                why="A single client always takes part, and s_i = (n - b)/(n - 1) is 0/0 for it.",
                remark="0 exactly when b = n; the first term of Theorem 5.1 is a multiple of M or of its root.",
            ),
            "as_printed": Reading(
                symbols=(CLIENTS.but(low=Fraction(2)),),
                bound=(n_clients - b) / (n_clients - 1) * n_clients / b * w_max,
                remark="Two clients or more. 0 exactly when b = n; the first term of Theorem 5.1 is a multiple of M or "
                "of its root.",
            ),
        },
    ),
    "section_5_importance": Theorem(
        source=Source(PAPER, "Section 5", "the paragraph after Theorem 5.1, importance sampling"),
        title="M of importance sampling",
        symbols=(LEAST, MEAN_COHORT),
        metric=Metric.constant("participation/M", ONE, "the participation"),
        kind=Kind.EQUALITY,
        domain=(b_mean * w_min <= 1,),
        assumptions=(
            Assumption(
                "importance_participation", "Clients take part independently of each other, client i with b w_i <= 1."
            ),
        ),
        readings={
            "corrected": Reading(
                bound=1 / b_mean - w_min,
                belief=Belief.TRUE,
                replaces="(1 - min w)/b by 1/b - min w",
                why="Independent clients have s_i = 1 - p_i, so that s_i w_i/p_i = (1 - b w_i)/b.",
            ),
            "as_printed": Reading(
                bound=(1 - w_min) / b_mean,
                belief=Belief.FALSE,
                remark="Right for b = 1; too large for b > 1, so that bounds stay true.",
            ),
        },
    ),
    "section_5_importance_optimal": Theorem(
        source=Source(PAPER, "Section 5", "importance sampling: 'the M term is minimized for this sampling'"),
        title="Smallest M of two independently drawn clients, one a round in the mean",
        symbols=(WEIGHT,),
        metric=Metric.constant("participation/M", ONE, "the participation"),
        kind=Kind.EQUALITY,
        assumptions=(
            Assumption(
                "smallest_m_of_two",
                "There are two clients of total weight 1. They take part independently of each other, one a round in "
                "the mean, with the probabilities for which M is smallest.",
            ),
        ),
        readings={
            "corrected": Reading(
                bound=sp.sqrt(w * (1 - w)),
                belief=Belief.TRUE,
                replaces="the claim that probabilities in proportion to the weights minimise M",
                why="M = max (1 - p_i) w_i/p_i is least where all entries are equal, at p_i = w_i/(w_i + M); for two "
                "clients with p_1 + p_2 = 1 that gives M^2 = w_1 w_2.",
            ),
            "as_printed": Reading(
                bound=1 - sp.Min(w, 1 - w),
                belief=Belief.FALSE,
                remark="M at p_i = w_i, 1 - min w. For the weights 9/10 and 1/10 it is 9/10, but p = (3/4, 1/4) has "
                "3/10.",
            ),
        },
    ),
    "section_5_middle_term": Theorem(
        source=Source(PAPER, "Section 5", "the remarks after Theorem 5.1, strongly convex"),
        title="The middle term, from local steps with reshuffling",
        symbols=(*NOTATION, HORIZON),
        metric=Metric.formula(VALUE),
        kind=Kind.FORMULA,
        printed_rate=H / (mu * R * eta_g * E) ** 2,
        readings={
            "corrected": Reading(
                bound=L * H / (mu * R * eta_g * E) ** 2,
                domain=(MU_AT_MOST_L,),
                belief=Belief.TRUE,
                replaces="the term without the factor L",
                why=LOST_L,
                remark="Here et is the effective step E*eta_g*eta_l of a round.",
            ),
            "as_printed": Reading(
                bound=H / (mu * R * eta_g * E) ** 2,
                belief=Belief.FALSE,
                remark="The two limits are right; the unit is not that of a gap.",
            ),
        },
    ),
    "section_5_with_replacement": Theorem(
        source=Source(PAPER, "Section 5", "the remarks after Theorem 5.1: 'this would be R and R^(1/3)'"),
        title="Order in R of the noise term of unbiased local steps, general convex and non-convex",
        symbols=(HORIZON, *BALANCED),
        metric=Metric.formula(ONE, noise(R) / noise(1)),
        kind=Kind.EQUALITY,
        printed_rate=1 / sp.cbrt(R),
        readings={
            "corrected": Reading(
                bound=1 / sp.sqrt(R),
                belief=Belief.TRUE,
                replaces="R^(1/3) by R^(1/2)",
                why="Independent noise enters the recursion with the square of the step, as M G^2 does: Lemma B.3 "
                "turns d/(et R) + c1 et into 2 (c1 d/R)^(1/2).",
                remark="Here et is the effective step E*eta_g*eta_l of a round.",
            ),
            "as_printed": Reading(
                bound=1 / sp.cbrt(R),
                belief=Belief.FALSE,
                remark="True as a bound, but not the order: unbiased noise decays faster.",
            ),
        },
    ),
}
