"""Lemma 4 (72): the inner product of the step with the way to a point."""

from __future__ import annotations

from boundcheck.papers.async_fl._lemmas import TWELVE, VIRTUAL, WHOLE_ROUNDS, Qs, Xi, Z, lemma, q, sg1, why
from boundcheck.papers.async_fl._shared import D, L, Reading, e, tau
from boundcheck.papers.async_fl._theorem_1 import DRIFT
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Belief

BEST = "corrected"

_SOURCE = ("Lemma 4", "Appendix A.3, (72)")
_TITLE = "Twice the inner product -D of the step with the way to a point"

STATEMENTS = (
    lemma(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces=f"6 by 12, {WHOLE_ROUNDS}",
            why=why(f"It is built on (61): {TWELVE}. {VIRTUAL}"),
        ),
        _SOURCE,
        _TITLE,
        -2 * Xi + 4 * L * q * tau * Qs + 4 * D * Z + 12 * e * q * L * sg1,
        VALUE,
        DRIFT,
    ),
    lemma(
        Reading(
            "as_printed",
            Belief.FALSE,
            remark="The factor q(n) of the delays is the right one here. D <= 1/2 is used and not said.",
        ),
        _SOURCE,
        _TITLE,
        -2 * Xi + 4 * L * q * tau * Qs + 4 * D * Z + 6 * e * q * L * sg1,
        VALUE,
    ),
)
