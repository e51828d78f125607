"""Equation (3) and step 9 of Algorithm 2: over which devices the local solutions are averaged.

On the example with F_1 = 0, F_2 = w^2 and p = 1/2 everything is known: device k moves w to w - g/(mu + H_k),
H = (0, 2), and g is 0 or 2w, each with probability 1/2, where one device is drawn.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.papers.feddane._shared import DEVICES, PAPER, SYMBOLS, K, Reading, T, gap_0, mu
from boundcheck.theory.assumptions import (
    independent_cohorts,
    instance,
    unbiased_gradient_cohort,
    unbiased_solver_cohort,
)
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Algorithm, Belief, Condition, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol

BEST = "corrected"

_SOLVERS = Symbol(
    "K2",
    "devices in S'_t, which solve subproblems",
    ONE,
    integer=True,
    low=Fraction(1),
    key="participation/cohort_size",
)
_GAMMA = SYMBOLS["gamma"]
_MU = SYMBOLS["mu"].but(dimension=ONE)

_flat, _curved = (1 - 2 / mu) ** 2, (mu / (mu + 2)) ** 2  # of (w^t/w)^2 where g = 2w, for each device
# g = 0 leaves w where it is, whoever solves
_independent = (2 + _flat + _curved) / 4
_same = (1 + _curved) / 2  # S'_t = S_t: the flat device is drawn with g = 0


def _statement(reading: Reading, factor: Any) -> Statement:
    return Statement(
        source=Source(PAPER, "equation (3)", "Section III-C; step 9 of Algorithm 2 averages over S_t"),
        reading=reading.name,
        title="FedDANE with one device a cohort on F_1 = 0, F_2 = w^2: the exact expected gap",
        symbols=(_MU, _GAMMA, SYMBOLS["K"], _SOLVERS, SYMBOLS["gap_0"], SYMBOLS["T"].but(low=Fraction(0))),
        metric=Metric("gap", None, index="T", rounds=T, expectation=DEVICES),
        bound=gap_0 * factor**T,
        kind=Kind.EQUALITY,
        algorithm=Algorithm("feddane", ("mu",)),
        conditions=(
            Condition("exact solutions", sp.Eq(_GAMMA.expr, 0)),
            Condition("one gradient", sp.Eq(K, 1)),
            Condition("one solver", sp.Eq(_SOLVERS.expr, 1)),
        ),
        assumptions=(
            instance("feddane_1d"),
            independent_cohorts,
            unbiased_gradient_cohort,
            unbiased_solver_cohort,
        ),
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
            replaces="'each device k in S_t solves' and the mean over S_t by S'_t",
            why="The text before (3) and step 6 of the algorithm draw another set S'_t, and only its devices solve.",
        ),
        _independent,
    ),
    _statement(
        Reading(
            "as_printed",
            Belief.FALSE,
            remark="Taken at its word, the devices whose gradients were collected solve and are averaged, so that the "
            "other set has no part in the iteration.",
        ),
        _same,
    ),
)
