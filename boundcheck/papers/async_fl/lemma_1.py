"""Lemma 1: the second moment of a weighted sum over a random cohort (51), the bounds of gamma_i, and the remark (55).

The remark is a lower bound of the cross terms, said to follow from Jensen's inequality.
"""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

TOGETHER = nonnegative("together", "|sum of q_i x_i|^2", FREE, r"\|\sum_i q_i x_i\|^2")
ROOT = FREE.power(Fraction(1, 2))
IDENTITY = (
    nonnegative("own", "sum over the clients of gamma_i |x_i|^2, gamma_i = E w_i^2 - alpha q_i^2", FREE,
                r"(\sum_i \gamma_i\|x_i\|^2)"),
    TOGETHER,
)  # fmt: skip
ONE_CLIENT = (
    positive("d", "weight d_i(n) of a client when it takes part"),
    nonnegative("q_i", "expected weight q_i(n) of the client"),
)
REMARK = (
    TOGETHER,
    nonnegative("single", "sum of q_i^2 |x_i|^2", FREE, r"(\sum_i q_i^2\|x_i\|^2)"),
    share("qt_max", "largest normalised expected weight q_i(n)/q(n) of the round", latex=r"\tilde{q}_{\max}"),
    *(positive(f"q_{i}", f"expected weight of client {i}") for i in (1, 2)),
    *(Symbol(f"x_{i}", f"vector of client {i}, a number", ROOT) for i in (1, 2)),
)
own, together = (symbol.expr for symbol in IDENTITY)
d, q_i = (symbol.expr for symbol in ONE_CLIENT)
_, single, qt_max, q_1, q_2, x_1, x_2 = (symbol.expr for symbol in REMARK)
chance = sp.Symbol("chance", real=True)

theorems = {
    "lemma_1": Theorem(
        source=Source(PAPER, "Lemma 1", "Appendix A.3, (51)"),
        title="Second moment of a sum with random weights: E|sum of w_i x_i|^2",
        symbols=(*NOTATION, *IDENTITY),
        metric=Metric.formula(FREE),
        kind=Kind.FORMULA,
        assumptions=(covariance_of_weights,),
        bound=own + alpha * together,
        belief=Belief.TRUE,
        readings={
            "corrected": Reading(
                replaces="alpha in (0, 1) and all pairs by alpha in [0, 1] and pairs of different clients",
                why="With i = j Assumption 5 says E w_i^2 = alpha q_i^2 < (E w_i)^2, which no weight satisfies unless "
                "q_i = 0; and the paper itself uses alpha = 0 and alpha = 1.",
                remark="alpha is unique only if two clients can take part together; where they never do, alpha = 1 is "
                "as right as alpha = 0 for weights that are not random.",
            ),
            "as_printed": Reading(
                conditions=ASSUMPTION_5,
                remark="The identity is right. Assumption 5 taken literally, with i = j and alpha in (0, 1), is empty.",
            ),
        },
    ),
    "lemma_1_gamma": Theorem(
        source=Source(PAPER, "Lemma 1", "Appendix A.3, after (51)"),
        title="Variance of a client's weight beyond alpha q_i^2",
        symbols=(*NOTATION, *ONE_CLIENT),
        metric=Metric.formula(  # the weight is d with the probability `chance`, else 0
            ONE, chance * d**2 - alpha * (chance * d) ** 2, where={"q_i": chance * d}, meets=("covariance_of_weights",)
        ),
        domain=(q_i <= d,),
        assumptions=(covariance_of_weights,),
        belief=Belief.TRUE,
        readings={
            "corrected": Reading(
                kind=Kind.EQUALITY,
                bound=q_i * (d - alpha * q_i),
                replaces="the bound beta q_i, beta the largest d_i - alpha q_i over all clients",
                why="A weight is 0 or d_i, so that E w_i^2 = d_i q_i and gamma_i = q_i (d_i - alpha q_i) exactly; a "
                "client that cannot take part has gamma_i = 0, but counts with d_i in the printed beta.",
                remark="Weights with more than two values (clients drawn with replacement) have another gamma_i.",
            ),
            "as_printed": Reading(
                bound=sp.Max(0, d - alpha * q_i) * q_i,
                remark="The bound beta q_i for one client. With the largest beta over all clients, those that cannot "
                "take part too, it is true and loose: FedFix's beta = 0 needs them left out.",
            ),
        },
    ),
    "lemma_1_jensen": Theorem(
        source=Source(PAPER, "Lemma 1, remark", "Appendix A.3, (55)"),
        title="Lower bound of the sum over different clients of <q_i x_i, q_j x_j>",
        symbols=REMARK,
        metric=Metric.formula(
            FREE,
            2 * q_1 * x_1 * q_2 * x_2,
            where={
                "together": (q_1 * x_1 + q_2 * x_2) ** 2,
                "single": (q_1 * x_1) ** 2 + (q_2 * x_2) ** 2,
                "qt_max": sp.Max(q_1, q_2) / (q_1 + q_2),
            },
        ),
        kind=Kind.LOWER_BOUND,
        readings={
            "corrected": Reading(
                kind=Kind.EQUALITY,
                bound=together - single,
                belief=Belief.TRUE,
                replaces="the bound by (54) itself",
                why="Jensen bounds |sum of q_i x_i|^2 by q(n) sum of q_i |x_i|^2, the other way round. For x_1 = -x_2 "
                "and q = (1/2, 1/2) the cross terms are -|x_1|^2/2.",
            ),
            "as_printed": Reading(
                bound=(1 - qt_max) * together,
                belief=Belief.FALSE,
                remark="The cross terms can be negative; the remark is used nowhere.",
            ),
        },
    ),
}
