"""Gradient descent on smooth convex functions (Drori and Teboulle, 2014, Theorem 1, with step 1/L)."""

from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Algorithm, Condition, Metric, Source
from boundcheck.theory.symbols import common
from boundcheck.theory.theorem import Reading, Theorem

SYMBOLS = (common.L, common.eta, common.dist2_0, common.k)
L, eta, dist2_0, k = (symbol.expr for symbol in SYMBOLS)

theorems = {
    "theorem_1": Theorem(
        source=Source("Performance of first-order methods (Drori, Teboulle)", "Theorem 1", "h <= 1"),
        title="Gradient descent on smooth convex functions",
        symbols=SYMBOLS,
        algorithm=Algorithm("gradient_descent", ("eta",)),
        metric=Metric("gap", VALUE, index="k", rounds=k),
        conditions=(Condition("step size", eta * L <= 1),),
        readings={"as_printed": Reading(L * dist2_0 / (4 * k * eta * L + 2))},
    ),
}
