"""Lemma D.5: the mean squared gradient at the epochs' starts over all rounds of FedShuffleMVR."""

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
    declare,
    mvr,
    similar_step,
    smooth_step,
)
from boundcheck.papers.fedshuffle._shared import G2, PAPER, E, L, R, Reading, a, eta_l, gap_0, sigma2
from boundcheck.theory.assumptions import bounded_below, data_weights
from boundcheck.theory.dimension import GRADIENT2
from boundcheck.theory.statement import Belief, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol

BEST = "corrected"

_error_0 = declare("h2")[0].but(
    name="h2_0",
    meaning="squared momentum error |m^0 - grad f(x^0)|^2 at the start, in expectation",
    key="start/momentum_error2",
    latex=r"\|h^0\|^2",
)
_symbols: tuple[Symbol, ...] = (
    *declare("gap_0"),
    _error_0,
    *declare("E", "R", "eta_l", "delta", "L", "a", "G2", "B2", "P2", "sigma2"),
)

# Psi^0, the objective gap plus a multiple of the momentum error
psi_0 = gap_0 + sp.Rational(288, 23) * eta_l * E / a * _error_0.expr

_READINGS = (
    Reading(
        "corrected",
        Belief.TRUE,
        replaces="the coefficient of the squared gradients in the last two displays of the printed proof",
        why="Lemma D.4 adds 9216/23 of E^2 delta^2 eta_l^2/a inside the bracket, not 104; from the printed eta_l/4 "
        "that would leave less than eta_l/5. The line before it gives 63/200 instead of 1/4, and 63/200 - 2/23 > 1/5.",
    ),
    Reading(
        "as_printed",
        Belief.TRUE,
        remark="The lemma is true; the coefficient 104 in its printed proof is not, and with the right one the printed "
        "1/4 does not leave 1/5. a <= 1 is used and not named.",
    ),
)

STATEMENTS = tuple(
    Statement(
        source=Source(PAPER, "Lemma D.5", "Appendix D, (30)"),
        reading=reading.name,
        title="FedShuffleMVR: mean squared gradient at the starts of the epochs",
        symbols=_symbols,
        metric=Metric(
            "epoch_grad2",
            GRADIENT2,
            index="R",
            rounds=R,
            average="all rounds and epochs",
            expectation="clients (one by weight a round) and orders of the samples",
            weights=sp.S.One,
        ),
        bound=5 * psi_0 / (eta_l * R * E) + 25 * eta_l**2 * L**2 * sigma2 + 255 * a * G2,
        algorithm=mvr("E", "eta_l", "a"),
        conditions=(smooth_step(4), similar_step(40), LONG_ENOUGH, MOMENTUM, NO_RELATIVE_NOISE, B_IS_1),
        assumptions=(A32, A33, A34, A35, bounded_below, data_weights),
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )
    for reading in _READINGS
)
