"""What Remarks 1 to 4 share: the long-run bound at a fixed step, and the bound at the step eta = sqrt(m/K)."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.papers.partial_averaging._shared import (
    METHOD,
    NOISE,
    PAPER,
    SYMBOLS,
    K,
    Lmax,
    Reading,
    Smooth,
    eta_unit,
    m,
    of_average,
    symbols_in,
    tau,
)
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.dimension import GRADIENT2, ONE
from boundcheck.theory.statement import Condition, Kind, Metric, Source, Statement

TUNED = sp.sqrt(m / K)
OWN_UNIT = eta_unit * TUNED
RATE = 1 / sp.sqrt(m * K) + m / K


def long_run(
    reading: Reading,
    smooth: Smooth,
    number: str,
    bound: Any,
    conditions: tuple[Condition, ...],
    assumptions: tuple[Assumption, ...],
) -> Statement:
    """The limit superior of the mean squared gradient at a fixed step, the same for every partition and order."""
    return Statement(
        source=Source(PAPER, number, "whatever the partition and the order of its blocks"),
        reading=reading.name,
        title="The long-run mean squared gradient does not depend on the partition",
        symbols=symbols_in(bound, K, *conditions, smooth=smooth),
        metric=of_average(),
        bound=bound,
        kind=Kind.LIMSUP,
        algorithm=METHOD,
        conditions=conditions,
        assumptions=assumptions,
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )


def at_tuned_step(
    reading: Reading,
    smooth: Smooth,
    number: str,
    bound: Any,
    conditions: tuple[Condition, ...],
    assumptions: tuple[Assumption, ...],
    step: Any,
) -> Statement:
    """The bound at a step size that the number of iterations, set beforehand, prescribes."""
    horizon = SYMBOLS["K"].but(index=False, meaning="iterations, set beforehand", free=True)
    metric = of_average()
    return Statement(
        source=Source(PAPER, number, "linear speed-up, eta = sqrt(m)/sqrt(K)"),
        reading=reading.name,
        title="The mean squared gradient at the step size eta = sqrt(m/K)",
        symbols=symbols_in(bound, step, *conditions, smooth=smooth, also=("tau", "eta"), changed={"K": horizon}),
        metric=Metric("grad2", GRADIENT2, rounds=K, average=metric.average, expectation=NOISE, weights=metric.weights),
        bound=bound,
        algorithm=METHOD,
        conditions=conditions,
        assumptions=assumptions,
        choices=(("eta", step),),
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
        printed_rate=RATE,
    )


def threshold(reading: Reading, number: str, bound: Any) -> Statement:
    """From how many iterations on 1/sqrt(mK) is larger than m/K."""
    return Statement(
        source=Source(PAPER, number, "linear speed-up: 'the first term dominates'"),
        reading=reading.name,
        title="Iterations beyond which 1/sqrt(mK) exceeds m/K",
        symbols=symbols_in(bound),
        metric=Metric("none", ONE),
        bound=bound,
        kind=Kind.FORMULA,
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )


ENOUGH = Condition(
    "iterations", sp.Ge(K, m * tau**2 * (Lmax * eta_unit) ** 2), "Theorem 1's step condition at this step; not printed"
)
UNITS = (
    "The printed step sqrt(m/K) has no unit, where a step size has that of 1/L; a factor eta_unit gives it one, "
    "without which scaling F changes what is claimed"
)
