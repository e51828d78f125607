"""Algorithms 1 to 4: the sign of the server step.

The boxes send Delta_i = y_i - x and step to x - eta_g*Delta, which ascends; the proofs use Delta_i = x - y_i.
"""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.fedshuffle._shared import (
    B_AT_LEAST_1,
    COHORTS_AND_ORDERS,
    CONVEXITY,
    G2,
    MU_AT_MOST_L,
    PAPER,
    SERVER_AT_LEAST_1,
    STRONGLY_CONVEX,
    E,
    H,
    L,
    M,
    Reading,
    beta_c,
    dist2_0,
    et,
    eta_g,
    mu,
    of_data,
    step_condition,
    symbols_in,
)
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Algorithm, Belief, Metric, Source, Statement

BEST = "corrected"

_PARAMETERS = ("E", "eta_l", "eta_g")
_CONDITIONS = (
    step_condition(et, beta_c, "on the effective step E*eta_g*eta_l of a round"),
    SERVER_AT_LEAST_1,
    B_AT_LEAST_1,
)
_BOUND = (1 - mu * et / 2) * dist2_0 + 2 * et**2 * M * G2 + 9 * L * et**3 * H / (eta_g * E) ** 2


def _statement(reading: Reading, kind: str) -> Statement:
    return Statement(
        source=Source(PAPER, "Algorithm 1", "Section 4, and again in Algorithms 2, 3 and 4"),
        reading=reading.name,
        title="A round of FedShuffle brings the iterate closer to the minimiser, up to noise",
        symbols=symbols_in(_BOUND, MU_AT_MOST_L, *_CONDITIONS, mu=CONVEXITY),
        metric=Metric("dist2", LENGTH2, rounds=sp.S.One, expectation=COHORTS_AND_ORDERS),
        bound=_BOUND,
        algorithm=Algorithm(kind, _PARAMETERS),
        domain=(MU_AT_MOST_L,),
        conditions=_CONDITIONS,
        assumptions=of_data(STRONGLY_CONVEX),
        trivial=dist2_0,
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
            replaces="Delta_i = y_i - x, as all four boxes print it, by Delta_i = x - y_i",
            why="The proofs write the step as minus a sum of gradients, and the estimator of Section 6 divides Delta_i "
            "by a positive step; only then is the bound, which Lemmas C.1 and C.2 give together, true.",
        ),
        "fedshuffle",
    ),
    _statement(
        Reading(
            "as_printed",
            Belief.FALSE,
            remark="With the printed sign the server moves along the gradients, away from every minimiser.",
        ),
        "fedshuffle_ascending",
    ),
)
