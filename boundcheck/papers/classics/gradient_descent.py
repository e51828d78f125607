"""Gradient descent on smooth functions: convex, not convex, and strongly (quasi-)convex."""

from boundcheck.papers.classics.definitions import *
from boundcheck.theory.declare import *

SHARED: dict[str, Any] = {"symbols": NOTATION, "algorithm": Algorithm("gradient_descent", ("eta",))}

theorems = {
    "gradient_descent_convex": Theorem(
        **SHARED,
        source=Source(NESTEROV, "gradient descent, convex", "Section 2.1.5, a bound of its kind"),
        title="Gradient descent on a smooth convex function",
        metric=Metric.last("gap", VALUE, index=k),
        assumptions=(*SMOOTH, convexity),
        conditions=(Condition("step size", eta <= 1 / L, SMALL_STEP),),
        trivial=L * dist2_0 / 2,
        printed_rate=1 / k,
        best="sharp",
        readings={
            "as_printed": Reading(bound=dist2_0 / (2 * eta * k), belief=Belief.TRUE),
            "sharp": Reading(
                bound=dist2_0 / (4 * eta * k + 2 / L),
                source=Source(DRORI, "Theorem 3.1", "with the step size h/L, h at most 1"),
                belief=Belief.TRUE,
                replaces="dist2_0/(2 eta k)",
                why="This is the exact worst case over all smooth convex functions; the Huber function attains it.",
            ),
        },
    ),
    "gradient_descent_nonconvex": Theorem(
        **SHARED,
        source=Source(NESTEROV, "gradient descent, non-convex", "Section 1.2.3"),
        title="Mean squared gradient norm of gradient descent",
        metric=Metric.mean("grad2", GRADIENT2, index=k),
        assumptions=(*SMOOTH, bounded_below),
        trivial=2 * L * gap_0,
        printed_rate=1 / k,
        best="sharp",
        belief=Belief.TRUE,
        readings={
            "as_printed": Reading(
                bound=2 * gap_0 / (eta * k), conditions=(Condition("step size", eta <= 1 / L, SMALL_STEP),)
            ),
            "sharp": Reading(
                bound=gap_0 / (eta * (1 - eta * L / 2) * k),
                conditions=(Condition("step size", eta < 2 / L, SMALL_STEP),),
                replaces="2 gap_0/(eta k) and eta <= 1/L",
                why="The descent lemma gives a decrease by eta (1 - eta L/2) |grad F|^2, of which eta/2 is the least.",
            ),
        },
    ),
    "gradient_descent_strongly_convex": Theorem(
        **SHARED,
        source=Source(POLYAK, "gradient descent, strongly convex", "Section 1.4"),
        title="Gradient descent on a smooth, strongly quasi-convex function",
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
    ),
}
