"""Lemma B.5: the variance of a mean of vectors that are drawn without replacement."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.papers.fedshuffle._shared import PAPER, Reading
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.dimension import GRADIENT2
from boundcheck.theory.statement import Belief, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol, common

BEST = "corrected"

_n = common.n.but(key="", meaning="number of vectors", low=Fraction(1))
_more = _n.but(low=Fraction(2))
_k = common.k.but(meaning="how many of them are drawn", low=Fraction(1), index=False)
_sigma2 = common.sigma2.but(key="", meaning="mean squared distance of the vectors to their mean")
n, k, sigma2 = _n.expr, _k.expr, _sigma2.expr


def _statement(reading: Reading, number: Symbol, others: Any) -> Statement:
    return Statement(
        source=Source(PAPER, "Lemma B.5", "Appendix B.3, (21)"),
        reading=reading.name,
        title="Sampling without replacement",
        symbols=(number, _k, _sigma2),
        metric=Metric("sampling_variance", GRADIENT2, expectation="which vectors are drawn"),
        bound=(n - k) / (k * others) * sigma2,
        kind=Kind.EQUALITY,
        domain=(sp.Le(k, n),),
        assumptions=(Assumption("without_replacement", "k of n fixed vectors are drawn, all subsets alike."),),
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )


STATEMENTS = (
    _statement(
        Reading(
            "as_printed",
            Belief.TRUE,
            remark="One vector is left out: it would be 0/0, and the variance is 0. The second sum of the printed "
            "proof lacks its 1/k^2.",
        ),
        _more,
        n - 1,
    ),
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="n - 1 by max(1, n - 1)",
            why="The lemma says any number of vectors, but is 0/0 for one. One vector is its own mean, so that sigma2 "
            "and the variance are 0; a client with a single sample needs this case.",
        ),
        _n,
        sp.Max(1, n - 1),
    ),
)
