"""Gradient descent on smooth convex functions (Drori and Teboulle, 2014, Theorem 1, with step 1/L)."""

from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Algorithm, Condition, Metric, Source, Statement
from boundcheck.theory.symbols import common

L, eta, k, dist2_0 = common.L.expr, common.eta.expr, common.k.expr, common.dist2_0.expr
STATEMENTS = (
    Statement(
        name="theorem_1",
        source=Source("Performance of first-order methods (Drori, Teboulle)", "Theorem 1", "h <= 1"),
        reading="as_printed",
        title="Gradient descent on smooth convex functions",
        symbols=(common.L, common.eta, common.dist2_0, common.k),
        metric=Metric("gap", VALUE, index="k", rounds=k),
        bound=L * dist2_0 / (4 * k * eta * L + 2),
        algorithm=Algorithm("gradient_descent", ("eta",)),
        conditions=(Condition("step size", eta * L <= 1),),
    ),
)
