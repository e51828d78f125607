"""Lemma D.4: the momentum error of FedShuffleMVR after one round."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.fedshuffle._appendix_d import (
    A32,
    A33,
    A34,
    A35,
    B_IS_1,
    LONG_ENOUGH,
    MOMENTUM,
    NO_RELATIVE_NOISE,
    ONE_CLIENT,
    D_i,
    S,
    declare,
    gam2,
    h2,
    mvr,
    sigma2_i,
    similar_step,
    smooth_step,
)
from boundcheck.papers.fedshuffle._shared import PAPER, E, L, Reading, a, delta, eta_l
from boundcheck.theory.dimension import GRADIENT2
from boundcheck.theory.statement import Belief, Metric, Source, Statement

BEST = "corrected"

_READINGS = (
    Reading(
        "corrected",
        Belief.TRUE,
        replaces="the display of x+ - x in the printed proof",
        why="It leaves out the sum of grad f(y_{i,e}) and, with it, one of three terms of the square. With that term "
        "the constants become 8343/800, 8343/800, 2781/800 and 4881/800, below the printed 24, 24, 4 and 8. "
        "Assumption 3.3 is not used.",
    ),
    Reading(
        "as_printed",
        Belief.TRUE,
        remark="The lemma is true; the equation for x+ - x in its printed proof is not: where m = grad f(x) and one "
        "client has one sample, its right side is 0.",
    ),
)

STATEMENTS = tuple(
    Statement(
        source=Source(PAPER, "Lemma D.4", "Appendix D, (29)"),
        reading=reading.name,
        title="Momentum error of FedShuffleMVR after one round",
        symbols=declare(
            *("h2", "gam2", "sigma2_i", "D_i", "S", "E", "eta_l", "delta", "L", "a", "P2"),
            *(("B2",) if reading.name == "as_printed" else ()),
        ),
        metric=Metric("momentum_error2", GRADIENT2, rounds=sp.S.One, expectation=ONE_CLIENT),
        bound=(1 - sp.Rational(23, 24) * a) * h2
        + 3 * a**2 * gam2
        + 16 * eta_l**4 * E**2 * delta**2 * L**2 * sigma2_i / D_i
        + 8 * eta_l**2 * delta**2 * E * S,
        algorithm=mvr("E", "eta_l", "a"),
        conditions=(
            *(smooth_step(4), similar_step(40), LONG_ENOUGH, MOMENTUM, NO_RELATIVE_NOISE),
            *((B_IS_1,) if reading.name == "as_printed" else ()),
        ),
        assumptions=(A32, A33, A34, A35) if reading.name == "as_printed" else (A32, A34, A35),
        trivial=h2,
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )
    for reading in _READINGS
)
