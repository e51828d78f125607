"""Theorem 6: how many iterations bring the mean squared gradient norm to eps."""

from dataclasses import replace

from boundcheck.papers.feddane.definitions import *
from boundcheck.theory.declare import *

RHO = positive("rho", "guaranteed decrease of an iteration over |grad f|^2", STEP, latex="\\rho")
rho = RHO.expr

# compared where T iterations bring the bound Delta/(rho T) of the mean to eps, and T - part of them exactly to eps
DATA = (
    count("T", "iterations"),
    nonnegative("part", "unneeded part of the last iteration", high=Fraction(1), high_open=True, latex="u"),
)
rounds, part = (symbol.expr for symbol in DATA)
EXACTLY = Metric.formula(ONE, rounds, where={"gap_0": rho * eps * rounds})

theorem = Theorem(
    source=Source(PAPER, "Theorem 6", "Section IV-B, T = O(Delta/(rho*eps))"),
    title="Iterations after which the mean squared gradient norm is at most eps",
    symbols=(*NOTATION, RHO, *DATA),
    metric=EXACTLY,
    kind=Kind.EQUALITY,
    belief=Belief.TRUE,
    printed_rate=gap_0 / (rho * eps),
    readings={
        "corrected": Reading(
            bound=sp.ceiling(gap_0 / (rho * eps)),
            metric=replace(EXACTLY, where=(("gap_0", rho * eps * (rounds - part)),)),
            replaces="O(Delta/(rho*eps)) by the least whole number that is at least Delta/(rho*eps)",
            why="The mean is at most Delta/(rho*T), and T is a whole number.",
            remark="Each iteration takes two communications.",
        ),
        "as_printed": Reading(bound=gap_0 / (rho * eps), remark="The order, with the constant 1."),
    },
)
