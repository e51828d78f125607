"""What the paragraphs on the horizon-dependent step eta = ell*log(T)/T share."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.papers.scgd._shared import C_APP, E, L, mu, n, sigma2
from boundcheck.theory.statement import Condition
from boundcheck.theory.symbols import common

ell, T = common.ell.expr, common.T.expr

HORIZON = common.T.but(low=Fraction(2), meaning="communication rounds, known in advance; a multiple of n")

STEP_CONDITION = Condition(
    "step size",
    sp.Le(n * E * ell * sp.log(T) / T, C_APP),
    "condition (3) with the constant of Appendix A",
)

# Theorem 3.3 is about whole cycles, T = nK
WHOLE_CYCLES = Condition("whole cycles", sp.Eq(sp.floor(T / n), T / n), "every device is visited equally often")

# second term of the display below "Choice of E"
NOISE = 12 * L**2 * ell**2 / mu**2 * sigma2 * n**2 * E**2 * sp.log(T) ** 2 / T**2


def local_steps_at_least(factor: int) -> Condition:
    """E >= factor/(mu*ell), which makes the contraction T^(-factor/3)."""
    return Condition("local steps", sp.Ge(mu * ell * E, factor), f"E is at least {factor}/(mu*ell)")


def contraction(exponent: Any) -> Any:
    """T^(-exponent)."""
    return T ** (-exponent)
