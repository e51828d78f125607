"""Lemma 1, second and third claim: 0 <= gamma_i <= beta q_i."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.papers.async_fl._shared import Reading, alpha, formula, nonnegative, positive
from boundcheck.theory.assumptions import covariance_of_weights
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Belief, Statement

BEST = "corrected"

_WEIGHT = positive("d", "weight d_i(n) of a client when it takes part")
_EXPECTED = nonnegative("q_i", "expected weight q_i(n) of the client")
_d, _q = _WEIGHT.expr, _EXPECTED.expr


def _statement(reading: Reading, bound: Any, *domain: Any) -> Statement:
    return formula(
        reading,
        ("Lemma 1", "Appendix A.3, after (51)"),
        "Variance of a client's weight beyond alpha q_i^2",
        bound,
        ONE,
        domain=domain,
        assumptions=(covariance_of_weights,),
        changed=(_WEIGHT, _EXPECTED),
    )


STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="the bound beta q_i, beta the largest d_i - alpha q_i over all clients",
            why="A weight is 0 or d_i, so that E w_i^2 = d_i q_i and gamma_i = q_i (d_i - alpha q_i) exactly; a client "
            "that cannot take part has gamma_i = 0, but counts with d_i in the printed beta.",
            remark="Weights with more than two values (clients drawn with replacement) have another gamma_i.",
        ),
        _q * (_d - alpha * _q),
        sp.Le(_q, _d),
    ),
    _statement(
        Reading(
            "as_printed",
            Belief.TRUE,
            remark="The bound beta q_i for one client. With the largest beta over all clients, those that cannot take "
            "part too, it is true and loose: FedFix's beta = 0 needs them left out.",
        ),
        sp.Max(0, _d - alpha * _q) * _q,
        sp.Le(_q, _d),
    ),
)
