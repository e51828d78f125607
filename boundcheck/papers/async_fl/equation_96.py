"""(96): the residuals Sigma_1 and Sigma_2 at the rounds' own minimisers by R and Sigma."""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

theorems = {
    "equation_96": Theorem(
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
                why="Sigma_1 is a mean with the normalised weights q_i(n)/q(n), while R and Sigma have the weights "
                "q_i(n). Time-based weights on unequal hardware always have a round with q(n) < 1.",
            ),
            "as_printed": Reading(
                bound=4 * L * R + 2 * Sigma,
                belief=Belief.FALSE,
                assumptions=(smooth_clients, convex_clients),
                symbols=(L_OF_CLIENTS,),
                remark="Right for q(n) >= 1. One client with q(n) = c: the left side is E|g|^2, the right one 2 c "
                "E|g|^2.",
            ),
        },
    ),
    "equation_96_second": Theorem(
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
                why="The weights of Sigma_2 are squares of q_i(n)/q(n), of which one factor is at most 1 and at most "
                "max q_i(n)/min q(n).",
            ),
            "as_printed": Reading(
                bound=q_max * (4 * L * R + 2 * Sigma),
                belief=Belief.FALSE,
                assumptions=(smooth_clients, convex_clients),
                symbols=(L_OF_CLIENTS,),
                remark="Right for q(n) >= 1. Both steps need it.",
            ),
        },
    ),
}
