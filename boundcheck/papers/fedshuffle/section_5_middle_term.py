"""Section 5: the middle term vanishes as eta_g -> oo, and its part from sigma^2 as E -> oo."""

from __future__ import annotations

from typing import Any

from boundcheck.papers.fedshuffle._shared import (
    LOST_L,
    MU_AT_MOST_L,
    PAPER,
    E,
    H_main,
    L,
    R,
    Reading,
    eta_g,
    mu,
    symbols_in,
)
from boundcheck.papers.fedshuffle._theorem_5_1 import HORIZON
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Belief, Kind, Metric, Source, Statement

BEST = "corrected"

_PRINTED = H_main / (mu * R * eta_g * E) ** 2
_DOMAIN = {"as_printed": (), "corrected": (MU_AT_MOST_L,)}


def _statement(reading: Reading, bound: Any) -> Statement:
    domain = _DOMAIN[reading.name]
    return Statement(
        source=Source(PAPER, "Section 5", "the remarks after Theorem 5.1, strongly convex"),
        reading=reading.name,
        title="The middle term, from local steps with reshuffling",
        symbols=symbols_in(bound, *domain, R=HORIZON),
        metric=Metric("none", VALUE),
        bound=bound,
        kind=Kind.FORMULA,
        domain=domain,
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
        printed_rate=_PRINTED,
    )


STATEMENTS = (
    _statement(
        Reading("corrected", Belief.TRUE, replaces="the term without the factor L", why=f"{LOST_L}."), L * _PRINTED
    ),
    _statement(
        Reading("as_printed", Belief.FALSE, remark="The two limits are right; the unit is not that of a gap."), _PRINTED
    ),
)
