"""Lemma 1 (framework): the mean squared gradient by the gap, the noise and the distance of the models from u."""

from boundcheck.papers.partial_averaging.definitions import *
from boundcheck.theory.declare import *

MEASURED = nonnegative("L2_discrepancy", "mean over iterations and workers of sum of L_j^2 E|u_j - x_ij|^2, as "
                       "measured", GRADIENT2, r"\overline{\sum_j L_j^2\mathbb{E}\|u_j-x_j\|^2}")  # fmt: skip
L2_discrepancy = MEASURED.expr
LAST_TERM = "The last term is measured: the mean over iterations and workers of the sum of L_j^2 E|u_j - x_ij|^2."

theorem = Theorem(
    source=Source(PAPER, "Lemma 1", "Appendix B, (18), the framework"),
    title="The mean squared gradient at u, from the distance of the models from u",
    symbols=(*NOTATION, MEASURED),
    metric=Metric.mean("grad2", GRADIENT2, index=K, expectation="the samples of all steps"),
    algorithm=Algorithm("block_averaging", ("eta",), any_value=("tau", "partition", "order")),
    conditions=(Condition("step size", eta * Lmax <= 1, "printed as eta <= 1/L, L being L_max"),),
    readings={
        "corrected": Reading(
            symbols=WEIGHTED,
            bound=2 * gap_0 / (eta * K) + eta * sum_p2 * sum_L_sigma2 + L2_discrepancy,
            assumptions=(smooth_weighted, block_variance, averages_as_objective, bounded_below),
            belief=Belief.TRUE,
            replaces="Assumption 1 by a Lipschitz condition with the weights L_j, and 1/m by the sum of p_i^2",
            why=f"{WEIGHTED_IS_ENOUGH}. The proof of Theorem 2 uses the lemma for heterogeneous clients, for which the "
            "identity (21) fails worker by worker; applied to the averaged gradient sum of p_i grad F_i(x_i) it gives "
            "the same, with averages that have the weights p_i.",
            remark=f"{LAST_TERM} Theorem 1 needs more, (29): the terms that the condition on the step drops here.",
        ),
        "as_printed": Reading(
            bound=2 * gap_0 / (eta * K) + eta / m * sum_L_sigma2 + L2_discrepancy,
            assumptions=(smooth_blocks, block_variance, iid_clients, averages_as_objective, bounded_below),
            belief=Belief.FALSE,
            remark=f"{LAST_TERM} {COUPLED}.",
        ),
    },
)
