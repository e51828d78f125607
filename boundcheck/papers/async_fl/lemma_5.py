"""Lemma 5 (73): the square of the mean stochastic gradient."""

from __future__ import annotations

from boundcheck.papers.async_fl._lemmas import TWELVE, VIRTUAL, WHOLE_ROUNDS, Qs, Z, lemma, q, sg1, sg2, why
from boundcheck.papers.async_fl._shared import D, K, L, Reading, tau
from boundcheck.papers.async_fl._theorem_1 import DRIFT
from boundcheck.theory.dimension import GRADIENT2
from boundcheck.theory.statement import Belief

BEST = "corrected"

_SOURCE = ("Lemma 5", "Appendix A.3, (73)")
_TITLE = "Square R of the weighted mean of the stochastic gradients"

STATEMENTS = (
    lemma(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces=f"3 D by 6 D and 6 sigma_2 by 6 sigma_2/K, {WHOLE_ROUNDS}",
            why=why(
                f"It is built on (61): {TWELVE}. {VIRTUAL}. The noise of the K steps at theta^n is independent, so "
                "that its mean over the round has a variance smaller by K"
            ),
        ),
        _SOURCE,
        _TITLE,
        12 * L**2 * tau * Qs + 24 * L * Z / q + 6 * D * sg1 + 6 * sg2 / K,
        GRADIENT2,
        DRIFT,
    ),
    lemma(
        Reading("as_printed", Belief.FALSE, remark="Built on (61); here the paper drops the factor q(n) rightly."),
        _SOURCE,
        _TITLE,
        12 * L**2 * tau * Qs + 24 * L * Z / q + 3 * D * sg1 + 6 * sg2,
        GRADIENT2,
        DRIFT,
    ),
)
