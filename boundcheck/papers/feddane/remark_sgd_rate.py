"""The remark below Theorem 6: 'asymptotically the same as SGD'."""

from boundcheck.papers.feddane.definitions import *
from boundcheck.theory.declare import *

SIGMA2 = nonnegative("sigma2", "bound of sum of p_k |grad F_k - grad f|^2", GRADIENT2, r"\sigma^2")
sigma2 = SIGMA2.expr

# Theorem 3's decrease for exact solutions at mu = L (4 B^2 + 1)
best = rho_3.subs(gamma, 0).subs(mu, L * (4 * B2 + 1))

theorem = Theorem(
    source=Source(PAPER, "Theorem 6", "Section IV-B, the remark below it"),
    title="Iterations to a squared gradient norm of eps, exact solutions and convex devices, at the best mu",
    symbols=(*NOTATION, SIGMA2),
    metric=Metric.formula(ONE, gap_0 / (best.subs(B2, 1 + sigma2 / eps) * eps)),
    kind=Kind.EQUALITY,
    printed_rate=L * gap_0 * sigma2 / eps**2,  # of SGD, for small eps
    readings={
        "corrected": Reading(
            bound=10 * L * gap_0 / eps + 8 * L * gap_0 * sigma2 / eps**2,
            belief=Belief.TRUE,
            replaces="the comparison at a fixed B by one with sum of p_k |grad F_k - grad f|^2 <= sigma^2",
            why="Where |grad f|^2 >= eps, bounded variance gives B^2 <= 1 + sigma^2/eps; Theorem 3 at mu = L (4 B^2 + "
            "1) then decreases f by eps/(2 L (4 B^2 + 1)) or more in expectation.",
            remark="A bound of the expected number of iterations until a point with |grad f|^2 <= eps is met for the "
            "first time (not of the mean over a fixed T: beyond that point B is not bounded). Each takes two "
            "communications. The order in eps is that of SGD.",
        ),
        "as_printed": Reading(
            bound=25 * L * B2 * gap_0 / (3 * eps),
            metric=Metric.formula(ONE, L * gap_0 * sigma2 / eps**2),
            kind=Kind.UPPER_BOUND,
            belief=Belief.FALSE,
            remark="Theorem 6 with Corollary 4's rho at a fixed B, as the sections before the remark have it: its "
            "order is 1/eps, not SGD's 1/eps^2, so that no multiple of it reaches SGD's count L Delta sigma^2/eps^2, "
            "with which it is compared, for all eps.",
        ),
    },
)
