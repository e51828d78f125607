"""(105): the squared gradient of the federated problem by the gap of the round's own."""

from __future__ import annotations

from typing import Any

from boundcheck.papers.async_fl._gradients import OWN, absent, chi2_n, gap_n, q, spread_n
from boundcheck.papers.async_fl._shared import L_OF_CLIENTS, L, Reading, formula
from boundcheck.theory.assumptions import (
    Assumption,
    convex_clients,
    every_type_every_round,
    smooth_clients,
)
from boundcheck.theory.dimension import GRADIENT2
from boundcheck.theory.statement import Belief, Statement

BEST = "corrected"

_WHY = "It is twice (99) and twice |grad L^n|^2/q^2 <= 2 L (L^n(x) - min L^n)/q, since L^n/q is L-smooth, not L^n"


def _statement(reading: Reading, bound: Any, *more: Assumption) -> Statement:
    return formula(
        reading,
        ("(105)", "Appendix B.2"),
        "Squared gradient of the federated problem at a point",
        bound,
        GRADIENT2,
        assumptions=(smooth_clients, convex_clients, *more),
        changed=(*OWN, L_OF_CLIENTS),
    )


STATEMENTS = (
    _statement(
        Reading("corrected", Belief.TRUE, replaces="1/q^2 by 1/q, and 4 by 8 in the terms of (99)", why=f"{_WHY}."),
        4 * L * (2 * chi2_n + 1) / q * gap_n + 8 * L * chi2_n / q * spread_n + 8 * L * absent,
    ),
    _statement(
        Reading(
            "corrected_every_type",
            Belief.TRUE,
            replaces="1/q^2 by 1/q",
            why=f"{_WHY}; where no kind is absent, (102) needs no factor 2, and the terms of (99) keep their 4.",
        ),
        4 * L * (chi2_n + 1) / q * gap_n + 4 * L * chi2_n / q * spread_n,
        every_type_every_round,
    ),
    _statement(
        Reading(
            "as_printed",
            Belief.FALSE,
            remark="One client with theta^2/2 and q = 4: the left side is theta^2, the right one theta^2/2. At q = 1 "
            "with every kind of data in the round it is right.",
        ),
        4 * L * (chi2_n / q + 1 / q**2) * gap_n + 4 * L * chi2_n / q * spread_n + 4 * L * absent,
    ),
)
