"""Section 5: M of b of n clients drawn uniformly, and why the first term vanishes if each client takes part."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from boundcheck.papers.fedshuffle._shared import PAPER
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Belief, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol, common

_CLIENTS = common.n.but(low=Fraction(2))
_COHORT = Symbol("b", "clients in a round", ONE, integer=True, low=Fraction(1))
_LARGEST = Symbol("w_max", "the largest weight of a client", ONE, low=Fraction(0), low_open=True, high=Fraction(1))
_n, _b = _CLIENTS.expr, _COHORT.expr

STATEMENTS = (
    Statement(
        source=Source(PAPER, "Section 5", "the remarks after Theorem 5.1, with s_i of uniform sampling from Section 3"),
        reading="as_printed",
        title="M of b of n clients drawn uniformly",
        symbols=(_CLIENTS, _COHORT, _LARGEST),
        metric=Metric("none", ONE),
        bound=(_n - _b) / (_n - 1) * _n / _b * _LARGEST.expr,
        kind=Kind.FORMULA,
        domain=(sp.Le(_b, _n),),
        belief=Belief.TRUE,
        remark="0 exactly when b = n; the first term of Theorem 5.1 is a multiple of M or of its root.",
    ),
)
