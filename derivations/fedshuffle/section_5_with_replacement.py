"""Section 5 of FedShuffle: the order in R of unbiased noise, from the two terms that Lemma B.3 balances.

d/(et R) + c*et is least at et = sqrt(d/(c R)), where both terms agree; noise(R) and noise(1) are that term.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.proof import Proof, eq, symbols

READINGS = ("corrected",)
R, d, c, et, first, noise, start, order, root = symbols("R d c et first noise start order root")


def derivation(statement: Any) -> Any:
    """The derivation of the corrected reading."""
    p = Proof(statement, order)
    p.known("d", d > 0, "the distance of the start")
    p.known("c", c > 0, "the coefficient of the noise")
    p.known("et", sp.And(et > 0, eq(c * R * et**2, d)), "where d/(et R) and c et agree")
    p.known("first", sp.And(first > 0, eq(c * first**2, d)), "the same for R = 1")
    p.define(root, sp.sqrt(R), "the root of the rounds")
    p.known("noise", eq(noise, c * et), "the term of R rounds")
    p.known("start", eq(start, c * first), "the term of one round")
    p.known("order", eq(order * start, noise), "how it falls with R")
    p.step("ratio", eq(R * et**2, first**2), "et", "first", "d", "c", why="both are d/c")
    p.signs(root >= 0, "root", why="a root")
    p.step("squares", eq(first**2, root**2 * et**2), "ratio", "root", why="R is the root squared")
    p.signs(first > 0, "first", why="a step size")
    p.signs(et > 0, "et", why="a step size")
    p.step("equal", eq(first, root * et), "squares", "root >= 0", "first > 0", "et > 0", why="both are positive")
    p.conclude(eq(order, 1 / sp.sqrt(R)), "order", "noise", "start", "root", "equal", "et", "first", "d", "c",
        why="divided")
    return p.done()
