"""Section 4.1: where FedAvg with reshuffling ends when clients hold different amounts of data.

On equation (36) with 1, 2 and 3 samples everything is known: a visit of client i maps x to (1-eta)^(E |D_i|) x plus
eta times a randomly ordered geometric sum of its unit vectors, so that mean and variance of the iterate are explicit.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.papers.fedshuffle._shared import COHORTS_AND_ORDERS, PAPER, SYMBOLS, E, R, Reading, eta_l
from boundcheck.theory.assumptions import instance, zero_at_start
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Algorithm, Belief, Condition, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol

BEST = "corrected"

_SIZES = (1, 2, 3)
_ALL = sum(_SIZES)
_STEP = SYMBOLS["eta_l"].but(dimension=ONE, high=Fraction(1), meaning="step size of a local step; L = 1")
_BATCH = Symbol("batch", "samples of a local step", ONE, integer=True, low=Fraction(1), key="method/batch")
_COHORT = Symbol(
    "b", "expected number of clients in a round", ONE, low=Fraction(0), low_open=True, key="participation/b"
)
_DIMENSION = Symbol("d", "dimension of the variable", ONE, integer=True, low=Fraction(1), key="objective/dimension")

_keep = 1 - eta_l  # factor of a local step
_weights = [sp.Rational(size, _ALL) for size in _SIZES]
_factor = sum(w * _keep ** (E * size) for w, size in zip(_weights, _SIZES, strict=True))  # of a round, on the mean
_move = sum(w * (1 - _keep ** (E * size)) for w, size in zip(_weights, _SIZES, strict=True))


def _order_variance(size: int) -> Any:
    """E|y - Ey|^2 of one client's visit over the orders of its samples, E epochs with fresh orders."""
    if size == 1:
        return sp.S.Zero
    parts = [eta_l * _keep**k for k in range(size)]
    epoch = sum(c**2 for c in parts) - sum(parts) ** 2 / size
    return epoch * (1 - _keep ** (2 * size * E)) / (1 - _keep ** (2 * size))


def _expected_gap() -> Any:
    """E F(x^R) - F* from x^0 = 0: half the squared distance of the mean, and half the variance."""
    mean = sp.S.Zero
    for w, size in zip(_weights, _SIZES, strict=True):
        coordinate = w * (1 - _keep ** (E * size)) / (size * _move)
        mean += size * ((1 - _factor**R) * coordinate - sp.Rational(1, _ALL)) ** 2
    fresh = sum(w**2 * _order_variance(size) for w, size in zip(_weights, _SIZES, strict=True))
    variance = fresh * (1 - _factor ** (2 * R)) / (1 - _factor**2)
    return (mean + variance) / 2


_CONDITIONS = (
    Condition("full participation", sp.Eq(_COHORT.expr, len(_SIZES)), "all three clients in every round"),
    Condition("server step size", sp.Eq(SYMBOLS["eta_g"].expr, 1)),
    Condition("batch", sp.Eq(_BATCH.expr, 1)),
    Condition("dimension", sp.Eq(_DIMENSION.expr, _ALL), "six samples"),
    Condition("sizes", sp.Eq(SYMBOLS["sigma2"].expr, sp.Rational(7, 36)), "of six samples only 1 + 2 + 3 have this"),
)
_ROUNDS = SYMBOLS["R"].but(low=Fraction(0))
_NAMES = ("sigma2", "E", "eta_g")


def _statement(reading: Reading, title: str, bound: Any, kind: Kind, *more: Condition) -> Statement:
    parameters = ("E", "eta_l", "eta_g", "batch")
    return Statement(
        source=Source(PAPER, "Section 4.1", "the limit of FedAvg; the weights again in Appendix E.2"),
        reading=reading.name,
        title=title,
        symbols=(*(SYMBOLS[name] for name in _NAMES), _STEP, _BATCH, _COHORT, _DIMENSION, _ROUNDS),
        metric=Metric("gap", None, index="R", rounds=R, expectation=COHORTS_AND_ORDERS),
        bound=bound,
        kind=kind,
        algorithm=Algorithm("fedavg_rr", parameters),
        conditions=(*_CONDITIONS, *more),
        assumptions=(instance("fedshuffle_36"), zero_at_start),
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )


STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="the limit with the weights |D_i|^2/sum of |D_j|^2 at every sufficiently small step size",
            why="Client i pulls with w_i (1 - (1-eta)^(E |D_i|)), which is proportional to |D_i|^2 only as eta -> 0, "
            "and the order of the samples adds a variance. Theorem E.1 bounds the gap of fhat, with error terms.",
        ),
        "FedAvgRR on (36): the exact expected gap",
        _expected_gap(),
        Kind.EQUALITY,
    ),
    _statement(
        Reading(
            "as_printed",
            Belief.FALSE,
            remark="The gap of the printed limit, whose coordinates are (1,2,2,3,3,3)/14. At eta = 1/8 the exact limit "
            "is 0.00694; the two agree as eta -> 0 only.",
        ),
        "FedAvgRR on (36): the limit as printed",
        sp.Rational(5, 588),
        Kind.LIMIT,
        Condition("small step", sp.Le(E * eta_l, 1), "'sufficiently small'; no threshold is printed"),
    ),
)
