"""(98): the largest local step size of Theorem 1, and that it implies all constraints on the step that its proof uses.

equation_98 is compared with the largest step that the constraints of the proof allow: each constraint of the list in
Appendix A.5 is solved for eta_l, the one on c of (92) as a quadratic equation. equation_98_constraints bounds the
largest left side of all of them, each scaled so that its right side is 1.
"""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *


def largest_step(steps: Any) -> Any:
    """The largest eta_l within all constraints, for an effective step of steps*eta_g*eta_l."""
    move = K * eta_g * tau * L
    # c of (92) as a polynomial in eta_l
    square = 24 * (K - 1) ** 2 * L**2 + 192 * rho**2 * (2 * alpha + beta) * move**2
    linear = 12 * rho * (2 * alpha + beta) * steps * eta_g * L
    return 1 / sp.Max(
        sp.sqrt(12) * (K - 1) * L,
        sp.sqrt(24 * rho**2 * (alpha + beta)) * move,
        3 * rho * (alpha + beta) * steps * eta_g * L,
        (linear + sp.sqrt(linear**2 + 4 * square)) / 2,
        3 * rho**2 * steps * eta_g * L,
        sp.sqrt(48 * rho**3) * move,
    )


ROUNDS = Metric.formula(STEP, largest_step(K))
squared = 48 * rho ** sp.Rational(3, 2) * eta_g * K * tau  # from the condition of (97) on the square of the delay

theorems = {
    "equation_98": Theorem(
        source=Source(PAPER, "(98)", "Appendix A.5; the step condition of Theorem 1"),
        title="Largest local step size",
        symbols=NOTATION,
        metric=Metric.formula(STEP, largest_step(1)),
        kind=Kind.LOWER_BOUND,
        belief=Belief.TRUE,
        readings={
            "corrected": Reading(
                metric=ROUNDS,
                bound=sp.Min(1, 1 / (3 * rho**2 * eta_g * (tau + 1))) / (48 * K * L),
                conditions=(BETA_9_RHO,),
                replaces="the silent beta <= 1 by beta <= 9 rho",
                why="At the limit of (98) 48 e L^2 <= 1/48, 144 rho^2 h L <= 1/(tau + 1) and 2304 rho^3 (h tau L)^2 <= "
                "tau^2/(9 rho (tau + 1)^2), which leaves room for beta <= 9 rho, also with the step h of a round. A "
                "larger beta lets a scheme diverge within (98).",
            ),
            "as_printed": Reading(
                bound=sp.Min(1, 1 / (3 * rho**2 * eta_g * (tau + 1))) / (48 * K * L),
                belief=Belief.FALSE,
                remark="beta is not limited, but c of (92) is at most 1 only for beta <= 10 rho. (98) is far from "
                "tight.",
            ),
            "sharp": Reading(
                metric=ROUNDS,
                bound=1 / (L * sp.Max(sp.sqrt(48) * (K - 1), 144 * rho**2 * eta_g * K, squared)),
                conditions=(Condition("beta", beta <= rho),),
                replaces="(98) by (97) solved for the step",
                why="(97), with the step of a round, is enough for beta <= rho, and (98) is often far below it.",
                remark="48 K L is for sqrt(48) (K-1) L, and rho^2 for rho^(3/2): no square is missing.",
            ),
        },
    ),
    "equation_98_constraints": Theorem(
        source=Source(PAPER, "(98)", "Appendix A.5, the constraints that it is to simplify"),
        title="The constraints on the step of the proof of Theorem 1, from simpler ones",
        symbols=(*NOTATION, ALPHA_OR_MORE),
        metric=largest_of_constraints(et),
        bound=sp.S.One,
        readings={
            "corrected": Reading(
                metric=largest_of_constraints(h),
                belief=Belief.TRUE,
                conditions=(STEP_98, BETA_9_RHO, ALPHA),
                replaces="the effective step by that of a round, and the silent beta <= 1 by beta <= 9 rho",
                why="Argued for whole rounds, the single powers of the step are those of h = K eta_g eta_l. (98) "
                "leaves so much room that beta <= 9 rho is enough.",
            ),
            "as_printed": Reading(
                belief=Belief.FALSE,
                conditions=(STEP_98, Condition("beta", beta >= 0, "any scheme"), ALPHA),
                remark="Theorem 1 has (98) as its only condition on the step, for every scheme: beta is not limited, "
                "but it is a factor in three of the constraints.",
            ),
        },
    ),
}
