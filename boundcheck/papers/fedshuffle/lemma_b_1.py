"""Lemma B.1: strong convexity with the gradient at a perturbed point."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from boundcheck.papers.fedshuffle._shared import MU_AT_MOST_L, PAPER, L, Reading, mu
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.dimension import LENGTH2, VALUE
from boundcheck.theory.statement import Belief, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol, common

BEST = "as_printed"

_rise = Symbol("rise", "h(y) - h(z)", VALUE)
_yz = Symbol("norm2_yz", "squared distance of y and z", LENGTH2, low=Fraction(0), latex=r"\|y - z\|^2")
_zx = Symbol("norm2_zx", "squared distance of z and x", LENGTH2, low=Fraction(0), latex=r"\|z - x\|^2")


def _statement(reading: Reading, factor: Any) -> Statement:
    return Statement(
        source=Source(PAPER, "Lemma B.1", "Appendix B.1"),
        reading=reading.name,
        title="Perturbed strong convexity: <grad h(x), y - z> for any x, y, z",
        symbols=(
            common.mu.but(low_open=False, key="", meaning="convexity constant of h, 0 allowed"),
            common.L.but(key="", meaning="smoothness constant of h"),
            _rise,
            _yz,
            _zx,
        ),
        metric=Metric("perturbed_inner_product", VALUE, expectation="none: the lemma is about any function"),
        bound=_rise.expr - mu / 4 * _yz.expr + factor * _zx.expr,
        domain=(MU_AT_MOST_L,),
        assumptions=(
            Assumption("smooth_function", "h is L-smooth."),
            Assumption("strongly_convex_function", "h is mu-strongly convex."),
        ),
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
            remark="Printed with both sides multiplied by -1, as a lower bound on <grad h(x), z - y>.",
        ),
        L,
    ),
    _statement(
        Reading(
            "sharp",
            Belief.TRUE,
            replaces="the factor L of |z - x|^2",
            why="Strong convexity brings mu/2 |z - x|^2 and smoothness L/2 |z - x|^2, whose sum the proof rounds up to "
            "L |z - x|^2, twice as much where mu = 0. There it is attained by h = L x^2/2 at y = x.",
        ),
        (L + mu) / 2,
    ),
)
