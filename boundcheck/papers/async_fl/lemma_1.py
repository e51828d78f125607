"""Lemma 1 (51): the second moment of a weighted sum over a random cohort."""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

own, together = sp.symbols("own together", real=True)

theorem = Theorem(
    source=Source(PAPER, "Lemma 1", "Appendix A.3, (51)"),
    title="Second moment of a sum with random weights: E|sum of w_i x_i|^2",
    symbols=(
        *NOTATION,
        nonnegative(
            "own",
            "sum over the clients of gamma_i |x_i|^2, gamma_i = E w_i^2 - alpha q_i^2",
            FREE,
            latex=r"(\sum_i \gamma_i\|x_i\|^2)",
        ),
        nonnegative("together", "|sum of q_i x_i|^2", FREE, latex=r"\|\sum_i q_i x_i\|^2"),
    ),
    metric=Metric.formula(FREE),
    kind=Kind.FORMULA,
    assumptions=(covariance_of_weights,),
    bound=own + alpha * together,
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            replaces="alpha in (0, 1) and all pairs by alpha in [0, 1] and pairs of different clients",
            why="With i = j Assumption 5 says E w_i^2 = alpha q_i^2 < (E w_i)^2, which no weight satisfies unless q_i "
            "= 0; and the paper itself uses alpha = 0 and alpha = 1.",
            remark="alpha is unique only if two clients can take part together; where they never do, alpha = 1 is as "
            "right as alpha = 0 for weights that are not random.",
        ),
        "as_printed": Reading(
            conditions=ASSUMPTION_5,
            remark="The identity is right. Assumption 5 taken literally, with i = j and alpha in (0, 1), is empty.",
        ),
    },
)
