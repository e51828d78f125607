"""The remark below Theorem 6: 'asymptotically the same as SGD'."""

from __future__ import annotations

from typing import Any

from boundcheck.papers.feddane._shared import B2, PAPER, L, Reading, eps, gap_0, sigma2, symbols_in
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Belief, Kind, Metric, Source, Statement

BEST = "corrected"

_sgd = L * gap_0 * sigma2 / eps**2  # order of SGD's iterations, for small eps


def _statement(reading: Reading, bound: Any) -> Statement:
    return Statement(
        source=Source(PAPER, "Theorem 6", "Section IV-B, the remark below it"),
        reading=reading.name,
        title="Iterations to a squared gradient norm of eps, exact solutions and convex devices, at the best mu",
        symbols=symbols_in(bound, _sgd),
        metric=Metric("none", ONE),
        bound=bound,
        kind=Kind.FORMULA,
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
        printed_rate=_sgd,
    )


STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="the comparison at a fixed B by one with sum of p_k |grad F_k - grad f|^2 <= sigma^2",
            why="Where |grad f|^2 >= eps, bounded variance gives B^2 <= 1 + sigma^2/eps; Theorem 3 at "
            "mu = L (4 B^2 + 1) then decreases f by eps/(2 L (4 B^2 + 1)) or more in expectation.",
            remark="A bound of the expected number of iterations until a point with |grad f|^2 <= eps is met for the "
            "first time (not of the mean over a fixed T: beyond that point B is not bounded). Each takes two "
            "communications. The order in eps is that of SGD.",
        ),
        10 * L * gap_0 / eps + 8 * L * gap_0 * sigma2 / eps**2,
    ),
    _statement(
        Reading(
            "as_printed",
            Belief.FALSE,
            remark="Theorem 6 with Corollary 4's rho at a fixed B, as the sections before the remark have it: its "
            "order is 1/eps, not SGD's 1/eps^2.",
        ),
        25 * L * B2 * gap_0 / (3 * eps),
    ),
)
