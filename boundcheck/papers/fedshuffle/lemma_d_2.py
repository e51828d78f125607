"""Lemma D.2: how far the direction of an MVR epoch is from the gradient of f."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Lemma D.2", "Appendix D, (27)"),
    title="The direction of an epoch of FedShuffleMVR against the gradient of f",
    symbols=(*NOTATION, SYMBOLS["a"].but(low_open=False)),
    algorithm=Algorithm("fedshuffle_mvr", ("a",), any_value=("E", "eta_g", "warm_up")),
    metric=Metric.last("direction_error2", GRADIENT2, expectation="none: it holds for every outcome"),
    conditions=(Condition("momentum", a <= 1, "the momentum parameter a is at most 1"),),
    assumptions=(hessian_similarity,),
    belief=Belief.TRUE,
    best="as_printed",
    readings={
        "as_printed": Reading(
            bound=3 * h2 + 3 * delta**2 * y2 + 3 * a**2 * gam2,
            remark="In the proof a factor 3, a square and an inequality sign are missing in one line; the next has "
            "them.",
        ),
        "sharp": Reading(
            bound=3 * (1 - a) ** 2 * h2 + 3 * delta**2 * y2 + 3 * a**2 * gam2,
            replaces="the factor 1 of the momentum error by (1 - a)^2",
            why="The direction carries the momentum with the factor 1 - a, which the last line of the proof rounds up "
            "to 1. With a = 1 no momentum is left, and neither is its error.",
        ),
    },
)
