"""The step condition of Theorem 1, solved for the step size."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.papers.partial_averaging._shared import PAPER, SYMBOLS, Lmax, Reading, symbols_in, tau
from boundcheck.theory.dimension import STEP
from boundcheck.theory.statement import Belief, Kind, Metric, Source, Statement

BEST = "factored"


def _statement(reading: Reading, bound: Any) -> Statement:
    return Statement(
        source=Source(PAPER, "Theorem 1", "its step condition Lmax^2 eta^2 tau (tau-1) + eta Lmax <= 1"),
        reading=reading.name,
        title="The largest step size of Theorem 1",
        symbols=symbols_in(bound, changed={"Lmax": SYMBOLS["Lmax"].but(low_open=True, key="blocks/Lmax_weighted")}),
        metric=Metric("none", STEP),
        bound=bound,
        kind=Kind.FORMULA,
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )


STATEMENTS = (
    _statement(
        Reading(
            "factored",
            Belief.TRUE,
            replaces="the quadratic condition by eta <= 1/(tau Lmax)",
            why="With e = eta Lmax it factors as (e tau - 1)(e tau - e + 1) <= 0, and the second factor is positive.",
        ),
        1 / (tau * Lmax),
    ),
    _statement(
        Reading(
            "as_printed", Belief.TRUE, remark="The positive root of the printed quadratic; it equals 1/(tau Lmax)."
        ),
        2 / (1 + sp.sqrt(1 + 4 * tau * (tau - 1))) / Lmax,
    ),
)
