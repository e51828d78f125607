"""Lemma D.3: how far the local epochs of FedShuffleMVR move from the start of the round."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.fedshuffle._appendix_d import (
    A32,
    A34,
    A35,
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
from boundcheck.papers.fedshuffle._shared import PAPER, E, L, Reading, a, eta_l
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Belief, Metric, Source, Statement

BEST = "as_printed"

_READINGS = (
    Reading(
        "as_printed",
        Belief.TRUE,
        remark="a <= 1 is used and not named. The printed proof has a sign and an index of the inner sum wrong, "
        "which its estimates do not notice.",
    ),
    Reading(
        "sharp",
        Belief.TRUE,
        replaces="the factors 16, 48, 48 and 16 by 144/37, 432/37 (1 - a)^2, 432/37 and 192/37, and E^2 by E (E - 1)",
        why="The same chain without its roundings: the positions at the starts of the epochs sum up to E (E - 1)/2 "
        "steps, 3 + 6 eta_l^2 L^2 is at most 9/2, what is left of the drift at least 37/64, and the momentum enters "
        "with 1 - a. A round of a single epoch has no drift.",
    ),
)
_PRINTED = 16 * E**2 * eta_l**2 * S + 16 * E**3 * eta_l**2 * (
    3 * h2 + 3 * a**2 * gam2 + eta_l**2 * L**2 * sigma2_i / D_i
)
_SHARP = (
    sp.Rational(48, 37)
    * E
    * (E - 1)
    * eta_l**2
    * (3 * S + 9 * E * ((1 - a) ** 2 * h2 + a**2 * gam2) + 4 * E * eta_l**2 * L**2 * sigma2_i / D_i)
)

STATEMENTS = tuple(
    Statement(
        source=Source(PAPER, "Lemma D.3", "Appendix D, (28)"),
        reading=reading.name,
        title="Drift of the epochs of one round of FedShuffleMVR",
        symbols=declare("h2", "gam2", "sigma2_i", "D_i", "S", "E", "eta_l", "delta", "L", "a", "P2"),
        metric=Metric("summed_epoch_drift2", LENGTH2, expectation=ONE_CLIENT),
        bound=_PRINTED if reading.name == "as_printed" else _SHARP,
        algorithm=mvr("E", "eta_l", "a"),
        conditions=(similar_step(4), smooth_step(2), MOMENTUM, NO_RELATIVE_NOISE),
        assumptions=(A32, A34, A35),
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )
    for reading in _READINGS
)
