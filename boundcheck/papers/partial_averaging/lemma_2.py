"""Lemma 2 (model discrepancy): how far the models are from their average, by the noise and the local gradients."""

from __future__ import annotations

from boundcheck.papers.partial_averaging._shared import (
    METHOD,
    PAPER,
    K,
    Reading,
    eta,
    local_grad2,
    m,
    of_discrepancy,
    sigma2,
    symbols_in,
    tau,
)
from boundcheck.theory.assumptions import averages_uniformly, block_variance
from boundcheck.theory.statement import Belief, Source, Statement

BEST = "as_printed"

_MEANT = (
    "The printed sums weigh block j with L_j^2; this is the lemma with equal L_j, divided by L_j^2. The L_j are "
    "arbitrary here: the lemma is one inequality a block, and needs no smoothness. The local gradients on the right, "
    "of the workers' own objectives at their own models, are measured."
)


def _statement(reading: Reading) -> Statement:
    noise = sigma2 if reading.name == "as_printed" else (m - 1) / m * sigma2
    bound = eta**2 * (tau - 1) * noise + eta**2 * tau * (tau - 1) * local_grad2
    return Statement(
        source=Source(PAPER, "Lemma 2", "Appendix B, (64), the model discrepancy"),
        reading=reading.name,
        title="The mean squared distance of the models from their average",
        symbols=symbols_in(bound, K),
        metric=of_discrepancy(),
        bound=bound,
        algorithm=METHOD,
        assumptions=(block_variance, averages_uniformly),
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )


STATEMENTS = (
    _statement(
        Reading(
            "as_printed",
            Belief.TRUE,
            remark=f"{_MEANT} It holds for any number of iterations, though the proof takes multiples of tau.",
        )
    ),
    _statement(
        Reading(
            "sharp",
            Belief.TRUE,
            replaces="sigma^2 by (m-1)/m sigma^2",
            why="(38) bounds |(J - I) xi|^2 by |xi|^2; for independent noise of m workers its mean is (m-1)/m of that.",
            remark=_MEANT,
        )
    ),
)
