"""Lemma 7 (99): how far the gradient of the federated problem is from the round's own.

It is compared for clients in one dimension with F_j(x) = k_j L (x - o_j)^2/2, k_j at most 1, so that F_j* = 0: kinds 1
and 2 are present in the round with the weights s_1 and s_2, kind 3 is absent. L^n is their sum, its minimum in the
middle between o_1 and o_2 by weight, and gap_n + spread_n is L^n(x).
"""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

x, s_1, s_2, r_1, r_2, r_3 = sp.symbols("x s_1 s_2 r_1 r_2 r_3", real=True)
k_1, k_2, k_3, o_1, o_2, o_3 = sp.symbols("k_1 k_2 k_3 o_1 o_2 o_3", real=True)
DATA = (
    Symbol("x", "the point", LENGTH),
    *(positive(f"s_{j}", f"weight of kind {j} in L^n") for j in (1, 2)),
    *(share(f"r_{j}", f"share of kind {j} in the federated problem") for j in (1, 2, 3)),
    *(share(f"k_{j}", f"curvature of F_{j} over L").but(low_open=j < 3) for j in (1, 2, 3)),
    *(Symbol(f"o_{j}", f"minimiser of F_{j}", LENGTH) for j in (1, 2, 3)),
)
t_1, t_2 = s_1 / (s_1 + s_2), s_2 / (s_1 + s_2)  # st_j(n)
loss_1, loss_2 = L * k_1 * (x - o_1) ** 2 / 2, L * k_2 * (x - o_2) ** 2 / 2
least = L * s_1 * k_1 * s_2 * k_2 * (o_1 - o_2) ** 2 / (2 * (s_1 * k_1 + s_2 * k_2))  # min L^n
federated = L * (r_1 * k_1 * (x - o_1) + r_2 * k_2 * (x - o_2) + r_3 * k_3 * (x - o_3))
round_ = L * (t_1 * k_1 * (x - o_1) + t_2 * k_2 * (x - o_2))

theorem = Theorem(
    source=Source(PAPER, "Lemma 7", "Appendix B.1, (99)"),
    title="Squared distance of the gradient of L to that of L^n/q(n)",
    symbols=(L_OF_CLIENTS, *ONE_ROUND, *DATA),
    metric=Metric.formula(
        GRADIENT2,
        (federated - round_) ** 2,
        where={
            "q": s_1 + s_2,
            "chi2_n": (r_1 - t_1) ** 2 / t_1 + (r_2 - t_2) ** 2 / t_2,
            "gap_n": s_1 * loss_1 + s_2 * loss_2 - least,
            "spread_n": least,
            "absent": r_3 * L * k_3 * (x - o_3) ** 2 / 2,
        },
        meets=("smooth_clients", "convex_clients"),
    ),
    assumptions=(smooth_clients, convex_clients),
    readings={
        "as_printed": Reading(
            bound=4 * L * chi2_n * (gap_n + spread_n) / q + 4 * L * absent,
            belief=Belief.TRUE,
            remark="L^n(x)/q(n) less the sum of st_j(n) F_j* is (gap_n + spread_n)/q(n). The convexity of the clients "
            "is not needed, only that their losses are bounded below.",
        )
    },
)
