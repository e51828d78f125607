"""Lemma D.2: how far the direction of an MVR epoch is from the gradient of f."""

from __future__ import annotations

from boundcheck.papers.fedshuffle._appendix_d import A35, MOMENTUM, declare, gam2, h2, mvr, y2
from boundcheck.papers.fedshuffle._shared import PAPER, Reading, a, delta
from boundcheck.theory.dimension import GRADIENT2
from boundcheck.theory.statement import Belief, Metric, Source, Statement

BEST = "as_printed"

_READINGS = (
    Reading(
        "as_printed",
        Belief.TRUE,
        remark="In the proof a factor 3, a square and an inequality sign are missing in one line; the next has them.",
    ),
    Reading(
        "sharp",
        Belief.TRUE,
        replaces="the factor 1 of the momentum error by (1 - a)^2",
        why="The direction carries the momentum with the factor 1 - a, which the last line of the proof rounds up to "
        "1. With a = 1 no momentum is left, and neither is its error.",
    ),
)

STATEMENTS = tuple(
    Statement(
        source=Source(PAPER, "Lemma D.2", "Appendix D, (27)"),
        reading=reading.name,
        title="The direction of an epoch of FedShuffleMVR against the gradient of f",
        symbols=(*declare("h2", "y2", "gam2", "delta"), declare("a")[0].but(low_open=False)),
        metric=Metric("direction_error2", GRADIENT2, expectation="none: it holds for every outcome"),
        bound=3 * (h2 if reading.name == "as_printed" else (1 - a) ** 2 * h2) + 3 * delta**2 * y2 + 3 * a**2 * gam2,
        algorithm=mvr("a"),
        conditions=(MOMENTUM,),
        assumptions=(A35,),
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )
    for reading in _READINGS
)
