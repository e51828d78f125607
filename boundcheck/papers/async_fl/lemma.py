"""Lemmas 2 to 6 of Appendix A.3, from which Theorem 1 follows: how the distance to a point changes (56), how far local
models are from the global one (61), the mean square of stochastic gradients (62), the inner product of the step with
the way to a point (72), the square of the mean stochastic gradient (73), and the movement of the global model (82).

The printed lemmas are at the virtual models.
"""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

SHARED: dict[str, Any] = {"symbols": NOTATION, "any_method": True}
AS_PRINTED: dict[str, Any] = {
    "belief": Belief.FALSE,
    "assumptions": PRINTED,
    "symbols": (L_OF_CLIENTS, *AT_VIRTUAL),
}
CORRECT: dict[str, Any] = {"belief": Belief.TRUE, "assumptions": CORRECTED}

# the movement of a round must not come back through the delays
DELAYS = Condition("delays", 12 * rho**2 * (alpha + beta) * (h * tau * L) ** 2 <= sp.Rational(1, 2), "Lemma 6")

theorems = {
    "lemma_2": Theorem(
        **SHARED,
        source=Source(PAPER, "Lemma 2", "Appendix A.3, (56)"),
        title="Change of the squared distance to a point in a step",
        metric=of_a_round("dist2_change", LENGTH2),
        readings={
            "corrected": Reading(
                bound=-2 * h * inner + h**2 * alpha * q**2 * Rn + h**2 * beta * q * Sn,
                **CORRECT,
                replaces=f"the mean over the local steps, {WHOLE_ROUNDS}, with h = K eta_g eta_l for eta_g eta_l",
                why="theta^{n,k} depends on the weights w_i(n), so that (58) to (59) lose the covariance of the step "
                "with theta^{n,k}, 2 et^2 Var(w) <g_k, sum of g_l, l < k> for one client; theta^n does not depend on "
                f"them. {SAMPLES}",
            ),
            "as_printed": Reading(
                bound=-2 * et * inner + et**2 * alpha * q**2 * Rn + et**2 * beta * q * Sn,
                metric=of_a_round("dist2_change", LENGTH2, scale=1 / K),
                **AS_PRINTED,
                remark="The mean over k of the change from theta^{n,k} to theta^{n,k+1}. For K >= 2 and a random "
                "cohort it is false. (59) has the wrong sign of the cross term.",
            ),
        },
    ),
    "lemma_3": Theorem(
        **SHARED,
        source=Source(PAPER, "Lemma 3", "Appendix A.3, (61)"),
        title="Mean squared distance phi of the local models to the global one",
        metric=of_a_round("work_distance2", LENGTH2),
        conditions=(DRIFT,),
        readings={
            "corrected": Reading(
                bound=4 * tau * Qs + 4 * D * Z / (L * q) + 12 * e * sg1,
                **CORRECT,
                replaces=f"the factor q(n) by 1 and 6 by 12, {WHOLE_ROUNDS}",
                why=f"{TWELVE}. {VIRTUAL}. {SAMPLES}",
            ),
            "as_printed": Reading(
                bound=4 * q * tau * Qs + 4 * D * Z / (L * q) + 6 * e * sg1,
                metric=of_a_round("virtual_distance2", LENGTH2),
                **AS_PRINTED,
                remark="With q(n) < 1/4, K = 1 and tau = 1 the left side is Q(n-1), the right one 4 q(n) Q(n-1) and a "
                "gap that may be 0. For eta_g >= 6 and K = 2 it fails for one client without delays too.",
            ),
        },
    ),
    "lemma_3_gradients": Theorem(
        **SHARED,
        source=Source(PAPER, "Lemma 3", "Appendix A.3, (62)"),
        title="Mean square S of the stochastic gradients along local work",
        metric=of_a_round("work_grad2", GRADIENT2),
        conditions=(DRIFT,),
        readings={
            "corrected": Reading(
                bound=12 * L**2 * tau * Qs + 12 * L * Z / q + 6 * sg1,
                **CORRECT,
                replaces=f"the factor q(n) of the delays by 1, {WHOLE_ROUNDS}",
                why=f"The normalised weights sum to 1, so that no q(n) comes before the delays. {VIRTUAL}. {SAMPLES}",
            ),
            "as_printed": Reading(
                bound=12 * q * L**2 * tau * Qs + 12 * L * Z / q + 6 * sg1,
                **AS_PRINTED,
                remark="Too small for q(n) < 1/12 and a delay of one round: with K = 1 the left side can be L^2 "
                "Q(n-1), the right one 12 q(n) L^2 Q(n-1). It also fails where samples are steeper than L, as in Lemma "
                "5.",
            ),
        },
    ),
    "lemma_4": Theorem(
        **SHARED,
        source=Source(PAPER, "Lemma 4", "Appendix A.3, (72)"),
        title="Twice the inner product -D of the step with the way to a point",
        metric=of_a_round("work_inner", VALUE, scale=sp.Integer(-2)),
        readings={
            "corrected": Reading(
                bound=-2 * Xi + 4 * L * q * tau * Qs + 4 * D * Z + 12 * e * q * L * sg1,
                conditions=(DRIFT,),
                **CORRECT,
                replaces=f"6 by 12, {WHOLE_ROUNDS}",
                why=f"It is built on (61): {TWELVE}. {VIRTUAL}. {SAMPLES}",
            ),
            "as_printed": Reading(
                bound=-2 * Xi + 4 * L * q * tau * Qs + 4 * D * Z + 6 * e * q * L * sg1,
                metric=of_a_round("virtual_inner", VALUE, scale=sp.Integer(-2)),
                **AS_PRINTED,
                remark="The factor q(n) of the delays is the right one here. D <= 1/2 is used and not said.",
            ),
        },
    ),
    "lemma_5": Theorem(
        **SHARED,
        source=Source(PAPER, "Lemma 5", "Appendix A.3, (73)"),
        title="Square R of the weighted mean of the stochastic gradients",
        metric=of_a_round("work_mean_grad2", GRADIENT2),
        conditions=(DRIFT,),
        readings={
            "corrected": Reading(
                bound=12 * L**2 * tau * Qs + 24 * L * Z / q + 6 * D * sg1 + 6 * sg2 / K,
                **CORRECT,
                replaces=f"3 D by 6 D and 6 sigma_2 by 6 sigma_2/K, {WHOLE_ROUNDS}",
                why=f"It is built on (61): {TWELVE}. {VIRTUAL}. The noise of the K steps at theta^n is independent, so "
                f"that its mean over the round has a variance smaller by K. {SAMPLES}",
            ),
            "as_printed": Reading(
                bound=12 * L**2 * tau * Qs + 24 * L * Z / q + 3 * D * sg1 + 6 * sg2,
                metric=of_a_round("virtual_mean_grad2", GRADIENT2),
                **AS_PRINTED,
                remark="Built on (61); here the paper drops the factor q(n) rightly. Assumption 1 limits the curvature "
                "of the clients' objectives, not of their samples: one client with the samples (L +- a) theta^2/2 and "
                "K = 1 has (L^2 + a^2) theta^2 on the left and 12 L^2 theta^2 on the right.",
            ),
        },
    ),
    "lemma_6": Theorem(
        **SHARED,
        source=Source(PAPER, "Lemma 6", "Appendix A.3, (82)"),
        title="Mean squared movement of the global model in a round",
        metric=mean_over_rounds("movement2", LENGTH2),
        readings={
            "corrected": Reading(
                bound=24 * rho * (2 * alpha + beta) * h**2 * L * Z_mean
                + 6 * rho**2 * (2 * alpha * D + 2 * beta) * h**2 * S1
                + 12 * rho**2 * alpha * h**2 * S2 / K,
                conditions=(DRIFT, DELAYS),
                **CORRECT,
                replaces=f"alpha D by 2 alpha D and Sigma_2 by Sigma_2/K, {WHOLE_ROUNDS}",
                why=f"It is built on Lemma 5, and so on (61): {TWELVE}. {SAMPLES}",
            ),
            "as_printed": Reading(
                bound=24 * rho * (2 * alpha + beta) * h**2 * L * Z_mean
                + 6 * rho**2 * (alpha * D + 2 * beta) * h**2 * S1
                + 12 * rho**2 * alpha * h**2 * S2,
                conditions=(DELAYS,),
                **AS_PRINTED,
                remark="Built on (61). D <= 1/2 is used and not said. As in Lemma 5 the samples may be steeper than L.",
            ),
        },
    ),
}
