"""The proof of Corollary 1 (asynchronous federated learning, Section 3.3, (20)) as checked steps.

n = 0, ..., N-1 counts the rounds; in each a client can take part, and L^n = q(n) F, so that F and L^n have the same
minimisers. Besides the notation of Theorem 1,

    gap(n)  E F(theta^n) - F*      Z(n)   E L^n(theta^n) less the minimum of L^n, and Zbar its mean over the rounds
    mean    mean of gap(n)         rg(n)  L^n at the minimiser of the surrogate problem, less its minimum; mean Rbar

The printed reading has the gap of F at most that of L^n, which needs q(n) >= 1.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.proof import Proof, eq, functions, symbols
from boundcheck.proof.sums import total
from boundcheck.theory.discovery import statement as find_statement

READINGS = ("corrected", "as_printed")

q_min, R, s, period, n, mean, Zbar, Rbar = symbols("q_min R s period n mean Zbar Rbar")
q, gap, Z, rg = (f(n) for f in functions("q gap Z rg"))
N = s * period


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    p = Proof(statement, mean, named=("condition step size (98)",))
    printed, theorem = p.reading == "as_printed", f"async_fl/theorem_1/{p.reading}"
    least = sp.Integer(1) if printed else q_min
    p.index(n, N, "rounds")
    p.known("mean", eq(mean, total(gap, n, N) / N), "mean over the rounds")
    p.known("Zbar", eq(Zbar, total(Z, n, N) / N), "mean over the rounds, what Theorem 1 bounds")
    p.known("Rbar", eq(Rbar, total(rg, n, N) / N), "mean over the rounds, R of Theorem 1")
    p.known("gap >= 0", gap >= 0, "a gap")
    p.known("rg >= 0", rg >= 0, "a gap")
    p.assume("Z", "same_expected_weights", Z >= q * gap, "s_j(n) = q(n) r_j, so that L^n = q(n) F")
    p.assume("rg", "same_expected_weights", rg <= 0, "the surrogate problem is F times the mean of q(n)")
    if printed:
        p.known("q", q > 0, "a client can take part")
    else:
        p.assume("q", "no_empty_rounds", q >= q_min, "q_min is the smallest of the rounds")

    p.step("round", least * gap <= Z, {"Z": 1, "gap >= 0": q - least}, "q", numbers=(q,),
        why="the gap of F by that of L^n")
    p.sum_over("rounds", None, "round", n, N, why="all rounds")
    p.sum_over("residual", total(rg, n, N) <= 0, "rg", n, N, why="all rounds")
    p.sum_over("residual >= 0", total(rg, n, N) >= 0, "rg >= 0", n, N, why="all rounds")
    p.step("Rbar >= 0", Rbar >= 0, {"residual >= 0": 1 / N}, "Rbar", why="a mean")
    p.step("Rbar <= 0", Rbar <= 0, {"residual": 1 / N}, "Rbar", why="a mean")
    p.cite("Theorem 1", None, theorem, Zbar, "Rbar >= 0", R=Rbar, why="the mean gap of the rounds' own problems")
    bound: Any = sp.expand(find_statement(theorem).bound)
    back = bound.coeff(R)  # the factor of R in Theorem 1
    p.conclude(mean <= p.bound, {"rounds": 1 / (least * N), "Theorem 1": 1 / least, "Rbar <= 0": back / least}, "mean",
        "Zbar", why="R is 0, and divided by the smallest q(n)")
    return p.done()
