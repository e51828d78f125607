"""Gradient descent on a smooth and strongly (quasi-)convex function."""

from boundcheck.papers.classics.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(POLYAK, "gradient descent, strongly convex", "Section 1.4"),
    title="Gradient descent on a smooth, strongly quasi-convex function",
    symbols=NOTATION,
    algorithm=Algorithm("gradient_descent", ("eta",)),
    metric=Metric.last("dist2", LENGTH2, index=k),
    domain=(MU_AT_MOST_L,),
    trivial=dist2_0,
    best="as_printed",
    belief=Belief.TRUE,
    readings={
        "as_printed": Reading(
            bound=(1 - mu * eta) ** k * dist2_0,
            assumptions=(*SMOOTH, strong_quasi_convexity),
            conditions=(Condition("step size", eta <= 1 / L, SMALL_STEP),),
            remark="<grad F, x - x*> >= gap + mu dist2/2 and |grad F|^2 <= 2 L gap give it.",
        ),
        "sharp": Reading(
            bound=(1 - mu * eta) ** (2 * k) * dist2_0,
            title="Gradient descent on a smooth, strongly convex function",
            symbols=OF_SAMPLES,
            assumptions=(smooth_samples, strongly_convex_samples),
            conditions=(Condition("step size", eta <= 2 / (mu + L), SMALL_STEP),),
            replaces="(1 - mu eta)^k and eta <= 1/L",
            why="With strong convexity a step is a contraction by max(1 - mu eta, L eta - 1); x'x mu/2 attains it.",
        ),
    },
)
