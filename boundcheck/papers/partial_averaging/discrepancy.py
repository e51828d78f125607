"""Figure 2: how far the models are from their average, computed where F is flat and every step is noise.

A step adds eta^2 sigma^2 (m - 1)/m to the expected squared distance, with the variance sigma^2 of the whole model.
"""

from boundcheck.papers.partial_averaging.definitions import *
from boundcheck.theory.declare import *

DONE = common.k.but(meaning="iterations that are done")
k = DONE.expr
FIGURE = Source(PAPER, "Figure 2", "the model discrepancy; in the model without gradients, by direct computation")
DISCREPANCY = Metric.last("discrepancy", LENGTH2, index=k, expectation="the samples of all steps")

theorems = {
    "discrepancy_partial": Theorem(
        source=FIGURE,
        title="Discrepancy of partial averaging in pure noise",
        symbols=(*NOTATION, DONE),
        metric=DISCREPANCY,
        kind=Kind.EQUALITY,
        bound=eta**2 * sigma2 * (m - 1) / m * (tau - 1) / 2,
        algorithm=Algorithm("partial_averaging", ("tau", "eta")),
        conditions=(Condition("after the first period", k >= tau),),
        assumptions=(pure_noise, block_variance, averages_uniformly, even_noise),
        belief=Belief.TRUE,
        readings={
            "derived": Reading(
                replaces="the figure's flat curve, for which no formula is printed",
                why="At any time the tau blocks are 0, 1, ..., tau - 1 steps from their last average, so that noise of "
                "equal variance in every block adds to (tau-1)/2 steps of the whole model.",
            )
        },
    ),
    "discrepancy_periodic": Theorem(
        source=FIGURE,
        title="Discrepancy of periodic averaging in pure noise",
        symbols=(*NOTATION, DONE),
        metric=DISCREPANCY,
        kind=Kind.EQUALITY,
        bound=eta**2 * sigma2 * (m - 1) / m * (k - tau * sp.floor(k / tau)),
        algorithm=Algorithm("periodic_averaging", ("tau", "eta")),
        assumptions=(pure_noise, block_variance, averages_uniformly),
        belief=Belief.TRUE,
        readings={
            "derived": Reading(
                replaces="the figure's saw-tooth, for which no formula is printed",
                why="After every tau-th iteration the models agree, and until the next average every step adds its "
                "noise.",
                remark="The mean over a period is the constant of partial averaging, its peak twice that.",
            )
        },
    ),
}
