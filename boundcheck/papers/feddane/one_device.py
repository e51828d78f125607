"""The proof of Theorem 7: the quadratic upper model of f at the point that one device returns.

The constants are those of the device, 1/mu_k, gamma_k and L_k; g is the mean gradient in its subproblem. The average
over S'_t is the decrease of an iteration.
"""

from boundcheck.papers.feddane.definitions import *
from boundcheck.theory.declare import *

OWN = (
    positive("inv", "1/mu_k", STEP, r"\mu_k^{-1}"),
    nonnegative("gam", "gamma_k", latex=r"\gamma_k"),
    nonnegative("lip", "L_k", CURVATURE, "L_k"),
    nonnegative("grad2", "squared gradient norm of f at w^{t-1}", GRADIENT2, r"\|\nabla f(w^{t-1})\|^2"),
    Symbol("product", "expected inner product of g with the gradient of f", GRADIENT2,
           latex=r"\mathbb{E}\langle g,\nabla f\rangle"),
    nonnegative("square", "E|g|^2", GRADIENT2, r"\mathbb{E}\|g\|^2"),
    nonnegative("factor", "bound of E|g|^2 over the squared gradient norm of f", latex="c"),
)  # fmt: skip
inv, gam, lip, grad2, product, square, factor = (symbol.expr for symbol in OWN)

# What the device contributes to rho.
rho = inv - (lip * inv**2 + gam * inv) * (1 + factor) / 2 - L_f * (1 + gam) ** 2 * inv**2 * factor / 2

theorem = Theorem(
    source=Source(PAPER, "Theorem 7", "Appendix V-F, (21) to (28), for one device"),
    title="The upper model of f at the point of one device",
    symbols=(*NOTATION, *OWN),
    metric=Metric.last("upper_model", VALUE, expectation="S_t and the local solver"),
    bound=-rho * grad2,
    conditions=(
        Condition("unbiased", product >= grad2, "E g = grad f"),
        Condition("second moment", square <= factor * grad2),
    ),
    assumptions=(
        Assumption("convex_device", "F_k is convex."),
        Assumption("smooth_device", "F_k is L_k-smooth."),
        Assumption("inexact_device", "The device's solution is gamma_k-inexact (Definition 1)."),
    ),
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            replaces="L_k in the descent step by the smoothness L_f of f",
            why="The descent step (21) is about f, of which L_k is no smoothness constant.",
        )
    },
)
