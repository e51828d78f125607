"""Lemma E.4: the drift of a round of FedShuffleGen."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.papers.fedshuffle._shared import (
    COHORTS_AND_ORDERS,
    CONVEX,
    LOST_L,
    PAPER,
    SERVER_AT_LEAST_1,
    H_gen,
    L,
    Reading,
    et_gen,
    eta_g,
    eta_l,
    gap_0,
    symbols_in,
)
from boundcheck.papers.fedshuffle._theorem_e_1 import GEN, LOCAL, PRINTED_STEP
from boundcheck.theory.assumptions import followed_objective
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Belief, Condition, Metric, Source, Statement

BEST = "corrected"

_CORRECTED = Reading(
    "corrected",
    Belief.TRUE,
    replaces="the last term without L and with eta_l = et/eta_g, and the condition with M2 and eta_g",
    why=f"{LOST_L}. As et = W*eta_g*eta_l, eta_l^2 is et^2/(W eta_g)^2. The proof bounds the drift at any server step.",
)
_SHARP = Reading(
    "sharp",
    Belief.TRUE,
    replaces="the coefficients 9/10 and 9 by 6/7 and 48/7, besides all that 'corrected' does",
    why="These are the numbers of the proof before they are rounded up.",
)
_AS_PRINTED = Reading("as_printed", Belief.FALSE, remark="The last term lacks L and W^2, and has the unit of x^2/L.")


def _statement(reading: Reading, bound: Any, conditions: tuple[Condition, ...]) -> Statement:
    scale = 3 * L * et_gen
    return Statement(
        source=Source(PAPER, "Lemma E.4", "Appendix E.3, bounded drift"),
        reading=reading.name,
        title="The drift of a round of FedShuffleGen",
        symbols=symbols_in(scale, bound, *conditions),
        metric=Metric("drift", LENGTH2, scale=scale, expectation=COHORTS_AND_ORDERS, surrogate=True),
        bound=bound,
        algorithm=GEN,
        conditions=conditions,
        assumptions=(*CONVEX, followed_objective),
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )


def _bound(gap: Any, noise: Any) -> Any:
    return gap * et_gen * gap_0 + noise * L * et_gen * eta_l**2 * H_gen


STATEMENTS = (
    _statement(_CORRECTED, _bound(sp.Rational(9, 10), 9), (LOCAL,)),
    _statement(_SHARP, _bound(sp.Rational(6, 7), sp.Rational(48, 7)), (LOCAL,)),
    _statement(
        _AS_PRINTED,
        sp.Rational(9, 10) * et_gen * gap_0 + 9 * et_gen**3 / eta_g**2 * H_gen,
        (PRINTED_STEP, SERVER_AT_LEAST_1),
    ),
)
