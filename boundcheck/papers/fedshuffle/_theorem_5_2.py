"""What the statements of Theorem 5.2 (FedShuffleMVR) share: symbols, conditions, metric.

The first momentum is the mean of `warm_up` sampled gradients at x^0; the paper takes as many warm-up rounds as rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.papers.fedshuffle._rates import PLAIN
from boundcheck.papers.fedshuffle._shared import (
    B2,
    P2,
    PAPER,
    E,
    L,
    R,
    Reading,
    a,
    delta,
    eta_l,
    gap_0,
    symbols_in,
)
from boundcheck.papers.fedshuffle._theorem_5_1 import HORIZON
from boundcheck.theory.assumptions import (
    bounded_below,
    data_weights,
    gradient_dissimilarity,
    hessian_similarity,
    local_variance,
    smooth_samples,
)
from boundcheck.theory.dimension import GRADIENT2, ONE
from boundcheck.theory.statement import Algorithm, Condition, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol

WARM_UP = Symbol(
    "warm_up",
    "rounds before the first, whose sampled gradients at x^0 make the first momentum",
    ONE,
    integer=True,
    low=Fraction(1),
    latex="R_0",
    key="method/warm_up",
)
warm_up = WARM_UP.expr
PARAMETERS = ("E", "eta_l", "a", "warm_up")

B_IS_1 = Condition("B is 1", sp.Le(B2, 1), "Assumption 3.3 holds with B = 1")
P_IS_0 = Condition("P is 0", sp.Eq(P2, 0), "Assumption 3.4 holds with every P_i = 0")
SMOOTH_STEP = Condition("step size and smoothness", sp.Le(eta_l, 1 / (4 * L)))
SIMILAR_STEP = Condition("step size and similarity", sp.Le(40 * delta * E * eta_l, 1))
MOMENTUM_LOW = Condition("momentum from below", sp.Ge(a, 1152 * (E * delta * eta_l) ** 2))
MOMENTUM_HIGH = Condition("momentum from above", sp.Le(a, 1))
LONG_VISITS = Condition("local epochs", sp.Ge(E * delta, L), "E >= L/delta")
SIMILAR = Condition("similarity", sp.Gt(delta, 0), "delta > 0")
NOT_MINIMAL = Condition("start", sp.Gt(gap_0, 0), "the start is no minimum; the step would be 0")

_HYPOTHESES = (smooth_samples, gradient_dissimilarity, local_variance, hessian_similarity, bounded_below, data_weights)


def statement(
    reading: Reading,
    title: str,
    where: str,
    bound: Any,
    conditions: Sequence[Condition],
    *,
    choices: tuple[tuple[str, Any], ...] = (),
    counted: bool = False,
    printed_rate: Any = None,
) -> Statement:
    """One reading; counted: R is an index (the statement holds after every round of one run)."""
    metric = Metric(
        "epoch_grad2",
        GRADIENT2,
        index="R" if counted else None,
        rounds=R,
        average=PLAIN,
        expectation="clients, orders of the samples and the warm-up",
        weights=sp.S.One,
    )
    rates = [] if printed_rate is None else [printed_rate]
    table = {"warm_up": WARM_UP} if counted else {"warm_up": WARM_UP, "R": HORIZON}
    parts = [bound, 2 * L * gap_0, R, *conditions, *(expr for _, expr in choices), *rates]
    return Statement(
        source=Source(PAPER, "Theorem 5.2", where),
        reading=reading.name,
        title=title,
        symbols=symbols_in(*parts, also=PARAMETERS, **table),
        metric=metric,
        bound=bound,
        algorithm=Algorithm("fedshuffle_mvr", PARAMETERS),
        conditions=tuple(conditions),
        assumptions=_HYPOTHESES,
        trivial=2 * L * gap_0,
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
        printed_rate=printed_rate,
        choices=choices,
    )
