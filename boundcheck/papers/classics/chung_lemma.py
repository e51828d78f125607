"""Chung's lemma in general: what the recursion of a diminishing step gives."""

from __future__ import annotations

from fractions import Fraction

from boundcheck.papers.classics.definitions import CHUNG
from boundcheck.theory.dimension import FREE, ONE
from boundcheck.theory.statement import Belief, Condition, Kind, Metric, Source
from boundcheck.theory.symbols import Symbol
from boundcheck.theory.theorem import Reading, Theorem

SYMBOLS = (
    Symbol("c", "factor of the decrease: a_{k+1} <= (1 - c/k) a_k + d/k^(p+1)", ONE, low=Fraction(0), low_open=True),
    Symbol("p", "power of the rate", ONE, low=Fraction(0), low_open=True),
    Symbol("d", "constant of the perturbation", FREE, low=Fraction(0), low_open=True),
)
c, p, d = (symbol.expr for symbol in SYMBOLS)

theorem = Theorem(
    source=Source(CHUNG, "Lemma 1", "also B. Polyak, Introduction to Optimization, Section 2.2, Lemma 4"),
    title="Chung's lemma: limsup of k^p a_k",
    symbols=SYMBOLS,
    metric=Metric("limsup", FREE, expectation="none: the lemma is about any sequence"),
    kind=Kind.FORMULA,
    conditions=(Condition("decrease", c > p, "the decrease outweighs the rate"),),
    bound=d / (c - p),
    readings={
        "as_printed": Reading(belief=Belief.TRUE, remark="The sequence with equality attains it for every start."),
    },
)
