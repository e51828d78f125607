"""Lemma 2 (56): how the distance to a point changes."""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Lemma 2", "Appendix A.3, (56)"),
    title="Change of the squared distance to a point in a step",
    symbols=NOTATION,
    metric=of_a_round("dist2_change", LENGTH2),
    any_method=True,
    readings={
        "corrected": Reading(
            bound=-2 * h * inner + h**2 * alpha * q**2 * Rn + h**2 * beta * q * Sn,
            belief=Belief.TRUE,
            assumptions=CORRECTED,
            replaces=f"the mean over the local steps, {WHOLE_ROUNDS}, with h = K eta_g eta_l for eta_g eta_l",
            why="theta^{n,k} depends on the weights w_i(n), so that (58) to (59) lose the covariance of the step with "
            "theta^{n,k}, 2 et^2 Var(w) <g_k, sum of g_l, l < k> for one client; theta^n does not depend on them. "
            f"{SAMPLES}",
        ),
        "as_printed": Reading(
            bound=-2 * et * inner + et**2 * alpha * q**2 * Rn + et**2 * beta * q * Sn,
            belief=Belief.FALSE,
            metric=of_a_round("dist2_change", LENGTH2, scale=1 / K),
            assumptions=PRINTED,
            symbols=(L_OF_CLIENTS, *AT_VIRTUAL),
            remark="The mean over k of the change from theta^{n,k} to theta^{n,k+1}. For K >= 2 and a random cohort it "
            "is false. (59) has the wrong sign of the cross term.",
        ),
    },
)
