"""Chung's lemma in general: what the recursion of a diminishing step gives.

Compared for the sequences a_k = A/k^p, whose limit superior of k^p a_k is A: for them the recursion at one k decides.
"""

from boundcheck.papers.classics.definitions import *
from boundcheck.theory.declare import *

SYMBOLS = (
    positive("c", "factor of the decrease: a_{k+1} <= (1 - c/k) a_k + d/k^(p+1)"),
    positive("p", "power of the rate"),
    positive("d", "constant of the perturbation", FREE),
)
c, p, d = (symbol.expr for symbol in SYMBOLS)
# the sequence that is compared
FAMILY = (
    nonnegative("A", "factor of the sequence A/k^p", FREE),
    count("k", "index of the sequence"),
    nonnegative("slack", "k^(p+1) times what the recursion leaves at k", FREE, "s_k"),
)
A, k, slack = (symbol.expr for symbol in FAMILY)

theorem = Theorem(
    source=Source(CHUNG, "Lemma 1", "also B. Polyak, Introduction to Optimization, Section 2.2, Lemma 4"),
    title="Chung's lemma: limsup of k^p a_k",
    symbols=(*SYMBOLS, *FAMILY),
    metric=Metric.formula(
        FREE,
        A,
        quantity="limsup",
        expectation="none: the lemma is about any sequence",
        where={"d": slack + A * k ** (p + 1) * ((k + 1) ** (-p) - (1 - c / k) * k ** (-p))},
    ),
    conditions=(Condition("decrease", c > p, "the decrease outweighs the rate"),),
    bound=d / (c - p),
    readings={
        "as_printed": Reading(belief=Belief.TRUE, remark="The sequence with equality attains it for every start.")
    },
)
