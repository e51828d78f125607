"""Lemma 3 (model discrepancy, non-IID): the distance of the models from their average by gradients at the average."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.papers.partial_averaging._shared import (
    BLOCKS,
    GLOBAL,
    METHOD,
    PAPER,
    SEPARABLE,
    K,
    Lmax,
    Reading,
    Smooth,
    beta2,
    eta,
    kappa2,
    mean_grad2,
    non_iid,
    of_discrepancy,
    sigma2,
    steps_2,
    symbols_in,
    tau,
    theorem_2_bound,
)
from boundcheck.theory.statement import Belief, Condition, Source, Statement
from boundcheck.theory.symbols import Symbol

BEST = "corrected"

_A = 2 * eta**2 * tau * (tau - 1) * Lmax**2
_SPREAD = 2 * eta**2 * tau * (tau - 1)  # A/L^2, without a division by a smoothness constant that may be 0
_BELOW_1 = Condition("A below 1", sp.Lt(_A, 1), "A = 2 eta^2 tau (tau - 1) L^2; the proof divides by 1 - A")
_SUMMED = (
    "(74) is about one block; this is its sum over the blocks, with the largest L_j for each, which is no stronger "
    "than the printed inequalities together"
)


def _bound(gradients: Any) -> Any:
    return (eta**2 * (tau - 1) * sigma2 + _SPREAD * (beta2 * gradients + kappa2)) / (1 - _A)


def _statement(reading: Reading, smooth: Smooth, gradients: Any, *conditions: Condition) -> Statement:
    bound = _bound(gradients)
    changed: dict[str, Symbol] = {}
    if smooth is not GLOBAL:  # kappa^2 is the sum of the blocks' kappa_j^2
        changed["kappa2"] = symbols_in(kappa2)[0].but(key="blocks/kappa2")
    return Statement(
        source=Source(PAPER, "Lemma 3", "Appendix C, (74), the model discrepancy"),
        reading=reading.name,
        title="The mean squared distance of the models from their average, non-IID",
        symbols=symbols_in(bound, K, _BELOW_1, *conditions, smooth=smooth, changed=changed),
        metric=of_discrepancy(),
        bound=bound,
        algorithm=METHOD,
        conditions=(_BELOW_1, *conditions),
        assumptions=non_iid(smooth, plain=smooth is not GLOBAL),
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )


_TOGETHER = (
    "Step (111) bounds block j of a gradient's difference by block j of the points' difference, which needs a "
    "separable objective; with one constant for all blocks the step is made for the whole gradient"
)

STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="one inequality a block by their sum, with one constant L, and 1/m by the weights p_i",
            why=f"{_TOGETHER}.",
            remark="The gradients at u on the right are measured.",
        ),
        GLOBAL,
        mean_grad2,
    ),
    _statement(
        Reading(
            "without_gradients",
            Belief.TRUE,
            replaces="the measured gradients by their bound in Theorem 2",
            why=f"{_TOGETHER}. With the corrected Theorem 2 the right side needs no measurement.",
        ),
        GLOBAL,
        theorem_2_bound(GLOBAL),
        *steps_2(),
    ),
    _statement(
        Reading(
            "as_printed_separable",
            Belief.TRUE,
            remark=f"{_SUMMED}. Assumption 1 read as step (111) uses it.",
        ),
        SEPARABLE,
        mean_grad2,
    ),
    _statement(
        Reading("as_printed", Belief.FALSE, remark=f"{_SUMMED}. Assumption 1 read block by block. {_TOGETHER}."),
        BLOCKS,
        mean_grad2,
    ),
)
