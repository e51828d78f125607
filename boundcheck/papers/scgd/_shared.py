"""What the statements about SCGD share: symbols, the step condition in its three forms, readings.

Shaocong Ma, "Semi-Cyclic Gradient Descent Outperforms Federated Averaging with Sufficiently Small
Learning Rate", course report, 2020.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from boundcheck.theory.assumptions import (
    finite_gradient_noise,
    plain_mean,
    smooth_clients,
    strong_quasi_convexity,
)
from boundcheck.theory.statement import Belief, Condition
from boundcheck.theory.symbols import common

PAPER = "Semi-Cyclic Gradient Descent Outperforms Federated Averaging with Sufficiently Small Learning Rate (S. Ma)"

mu, L, n, E, eta = (common.mu.expr, common.L.expr, common.n.expr, common.E.expr, common.eta.expr)
sigma2, dist2_0, K = common.sigma2.expr, common.dist2_0.expr, common.K.expr

# total step of one cycle; the paper writes n E eta each time
s = n * E * eta

# the setting of Section 2, and Assumptions 2.1, 2.2, 2.3
ASSUMPTIONS = (plain_mean, strong_quasi_convexity, smooth_clients, finite_gradient_noise)
MU_AT_MOST_L = sp.Le(mu, L)  # follows from 2.1 and 2.2: mu*dist2 <= <grad F, x - x*> <= L*dist2

_a = (4 * L**2 - mu**2) / (16 * L**4)
_half = 1 / (2 * L)


def _at_most_half(other: Any) -> Any:
    # unevaluated: SymPy would spend start-up time on comparing the two
    return sp.Min(_half, other, evaluate=False)


C_MAIN = _at_most_half(sp.sqrt(mu**2 / (24 * L**4) + _a**2) - _a * mu)  # equation (2), main text
C_APP = _at_most_half(sp.sqrt(mu**2 / (24 * L**4) + (_a * mu) ** 2) - _a * mu)  # Appendix A
C_COR = _at_most_half(sp.sqrt(mu**2 / (48 * L**4) + (_a * mu / 2) ** 2) - _a * mu / 2)


@dataclass(frozen=True)
class Reading:
    """One reading of the step condition (1), (3), with what the project holds of it."""

    name: str
    C: Any
    belief: Belief
    replaces: str = ""
    why: str = ""
    remark: str = ""

    def condition(self, total_step: Any) -> Condition:
        """The step condition on the total step of a cycle."""
        return Condition("step size", sp.Le(total_step, self.C), "equation (1): the total step of a cycle is at most C")


READINGS = (
    Reading(
        "corrected",
        C_APP,
        Belief.TRUE,
        replaces="the third requirement of Appendix A, which does not follow from the display before it",
        why="The constant C of the appendix is kept. Putting 1 - 2L^2s^2 >= 1/2 into the display gives 8L^4/mu where "
        "4L^4/mu is printed; the bracket before that substitution is nevertheless at most 1 - mu s/3 for every "
        "s <= C, which repairs the proof without a smaller step.",
    ),
    Reading(
        "as_printed_main",
        C_MAIN,
        Belief.FALSE,
        remark="Equation (2) lacks a factor mu inside the square; its two terms do not scale alike, and for small L "
        "it allows steps at which the method diverges.",
    ),
    Reading(
        "as_printed_appendix",
        C_APP,
        Belief.TRUE,
        remark="The statement is true; a step of its printed proof is not.",
    ),
    Reading(
        "conservative",
        C_COR,
        Belief.TRUE,
        replaces="the constant C of the appendix by the root of the third requirement with 8L^4/mu",
        why="This is what the three displayed requirements give when the factor 2 is kept; the step is 9 to 13 per "
        "cent smaller.",
    ),
)
