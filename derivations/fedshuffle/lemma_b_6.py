"""The proof of the first part of Lemma B.6 (FedShuffle, Appendix B.4), inequality (22)."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.proof import Proof, eq, symbols
from boundcheck.proof.rules import Triangle, Young
from boundcheck.proof.vectors import norm2, vector

READINGS = ("as_printed", "sharp")

a, norm2_u, norm2_v, norm2_of_sum = symbols("a norm2_u norm2_v norm2_of_sum")
u, v = vector("u"), vector("v")


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    p = Proof(statement, norm2_of_sum)
    p.known("u", eq(norm2_u, norm2(u)), "squared norm")
    p.known("v", eq(norm2_v, norm2(v)), "squared norm")
    p.known("sum", eq(norm2_of_sum, norm2(u + v)), "squared norm")
    if p.reading == "sharp":
        p.step("0", norm2_of_sum >= 0, "sum", why="a squared norm")
        p.rule("1", Triangle(u, v), why="the triangle inequality")
        p.step("2", sp.sqrt(norm2_of_sum) <= sp.sqrt(norm2_u) + sp.sqrt(norm2_v), "0", "1", "u", "v", "sum",
            why="in the lemma's words")
        p.conclude(norm2_of_sum <= (sp.sqrt(norm2_u) + sp.sqrt(norm2_v))**2, "0", "2",
            why="both sides squared")
    else:
        p.rule("1", Young(u, v, a), why="the square that the printed identity subtracts")
        p.conclude(norm2_of_sum <= (1 + a) * norm2_u + (1 + 1 / a) * norm2_v, {"1": 1}, "u", "v", "sum",
            why="the squared norm expanded")
    return p.done()
