"""From (97) to the constraints of Appendix A.5 (asynchronous federated learning): the scalar implications, one by one.

    w  (eta_l (K - 1) L)^2, so that D = 6 w    s  step times L    t  (h tau L)^2    worst  the largest left side

The step is eta_g eta_l as printed, K eta_g eta_l in the corrected reading.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.proof import Proof, eq, symbols

READINGS = ("corrected", "as_printed")

L, K, eta_l, eta_g, rho, alpha, beta, tau, w, s, t, worst = symbols("L K eta_l eta_g rho alpha beta tau w s t worst")


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    p = Proof(statement, worst)
    one, two, three = "(97), 1", "(97), 2", "(97), 3"
    constraints = (  # name, what is at most 1, from which of (97), and where it is used
        ("drift", 12 * w, (one,), "D <= 1/2, of Lemma 3"),
        ("delays", 24 * rho**2 * (alpha + beta) * t, (three,), "of Lemma 6"),
        ("movement", 3 * rho * (alpha + beta) * s, (two,), "where the movement of a round enters twice"),
        ("contraction", 24 * w + 12 * rho * (2 * alpha + beta) * (s + 16 * rho * t), (one, two, three), "(92)"),
        ("step, alone", 3 * rho**2 * s, (two,), "for (94)"),
        ("delays, alone", 48 * rho**3 * t, (three,), "for (94)"),
    )
    p.define(w, eta_l**2 * (K - 1)**2 * L**2, "the local work")
    p.define(s, eta_g * eta_l * (K if p.reading == "corrected" else 1) * L, "the step in units of 1/L")
    p.define(t, (K * eta_g * eta_l * tau * L)**2, "the movement over the delay")
    p.known("worst", eq(worst, sp.Max(*(left for _, left, _, _ in constraints))), "the largest left side")

    p.step(one, sp.And(w >= 0, 48 * w <= 1), "condition local work", "w", why="the first of (97)")
    p.step(two, sp.And(s >= 0, 144 * rho**2 * s <= 1), "condition step", "s", why="the second of (97)")
    p.step(three, sp.And(t >= 0, 2304 * rho**3 * t <= 1), "condition delay", "t", why="the third of (97)")
    for name, left, uses, why in constraints:
        p.step(name, left <= 1, *uses, why=why)
    p.conclude(worst <= 1, "worst", *(name for name, *_ in constraints), why="all of them")
    return p.done()
