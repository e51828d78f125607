"""(98), the step condition of Theorem 1, implies all constraints on the step that its proof uses.

Every constraint of the list in Appendix A.5 is scaled so that its right side is 1. The largest left side is then what
is bounded, by 1:

    2 D,    24 rho^2 (alpha + beta) (h tau L)^2,    3 rho (alpha + beta) s L,    c of (92),    3 rho^2 s L,
    48 rho^3 (h tau L)^2,

with the step s = eta_g eta_l as printed, and s = h = K eta_g eta_l where the proof of Theorem 1 is for whole rounds.
"""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

NUMBERS = "none: the constraints are about numbers"
ALPHA = Condition("alpha", alpha <= 1, "the paper notes it of every scheme")

theorem = Theorem(
    source=Source(PAPER, "(98)", "Appendix A.5, the constraints that it is to simplify"),
    title="The constraints on the step of the proof of Theorem 1, from simpler ones",
    symbols=(*NOTATION, ALPHA_OR_MORE),
    metric=Metric.formula(ONE, largest_constraint(et), quantity="largest_constraint", expectation=NUMBERS),
    bound=sp.S.One,
    readings={
        "corrected": Reading(
            metric=Metric.formula(ONE, largest_constraint(h), quantity="largest_constraint", expectation=NUMBERS),
            belief=Belief.TRUE,
            conditions=(STEP_98, BETA_9_RHO, ALPHA),
            replaces="the effective step by that of a round, and the silent beta <= 1 by beta <= 9 rho",
            why="Argued for whole rounds, the single powers of the step are those of h = K eta_g eta_l. (98) leaves so "
            "much room that beta <= 9 rho is enough.",
        ),
        "as_printed": Reading(
            belief=Belief.FALSE,
            conditions=(STEP_98, Condition("beta", beta >= 0, "any scheme"), ALPHA),
            remark="Theorem 1 has (98) as its only condition on the step, for every scheme: beta is not limited, but "
            "it is a factor in three of the constraints.",
        ),
    },
)
