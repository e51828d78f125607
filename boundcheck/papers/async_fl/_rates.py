"""What the rates of Section 4 and Appendix C share: step sizes eta_unit/sqrt(K N), clients of equal importance.

The paper prints orders, with eta_g = 1 and eta_l = 1/sqrt(KN), so without units. A printed reading is its sum with the
constant 1 in every term, a formula without units; a corrected one is the corrected Theorem 1 or 3 at these step sizes.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.papers.async_fl._shared import (
    S1,
    S2,
    K,
    N,
    Reading,
    Sigma,
    alpha,
    at_cap,
    beta,
    count,
    dist2_0,
    eta_g,
    eta_l,
    eta_unit,
    formula,
    period,
    positive,
    rho,
    tau,
)
from boundcheck.papers.async_fl._theorem_1 import corrected_errors
from boundcheck.theory.assumptions import plain_mean
from boundcheck.theory.statement import Condition, Metric, Statement

CLIENTS = count("M", "number of clients", key="clients/n")
RATIO = positive(
    "ratio", "update time of the slowest client over that of the fastest, tau_M/tau_0", key="schedule/time_ratio"
)
VISIT = count(
    "c", "rounds between two contributions of the slowest client, ceil(tau_M/dt)", key="schedule/visit_rounds"
)
M, ratio, c = CLIENTS.expr, RATIO.expr, VISIT.expr
OWN = (CLIENTS, RATIO, VISIT)

STEP_SIZE = eta_unit / sp.sqrt(K * N)
ONE_SERVER_STEP = Condition("server step size", sp.Eq(eta_g, 1))
SYNCHRONOUS = (
    Condition("no delay", sp.Eq(tau, 0)),
    Condition("everyone", sp.Eq(beta, 0), "all clients take part in every round"),
    Condition("weights", sp.Eq(rho, 1), "that sum to 1"),
)
EQUAL = (plain_mean,)


def at_rate(bound: Any) -> Any:
    """A bound at eta_g = 1 and the step size of the rates."""
    return bound.subs({eta_g: 1, eta_l: STEP_SIZE})


def errors(first: Any = S1, second: Any = S2) -> Any:
    """Error terms of the corrected Theorem 1 after N rounds, at any step."""
    return corrected_errors(first, second, dist2_0 / (K * eta_g * eta_l * N)).total


def synchronous_errors() -> Any:
    """The same without delays, weights 1/M, all clients in every round (alpha = 1 and beta = 0)."""
    return errors(Sigma, Sigma / M).subs({rho: 1, tau: 0, beta: 0, alpha: 1})


def after_n_rounds(quantity: str, dimension: Any, **more: Any) -> Metric:
    """The plain mean over N rounds, N set beforehand."""
    return Metric(
        quantity,
        dimension,
        rounds=N,
        weights=sp.S.One,
        average="mean over rounds",
        expectation="participation, delays and gradients",
        **more,
    )


CAP = at_cap()
# R and the other means over rounds are those of whole periods, as in Theorem 1
WHOLE_PERIODS = Condition("whole periods", sp.Eq(sp.floor(N / period), N / period))
CHOICE = (("eta_l", STEP_SIZE),)


def order(reading: Reading, source: tuple[str, str], title: str, bound: Any) -> Statement:
    """A printed rate: the sum of its terms, each with the constant 1."""
    return formula(reading, source, title, bound, None, printed_rate=bound, changed=OWN)


LOST_K = "eps_W = O(eta_g eta_l (W-1) K) is sqrt(K/N) (W-1) at this step size, not (W-1)/sqrt(KN)"
