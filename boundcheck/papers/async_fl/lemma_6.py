"""Lemma 6 (82): the mean squared movement of the global model in a round."""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

# the movement of a round must not come back through the delays
DELAYS = Condition("delays", 12 * rho**2 * (alpha + beta) * (h * tau * L) ** 2 <= sp.Rational(1, 2), "Lemma 6")

theorem = Theorem(
    source=Source(PAPER, "Lemma 6", "Appendix A.3, (82)"),
    title="Mean squared movement of the global model in a round",
    symbols=NOTATION,
    metric=mean_over_rounds("movement2", LENGTH2),
    any_method=True,
    readings={
        "corrected": Reading(
            bound=24 * rho * (2 * alpha + beta) * h**2 * L * Z_mean
            + 6 * rho**2 * (2 * alpha * D + 2 * beta) * h**2 * S1
            + 12 * rho**2 * alpha * h**2 * S2 / K,
            belief=Belief.TRUE,
            conditions=(DRIFT, DELAYS),
            assumptions=CORRECTED,
            replaces=f"alpha D by 2 alpha D and Sigma_2 by Sigma_2/K, {WHOLE_ROUNDS}",
            why=f"It is built on Lemma 5, and so on (61): {TWELVE}. {SAMPLES}",
        ),
        "as_printed": Reading(
            bound=24 * rho * (2 * alpha + beta) * h**2 * L * Z_mean
            + 6 * rho**2 * (alpha * D + 2 * beta) * h**2 * S1
            + 12 * rho**2 * alpha * h**2 * S2,
            belief=Belief.FALSE,
            conditions=(DELAYS,),
            assumptions=PRINTED,
            symbols=(L_OF_CLIENTS, *AT_VIRTUAL),
            remark="Built on (61). D <= 1/2 is used and not said. As in Lemma 5 the samples may be steeper than L.",
        ),
    },
)
