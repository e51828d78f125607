"""Theorem 1's step condition (partial model averaging) is exactly eta Lmax <= 1/tau: both directions, and the largest.

    t        any step size    largest  the largest one that meets Lmax^2 eta^2 tau (tau - 1) + eta Lmax <= 1

The left side rises with the step without a bound, so that it is 1 at the largest step.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.proof import Proof, eq, symbols

READINGS = ("factored", "as_printed")

Lmax, tau, t, u, largest = symbols("Lmax tau t u largest")


def left(step: Any) -> Any:
    """The left side of the condition."""
    return Lmax**2 * step**2 * tau * (tau - 1) + step * Lmax


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    p = Proof(statement, largest)
    p.range("t", t >= 0, "any step size")
    p.range("u", u > t, "any larger one")
    p.known("largest", sp.And(eq(left(largest), 1), largest >= 0), "the step at which the left side is 1")
    p.step("factors", eq(left(t) - 1, (t * Lmax * tau - 1) * (t * Lmax * tau - t * Lmax + 1)),
        why="with e = eta Lmax: (e tau - 1) (e tau - e + 1)")
    p.step("second factor", t * Lmax * tau - t * Lmax + 1 > 0, why="tau >= 1")
    p.step("necessary", sp.Implies(left(t) <= 1, t * Lmax * tau <= 1), "factors", "second factor",
        why="the condition implies eta Lmax <= 1/tau")
    p.step("sufficient", sp.Implies(t * Lmax * tau <= 1, left(t) <= 1), "factors", "second factor",
        why="eta Lmax <= 1/tau implies the condition")
    p.step("rises", left(u) > left(t), why="a larger step has a larger left side")
    if p.reading == "factored":
        p.conclude(eq(largest, 1 / (tau * Lmax)), "largest", why="the root of the first factor")
    else:
        p.conclude(eq(largest, 2 / (1 + sp.sqrt(1 + 4 * tau * (tau - 1))) / Lmax), "largest",
            why="the positive root of the quadratic")
    return p.done()
