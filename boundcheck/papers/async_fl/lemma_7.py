"""Lemma 7 (99): how far the gradient of the federated problem is from the round's own."""

from __future__ import annotations

from boundcheck.papers.async_fl._gradients import OWN, absent, chi2_n, gap_n, q, spread_n
from boundcheck.papers.async_fl._shared import L_OF_CLIENTS, L, Reading, formula
from boundcheck.theory.assumptions import convex_clients, smooth_clients
from boundcheck.theory.dimension import GRADIENT2
from boundcheck.theory.statement import Belief

BEST = "as_printed"

STATEMENTS = (
    formula(
        Reading(
            "as_printed",
            Belief.TRUE,
            remark="L^n(x)/q(n) less the sum of st_j(n) F_j* is (gap_n + spread_n)/q(n). The convexity of the clients "
            "is not needed, only that their losses are bounded below.",
        ),
        ("Lemma 7", "Appendix B.1, (99)"),
        "Squared distance of the gradient of L to that of L^n/q(n)",
        4 * L * chi2_n * (gap_n + spread_n) / q + 4 * L * absent,
        GRADIENT2,
        assumptions=(smooth_clients, convex_clients),
        changed=(*OWN, L_OF_CLIENTS),
    ),
)
