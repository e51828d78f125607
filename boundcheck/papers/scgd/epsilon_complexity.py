"""The paragraph "epsilon-Time Complexity": rounds that bring dist2 below eps."""

from boundcheck.papers.scgd.definitions import *
from boundcheck.theory.declare import *

TARGET = positive("eps", "target for dist2", LENGTH2, latex="\\varepsilon", free=True)
eps = TARGET.expr

# each of the two terms of the rate is at most eps/2
FOR_THE_START = Condition(
    "rounds for the start", sp.Ge(T**2, 2 * dist2_0 / eps), "the contraction term is at most eps/2"
)
noise_rounds = sp.sqrt(24) * L * ell * E * n * sp.sqrt(sigma2) / (mu * sp.sqrt(eps))

theorem = Theorem(
    source=Source(PAPER, "epsilon-Time Complexity", "Section 3.2, with the constants of Theorem 3.3"),
    title="Rounds that suffice for dist2 <= eps",
    symbols=(*HORIZON, TARGET),
    algorithm=Algorithm("scgd", ("E", "ell", "T"), HORIZON_STEPS),
    metric=Metric.last("dist2", LENGTH2, rounds=T),
    assumptions=ASSUMPTIONS,
    domain=(MU_AT_MOST_L,),
    bound=eps,
    trivial=dist2_0,
    printed_rate=n / sp.sqrt(eps),
    readings={
        "corrected": Reading(
            conditions=(
                HORIZON_STEP_CONDITION,
                WHOLE_CYCLES,
                Condition("local steps", mu * ell * E >= 6, "E is at least 6/(mu*ell)"),
                FOR_THE_START,
                Condition(
                    "rounds for the noise", sp.Ge(T / sp.log(T), noise_rounds), "the noise term is at most eps/2"
                ),
            ),
            belief=Belief.TRUE,
            replaces="T = O(n/sqrt(eps)), which drops a logarithm, and the rule E >= 4/(mu*ell)",
            why="The noise term carries log(T)^2, so that T/log(T), not T, is of the order n/sqrt(eps).",
        ),
        "as_printed": Reading(
            conditions=(
                HORIZON_STEP_CONDITION,
                WHOLE_CYCLES,
                Condition("local steps", mu * ell * E >= 4, "E is at least 4/(mu*ell)"),
                FOR_THE_START,
                Condition("rounds for the noise", sp.Ge(T, noise_rounds), "the order n/sqrt(eps), without logarithm"),
            ),
            belief=Belief.FALSE,
            remark="The printed order with the constant of the same computation. On two devices with other minimisers "
            "the iterate stays at a distance of the order log(T)/T, so that no constant makes up for the logarithm.",
        ),
    },
)
