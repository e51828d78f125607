"""Remark E.2: how much larger local steps FedShuffle may take than FedAvg and FedNova."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.papers.fedshuffle._shared import PAPER, SYMBOLS, Reading, W, eta_g
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Belief, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol

BEST = "corrected"

_WORK = Symbol("work", "E_i |D_i|, the local steps of client i", ONE, integer=True, low=Fraction(1), latex=r"E_i|D_i|")
_LARGEST = Symbol("largest", "the largest E_j |D_j|", ONE, integer=True, low=Fraction(1), latex=r"\max_j E_j|D_j|")
_OTHER = SYMBOLS["W"].but(key="", meaning="W of the other method; that of FedShuffle is 1")
_SERVER = SYMBOLS["eta_g"].but(low=Fraction(1), low_open=False)


def _statement(reading: Reading, symbols: tuple[Symbol, ...], bound: Any) -> Statement:
    return Statement(
        source=Source(PAPER, "Remark E.2", "Appendix E.2, with the step condition of Theorem E.1"),
        reading=reading.name,
        title="Largest local step of client i: FedShuffle's over that of FedAvg or FedNova, at equal beta",
        symbols=symbols,
        metric=Metric("none", ONE),
        bound=bound,
        kind=Kind.FORMULA,
        domain=(sp.Le(_WORK.expr, _LARGEST.expr),),
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )


STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="the printed step condition, which does not know W",
            why="With W < 1 (FedAvg, FedNova) the other method's effective step is W*eta_g*eta_l, so that its "
            "eta_l may be larger by min(eta_g, 1/W). With eta_g >= 1/W FedShuffle's local step is W*largest/work times "
            "the other's and is smaller for the clients with the most work.",
        ),
        (_WORK, _LARGEST, _OTHER, _SERVER),
        _LARGEST.expr / (_WORK.expr * sp.Min(eta_g, 1 / W)),
    ),
    _statement(
        Reading(
            "as_printed",
            Belief.FALSE,
            remark="c_i = E_i |D_i| against c = max E_j |D_j| under the printed condition eta_l <= 1/(4 beta L eta_g): "
            "at least 1. The steps that really are allowed differ unless eta_g = 1 or W = 1.",
        ),
        (_WORK, _LARGEST),
        _LARGEST.expr / _WORK.expr,
    ),
)
