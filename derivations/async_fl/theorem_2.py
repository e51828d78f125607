"""The proof of Theorem 2 (asynchronous federated learning, Appendix B.2) as checked steps.

n = 0, ..., N-1 counts the rounds; in each a client can take part. Besides the notation of Theorem 1,

    g2(n)   E|grad F(theta^n)|^2       Z(n)  E L^n(theta^n) less the minimum of L^n, and gap its mean over the rounds
    chi(n)  chi_n^2                    spread(n)  the minimum of L^n less the sum of s_j(n) F_j*, q(n) times het(n)
    mean    mean of g2(n)              absent(n)  sum over the kinds j outside W_n of r_j [F_j(theta^n) - F_j*]
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.proof import Proof, eq, functions, symbols
from boundcheck.proof.sums import total

READINGS = ("corrected", "corrected_every_type", "as_printed")

L, q_min, chi2_max, P, U, s, period, n, mean, gap = symbols("L q_min chi2_max P U s period n mean gap")
g2, q, Z, chi, spread, het, absent = (f(n) for f in functions("g2 q Z chi spread het absent"))
N = s * period


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    p = Proof(statement, mean, named=("condition step size (98)",))
    every, printed = p.reading == "corrected_every_type", p.reading == "as_printed"
    facts(p)

    def factor(x: Any, w: Any) -> Any:
        """Of the gap of L^n by chi_n^2 and q(n), over 4 L."""
        if printed:
            return x / w + 1 / w**2
        return ((1 if every else 2) * x + 1) / w

    kinds = 4 * L * (1 if every or printed else 2)  # of what the kinds cost
    others = 4 * L * (0 if every else 1 if printed else 2) * absent
    gaps = 4 * L * factor(chi2_max, q_min)
    signs = ("Z >= 0", "spread >= 0", "chi2", "q", "q > 0", *(() if every else ("absent >= 0",)))
    p.step("q > 0", q > 0, "q", why="no round is empty")
    p.cite("(105)", g2 <= 4 * L * factor(chi, q) * Z + kinds * chi / q * spread + others, f"equation_105/{p.reading}",
        g2, *signs, q=q, chi2_n=chi, gap_n=Z, spread_n=spread, **({} if every else {"absent": absent}),
        why="at theta^n")
    p.step("round", g2 <= gaps * Z + kinds * chi * het + others,
        {"(105)": 1, "spread": kinds * chi / q, "Z >= 0": gaps - 4 * L * factor(chi, q)}, *signs, numbers=(q, chi),
        why="the largest chi2 and the smallest q(n)")
    p.sum_over("rounds", None, "round", n, N, why="all rounds")
    p.cite("Theorem 1", None, f"theorem_1/{'as_printed' if printed else 'corrected'}", gap,
        why="the mean gap of the rounds' own problems")
    p.conclude(mean <= p.bound, {"rounds": 1 / N, "Theorem 1": gaps}, "mean", "gap", "P", *(() if every else ("U",)),
        why="divided by the number of rounds")
    return p.done()


def facts(p: Proof) -> None:
    """What is known of the rounds."""
    p.index(n, N, "rounds")
    p.known("mean", eq(mean, total(g2, n, N) / N), "mean over the rounds")
    p.known("gap", eq(gap, total(Z, n, N) / N), "mean over the rounds, what Theorem 1 bounds")
    p.known("P", eq(P, total(chi * het, n, N) / N), "mean over the rounds")
    p.known("spread", spread <= q * het, "st_j(n) = s_j(n)/q(n)")
    p.known("spread >= 0", spread >= 0, "the minimum of a sum is at least the sum of the minima")
    p.known("Z >= 0", Z >= 0, "a gap")
    p.known("chi2", sp.And(chi >= 0, chi <= chi2_max), "chi2_max is the largest")
    if p.reading == "as_printed":
        p.known("q", q >= q_min, "q_min is the smallest of all rounds")
    else:
        filled = "every_type_every_round" if p.reading == "corrected_every_type" else "no_empty_rounds"
        p.assume("q", filled, q >= q_min, "q_min is the smallest of all rounds")
    if p.reading != "corrected_every_type":
        p.known("U", eq(U, total(absent, n, N) / N), "mean over the rounds")
        p.known("absent >= 0", absent >= 0, "gaps")
