"""A file of a theorem as a stranger writes it, tight on the Huber function, for tests of --load and `load_paper`."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from boundcheck.core.loaded import LOADED
from boundcheck.theory.loading import unload

FORMULA = "L * dist2_0 / (4 * k * eta * L + 2)"
TEXT = """
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Algorithm, Condition, Metric, Source
from boundcheck.theory.symbols import common
from boundcheck.theory.theorem import Reading, Theorem

SYMBOLS = (common.L, common.eta, common.dist2_0, common.k)
L, eta, dist2_0, k = (symbol.expr for symbol in SYMBOLS)

theorem = Theorem(
    source=Source("Performance of first-order methods (Drori, Teboulle)", "Theorem 1", "h <= 1"),
    title="Gradient descent on smooth convex functions",
    symbols=SYMBOLS,
    algorithm=Algorithm("gradient_descent", ("eta",)),
    metric=Metric("gap", VALUE, index="k", rounds=k),
    conditions=(Condition("step size", eta * L <= 1),),
    readings={
        "as_printed": Reading(FORMULA),
        "half": Reading((FORMULA) / 2, replaces="the bound", why="it is false, for a test"),
    },
)
"""
THEOREM = TEXT.replace("FORMULA", FORMULA)
PROBLEM = {"kind": "huber", "L": 3, "R": 2, "k": 10}
METHOD = {"kind": "gradient_descent", "eta": "1/3"}


@contextmanager
def unloaded_afterwards() -> Generator[None]:
    """Forgets afterwards what was loaded inside."""
    before = set(LOADED)
    try:
        yield
    finally:
        for name in set(LOADED) - before:
            unload(name)
