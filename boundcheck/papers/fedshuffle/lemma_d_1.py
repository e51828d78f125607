"""Lemma D.1: how far the average gradient of a reshuffled MVR epoch is from the gradient at its start."""

from __future__ import annotations

from boundcheck.papers.fedshuffle._appendix_d import (
    A32,
    A33,
    A34,
    EPOCH_ORDER,
    MOMENTUM,
    NO_RELATIVE_NOISE,
    D_i,
    d2,
    declare,
    mvr,
    sigma2_i,
    smooth_step,
)
from boundcheck.papers.fedshuffle._shared import PAPER, L, Reading, eta_l
from boundcheck.theory.dimension import GRADIENT2
from boundcheck.theory.statement import Belief, Metric, Source, Statement

BEST = "corrected"

_READINGS = (
    Reading(
        "corrected",
        Belief.TRUE,
        replaces="the first equality of the printed proof and its two estimates of sums over j",
        why="Equation (13) subtracts the sample's gradient at x, where the proof has grad f_i(x); with the sample's "
        "the variance is up to 4 sigma_i^2. Splitting the square 3 : 3/2 instead of 2 : 2, over the positions after "
        "0, ..., |D_i|-1 steps, gives the printed constants for every |D_i|. Assumption 3.3 is not used.",
    ),
    Reading(
        "as_printed",
        Belief.TRUE,
        remark="The lemma is true; its printed proof replaces grad f_ij(x) by grad f_i(x) and ends with an estimate "
        "that is false for |D_i| <= 12.",
    ),
)

STATEMENTS = tuple(
    Statement(
        source=Source(PAPER, "Lemma D.1", "Appendix D, (26)"),
        reading=reading.name,
        title="One local epoch of FedShuffleMVR: the average gradient against that at its start",
        symbols=declare("d2", "sigma2_i", "D_i", "eta_l", "L", "a", "P2"),
        metric=Metric("epoch_error2", GRADIENT2, expectation=EPOCH_ORDER),
        bound=2 * eta_l**2 * L**2 * sigma2_i / D_i + eta_l**2 * L**2 * d2,
        algorithm=mvr("eta_l", "a"),
        conditions=(smooth_step(2), MOMENTUM, NO_RELATIVE_NOISE),
        assumptions=(A32, A33, A34) if reading.name == "as_printed" else (A32, A34),
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )
    for reading in _READINGS
)
