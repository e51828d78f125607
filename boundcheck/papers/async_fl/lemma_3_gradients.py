"""Lemma 3 (62): the mean square of the stochastic gradients."""

from __future__ import annotations

from boundcheck.papers.async_fl._lemmas import VIRTUAL, WHOLE_ROUNDS, Qs, Z, lemma, q, sg1, why
from boundcheck.papers.async_fl._shared import L, Reading, tau
from boundcheck.papers.async_fl._theorem_1 import DRIFT
from boundcheck.theory.dimension import GRADIENT2
from boundcheck.theory.statement import Belief

BEST = "corrected"

_SOURCE = ("Lemma 3", "Appendix A.3, (62)")
_TITLE = "Mean square S of the stochastic gradients along local work"

STATEMENTS = (
    lemma(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces=f"the factor q(n) of the delays by 1, {WHOLE_ROUNDS}",
            why=why(f"The normalised weights sum to 1, so that no q(n) comes before the delays. {VIRTUAL}"),
        ),
        _SOURCE,
        _TITLE,
        12 * L**2 * tau * Qs + 12 * L * Z / q + 6 * sg1,
        GRADIENT2,
        DRIFT,
    ),
    lemma(
        Reading("as_printed", Belief.FALSE, remark="Too small for q(n) < 1 and for eta_g far from 1, as (61) is."),
        _SOURCE,
        _TITLE,
        12 * q * L**2 * tau * Qs + 12 * L * Z / q + 6 * sg1,
        GRADIENT2,
        DRIFT,
    ),
)
