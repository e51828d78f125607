"""Lemma 3.2 (Chung): the rate 1/k^2 of a recursion with contraction 1 - a/k and noise b/k^3.

Compared for the sequences A/k^2, whose limit superior of k^2 u_k is A: for them the recursion at one k decides. The
printed quantifier is compared for sequences that are 0 up to k0, so that the recursion holds up to there, and A/k^2
afterwards.
"""

from boundcheck.papers.scgd.definitions import *
from boundcheck.theory.declare import *

SYMBOLS = (
    positive("a", "contraction constant of the recursion"),
    positive("b", "noise constant of the recursion", FREE),
    common.k.but(low=Fraction(1)),
)
a, b, k = (symbol.expr for symbol in SYMBOLS)

AFTERWARDS = nonnegative("A", "factor of the sequence A/k^2, as printed after k0", FREE)
SLACK = nonnegative("slack", "k^3 times what the recursion leaves at k", FREE, "s_k")
A, slack = AFTERWARDS.expr, SLACK.expr
ANY = "none: the lemma is about any sequence"

theorem = Theorem(
    source=Source(PAPER, "Lemma 3.2", "Section 3.1; from Chung 1954, Lemma 4"),
    title="Chung's lemma, order 2",
    symbols=(*SYMBOLS, AFTERWARDS, SLACK),
    metric=Metric.formula(
        FREE,
        A,
        quantity="limsup",
        expectation=ANY,
        where={"b": slack + A * k**3 * ((k + 1) ** (-2) - (1 - a / k) * k ** (-2))},
        meets=("chung_recursion",),
    ),
    conditions=(Condition("contraction", a > 2, "the contraction outruns the rate"),),
    bound=b / (a - 2),
    readings={
        "corrected": Reading(
            assumptions=(
                Assumption("chung_recursion", "u_k >= 0 and u_{k+1} <= (1 - a/k) u_k + b/k^3 for all k >= k0."),
            ),
            belief=Belief.TRUE,
            replaces='the quantifier "for all k0 >= k"',
            why="As printed the recursion is required for finitely many k only, after which the sequence is free.",
        ),
        "as_printed": Reading(
            metric=Metric.formula(FREE, A, quantity="limsup", expectation=ANY),
            assumptions=(
                Assumption(
                    "chung_recursion_up_to_k0",
                    "u_k >= 0 and u_{k+1} <= (1 - a/k) u_k + b/k^3 for all k <= k0, as the paper prints it.",
                ),
            ),
            belief=Belief.FALSE,
            remark="A sequence that obeys the recursion up to k0 and is free afterwards meets the printed hypothesis.",
        ),
    },
)
