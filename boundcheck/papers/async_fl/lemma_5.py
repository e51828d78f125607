"""Lemma 5 (73): the square of the mean stochastic gradient."""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Lemma 5", "Appendix A.3, (73)"),
    title="Square R of the weighted mean of the stochastic gradients",
    symbols=NOTATION,
    metric=of_a_round("work_mean_grad2", GRADIENT2),
    any_method=True,
    conditions=(DRIFT,),
    readings={
        "corrected": Reading(
            bound=12 * L**2 * tau * Qs + 24 * L * Z / q + 6 * D * sg1 + 6 * sg2 / K,
            belief=Belief.TRUE,
            assumptions=CORRECTED,
            replaces=f"3 D by 6 D and 6 sigma_2 by 6 sigma_2/K, {WHOLE_ROUNDS}",
            why=f"It is built on (61): {TWELVE}. {VIRTUAL}. The noise of the K steps at theta^n is independent, so "
            f"that its mean over the round has a variance smaller by K. {SAMPLES}",
        ),
        "as_printed": Reading(
            bound=12 * L**2 * tau * Qs + 24 * L * Z / q + 3 * D * sg1 + 6 * sg2,
            belief=Belief.FALSE,
            metric=of_a_round("virtual_mean_grad2", GRADIENT2),
            assumptions=PRINTED,
            symbols=(L_OF_CLIENTS, *AT_VIRTUAL),
            remark="Built on (61); here the paper drops the factor q(n) rightly. Assumption 1 limits the curvature of "
            "the clients' objectives, not of their samples: one client with the samples (L +- a) theta^2/2 and K = 1 "
            "has (L^2 + a^2) theta^2 on the left and 12 L^2 theta^2 on the right.",
        ),
    },
)
