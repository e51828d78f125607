"""Equation (11): the variance of the averaged gradient; printed again as (18) and (26)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from boundcheck.papers.feddane._shared import B2, PAPER, SYMBOLS, K, Reading, grad2_0
from boundcheck.theory.dimension import GRADIENT2, ONE, VALUE
from boundcheck.theory.statement import Belief, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol

BEST = "corrected"

_F2 = Symbol("f2_0", "squared value of f at w^{t-1}", VALUE * VALUE, low=Fraction(0))
_N = Symbol("n", "number of devices", ONE, integer=True, low=Fraction(2), key="clients/n")


def _statement(reading: Reading, bound: Any, *own: Symbol) -> Statement:
    return Statement(
        source=Source(PAPER, "equation (11)", "Appendix V-D; again (18) and (26)"),
        reading=reading.name,
        title="Bound of E|g - grad f|^2 for the plain mean g of the gradients of S_t",
        symbols=tuple(s for s in (*SYMBOLS.values(), *own) if s.expr in bound.free_symbols),
        metric=Metric("none", GRADIENT2),
        bound=bound,
        kind=Kind.FORMULA,
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )


_FACTOR = "the factor 1 by "

STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="|f|^2 by |grad f|^2",
            why="Definition 2 is about gradients; as printed the sides have different units.",
        ),
        (B2 - 1) * grad2_0,
    ),
    _statement(
        Reading("as_printed", Belief.FALSE, remark="The last norm lacks its gradient."), (B2 - 1) * _F2.expr, _F2
    ),
    _statement(
        Reading(
            "sharp",
            Belief.TRUE,
            replaces=_FACTOR + "1/K",
            why="K independent draws with the probabilities p_k; with equality at the B of Definition 2.",
        ),
        (B2 - 1) * grad2_0 / K,
    ),
    _statement(
        Reading(
            "uniform_without_replacement",
            Belief.TRUE,
            replaces=_FACTOR + "(n - K)/(K (n - 1)), for equal weights and K of n devices without replacement",
            why="The covariance of two members is -1/(n - 1) of the variance; it vanishes with all devices.",
        ),
        (B2 - 1) * grad2_0 * (_N.expr - K) / (K * (_N.expr - 1)),
        _N,
    ),
)
