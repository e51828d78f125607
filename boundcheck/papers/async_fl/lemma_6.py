"""Lemma 6 (82): the mean squared movement of the global model in a round."""

from __future__ import annotations

from boundcheck.papers.async_fl._lemmas import TWELVE, WHOLE_ROUNDS, Z_mean, lemma, why
from boundcheck.papers.async_fl._shared import S1, S2, D, K, L, Reading, alpha, beta, h, rho
from boundcheck.papers.async_fl._theorem_1 import DRIFT, delays
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Belief

BEST = "corrected"

_SOURCE = ("Lemma 6", "Appendix A.3, (82)")
_TITLE = "Mean squared movement of the global model in a round"
_GAP = 24 * rho * (2 * alpha + beta) * h**2 * L * Z_mean

STATEMENTS = (
    lemma(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces=f"alpha D by 2 alpha D and Sigma_2 by Sigma_2/K, {WHOLE_ROUNDS}",
            why=why(f"It is built on Lemma 5, and so on (61): {TWELVE}"),
        ),
        _SOURCE,
        _TITLE,
        _GAP + 6 * rho**2 * (2 * alpha * D + 2 * beta) * h**2 * S1 + 12 * rho**2 * alpha * h**2 * S2 / K,
        LENGTH2,
        DRIFT,
        delays(),
    ),
    lemma(
        Reading("as_printed", Belief.FALSE, remark="Built on (61). D <= 1/2 is used and not said."),
        _SOURCE,
        _TITLE,
        _GAP + 6 * rho**2 * (alpha * D + 2 * beta) * h**2 * S1 + 12 * rho**2 * alpha * h**2 * S2,
        LENGTH2,
        delays(),
    ),
)
