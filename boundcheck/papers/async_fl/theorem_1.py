"""Theorem 1: the mean gap of the problems L^n of the rounds."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.async_fl._shared import (
    CORRECTED,
    R,
    Reading,
    alpha,
    at_cap,
    beta,
    mean_over_rounds,
    nonnegative,
    told,
)
from boundcheck.papers.async_fl._theorem_1 import (
    AS_CORRECTED,
    AS_PRINTED,
    AS_SHARP,
    AS_USED,
    FIRST,
    FIRST_PRINTED,
    IDLE,
    REPLACES,
    SECOND,
    SECOND_PRINTED,
    SHARP_WHY,
    Setting,
    corrected,
    corrected_errors,
    printed,
    printed_errors,
    sharp_errors,
)
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Belief, Condition, Statement

BEST = "corrected"

BETA_CERTAIN = nonnegative(
    "beta_det", "beta at alpha = 1 of weights that are not random", latex=r"\beta", key="participation/beta_certain"
)
CERTAIN = Condition("certain cohorts", sp.Eq(BETA_CERTAIN.expr, 0))
_REAL, _VIRTUAL = (mean_over_rounds(name, VALUE) for name in ("round_gap", "virtual_round_gap"))


def _statement(reading: Reading, setting: Setting, bound: object, *, virtual: bool = False) -> Statement:
    return told(
        reading,
        ("Theorem 1", "Section 3.2, (13) to (16); constants from Appendix A, (93) and (94)"),
        "Mean gap of the rounds' own problems",
        _VIRTUAL if virtual else _REAL,
        bound,
        conditions=setting.conditions,
        assumptions=setting.assumptions,
        trivial=IDLE,
        changed=setting.changed,
    )


STATEMENTS = (
    _statement(corrected(), AS_CORRECTED, R + corrected_errors().total),
    _statement(
        corrected("corrected_sigma", "Sigma_1 is at most (4 L R + 2 Sigma)/min q(n): (96) holds for q(n) >= 1 alone."),
        AS_CORRECTED,
        R + corrected_errors(FIRST, SECOND).total,
    ),
    _statement(
        corrected(
            "corrected_certain",
            "Where it is known who takes part, E w_i w_j = w_i w_j, and alpha = 1 is legal with beta = 0, also for one "
            "client a round, for which the paper takes alpha = 0 and beta = max d_i.",
        ),
        Setting((at_cap(), CERTAIN), CORRECTED, (BETA_CERTAIN,)),
        (R + corrected_errors().total).subs({alpha: 1, beta: 0}),
    ),
    _statement(Reading("sharp", Belief.TRUE, REPLACES, SHARP_WHY), AS_SHARP, R + sharp_errors()),
    _statement(
        printed(remark="The constants are those at which the printed proof ends, in Sigma_1 and Sigma_2 of (94)."),
        AS_PRINTED,
        R + printed_errors().total,
        virtual=True,
    ),
    _statement(
        printed(
            "as_printed_used", "As Section 4 applies it: with alpha = 0 and alpha = 1, which Assumption 5 excludes."
        ),
        AS_USED,
        R + printed_errors().total,
        virtual=True,
    ),
    _statement(
        printed("as_printed_sigma", "(13) to (16): Sigma_1 and Sigma_2 replaced by (96)."),
        AS_PRINTED,
        R + printed_errors(FIRST_PRINTED, SECOND_PRINTED).total,
        virtual=True,
    ),
)
