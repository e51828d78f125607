"""Theorem 1 with explicit constants: the error terms as the printed proof gives them, and as they follow.

The paper hides all constants and L in O(.). Printed: line (93) and the step to (94), at the virtual models theta^{n,k}
of (7), with the effective step et = eta_g eta_l. Corrected: the same argument for whole rounds, at the real models
theta^n, with the step h = et K of a round; who takes part is then drawn once between two models, so that the cross term
vanishes, which for K >= 2 it does not between theta^{n,k} and theta^{n,k+1}.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from boundcheck.papers.async_fl._shared import (
    CORRECTED,
    L_OF_CLIENTS,
    OPEN_ALPHA,
    PRINTED,
    ROUNDS,
    S1,
    S2,
    SAMPLES,
    D,
    K,
    L,
    R,
    Reading,
    Sigma,
    alpha,
    at_cap,
    beta,
    dist2_0,
    e,
    et,
    h,
    q_bar,
    q_max,
    q_min,
    rho,
    tau,
)
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.statement import Belief, Condition
from boundcheck.theory.symbols import Symbol

BETA_AT_MOST_9_RHO = Condition(
    "beta", sp.Le(beta, 9 * rho), "the paper takes beta <= 1 for granted when it simplifies its step conditions"
)


def spread(step: Any) -> Any:
    """step + nu (K et tau)^2 with nu = 16 rho L: what the terms with alpha and beta are multiples of."""
    return step + 16 * rho * L * (h * tau) ** 2


@dataclass(frozen=True)
class Errors:
    """The error terms of Theorem 1. start: eps_F; local: eps_K; joint: eps_alpha; single: eps_beta."""

    start: Any
    local: Any
    joint: Any
    single: Any

    @property
    def total(self) -> Any:
        """Their sum."""
        return self.start + self.local + self.joint + self.single


START = dist2_0 / (h * ROUNDS)


def printed_errors(first: Any = S1, second: Any = S2, start: Any = START) -> Errors:
    """As the printed proof ends. first, second: its Sigma_1 and Sigma_2."""
    return Errors(
        start,
        24 * e * L**2 * R + (6 * rho + 12 * alpha) * e * L * first,
        alpha * spread(et) * (24 * rho * L * R + 6 * rho**2 * second),
        beta * spread(et) * (12 * rho * L * R + 6 * rho**2 * first),
    )


def corrected_errors(first: Any = S1, second: Any = S2, start: Any = START) -> Errors:
    """As it follows, for whole rounds."""
    return Errors(
        start,
        24 * e * L**2 * R + (12 * rho + 24 * alpha) * e * L * first,
        alpha * spread(h) * (24 * rho * L * R + 6 * rho**2 * second / K),
        beta * spread(h) * (12 * rho * L * R + 6 * rho**2 * first),
    )


# (96) as printed, and with the sum q(n) that it drops; qt_i(n) <= 1 and <= q_i(n)/q_min
FIRST_PRINTED = 4 * L * R + 2 * Sigma
SECOND_PRINTED = q_max * FIRST_PRINTED
FIRST = FIRST_PRINTED / q_min
SECOND = sp.Min(1, q_max / q_min) * FIRST

# What a method that never moves has at most: in the mean R and q(n) L/2 |theta^0 - thetabar|^2.
IDLE = R + q_bar * L / 2 * dist2_0


def _shrink(size: Any) -> Any:
    """c of (92): the part of the mean gap that comes back on the right. size: `spread` of the step."""
    return 4 * D + 12 * rho * (2 * alpha + beta) * L * size


CONTRACTION = _shrink(spread(h))
CONTRACTION_PRINTED = _shrink(spread(et))


def sharp_errors() -> Any:
    """All error terms without rounding the coefficients, and with the factor 2 - c of the left side kept."""
    noise = 12 * rho * e * L * S1 + spread(h) * (6 * rho**2 * (alpha * D + beta) * S1 + 6 * rho**2 * alpha * S2 / K)
    return (START + CONTRACTION * R + noise) / (2 - CONTRACTION)


# The conditions of Appendix A.5, for the step h of a round; printed for et where they have a single power of it.
DRIFT = Condition("drift", sp.Le(D, sp.Rational(1, 2)), "Lemma 3")


def delays() -> Condition:
    """Lemma 6: the movement of a round must not come back through the delays."""
    return Condition("delays", sp.Le(12 * rho**2 * (alpha + beta) * (h * tau * L) ** 2, sp.Rational(1, 2)), "Lemma 6")


def movement(step: Any = h) -> Condition:
    """The step condition that joins both ways in which the movement enters."""
    return Condition("movement", sp.Le(3 * rho * (alpha + beta) * step * L, 1), "Theorem 1")


def contraction(left: Any = CONTRACTION) -> Condition:
    """(92): at least half of the mean gap stays on the left."""
    return Condition("contraction", sp.Le(left, 1), "(92)")


SHARP_CONDITIONS = (DRIFT, delays(), movement(), contraction())


@dataclass(frozen=True)
class Setting:
    """Hypotheses of Theorem 1 in one reading."""

    conditions: tuple[Condition, ...]
    assumptions: tuple[Assumption, ...]
    changed: tuple[Symbol, ...] = ()


AS_PRINTED = Setting((at_cap(), *OPEN_ALPHA), PRINTED, (L_OF_CLIENTS,))
AS_USED = Setting((at_cap(),), PRINTED, (L_OF_CLIENTS,))  # with alpha in [0, 1], as Section 4 applies it
AS_CORRECTED = Setting((at_cap(), BETA_AT_MOST_9_RHO), CORRECTED)
AS_SHARP = Setting(SHARP_CONDITIONS, CORRECTED)

REPLACES = "the virtual models by the real ones, et by K et in the terms with alpha and beta, and constants"
WHY = (
    "Within a round theta^{n,k} depends on who takes part, so that Lemma 2's cross term does not vanish, and (63) "
    "writes theta^{n,k} with the steps eta_l qt_i where it has eta_g eta_l w_i. Argued for whole rounds the proof is "
    "complete. " + SAMPLES + " beta <= 1 is silently assumed in Appendix A.5; beta <= 9 rho is enough."
)
SHARP_WHY = (
    "The conditions on the step are those that the proof uses, not the simpler (98), and the coefficient 2 - c of the "
    "left side is kept. " + WHY
)
COUNTEREXAMPLE = (
    "Two clients (theta -+ 1)^2/2, one drawn uniformly each round, with full gradients and K = 100 steps at the "
    "largest step allowed: the left side tends to 0.00173, the right side to 0.00070, and the ratio grows with K eta_g."
)
# the printed error terms have the effective step where a round's step belongs
TRUE_FOR_ONE_STEP = (
    "For K = 1 virtual and real models are the same, and the printed proof is complete but for its hypotheses."
)


def printed(name: str = "as_printed", remark: str = "") -> Reading:
    """The printed reading: false for two or more local steps."""
    return Reading(name, Belief.FALSE, remark=f"{COUNTEREXAMPLE} {TRUE_FOR_ONE_STEP} {remark}".strip())


def corrected(name: str = "corrected", more: str = "", remark: str = "") -> Reading:
    """The corrected reading."""
    return Reading(name, Belief.TRUE, REPLACES, f"{WHY} {more}".strip(), remark)
