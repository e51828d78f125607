"""Remark 4: linear speed-up on non-IID data with p_i = 1/m, Theorem 2 at the step size sqrt(m/K)."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.partial_averaging._remarks import OWN_UNIT, TUNED, UNITS, at_tuned_step
from boundcheck.papers.partial_averaging._shared import (
    BLOCKS,
    COUPLED,
    GLOBAL,
    Reading,
    eta,
    m,
    non_iid,
    steps_2,
    theorem_2_bound,
)
from boundcheck.theory.assumptions import plain_mean
from boundcheck.theory.statement import Belief, Condition

BEST = "corrected"


def _at(step: object) -> tuple[Condition, ...]:
    """Theorem 2's conditions at a step size."""
    return tuple(Condition(c.name, c.relation.subs(eta, step), c.meaning) for c in steps_2())


STATEMENTS = (
    at_tuned_step(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="the step sqrt(m/K) by eta_unit*sqrt(m/K), within Theorem 2's step condition, and Assumption 1 by "
            "smoothness with one constant",
            why=f"{UNITS}. {COUPLED}.",
        ),
        GLOBAL,
        "Remark 4",
        sp.expand(theorem_2_bound(GLOBAL, step=OWN_UNIT, squares=1 / m)),
        _at(OWN_UNIT),
        (*non_iid(GLOBAL), plain_mean),
        OWN_UNIT,
    ),
    at_tuned_step(
        Reading(
            "as_printed",
            Belief.FALSE,
            remark=f"Theorem 2's terms, as the main text prints them, at the printed step. {UNITS}. Theorem 2's step "
            f"condition is not repeated. {COUPLED}.",
        ),
        BLOCKS,
        "Remark 4",
        theorem_2_bound(BLOCKS, 4, TUNED, 1 / m),
        (),
        (*non_iid(BLOCKS, plain=True), plain_mean),
        TUNED,
    ),
)
