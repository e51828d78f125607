"""Lemma 2 (56): how the distance to a point changes."""

from __future__ import annotations

from boundcheck.papers.async_fl._lemmas import WHOLE_ROUNDS, Rn, Sn, inner, lemma, q, why
from boundcheck.papers.async_fl._shared import Reading, alpha, beta, et, h
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Belief

BEST = "corrected"

_SOURCE = ("Lemma 2", "Appendix A.3, (56)")
_TITLE = "Change of the squared distance to a point in a step"

STATEMENTS = (
    lemma(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces=f"the mean over the local steps, {WHOLE_ROUNDS}, with h = K eta_g eta_l for eta_g eta_l",
            why=why(
                "theta^{n,k} depends on the weights w_i(n), so that (58) to (59) lose the covariance of the step with "
                "theta^{n,k}, 2 et^2 Var(w) <g_k, sum of g_l, l < k> for one client; theta^n does not depend on them"
            ),
        ),
        _SOURCE,
        _TITLE,
        -2 * h * inner + h**2 * alpha * q**2 * Rn + h**2 * beta * q * Sn,
        LENGTH2,
    ),
    lemma(
        Reading(
            "as_printed",
            Belief.FALSE,
            remark="The mean over k of the change from theta^{n,k} to theta^{n,k+1}. For K >= 2 and a random cohort it "
            "is false. (59) has the wrong sign of the cross term.",
        ),
        _SOURCE,
        _TITLE,
        -2 * et * inner + et**2 * alpha * q**2 * Rn + et**2 * beta * q * Sn,
        LENGTH2,
    ),
)
