"""Full-participation deterministic FedAvg obeys SCGD's lemma per round; a statement of this project.

The proof of Lemma 3.1 goes through with the drift of every device counted from the common start: replace
the sum over visits by the mean over devices of the sum over local steps, and n*E by E.
"""

from __future__ import annotations

from fractions import Fraction

from boundcheck.papers.scgd._shared import (
    ASSUMPTIONS,
    MU_AT_MOST_L,
    PAPER,
    READINGS,
    E,
    L,
    dist2_0,
    eta,
    mu,
    sigma2,
)
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Algorithm, Belief, Metric, Source, Statement
from boundcheck.theory.symbols import common

BEST = "corrected"

_round = common.K.but(name="R", meaning="communication rounds", low=Fraction(0))
_s = E * eta  # total step of one round
_step = next(r for r in READINGS if r.name == "corrected").condition(_s)

STATEMENTS = (
    Statement(
        source=Source(PAPER, "remark after Theorem 3.3", "Section 3.2; this project's own statement about FedAvg"),
        reading="corrected",
        title="FedAvg with full participation and full gradients has an O(eta^2) floor too",
        symbols=(common.mu, common.L, common.E, common.eta, common.sigma2, common.dist2_0, _round),
        metric=Metric("dist2", LENGTH2, index="R", rounds=_round.expr),
        bound=(1 - mu * _s / 3) ** _round.expr * dist2_0 + 12 * L**2 * _s**2 / mu**2 * sigma2,
        algorithm=Algorithm("fedavg", ("E", "eta")),
        domain=(MU_AT_MOST_L,),
        conditions=(_step,),
        assumptions=ASSUMPTIONS,
        trivial=dist2_0,
        belief=Belief.TRUE,
        replaces="the remark that FedAvg has an O(eta) floor where SCGD has O(eta^2)",
        why="That floor belongs to random participation or stochastic gradients; with all devices taking part the "
        "drift argument of Lemma 3.1 applies per round, without convexity of the components.",
    ),
)
