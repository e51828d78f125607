"""Theorem 6: how many iterations bring the mean squared gradient norm to eps."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.papers.feddane._shared import PAPER, Reading, eps, gap_0, rho, symbols_in
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Belief, Kind, Metric, Source, Statement

BEST = "corrected"

_ratio = gap_0 / (rho * eps)


def _statement(reading: Reading, bound: Any) -> Statement:
    return Statement(
        source=Source(PAPER, "Theorem 6", "Section IV-B, T = O(Delta/(rho*eps))"),
        reading=reading.name,
        title="Iterations after which the mean squared gradient norm is at most eps",
        symbols=symbols_in(bound),
        metric=Metric("none", ONE),
        bound=bound,
        kind=Kind.FORMULA,
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
        printed_rate=_ratio,
    )


STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="O(Delta/(rho*eps)) by the least whole number that is at least Delta/(rho*eps)",
            why="The mean is at most Delta/(rho*T), and T is a whole number.",
            remark="Each iteration takes two communications.",
        ),
        sp.ceiling(_ratio),
    ),
    _statement(Reading("as_printed", Belief.TRUE, remark="The order, with the constant 1."), _ratio),
)
