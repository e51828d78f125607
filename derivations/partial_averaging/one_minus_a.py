"""The last step of the proof of Theorem 2 (partial model averaging, Appendix C): 1/(1 - A) under its step condition.

The printed rounding of 1 + 1/(2 beta^2) to 2/3 is refuted; 3/2 is what the theorem's constants 3 and 6 come from.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.proof import Proof, eq, symbols

READINGS = ("corrected", "sharp", "as_printed")

A, beta2, inverse = symbols("A beta2 inverse")


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    p = Proof(statement, inverse)
    p.known("inverse", eq(inverse * (1 - A), 1), "inverse is 1/(1 - A)")
    p.signs(A < 1, why="the proof divides by 1 - A")
    p.step("half", A * beta2 / (1 - A) <= sp.Rational(1, 2), "A < 1", why="moved to the left side")
    p.step("before rounding", inverse <= 1 + 1 / (2 * beta2), "inverse", "half", "A < 1",
        why="1/(1 - A) = 1 + A/(1 - A)")
    if p.reading == "sharp":
        p.ends_with("before rounding")
    else:
        p.step("1/2", 1 / (2 * beta2) <= sp.Rational(1, 2), why="beta^2 >= 1; 2/3 is printed")
        p.conclude(inverse <= p.bound, "before rounding", "1/2", "inverse", why="rounded")
    return p.done()
