"""Theorem 5.2 before its choices: FedShuffleMVR at any step size and momentum that Lemma D.5 allows."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.fedshuffle._shared import G2, E, L, R, Reading, a, eta_l, gap_0, sigma2
from boundcheck.papers.fedshuffle._theorem_5_2 import (
    B_IS_1,
    MOMENTUM_HIGH,
    MOMENTUM_LOW,
    P_IS_0,
    SIMILAR_STEP,
    SMOOTH_STEP,
    statement,
    warm_up,
)
from boundcheck.theory.statement import Belief, Condition

BEST = "corrected"

_TITLE = "FedShuffleMVR at a fixed step size and momentum"
_WHERE = "Appendix D, the displays after Lemma D.5"
_CONDITIONS = (SMOOTH_STEP, SIMILAR_STEP, MOMENTUM_LOW, MOMENTUM_HIGH, B_IS_1, P_IS_0)
_AS_LONG = Condition("warm-up", sp.Eq(warm_up, R), "as many warm-up rounds as rounds")

_start = 5 * gap_0 / (eta_l * E * R)
_local = 25 * eta_l**2 * L**2 * sigma2

STATEMENTS = (
    statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="the last term 293760 G^2 by 255 a G^2, and R^2 by R times the warm-up rounds",
            why="Lemma D.5 gives 255 a G^2, which is 293760 E^2 delta^2 eta_l^2 G^2 at the smallest a; the printed "
            "term has lost that factor. The error of the first momentum is at most G^2 over the warm-up rounds, whose "
            "number need not be R. The proof uses a <= 1 and B = 1.",
        ),
        _TITLE,
        _WHERE,
        _start + 63 * G2 / (a * R * warm_up) + _local + 255 * a * G2,
        _CONDITIONS,
        counted=True,
    ),
    statement(
        Reading(
            "as_printed",
            Belief.TRUE,
            remark="The last term has lost the factor E^2 delta^2 eta_l^2, which leaves a bound that is true and says "
            "little, since its last term does not shrink. The printed conditions write K for E.",
        ),
        _TITLE,
        _WHERE,
        _start + 63 * G2 / (a * R**2) + _local + 293760 * G2,
        (*_CONDITIONS, _AS_LONG),
    ),
)
