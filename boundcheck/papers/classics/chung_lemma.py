"""Chung's lemma in general: what the recursion of a diminishing step gives."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from boundcheck.theory.dimension import FREE, ONE
from boundcheck.theory.statement import Belief, Condition, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol

_c = Symbol("c", "factor of the decrease: a_{k+1} <= (1 - c/k) a_k + d/k^(p+1)", ONE, low=Fraction(0), low_open=True)
_p = Symbol("p", "power of the rate", ONE, low=Fraction(0), low_open=True)
_d = Symbol("d", "constant of the perturbation", FREE, low=Fraction(0), low_open=True)

STATEMENTS = (
    Statement(
        source=Source(
            "On a stochastic approximation method (K. L. Chung)",
            "Lemma 1",
            "Annals of Mathematical Statistics 25, 1954; B. Polyak, Introduction to Optimization, Section 2.2, Lemma 4",
        ),
        reading="as_printed",
        title="Chung's lemma: limsup of k^p a_k",
        symbols=(_c, _p, _d),
        metric=Metric("limsup", FREE, expectation="none: the lemma is about any sequence"),
        bound=_d.expr / (_c.expr - _p.expr),
        kind=Kind.FORMULA,
        conditions=(Condition("decrease", sp.Gt(_c.expr, _p.expr), "the decrease outweighs the rate"),),
        belief=Belief.TRUE,
        remark="The sequence with equality attains it for every start.",
    ),
)
