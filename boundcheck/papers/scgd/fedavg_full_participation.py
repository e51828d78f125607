"""Full-participation deterministic FedAvg obeys SCGD's lemma per round; a statement of this project.

The proof of Lemma 3.1 goes through with the drift of every device counted from the common start: replace
the sum over visits by the mean over devices of the sum over local steps, and n*E by E.
"""

from boundcheck.papers.scgd.definitions import *
from boundcheck.theory.declare import *

ROUNDS = common.K.but(name="R", meaning="communication rounds", low=Fraction(0))
R = ROUNDS.expr
s = E * eta  # total step of one round

theorem = Theorem(
    source=Source(PAPER, "remark after Theorem 3.3", "Section 3.2; this project's own statement about FedAvg"),
    title="FedAvg with full participation and full gradients has an O(eta^2) floor too",
    symbols=(*NOTATION, ROUNDS),
    algorithm=Algorithm("fedavg", ("E", "eta")),
    metric=Metric.last("dist2", LENGTH2, index=R),
    assumptions=ASSUMPTIONS,
    domain=(MU_AT_MOST_L,),
    conditions=(Condition("step size", s <= C_APPENDIX, AT_MOST_C),),
    bound=(1 - mu * s / 3) ** R * dist2_0 + 12 * L**2 * s**2 / mu**2 * sigma2,
    trivial=dist2_0,
    readings={
        "corrected": Reading(
            belief=Belief.TRUE,
            replaces="the remark that FedAvg has an O(eta) floor where SCGD has O(eta^2)",
            why="That floor belongs to random participation or stochastic gradients; with all devices taking part the "
            "drift argument of Lemma 3.1 applies per round, without convexity of the components.",
        )
    },
)
