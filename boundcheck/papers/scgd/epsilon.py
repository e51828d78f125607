"""The paragraph "epsilon-Time Complexity": the order of dist2 under its "optimal setting", and rounds that bring dist2
below eps.
"""

from boundcheck.papers.scgd.definitions import *
from boundcheck.theory.declare import *

TARGET = positive("eps", "target for dist2", LENGTH2, r"\varepsilon", free=True)
eps = TARGET.expr
SIX, FOUR = (Condition("local steps", mu * ell * E >= k, f"E is at least {k}/(mu*ell)") for k in (6, 4))
# each of the two terms of the rate is at most eps/2
FOR_THE_START = Condition(
    "rounds for the start", sp.Ge(T**2, 2 * dist2_0 / eps), "the contraction term is at most eps/2"
)
noise_rounds = sp.sqrt(24) * L * ell * E * n * sp.sqrt(sigma2) / (mu * sp.sqrt(eps))

SHARED: dict[str, Any] = {
    "algorithm": Algorithm("scgd", ("E", "ell", "T"), HORIZON_STEPS),
    "metric": Metric.last("dist2", LENGTH2, rounds=T),
    "assumptions": ASSUMPTIONS,
    "domain": (MU_AT_MOST_L,),
    "trivial": dist2_0,
}

theorems = {
    "epsilon_rate": Theorem(
        **SHARED,
        source=Source(PAPER, "epsilon-Time Complexity", "Section 3.2, first display"),
        title="dist2 after T rounds of the horizon-dependent step",
        symbols=HORIZON,
        printed_rate=n**2 * sp.log(T) ** 2 / T**2,
        belief=Belief.TRUE,
        readings={
            "corrected": Reading(
                bound=dist2_0 / T**2 + HORIZON_NOISE,
                conditions=(HORIZON_STEP_CONDITION, WHOLE_CYCLES, SIX),
                replaces="the rule E >= 4/(mu*ell) by E >= 6/(mu*ell)",
                why="Only then is the contraction of Theorem 3.3 of the order of the noise term.",
            ),
            "as_printed": Reading(
                bound=T ** sp.Rational(-4, 3) * dist2_0 + HORIZON_NOISE,
                conditions=(HORIZON_STEP_CONDITION, WHOLE_CYCLES, FOUR),
                remark="The explicit form that Theorem 3.3 gives for the printed rule. Its first term is of the order "
                "T^(-4/3) only. The printed order is true nevertheless, for large T: the sharp reading of Theorem 3.3 "
                "contracts by 1 - mu s/2 up to terms of the order s^2, which makes the first term T^(-2).",
            ),
        },
    ),
    "epsilon_complexity": Theorem(
        **SHARED,
        source=Source(PAPER, "epsilon-Time Complexity", "Section 3.2, with the constants of Theorem 3.3"),
        title="Rounds that suffice for dist2 <= eps",
        symbols=(*HORIZON, TARGET),
        bound=eps,
        printed_rate=n / sp.sqrt(eps),
        readings={
            "corrected": Reading(
                conditions=(
                    *(HORIZON_STEP_CONDITION, WHOLE_CYCLES, SIX, FOR_THE_START),
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
                    *(HORIZON_STEP_CONDITION, WHOLE_CYCLES, FOUR, FOR_THE_START),
                    Condition(
                        "rounds for the noise", sp.Ge(T, noise_rounds), "the order n/sqrt(eps), without logarithm"
                    ),
                ),
                belief=Belief.FALSE,
                remark="The printed order with the constant of the same computation. On two devices with other "
                "minimisers the iterate stays at a distance of the order log(T)/T, so that no constant makes up for "
                "the logarithm.",
            ),
        },
    ),
}
