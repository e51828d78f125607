"""Lemma C.2: the drift of the local iterates in one round, where the losses are convex.

The lemma's own P^2 and sigma^2, which H_c and beta_c have, are a third of those of Section 5.
"""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Lemma C.2", "Appendix C"),
    title="Drift of one round of FedShuffle",
    symbols=NOTATION,
    algorithm=Algorithm("fedshuffle", ("E", "eta_l", "eta_g"), any_value=("participation",)),
    metric=Metric.last("drift", LENGTH2, scale=3 * L * et, expectation="orders of the samples"),
    conditions=(
        Condition("step size", et <= 1 / (4 * beta_c * L)),
        Condition("server step size", eta_g >= 1),
    ),
    assumptions=(smooth_samples, relaxed_dissimilarity, local_variance, data_weights),
    readings={
        "corrected": Reading(
            bound=sp.Rational(9, 10) * et * F + 9 * L * et**3 / (eta_g * E) ** 2 * H_c,
            belief=Belief.TRUE,
            replaces="the last term by L times it",
            why="Lemma C.2 multiplies the drift by 3*L*et and then drops the L, so that its last term, and everything "
            "built on it, has the wrong unit.",
            remark="P2 and sigma2 are those of Section 5; the lemma's own are a third of them. The gap is that of the "
            "point at which the round starts.",
        ),
        "as_printed": Reading(
            bound=sp.Rational(9, 10) * et * F + 9 * et**3 / (eta_g * E) ** 2 * H_c,
            belief=Belief.FALSE,
            remark="The left side is [x]^2, as the gap term is, but the last term lacks the unit of L. One client with "
            "the samples lam/2 (x -+ 1)^2 and the start at the minimiser breaks it for every lam > 4.",
        ),
        "sharp": Reading(
            bound=sp.Rational(6, 7) * et * F + sp.Rational(48, 7) * L * et**3 / (eta_g * E) ** 2 * H_c,
            belief=Belief.TRUE,
            replaces="9/10 and 9 by 6/7 and 48/7",
            why="The paper rounds what its own argument gives.",
            remark="P2 and sigma2 are those of Section 5; the lemma's own are a third of them. The gap is that of the "
            "point at which the round starts.",
        ),
    },
)
