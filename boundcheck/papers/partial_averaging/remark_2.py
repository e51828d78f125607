"""Remark 2: linear speed-up on IID data, Theorem 1 at the step size sqrt(m/K)."""

from __future__ import annotations

from boundcheck.papers.partial_averaging._remarks import ENOUGH, OWN_UNIT, TUNED, UNITS, at_tuned_step
from boundcheck.papers.partial_averaging._shared import BLOCKS, COUPLED, WEIGHTED, Reading, iid, theorem_1_bound
from boundcheck.theory.statement import Belief

BEST = "corrected"

STATEMENTS = (
    at_tuned_step(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="the step sqrt(m/K) by eta_unit*sqrt(m/K), for K at least m tau^2 (Lmax eta_unit)^2, and "
            "Assumption 1 by a Lipschitz condition with the weights L_j",
            why=f"{UNITS}. The theorem asks for eta Lmax <= 1/tau. {COUPLED}.",
        ),
        WEIGHTED,
        "Remark 2",
        theorem_1_bound(WEIGHTED, OWN_UNIT),
        (ENOUGH,),
        iid(WEIGHTED),
        OWN_UNIT,
    ),
    at_tuned_step(
        Reading(
            "as_printed",
            Belief.FALSE,
            remark=f"Theorem 1's terms at the printed step, whose order O(1/sqrt(mK)) + O(m/K) is what the remark "
            f"prints. {UNITS}. Theorem 1's step condition is not repeated. {COUPLED}.",
        ),
        BLOCKS,
        "Remark 2",
        theorem_1_bound(BLOCKS, TUNED),
        (),
        iid(BLOCKS),
        TUNED,
    ),
)
