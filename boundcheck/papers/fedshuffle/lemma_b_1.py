"""Lemma B.1: strong convexity with the gradient at a perturbed point."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

RISE = Symbol("rise", "h(y) - h(z)", VALUE, latex="(h(y)-h(z))")
YZ = nonnegative("norm2_yz", "squared distance of y and z", LENGTH2, r"\|y - z\|^2")
ZX = nonnegative("norm2_zx", "squared distance of z and x", LENGTH2, r"\|z - x\|^2")
rise, norm2_yz, norm2_zx = RISE.expr, YZ.expr, ZX.expr

theorem = Theorem(
    source=Source(PAPER, "Lemma B.1", "Appendix B.1"),
    title="Perturbed strong convexity: <grad h(x), y - z> for any x, y, z",
    symbols=(
        common.mu.but(low_open=False, key="", meaning="convexity constant of h, 0 allowed"),
        common.L.but(key="", meaning="smoothness constant of h"),
        RISE,
        YZ,
        ZX,
    ),
    metric=Metric.last("perturbed_inner_product", VALUE, expectation="none: the lemma is about any function"),
    domain=(MU_AT_MOST_L,),
    assumptions=(
        Assumption("smooth_function", "h is L-smooth."),
        Assumption("strongly_convex_function", "h is mu-strongly convex."),
    ),
    belief=Belief.TRUE,
    best="as_printed",
    readings={
        "as_printed": Reading(
            bound=rise - mu / 4 * norm2_yz + L * norm2_zx,
            remark="Printed with both sides multiplied by -1, as a lower bound on <grad h(x), z - y>.",
        ),
        "sharp": Reading(
            bound=rise - mu / 4 * norm2_yz + (L + mu) / 2 * norm2_zx,
            replaces="the factor L of |z - x|^2",
            why="Strong convexity brings mu/2 |z - x|^2 and smoothness L/2 |z - x|^2, whose sum the proof rounds up to "
            "L |z - x|^2, twice as much where mu = 0. There it is attained by h = L x^2/2 at y = x.",
        ),
    },
)
