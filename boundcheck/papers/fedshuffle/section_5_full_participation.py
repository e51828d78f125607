"""Section 5: M of b of n clients drawn uniformly, and why the first term vanishes if each client takes part."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.papers.fedshuffle._shared import PAPER, Reading
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Belief, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol, common

BEST = "corrected"

_CLIENTS = common.n.but(meaning="number of clients", low=Fraction(1))
_SEVERAL = _CLIENTS.but(low=Fraction(2))
_COHORT = Symbol("b", "clients in a round", ONE, integer=True, low=Fraction(1), key="participation/b")
_LARGEST = Symbol(
    "w_max",
    "the largest weight of a client",
    ONE,
    low=Fraction(0),
    low_open=True,
    high=Fraction(1),
    key="clients/w_max",
)
_n, _b = _CLIENTS.expr, _COHORT.expr


def _statement(reading: Reading, clients: Symbol, others: Any) -> Statement:
    return Statement(
        source=Source(PAPER, "Section 5", "the remarks after Theorem 5.1, with s_i of uniform sampling from Section 3"),
        reading=reading.name,
        title="M of b of n clients drawn uniformly",
        symbols=(clients, _COHORT, _LARGEST),
        metric=Metric("constant:M", ONE, expectation="none: a constant of the participation"),
        bound=(_n - _b) / others * _n / _b * _LARGEST.expr,
        kind=Kind.EQUALITY,
        domain=(sp.Le(_b, _n),),
        assumptions=(Assumption("uniform_participation", "b of the n clients are drawn, all subsets alike."),),
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
            replaces="n - 1 by max(1, n - 1)",
            why="A single client always takes part, and s_i = (n - b)/(n - 1) is 0/0 for it.",
            remark="0 exactly when b = n; the first term of Theorem 5.1 is a multiple of M or of its root.",
        ),
        _CLIENTS,
        sp.Max(1, _n - 1),
    ),
    _statement(
        Reading(
            "as_printed",
            Belief.TRUE,
            remark="Two clients or more. 0 exactly when b = n; the first term of Theorem 5.1 is a multiple of M or of "
            "its root.",
        ),
        _SEVERAL,
        _n - 1,
    ),
)
