"""Definition 1: how inexact a local solution is, and what a solver can know of it.

Both readings are compared on a quadratic subproblem in two dimensions with the curvatures mu - lam + c1 and
mu - lam + c2: w^{t-1} is the origin, the exact solution is at (s1, s2) and the local one at (s1 + e1, s2 + e2).
"""

from boundcheck.papers.feddane.definitions import *
from boundcheck.theory.declare import *

OWN = (
    nonnegative("error2", "squared distance of the local solution to the exact one", LENGTH2, r"\|w_k-\hat{w}_k\|^2"),
    positive("step2", "squared distance of the exact solution to w^{t-1}", LENGTH2, r"\|\hat{w}_k-w^{t-1}\|^2"),
    nonnegative("residual2", "squared gradient norm of the subproblem at the local solution", GRADIENT2,
                r"\|\nabla h_k(w_k)\|^2"),
    positive("moved2", "squared distance of the local solution to w^{t-1}", LENGTH2, r"\|w_k-w^{t-1}\|^2"),
)  # fmt: skip
error2, step2, residual2, moved2 = (symbol.expr for symbol in OWN)
DATA = (
    *(Symbol(f"s{k}", f"coordinate {k} of the exact solution", LENGTH) for k in (1, 2)),
    *(Symbol(f"e{k}", f"coordinate {k} of the error of the local solution", LENGTH) for k in (1, 2)),
    *(nonnegative(f"c{k}", f"curvature of F_k along coordinate {k}, plus lam", CURVATURE) for k in (1, 2)),
)
s1, s2, e1, e2, c1, c2 = (symbol.expr for symbol in DATA)
least = sp.sqrt(e1**2 + e2**2) / sp.sqrt(s1**2 + s2**2)  # the least gamma of the definition
residual, moved = sp.sqrt(residual2), sp.sqrt(moved2)

theorem = Theorem(
    source=Source(PAPER, "Definition 1", "Section IV"),
    title="The gamma with which a local solution is gamma-inexact",
    symbols=(*NOTATION, *OWN, *DATA),
    metric=Metric.formula(ONE, least, where={"error2": e1**2 + e2**2, "step2": s1**2 + s2**2}),
    kind=Kind.EQUALITY,
    belief=Belief.TRUE,
    best="as_printed",
    readings={
        "as_printed": Reading(
            bound=sp.sqrt(error2 / step2),
            remark="The least gamma; the definition asks that it is below 1. Where the exact solution is w^{t-1} "
            "itself, only the exact solution will do.",
        ),
        "certified": Reading(
            title="The gamma with which a local solution is gamma-inexact, from what a solver can compute",
            bound=residual / ((mu - lam) * moved - residual),
            metric=Metric.formula(
                ONE,
                least,
                where={
                    "residual2": ((mu - lam + c1) * e1) ** 2 + ((mu - lam + c2) * e2) ** 2,
                    "moved2": (s1 + e1) ** 2 + (s2 + e2) ** 2,
                },
            ),
            kind=Kind.UPPER_BOUND,
            conditions=(
                ABOVE_CURVATURE,
                Condition(
                    "small residual",
                    residual < (mu - lam) * moved,
                    "the exact solution is known to differ from w^{t-1}",
                ),
            ),
            replaces="the distance to the exact solution, which nobody knows, by the subproblem's gradient",
            why="The subproblem is (mu - lam)-strongly convex: its minimiser is within residual/(mu - lam) of the "
            "local solution, so that the distance of the minimiser to w^{t-1} is at least moved - residual/(mu - lam).",
        ),
    },
)
