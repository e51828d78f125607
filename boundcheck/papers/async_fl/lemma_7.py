"""Lemma 7 (99): how far the gradient of the federated problem is from the round's own."""

from __future__ import annotations

from boundcheck.papers.async_fl.definitions import (
    L_OF_CLIENTS,
    ONE_ROUND,
    PAPER,
    L,
    absent,
    chi2_n,
    gap_n,
    q,
    spread_n,
)
from boundcheck.theory.assumptions import convex_clients, smooth_clients
from boundcheck.theory.dimension import GRADIENT2
from boundcheck.theory.statement import Belief, Kind, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

theorem = Theorem(
    source=Source(PAPER, "Lemma 7", "Appendix B.1, (99)"),
    title="Squared distance of the gradient of L to that of L^n/q(n)",
    symbols=(L_OF_CLIENTS, *ONE_ROUND),
    metric=Metric("none", GRADIENT2),
    kind=Kind.FORMULA,
    assumptions=(smooth_clients, convex_clients),
    readings={
        "as_printed": Reading(
            bound=4 * L * chi2_n * (gap_n + spread_n) / q + 4 * L * absent,
            belief=Belief.TRUE,
            remark="L^n(x)/q(n) less the sum of st_j(n) F_j* is (gap_n + spread_n)/q(n). The convexity of the clients "
            "is not needed, only that their losses are bounded below.",
        ),
    },
)
