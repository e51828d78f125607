"""Theorem 1: the mean squared gradient of partial averaging on IID data, for smooth non-convex objectives.

Assumption 1, "f is L_j-smooth for all x_j", decides whether it is true: each reading takes it in another sense.
"""

from boundcheck.papers.partial_averaging.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Theorem 1", "Convergence analysis for IID data, (4); proof in Appendix B"),
    title="Averaged blocks on IID data: the mean squared gradient at the averaged model",
    symbols=NOTATION,
    metric=Metric.mean("grad2", GRADIENT2, index=K, expectation="the samples of all steps"),
    algorithm=BLOCK_AVERAGING,
    bound=2 * gap_0 / (eta * K) + eta / m * sum_L_sigma2 + eta**2 * (tau - 1) * sum_L2_sigma2,
    conditions=(
        Condition("step size", Lmax**2 * eta**2 * tau * (tau - 1) + eta * Lmax <= 1, "exactly eta*Lmax <= 1/tau"),
    ),
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            symbols=WEIGHTED,
            assumptions=(smooth_weighted, block_variance, iid_clients, averages_as_objective, bounded_below),
            replaces="Assumption 1 by a Lipschitz condition on the whole gradient with the weights L_j",
            why=f"{WEIGHTED_IS_ENOUGH}.",
            remark="Any number of iterations, any partition and any order that meets every block within tau steps.",
        ),
        "global": Reading(
            symbols=GLOBAL,
            bound=2 * gap_0 / (eta * K) + eta / m * Lmax * sigma2 + eta**2 * (tau - 1) * Lmax**2 * sigma2,
            assumptions=(smooth_globally, block_variance, iid_clients, averages_as_objective, bounded_below),
            replaces="Assumption 1 by smoothness with one constant L, taken for every L_j",
            why=f"{COUPLED}; with one constant it is plain smoothness.",
        ),
        "separable": Reading(
            symbols=SEPARABLE,
            assumptions=(smooth_separable, block_variance, iid_clients, averages_as_objective, bounded_below),
            replaces="Assumption 1 by |grad_j F(x) - grad_j F(y)| <= L_j |x_j - y_j| for all x and y",
            why="Step (30) uses exactly this inequality. It makes F a sum of functions of one block each, which no "
            "network with several layers is.",
        ),
        "as_printed": Reading(
            assumptions=(smooth_blocks, block_variance, iid_clients, averages_as_objective, bounded_below),
            belief=Belief.FALSE,
            remark=f"Assumption 1 read block by block. {COUPLED}.",
        ),
    },
)
