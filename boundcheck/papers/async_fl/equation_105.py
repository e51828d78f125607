"""(105): the squared gradient of the federated problem by the gap of the round's own."""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "(105)", "Appendix B.2"),
    title="Squared gradient of the federated problem at a point",
    symbols=(L_OF_CLIENTS, *ONE_ROUND),
    metric=of_a_round("grad2", GRADIENT2),
    any_method=True,
    assumptions=(smooth_clients, convex_clients),
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            bound=4 * L * (2 * chi2_n + 1) / q * gap_n + 8 * L * chi2_n / q * spread_n + 8 * L * absent,
            replaces="1/q^2 by 1/q, and 4 by 8 in the terms of (99)",
            why="It is twice (99) and twice |grad L^n|^2/q^2 <= 2 L (L^n(x) - min L^n)/q, since L^n/q is L-smooth, not "
            "L^n.",
        ),
        "corrected_every_type": Reading(
            bound=4 * L * (chi2_n + 1) / q * gap_n + 4 * L * chi2_n / q * spread_n,
            assumptions=(smooth_clients, convex_clients, every_type_every_round),
            replaces="1/q^2 by 1/q",
            why="It is twice (99) and twice |grad L^n|^2/q^2 <= 2 L (L^n(x) - min L^n)/q, since L^n/q is L-smooth, not "
            "L^n; where no kind is absent, (102) needs no factor 2, and the terms of (99) keep their 4.",
        ),
        "as_printed": Reading(
            bound=4 * L * (chi2_n / q + 1 / q**2) * gap_n + 4 * L * chi2_n / q * spread_n + 4 * L * absent,
            belief=Belief.FALSE,
            remark="One client with theta^2/2 and q = 4: the left side is theta^2, the right one theta^2/2. At q = 1 "
            "with every kind of data in the round it is right.",
        ),
    },
)
