"""Remark 2 (partial model averaging): from how many iterations on 1/sqrt(m K) exceeds m/K.

t  any number of iterations, positive    threshold  where both are equal
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.proof import Proof, eq, symbols

READINGS = ("as_printed",)

m, t, threshold = symbols("m t threshold")


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    p = Proof(statement, threshold)
    p.range("t", t > 0, "any number of iterations")
    p.known("threshold", sp.And(threshold > 0, eq((threshold / m)**2, m * threshold)),
        "where 1/sqrt(m K) = m/K, both sides inverted and squared")
    larger = 1 / sp.sqrt(m * t) > m / t
    p.step("enough", sp.Implies(t > m**3, larger), "t", why="beyond m^3 the first term is larger")
    p.step("needed", sp.Implies(larger, t > m**3), "t", why="and not before")
    p.conclude(eq(threshold, p.bound), "threshold", why="divided by the threshold")
    return p.done()
