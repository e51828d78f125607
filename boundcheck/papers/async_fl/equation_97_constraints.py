"""(97) implies all constraints on the step that the proof of Theorem 1 uses.

Every constraint of the list in Appendix A.5 is scaled so that its right side is 1. The largest left side is then what
is bounded, by 1:

    2 D,    24 rho^2 (alpha + beta) (h tau L)^2,    3 rho (alpha + beta) s L,    c of (92),    3 rho^2 s L,
    48 rho^3 (h tau L)^2,

with the step s = eta_g eta_l as printed, and s = h = K eta_g eta_l where the proof of Theorem 1 is for whole rounds.
"""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

LOCAL_WORK = Condition("local work", 48 * e * L**2 <= 1)
DELAY = Condition("delay", 2304 * rho**3 * (h * tau * L) ** 2 <= 1)
NUMBERS = "none: the constraints are about numbers"
ALPHA = Condition("alpha", alpha <= 1, "the paper notes it of every scheme")

theorem = Theorem(
    source=Source(PAPER, "(97)", "Appendix A.5, the constraints before it"),
    title="The constraints on the step of the proof of Theorem 1, from simpler ones",
    symbols=(*NOTATION, ALPHA_OR_MORE),
    metric=Metric.formula(ONE, largest_constraint(et), quantity="largest_constraint", expectation=NUMBERS),
    bound=sp.S.One,
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            metric=Metric.formula(ONE, largest_constraint(h), quantity="largest_constraint", expectation=NUMBERS),
            conditions=(
                LOCAL_WORK,
                Condition("step", 144 * rho**2 * h * L <= 1),
                DELAY,
                Condition("beta", beta <= rho),
                ALPHA,
            ),
            replaces="the effective step by that of a round, and beta <= 1 by beta <= rho",
            why="Argued for whole rounds, the single powers of the step are those of h = K eta_g eta_l; and beta <= "
            "rho, which is weaker than beta <= 1, is enough.",
        ),
        "as_printed": Reading(
            conditions=(
                LOCAL_WORK,
                Condition("step", 144 * rho**2 * et * L <= 1),
                DELAY,
                Condition("beta", beta <= 1, "the paper notes it of every scheme"),
                ALPHA,
            ),
            remark="beta <= 1 is noted of every scheme, and is not true of every one.",
        ),
    },
)
