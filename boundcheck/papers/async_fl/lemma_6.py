"""Lemma 6 (82): the mean squared movement of the global model in a round."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.async_fl.definitions import (
    AT_VIRTUAL,
    CORRECTED,
    L_OF_CLIENTS,
    NOTATION,
    PAPER,
    PRINTED,
    S1,
    S2,
    SAMPLES,
    TWELVE,
    WHOLE_ROUNDS,
    D,
    K,
    L,
    Z_mean,
    alpha,
    beta,
    h,
    mean_over_rounds,
    rho,
    tau,
)
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Belief, Condition, Source
from boundcheck.theory.theorem import Reading, Theorem

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
            conditions=(Condition("drift", sp.Le(D, sp.Rational(1, 2)), "Lemma 3"), DELAYS),
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
