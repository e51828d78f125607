"""Remark 4 (partial model averaging): the same threshold as Remark 2's; K^3 > m as printed is refuted."""

from __future__ import annotations

from typing import Any

from boundcheck.proof.proof import Proof, eq, symbols

READINGS = ("corrected", "as_printed")

threshold, REMARK_2 = symbols("threshold"), "partial_averaging/remark_2_speedup/as_printed"


def derivation(statement: Any) -> Any:
    """The derivation of one reading: Remark 2's, with this reading's threshold as its conclusion."""
    p = Proof(statement, threshold)
    p.take_facts(REMARK_2)
    p.take_steps(REMARK_2)
    p.conclude(eq(threshold, p.bound), "threshold", why="divided by the threshold")
    return p.done()
