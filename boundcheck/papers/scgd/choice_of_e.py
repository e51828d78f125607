"""The paragraph "Choice of E": SCGD with the step size ell*log(T)/T, which depends on the number of rounds."""

from boundcheck.papers.scgd.definitions import *
from boundcheck.theory.declare import *

NORM = nonnegative("norm2_0", "squared norm of the start", LENGTH2, latex="\\|\\theta_0\\|^2")
norm2_0 = NORM.expr

theorem = Theorem(
    source=Source(PAPER, "Choice of E", "Section 3.2, the display with T^(-mu*ell*E/3)"),
    title="SCGD with the step size ell*log(T)/T",
    symbols=(*HORIZON, NORM),
    algorithm=Algorithm("scgd", ("E", "ell", "T"), HORIZON_STEPS),
    metric=Metric.last("dist2", LENGTH2, rounds=T),
    assumptions=ASSUMPTIONS,
    domain=(MU_AT_MOST_L,),
    conditions=(HORIZON_STEP_CONDITION, WHOLE_CYCLES),
    readings={
        "corrected": Reading(
            bound=T ** (-mu * ell * E / 3) * dist2_0
            + 12 * L**2 * ell**2 / mu**2 * sigma2 * n**2 * E**2 * sp.log(T) ** 2 / T**2,
            trivial=dist2_0,
            belief=Belief.TRUE,
            replaces="the squared norm of the start by its squared distance to the solution set, and cycle K+1 by K",
            why="Theorem 3.3 starts from the distance and gives cycle K = T/n.",
        ),
        "as_printed": Reading(
            bound=T ** (-mu * ell * E / 3) * norm2_0
            + 12 * L**2 * ell**2 / mu**2 * sigma2 * n**2 * E**2 * sp.log(T) ** 2 / T**2,
            belief=Belief.FALSE,
            remark="A start at the origin would make the first term vanish wherever the minimiser is. The printed left "
            "side, the squared distance of cycle K+1 to a minimiser, is read as dist2 after T rounds.",
        ),
    },
)
