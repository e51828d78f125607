"""Lemma E.3: one round of FedShuffleGen, with the drift of that round."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.fedshuffle._shared import (
    B2,
    B_AT_LEAST_1,
    COHORTS_AND_ORDERS,
    CONVEXITY,
    G2,
    M1,
    M2,
    MU_AT_MOST_L,
    PAPER,
    SERVER_AT_LEAST_1,
    STRONGLY_CONVEX,
    L,
    Reading,
    dist2_0,
    drift_0,
    et_gen,
    eta_g,
    eta_l,
    gap_0,
    mu,
    step_condition,
    symbols_in,
)
from boundcheck.papers.fedshuffle._theorem_e_1 import GEN
from boundcheck.theory.assumptions import followed_objective
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Belief, Condition, Metric, Source, Statement

BEST = "corrected"

_BOUND = (1 - mu * et_gen / 2) * dist2_0 - et_gen * gap_0 + 3 * L * et_gen * drift_0 + 2 * et_gen**2 * M1 * G2

_CORRECTED = Reading(
    "corrected",
    Belief.TRUE,
    replaces="the condition on eta_l*eta_g by one on W*eta_g*eta_l, and M2 by 1",
    why="For W > 1 the printed condition does not bound the effective step, and the contraction fails (FedAvg with a "
    "large server weight diverges); the second square is at most a mean of squares by Jensen, without M2.",
)
_AS_PRINTED = Reading(
    "as_printed",
    Belief.FALSE,
    remark="The display is cut off in the text and completed from its proof. False where W > 1; true for W = 1.",
)


def _statement(reading: Reading, conditions: tuple[Condition, ...]) -> Statement:
    return Statement(
        source=Source(PAPER, "Lemma E.3", "Appendix E.3, one round progress"),
        reading=reading.name,
        title="One round of FedShuffleGen",
        symbols=symbols_in(_BOUND, MU_AT_MOST_L, *conditions, mu=CONVEXITY),
        metric=Metric("dist2", LENGTH2, rounds=sp.S.One, expectation=COHORTS_AND_ORDERS, surrogate=True),
        bound=_BOUND,
        algorithm=GEN,
        domain=(MU_AT_MOST_L,),
        conditions=conditions,
        assumptions=(*STRONGLY_CONVEX, followed_objective),
        trivial=dist2_0,
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )


STATEMENTS = (
    _statement(_CORRECTED, (step_condition(et_gen, 1 + M1 * B2, "on W*eta_g*eta_l"), B_AT_LEAST_1)),
    _statement(
        _AS_PRINTED,
        (step_condition(eta_l * eta_g, 1 + M2 + M1 * B2, "as printed, without W"), SERVER_AT_LEAST_1),
    ),
)
