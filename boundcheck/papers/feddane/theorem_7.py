"""Theorem 7: the decrease of one iteration where every device has its own constants."""

from __future__ import annotations

from typing import Any

from boundcheck.papers.feddane._shared import (
    B2,
    DEVICE_METHOD,
    DEVICE_SPECIFIC,
    FACTOR_2,
    HALF,
    PAPER,
    REPLACED,
    SPREAD,
    WITH_REPLACEMENT,
    L,
    L_f,
    L_gamma2_inv_mu2,
    L_inv_mu2,
    Reading,
    after,
    gamma2_inv_mu2,
    gamma_inv_mu,
    gap_0,
    guarantees,
    inv_mu,
    one_iteration,
    symbols_in,
)
from boundcheck.theory.assumptions import Assumption, smooth_clients
from boundcheck.theory.statement import Belief, Source, Statement

BEST = "corrected"

_printed = (
    inv_mu
    - 3 * gamma_inv_mu / 2
    - L_gamma2_inv_mu2
    - 3 * L_inv_mu2 / 2
    - (L * gamma2_inv_mu2 + L_inv_mu2 + gamma_inv_mu) * (B2 - 1)
)
_corrected = inv_mu - gamma_inv_mu * (B2 + HALF) - L_f * B2 * gamma2_inv_mu2 - L_inv_mu2 * (B2 + HALF)


def _sharp(V: Any) -> Any:
    """rho where E|g|^2 = (1 + V) |grad f|^2."""
    return inv_mu - (L_inv_mu2 + gamma_inv_mu) * (2 + V) / 2 - L_f * gamma2_inv_mu2 * (1 + V) / 2


def _statement(reading: Reading, rho: Any, assumptions: tuple[Assumption, ...]) -> Statement:
    condition = guarantees(rho)
    return Statement(
        source=Source(PAPER, "Theorem 7", "Section IV-C; proof in Appendix V-F"),
        reading=reading.name,
        title="Sufficient decrease of an iteration of FedDANE with constants of each device",
        symbols=symbols_in(after(rho), condition),
        metric=one_iteration(),
        bound=after(rho),
        algorithm=DEVICE_METHOD,
        conditions=(condition,),
        assumptions=assumptions,
        trivial=gap_0,
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )


_WRONG = (
    "The descent step (21) takes the Lipschitz constant L_k of grad F_k for that of grad f, which it is not: a flat "
    "device with a small mu_k then moves f upwards by an amount that its L_k does not see"
)

STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="L_k (1 + gamma_k)^2 and L (1 + gamma_k)^2 by L_f (1 + gamma_k)^2 with the smoothness L_f of f",
            why=_WRONG + ".",
            remark="rho belongs to the S'_t that is drawn: it must not depend on S_t, since E g = grad f is used given "
            "S'_t. Here S'_t is fixed (full participation).",
        ),
        _corrected,
        DEVICE_SPECIFIC,
    ),
    _statement(
        Reading(
            "as_printed",
            Belief.FALSE,
            remark=_WRONG + ". L, which the theorem does not define, is read as the largest L_k; gamma without an "
            "index in (25) as gamma_k.",
        ),
        _printed,
        (*DEVICE_SPECIFIC, smooth_clients),
    ),
    _statement(
        Reading(
            "sharp",
            Belief.TRUE,
            replaces="the corrected rho's bound 2 B^2 |grad f|^2 of E|g|^2 by (1 + (B^2 - 1)/K) |grad f|^2",
            why=FACTOR_2 + "; and " + WITH_REPLACEMENT + ".",
        ),
        _sharp(REPLACED),
        (*DEVICE_SPECIFIC, *SPREAD),
    ),
)
