"""The proof of the second part of Lemma B.6 (FedShuffle, Appendix B.4), inequality (23)."""

from __future__ import annotations

from typing import Any

from boundcheck.proof.proof import Proof, eq, symbols
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import inner, norm2, vector

READINGS = ("as_printed", "sharp")

tau, squares, spread, norm2_of_sum, i = symbols("tau squares spread norm2_of_sum i")
v, mean = vector("v", i), vector("mean")


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    p = Proof(statement, norm2_of_sum)
    p.index(i, tau, "the vectors")
    p.known("squares", eq(squares, total(norm2(v), i, tau)), "sum of the squared norms")
    p.known("sum", eq(norm2_of_sum, norm2(vector_total(v, i, tau))), "squared norm of the sum")
    if p.reading == "sharp":
        p.define(mean, vector_total(v, i, tau) / tau, "of the vectors")
        p.known("deviations", eq(total(inner(v - mean, mean), i, tau), 0),
            "the differences of the vectors to their mean add up to 0")
        p.known("spread", eq(spread, total(norm2(v - mean), i, tau)), "squared distances to the mean")
        p.step("1", eq(norm2_of_sum, tau**2 * norm2(mean)), "sum", "mean", why="the sum is tau times the mean")
        p.conclude(eq(norm2_of_sum, tau * (squares - spread)), "1", "deviations", "squares", "spread",
            why="the squared distances expanded")
    else:
        p.square_of_sum("1", v, over=(i, tau), why="Jensen's inequality for the mean")
        p.conclude(norm2_of_sum <= tau * squares, "1", "squares", "sum", why="in the lemma's words")
    return p.done()
