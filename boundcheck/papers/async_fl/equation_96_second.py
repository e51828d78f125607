"""(96): the residual Sigma_2, with squared weights."""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "(96)", "Appendix A.4, both inequalities"),
    title="Residual Sigma_2 at the minimisers of the rounds' problems",
    symbols=NOTATION,
    metric=Metric.constant("surrogate/S2", GRADIENT2, "the schedule"),
    readings={
        "corrected": Reading(
            bound=sp.Min(1, q_max / q_min) * (4 * L * R + 2 * Sigma) / q_min,
            belief=Belief.TRUE,
            assumptions=(smooth_samples, convex_samples),
            replaces="max q_i(n) by the smaller of 1 and max q_i(n)/min q(n), and the bound of Sigma_1",
            why="The weights of Sigma_2 are squares of q_i(n)/q(n), of which one factor is at most 1 and at most max "
            "q_i(n)/min q(n).",
        ),
        "as_printed": Reading(
            bound=q_max * (4 * L * R + 2 * Sigma),
            belief=Belief.FALSE,
            assumptions=(smooth_clients, convex_clients),
            symbols=(L_OF_CLIENTS,),
            remark="Right for q(n) >= 1. Both steps need it.",
        ),
    },
)
