"""Lemma 3 (61): the distance of local models to the global one."""

from __future__ import annotations

from boundcheck.papers.async_fl._lemmas import TWELVE, VIRTUAL, WHOLE_ROUNDS, Qs, Z, lemma, q, sg1, why
from boundcheck.papers.async_fl._shared import D, L, Reading, e, tau
from boundcheck.papers.async_fl._theorem_1 import DRIFT
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Belief

BEST = "corrected"

_SOURCE = ("Lemma 3", "Appendix A.3, (61)")
_TITLE = "Mean squared distance phi of the local models to the global one"

STATEMENTS = (
    lemma(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces=f"the factor q(n) by 1 and 6 by 12, {WHOLE_ROUNDS}",
            why=why(f"{TWELVE}. {VIRTUAL}"),
        ),
        _SOURCE,
        _TITLE,
        4 * tau * Qs + 4 * D * Z / (L * q) + 12 * e * sg1,
        LENGTH2,
        DRIFT,
    ),
    lemma(
        Reading(
            "as_printed",
            Belief.FALSE,
            remark="With q(n) < 1/4, K = 1 and tau = 1 the left side is Q(n-1), the right one 4 q(n) Q(n-1) and a "
            "gap that may be 0. For eta_g >= 6 and K = 2 it fails for one client without delays too.",
        ),
        _SOURCE,
        _TITLE,
        4 * q * tau * Qs + 4 * D * Z / (L * q) + 6 * e * sg1,
        LENGTH2,
        DRIFT,
    ),
)
