"""Theorem 3.4: SCGD with the step size eta0/K in cycle K."""

from boundcheck.papers.scgd.definitions import *
from boundcheck.theory.declare import *

CYCLE = common.K.but(low=Fraction(1), meaning="cycle index, from 1; cycle K is about to start")
eta0 = common.eta0.expr

# a and b of the recursion in the proof, to which Lemma 3.2 is applied; sigma2 is missing from the printed b
s0 = n * E * eta0  # total step of the first cycle
a = mu * s0 / 3
b = 4 * L**2 * s0**3 / mu

theorem = Theorem(
    source=Source(PAPER, "Theorem 3.4", "Section 3.3, with the a and b of its proof put into Lemma 3.2"),
    title="SCGD with a diminishing step size",
    symbols=(*NOTATION, common.eta0, CYCLE),
    algorithm=Algorithm("scgd", ("E", "eta0"), steps=(("eta", eta0 / (1 + sp.floor(ROUND / n))),)),
    metric=Metric.last("dist2", LENGTH2, index=K, rounds=n * (K - 1), scale=K**2),
    kind=Kind.LIMSUP,
    assumptions=ASSUMPTIONS,
    domain=(MU_AT_MOST_L,),
    conditions=(Condition("first step", a > 2, "Chung's lemma needs a > 2"),),
    printed_rate=1 / K**2,
    readings={
        "corrected": Reading(
            bound=b * sigma2 / (a - 2),
            belief=Belief.TRUE,
            replaces="the b of the printed proof, which lacks the mean of sigma_i^2",
            why="Lemma 3.1's noise term carries it; without it the units of the two sides disagree.",
            remark="The paper claims a finite limit superior; the value is the one that its own proof gives.",
        ),
        "as_printed": Reading(
            bound=b / (a - 2),
            belief=Belief.FALSE,
            remark="The claimed finiteness is true; the b that its proof prints is not.",
        ),
    },
)
