"""Lemma 2 (model discrepancy): how far the models are from their average, by the noise and the local gradients."""

from boundcheck.papers.partial_averaging.definitions import *
from boundcheck.theory.declare import *

MEASURED = nonnegative("local_grad2", "mean over iterations and workers of E|grad F_i(x_i)|^2, as measured", GRADIENT2,
                       r"\overline{\mathbb{E}\|\nabla F_i(x_i)\|^2}")  # fmt: skip
local_grad2 = MEASURED.expr
ONE_BLOCK = (
    "The printed sums weigh block j with L_j^2; this is the lemma with equal L_j, divided by L_j^2. The L_j are "
    "arbitrary here: the lemma is one inequality a block, and needs no smoothness. The local gradients on the right, "
    "of the workers' own objectives at their own models, are measured."
)

theorem = Theorem(
    source=Source(PAPER, "Lemma 2", "Appendix B, (64), the model discrepancy"),
    title="The mean squared distance of the models from their average",
    symbols=(*NOTATION, MEASURED),
    metric=Metric.mean("discrepancy", LENGTH2, index=K, expectation="the samples of all steps"),
    algorithm=BLOCK_AVERAGING,
    assumptions=(block_variance, averages_uniformly),
    belief=Belief.TRUE,
    best="as_printed",
    readings={
        "as_printed": Reading(
            bound=eta**2 * (tau - 1) * sigma2 + eta**2 * tau * (tau - 1) * local_grad2,
            remark=f"{ONE_BLOCK} It holds for any number of iterations, though the proof takes multiples of tau.",
        ),
        "sharp": Reading(
            bound=eta**2 * (tau - 1) * (m - 1) / m * sigma2 + eta**2 * tau * (tau - 1) * local_grad2,
            replaces="sigma^2 by (m-1)/m sigma^2",
            why="(38) bounds |(J - I) xi|^2 by |xi|^2; for independent noise of m workers its mean is (m-1)/m of that.",
            remark=ONE_BLOCK,
        ),
    },
)
