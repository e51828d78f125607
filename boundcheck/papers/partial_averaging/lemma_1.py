"""Lemma 1 (framework): the mean squared gradient by the gap, the noise and the distance of the models from u."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.partial_averaging._shared import (
    BLOCKS,
    COUPLED,
    PAPER,
    SYMBOLS,
    WEIGHTED,
    WEIGHTED_WHY,
    K,
    Lmax,
    Reading,
    Smooth,
    eta,
    gap_0,
    iid,
    m,
    of_average,
    sum_p2,
    symbols_in,
)
from boundcheck.theory.assumptions import averages_as_objective, block_variance, bounded_below
from boundcheck.theory.statement import Algorithm, Belief, Condition, Source, Statement

BEST = "corrected"

_MEASURED = SYMBOLS["L2_discrepancy"].expr
_MEANT = "The last term is measured: the mean over iterations and workers of the sum of L_j^2 E|u_j - x_ij|^2."
_CONDITIONS = (Condition("step size", sp.Le(eta * Lmax, 1), "printed as eta <= 1/L, L being L_max"),)


def _statement(reading: Reading, smooth: Smooth) -> Statement:
    printed = reading.name == "as_printed"
    bound = 2 * gap_0 / (eta * K) + (eta / m if printed else eta * sum_p2) * smooth.noise + _MEASURED
    any_data = (smooth.assumption, block_variance, averages_as_objective, bounded_below)
    return Statement(
        source=Source(PAPER, "Lemma 1", "Appendix B, (18), the framework"),
        reading=reading.name,
        title="The mean squared gradient at u, from the distance of the models from u",
        symbols=symbols_in(bound, *_CONDITIONS, smooth=smooth),
        metric=of_average(),
        bound=bound,
        algorithm=Algorithm("block_averaging", ("eta",)),
        conditions=_CONDITIONS,
        assumptions=iid(smooth) if printed else any_data,
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
            replaces="Assumption 1 by a Lipschitz condition with the weights L_j, and 1/m by the sum of p_i^2",
            why=f"{WEIGHTED_WHY}. The proof of Theorem 2 uses the lemma for clients that differ, for which the "
            "identity (21) fails worker by worker; applied to the averaged gradient sum of p_i grad F_i(x_i) it gives "
            "the same, with averages that have the weights p_i.",
            remark=f"{_MEANT} Theorem 1 needs more, (29): the terms that the condition on the step drops here.",
        ),
        WEIGHTED,
    ),
    _statement(Reading("as_printed", Belief.FALSE, remark=f"{_MEANT} {COUPLED}."), BLOCKS),
)
