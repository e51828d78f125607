"""Lemma B.3: the sublinear rate of a recursion d_r <= d_{r-1} - eta s_r + eta (c1 eta + c2 eta^2)."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Lemma B.3", "Appendix B.2"),
    title="Sublinear rate at the step min(eta_max, sqrt(d0/(c1 K)), cbrt(d0/(c2 K)))",
    symbols=RECURSION,
    metric=Metric.last("psi", RATE, expectation="none: the lemma is about any sequence"),
    assumptions=(
        Assumption(
            "increments",
            "d_0 = d0, all d_r >= 0; Psi is the mean of (d_{r-1} - d_r)/eta + c1*eta + c2*eta^2 over r = 1, ..., K.",
        ),
    ),
    belief=Belief.TRUE,
    best="as_printed",
    readings={
        "as_printed": Reading(
            bound=d0 / (eta_max * K) + 2 * sp.sqrt(c1 * d0 / K) + 2 * sp.cbrt(c2) * sp.cbrt(d0 / K) ** 2,
            remark="K is the paper's R + 1. eta_max = 0, which it allows, gives no step; d0 = 0 is left out, where any "
            "step will do. The last line of its proof has c*eta for c1*eta + c2*eta^2.",
        ),
        "fixed_step": Reading(
            title="Sublinear rate at any step",
            bound=d0 / (eta * K) + c1 * eta + c2 * eta**2,
            replaces="the tuned step by any step",
            why="It is the first line of the proof.",
        ),
    },
)
