"""The three regimes of Theorem E.1 (FedShuffleGen), about the objective fhat that the method really minimises.

G^2, B^2, D, F, L and mu are those of fhat and its weights; P^2 and sigma^2 are those of Appendix E.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.papers.fedshuffle._rates import PLAIN, WEIGHTED, Terms, strongly_convex_weights
from boundcheck.papers.fedshuffle._shared import (
    B_AT_LEAST_1,
    COHORTS_AND_ORDERS,
    G2,
    LOST_L,
    M1,
    MU_AT_MOST_L,
    PAPER,
    SERVER_AT_LEAST_1,
    H_gen,
    L,
    R,
    Reading,
    W,
    beta_gen,
    beta_gen_printed,
    dist2_0,
    et_gen,
    eta_g,
    eta_l,
    gap_0,
    mu,
    step_condition,
    symbols_in,
)
from boundcheck.papers.fedshuffle._theorem_5_1 import Regime
from boundcheck.theory.assumptions import followed_objective
from boundcheck.theory.dimension import GRADIENT2, VALUE
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric, Source, Statement

PARAMETERS = ("eta_l", "eta_g")
GEN = Algorithm("fedshuffle_gen", PARAMETERS)
_TO = (W * eta_g) ** 2

_FIX_W = (
    "The local step is et/(W eta_g), not et/eta_g, so that W^2 divides the middle term; for W > 1 the printed "
    "condition does not bound the effective step W*eta_g*eta_l, and for W < 1 the printed exponential rate needs a "
    "larger step than it allows, so that both steps carry a condition of their own. By Jensen M2 can "
    "be 1, which beta's first 1 covers. Assumption 3.3 is needed for fhat and its weights."
)
CORRECTED = Reading(
    "corrected",
    Belief.TRUE,
    replaces="the middle term without L and W^2, the condition on eta_l*eta_g alone, and M2 in beta",
    why=f"{LOST_L}. {_FIX_W}",
)
SHARP = Reading(
    "sharp",
    Belief.TRUE,
    replaces="the coefficients of the paper's recursion by those without slack, besides all that 'corrected' does",
    why=f"As for Theorem 5.1, whose two lemmas share one step condition. {_FIX_W}",
)
AS_PRINTED = Reading(
    "as_printed",
    Belief.FALSE,
    remark="The middle term lacks L and W^2, and the step condition does not know W.",
)

CONVEX_TERMS = {
    "as_printed": Terms(10 * dist2_0, 20 * M1 * G2, 90 * H_gen / eta_g**2),
    "corrected": Terms(10 * dist2_0, 20 * M1 * G2, 90 * L * H_gen / _TO),
    "sharp": Terms(dist2_0, 2 * M1 * G2, 5 * L * H_gen / _TO),
}
NONCONVEX_TERMS = {
    "as_printed": Terms(8 * gap_0, 8 * M1 * L * G2, 18 * L * H_gen / eta_g**2),
    "corrected": Terms(8 * gap_0, 8 * M1 * L * G2, 18 * L**2 * H_gen / _TO),
    "sharp": Terms(4 * gap_0, 4 * M1 * L * G2, 6 * L**2 * H_gen / _TO),
}
PRINTED_END = Terms(10 * dist2_0, 4 * M1 * G2, 18 * H_gen / eta_g**2)

_MIDDLE = H_gen / eta_g**2
_LAST = sp.exp(-mu * R / (8 * beta_gen_printed * L))
RATE_STRONG = M1 * G2 / (mu * R) + _MIDDLE / (mu * R) ** 2 + mu * dist2_0**2 * _LAST
RATE_GENERAL = (
    sp.sqrt(dist2_0 * M1 * G2 / R) + sp.cbrt(dist2_0 / R) ** 2 * sp.cbrt(_MIDDLE) + L * dist2_0 * beta_gen_printed / R
)
RATE_WITHOUT = (
    sp.sqrt(gap_0 * M1 * L * G2 / R) + sp.cbrt(gap_0 / R) ** 2 * sp.cbrt(L * _MIDDLE) + L * gap_0 * beta_gen_printed / R
)

EFFECTIVE = Condition(
    "effective step size", step_condition(et_gen, beta_gen).relation, "on W*eta_g*eta_l, the step of a round"
)
LOCAL = Condition("local step size", step_condition(eta_l, beta_gen).relation, "on eta_l, for the drift")
PRINTED_STEP = step_condition(eta_l * eta_g, beta_gen_printed, "as printed, without W")


def conditions(reading: str) -> tuple[Condition, ...]:
    """The step conditions; those of the derived readings make eta_g >= 1 unnecessary."""
    return (PRINTED_STEP, SERVER_AT_LEAST_1) if reading == "as_printed" else (EFFECTIVE, LOCAL, B_AT_LEAST_1)


def statement(
    regime: Regime, reading: Reading, bound: Any, hypotheses: tuple[Condition, ...], printed_rate: Any = None
) -> Statement:
    """One reading of one bullet at a fixed step size."""
    metric = Metric(
        "gap" if regime.convex else "grad2",
        VALUE if regime.convex else GRADIENT2,
        index="R",
        rounds=R,
        average=WEIGHTED if regime.strongly_convex else PLAIN,
        expectation=f"{COHORTS_AND_ORDERS}, and the round of the output",
        weights=strongly_convex_weights(et_gen) if regime.strongly_convex else sp.S.One,
        surrogate=True,
    )
    trivial = gap_0 if regime.convex else 2 * L * gap_0
    domain = (MU_AT_MOST_L,) if regime.strongly_convex else ()
    parts = [bound, trivial, metric.weights, R, *domain, *hypotheses]
    if printed_rate is not None:
        parts.append(printed_rate)
    return Statement(
        source=Source(PAPER, "Theorem E.1", f"Appendix E, {regime.label}; constants from the end of the proof"),
        reading=reading.name,
        title=f"FedShuffleGen at a fixed step size, {regime.label}",
        symbols=symbols_in(*parts, also=PARAMETERS),
        metric=metric,
        bound=bound,
        algorithm=GEN,
        domain=domain,
        conditions=hypotheses,
        assumptions=(
            *(regime.printed_assumptions() if reading.name == "as_printed" else regime.assumptions),
            followed_objective,
        ),
        trivial=trivial,
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
        printed_rate=printed_rate,
    )
