"""The remark below Theorem 7: 'covers both cases of sampling devices with and without replacement'.

What the proofs use is E g = grad f: a device's expected share in the plain mean over S_t must be its weight p_k.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.papers.feddane._shared import PAPER, Reading
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Belief, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol

BEST = "corrected"


def _share(name: str, whose: str) -> Symbol:
    return Symbol(name, f"weight of {whose}", ONE, low=Fraction(0), low_open=True, high=Fraction(1), high_open=True)


_OWN, _SECOND, _THIRD = _share("p_i", "the device"), _share("p_j", "another"), _share("p_k", "the third")
_N = Symbol("n", "number of devices", ONE, integer=True, low=Fraction(1), key="clients/n")
p_i, p_j, p_k = _OWN.expr, _SECOND.expr, _THIRD.expr

# two of three, one after the other by weight: drawn first, or second after j, or second after k
_two_of_three = (p_i + p_j * p_i / (1 - p_j) + p_k * p_i / (1 - p_k)) / 2


def _statement(reading: Reading, bound: Any, symbols: tuple[Symbol, ...], *domain: Any) -> Statement:
    return Statement(
        source=Source(PAPER, "Theorem 7", "Section IV-C, the remark below it"),
        reading=reading.name,
        title="A device's expected share in the plain mean over S_t; E g = grad f where it is the device's weight",
        symbols=symbols,
        metric=Metric("none", ONE),
        bound=bound,
        kind=Kind.FORMULA,
        domain=domain,
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
            replaces="'without replacement' in general: two of three devices, one after the other by weight",
            why="A device of large weight can be drawn once only, so that its share falls short of its weight; E g is "
            "then not grad f, and none of the theorems applies.",
            remark="The statement about method and devices is the hypothesis 'unbiased_gradient_cohort'. It holds with "
            "replacement by weight, without replacement for equal weights, and for inclusion probabilities K p_k.",
        ),
        _two_of_three,
        (_OWN, _SECOND, _THIRD),
        sp.Eq(p_i + p_j + p_k, 1),
    ),
    _statement(
        Reading(
            "as_printed",
            Belief.FALSE,
            remark="The share that the proofs use, claimed for both kinds of sampling. It is that of draws with "
            "replacement by weight.",
        ),
        p_i,
        (_OWN,),
    ),
    _statement(
        Reading(
            "uniform",
            Belief.TRUE,
            replaces="sampling by weight by uniform sampling without replacement, any number of devices a cohort",
            why="All devices are alike, so that the share is 1/n: the weight only where all weights are equal.",
        ),
        1 / _N.expr,
        (_N,),
    ),
)
