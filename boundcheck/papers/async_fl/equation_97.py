"""(97): conditions on the step that imply all those which the proof of Theorem 1 uses; and the tightest of these, (92).

equation_97_constraints bounds the largest left side of all of them, each scaled so that its right side is 1.
"""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

LOCAL_WORK = Condition("local work", 48 * e * L**2 <= 1)
DELAY = Condition("delay", 2304 * rho**3 * (h * tau * L) ** 2 <= 1)
STEP_OF_ROUND = Condition("step", 144 * rho**2 * h * L <= 1)
EFFECTIVE_STEP = Condition("step", 144 * rho**2 * et * L <= 1)
BETA_RHO = Condition("beta", beta <= rho)

theorems = {
    "equation_97": Theorem(
        source=Source(PAPER, "(97)", "Appendix A.5; the left side is c of (92), which must be at most 1"),
        title="What comes back of the mean gap, under simplified step conditions",
        symbols=NOTATION,
        metric=Metric.formula(ONE, contraction(et)),
        bound=sp.S.One,
        belief=Belief.TRUE,
        readings={
            "corrected": Reading(
                metric=Metric.formula(ONE, contraction(h)),
                conditions=(LOCAL_WORK, STEP_OF_ROUND, DELAY, BETA_RHO),
                replaces="the effective step by that of a round, and beta <= 1 by beta <= rho",
                why="Argued for whole rounds, the single powers of the step are those of h = K eta_g eta_l. beta <= "
                "rho is enough; at rho = alpha = beta = 1 and the limits of all three conditions c = 1.",
            ),
            "as_printed": Reading(
                conditions=(LOCAL_WORK, EFFECTIVE_STEP, DELAY, Condition("beta", beta <= 1, "said to hold")),
                remark="beta <= 1 is said of every scheme ('we note that'), but asynchronous FedAvg has beta up to "
                "tau_M/tau_0; at beta = 2 it fails for rho = alpha = 1.",
            ),
        },
    ),
    "equation_97_constraints": Theorem(
        source=Source(PAPER, "(97)", "Appendix A.5, the constraints before it"),
        title="The constraints on the step of the proof of Theorem 1, from simpler ones",
        symbols=(*NOTATION, ALPHA_OR_MORE),
        metric=largest_of_constraints(et),
        bound=sp.S.One,
        belief=Belief.TRUE,
        readings={
            "corrected": Reading(
                metric=largest_of_constraints(h),
                conditions=(LOCAL_WORK, STEP_OF_ROUND, DELAY, BETA_RHO, ALPHA),
                replaces="the effective step by that of a round, and beta <= 1 by beta <= rho",
                why="Argued for whole rounds, the single powers of the step are those of h = K eta_g eta_l; and beta "
                "<= rho, which is weaker than beta <= 1, is enough.",
            ),
            "as_printed": Reading(
                conditions=(
                    LOCAL_WORK,
                    EFFECTIVE_STEP,
                    DELAY,
                    Condition("beta", beta <= 1, "the paper notes it of every scheme"),
                    ALPHA,
                ),
                remark="beta <= 1 is noted of every scheme, and is not true of every one.",
            ),
        },
    ),
}
