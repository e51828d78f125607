"""Lemma 3.2 (Chung): the rate 1/k^2 of a recursion with contraction 1 - a/k and noise b/k^3."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import sympy as sp

from boundcheck.papers.scgd._shared import PAPER
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.dimension import FREE, ONE
from boundcheck.theory.statement import Belief, Condition, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol, common

BEST = "corrected"

_a = Symbol("a", "contraction constant of the recursion", ONE, low=Fraction(0), low_open=True)
_b = Symbol("b", "noise constant of the recursion", FREE, low=Fraction(0), low_open=True)
_k = common.k.but(low=Fraction(1))

_EVENTUALLY = Assumption(
    "chung_recursion",
    "u_k >= 0 and u_{k+1} <= (1 - a/k) u_k + b/k^3 for all k >= k0.",
)
_FINITELY = Assumption(
    "chung_recursion_up_to_k0",
    "u_k >= 0 and u_{k+1} <= (1 - a/k) u_k + b/k^3 for all k <= k0, as the paper prints it.",
)

_corrected = Statement(
    source=Source(PAPER, "Lemma 3.2", "Section 3.1; from Chung 1954, Lemma 4"),
    reading="corrected",
    title="Chung's lemma, order 2",
    symbols=(_a, _b, _k),
    metric=Metric("u", FREE, index="k", rounds=_k.expr, scale=_k.expr**2),
    bound=_b.expr / (_a.expr - 2),
    kind=Kind.LIMSUP,
    conditions=(Condition("contraction", sp.Gt(_a.expr, 2), "the contraction outruns the rate"),),
    assumptions=(_EVENTUALLY,),
    belief=Belief.TRUE,
    replaces='the quantifier "for all k0 >= k"',
    why="As printed the recursion is required for finitely many k only, after which the sequence is free.",
)

STATEMENTS = (
    _corrected,
    replace(
        _corrected,
        reading="as_printed",
        assumptions=(_FINITELY,),
        belief=Belief.FALSE,
        replaces="",
        why="",
        remark="A sequence that obeys the recursion up to k0 and is 1 afterwards meets the printed hypothesis.",
    ),
)
