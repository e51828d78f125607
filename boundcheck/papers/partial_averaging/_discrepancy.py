"""What the statements about pure noise share: the models' distance from their average where F is flat."""

from __future__ import annotations

from typing import Any

from boundcheck.papers.partial_averaging._shared import NOISE, PAPER, Reading, eta, k, m, sigma2, symbols_in
from boundcheck.theory.assumptions import Assumption, averages_uniformly, block_variance, pure_noise
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Algorithm, Condition, Kind, Metric, Source, Statement

# what one step of noise adds to the distance: eta^2 sigma^2 (m-1)/m, sigma^2 over the whole model
STEP_NOISE = eta**2 * sigma2 * (m - 1) / m


def of_pure_noise(
    reading: Reading, title: str, bound: Any, kind: str, conditions: tuple[Condition, ...], *more: Assumption
) -> Statement:
    """The expected squared distance after k iterations, averaged over the models."""
    return Statement(
        source=Source(
            PAPER, "Figure 2", "the model discrepancy; in the model without gradients, by direct computation"
        ),
        reading=reading.name,
        title=title,
        symbols=symbols_in(bound, k, *conditions, also=("tau", "eta")),
        metric=Metric("discrepancy", LENGTH2, index="k", rounds=k, expectation=NOISE),
        bound=bound,
        kind=Kind.EQUALITY,
        algorithm=Algorithm(kind, ("tau", "eta")),
        conditions=conditions,
        assumptions=(pure_noise, block_variance, averages_uniformly, *more),
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )
