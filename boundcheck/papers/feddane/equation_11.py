"""Equation (11): the variance of the averaged gradient; printed again as (18) and (26)."""

from __future__ import annotations

from fractions import Fraction

from boundcheck.papers.feddane.definitions import B2, NOTATION, PAPER, K, grad2_0
from boundcheck.theory.dimension import GRADIENT2, ONE, VALUE
from boundcheck.theory.statement import Belief, Kind, Metric, Source
from boundcheck.theory.symbols import Symbol
from boundcheck.theory.theorem import Reading, Theorem

OWN = (
    Symbol("f2_0", "squared value of f at w^{t-1}", VALUE * VALUE, low=Fraction(0), latex="f(w^{t-1})^2"),
    Symbol("n", "number of devices", ONE, integer=True, low=Fraction(2), key="clients/n"),
)
f2_0, n = (symbol.expr for symbol in OWN)

theorem = Theorem(
    source=Source(PAPER, "equation (11)", "Appendix V-D; again (18) and (26)"),
    title="Bound of E|g - grad f|^2 for the plain mean g of the gradients of S_t",
    symbols=(*NOTATION, *OWN),
    metric=Metric("none", GRADIENT2),
    kind=Kind.FORMULA,
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            bound=(B2 - 1) * grad2_0,
            replaces="|f|^2 by |grad f|^2",
            why="Definition 2 is about gradients; as printed the sides have different units.",
        ),
        "as_printed": Reading(
            bound=(B2 - 1) * f2_0,
            belief=Belief.FALSE,
            remark="The last norm lacks its gradient.",
        ),
        "sharp": Reading(
            bound=(B2 - 1) * grad2_0 / K,
            replaces="the factor 1 by 1/K",
            why="K independent draws with the probabilities p_k; with equality at the B of Definition 2.",
        ),
        "uniform_without_replacement": Reading(
            bound=(B2 - 1) * grad2_0 * (n - K) / (K * (n - 1)),
            replaces="the factor 1 by (n - K)/(K (n - 1)), for equal weights and K of n devices without replacement",
            why="The covariance of two members is -1/(n - 1) of the variance; it vanishes with all devices.",
        ),
    },
)
