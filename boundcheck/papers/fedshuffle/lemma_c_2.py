"""Lemma C.2: the drift of the local iterates in one round, and its form in the proof of Theorem 5.1 without convexity.

There the gap becomes a squared gradient. The lemma's own P^2 and sigma^2, which H_c and beta_c have, are a third of
those of Section 5.
"""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

SHARED: dict[str, Any] = {
    "symbols": NOTATION,
    "algorithm": FEDSHUFFLE,
    "conditions": (Condition("step size", et <= 1 / (4 * beta_c * L)), SERVER_STEP),
    "belief": Belief.TRUE,
}
OWN_LETTERS = (
    "P2 and sigma2 are those of Section 5; the lemma's own are a third of them. The gap is that of the point at which "
    "the round starts."
)

theorems = {
    "lemma_c_2": Theorem(
        **SHARED,
        source=Source(PAPER, "Lemma C.2", "Appendix C"),
        title="Drift of one round of FedShuffle",
        metric=Metric.last("drift", LENGTH2, scale=3 * L * et, expectation="orders of the samples"),
        assumptions=(smooth_samples, relaxed_dissimilarity, local_variance, data_weights),
        readings={
            "corrected": Reading(
                bound=sp.Rational(9, 10) * et * F + 9 * L * et**3 / (eta_g * E) ** 2 * H_c,
                replaces="the last term by L times it",
                why=LOST_L,
                remark=OWN_LETTERS,
            ),
            "as_printed": Reading(
                bound=sp.Rational(9, 10) * et * F + 9 * et**3 / (eta_g * E) ** 2 * H_c,
                belief=Belief.FALSE,
                remark="The left side is [x]^2, as the gap term is, but the last term lacks the unit of L. One client "
                "with the samples lam/2 (x -+ 1)^2 and the start at the minimiser breaks it for every lam > 4.",
            ),
            "sharp": Reading(
                bound=sp.Rational(6, 7) * et * F + sp.Rational(48, 7) * L * et**3 / (eta_g * E) ** 2 * H_c,
                replaces="9/10 and 9 by 6/7 and 48/7",
                why="The paper rounds what its own argument gives.",
                remark=OWN_LETTERS,
            ),
        },
    ),
    "lemma_c_2_nonconvex": Theorem(
        **SHARED,
        source=Source(PAPER, "Lemma C.2", "Appendix C, the partial result that the non-convex case reuses"),
        title="Drift of one round of FedShuffle without convexity",
        metric=Metric.last("drift", LENGTH2, expectation="orders of the samples"),
        assumptions=(smooth_samples, gradient_dissimilarity, local_variance, bounded_below, data_weights),
        readings={
            "corrected": Reading(
                bound=grad2_0 / (7 * L**2) + sp.Rational(16, 7) * eta_l**2 * H_c,
                replaces="the gap of Lemma C.2 by the squared gradient over 2 L",
                why="That is how the proof of Theorem 5.1 reuses the lemma, with the constants before they are "
                "rounded.",
            )
        },
    ),
}
