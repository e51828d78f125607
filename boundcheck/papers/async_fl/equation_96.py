"""(96): the residual at the rounds' own minimisers by R and Sigma."""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "(96)", "Appendix A.4, the second inequality"),
    title="Residual Sigma_1 at the minimisers of the rounds' problems",
    symbols=NOTATION,
    metric=Metric.constant("surrogate/S1", GRADIENT2, "the schedule"),
    readings={
        "corrected": Reading(
            bound=(4 * L * R + 2 * Sigma) / q_min,
            belief=Belief.TRUE,
            assumptions=(smooth_samples, convex_samples),
            replaces="the right side by its quotient with the smallest q(n)",
            why="Sigma_1 is a mean with the normalised weights q_i(n)/q(n), while R and Sigma have the weights q_i(n). "
            "Time-based weights on unequal hardware always have a round with q(n) < 1.",
        ),
        "as_printed": Reading(
            bound=4 * L * R + 2 * Sigma,
            belief=Belief.FALSE,
            assumptions=(smooth_clients, convex_clients),
            symbols=(L_OF_CLIENTS,),
            remark="Right for q(n) >= 1. One client with q(n) = c: the left side is E|g|^2, the right one 2 c E|g|^2.",
        ),
    },
)
