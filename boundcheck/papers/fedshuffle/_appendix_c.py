"""What the lemmas of Appendix C and the recursions of Theorem 5.1 share: conditions, metrics, the drift of a round.

P^2 and sigma^2 are those of Lemma C.2, a third of those of Section 5.
"""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from boundcheck.papers.fedshuffle._shared import (
    COHORTS_AND_ORDERS,
    SERVER_AT_LEAST_1,
    E,
    H,
    L,
    beta_c,
    et,
    eta_g,
    eta_l,
    step_condition,
)
from boundcheck.theory.dimension import GRADIENT2, Dimension
from boundcheck.theory.statement import Algorithm, Condition, Metric
from boundcheck.theory.symbols import Symbol

METHOD = Algorithm("fedshuffle", ("E", "eta_l", "eta_g"))
LOCAL_METHOD = Algorithm("fedshuffle", ("E", "eta_l"))  # for what the server step size has no part in
GRAD2_0 = Symbol(
    "grad2_0",
    "squared gradient norm of f at the start",
    GRADIENT2,
    low=Fraction(0),
    latex=r"\|\nabla f(x^0)\|^2",
    key="start/grad2",
)
CLIENT_GRAD2_0 = Symbol(
    "client_grad2_0",
    "sum over the clients of w_i |grad f_i|^2 at the start",
    GRADIENT2,
    low=Fraction(0),
    key="start/client_grad2",
)
grad2_0, client_grad2_0 = GRAD2_0.expr, CLIENT_GRAD2_0.expr

STEP = step_condition(et, beta_c)
CONDITIONS = (STEP, SERVER_AT_LEAST_1)
LOCAL_STEP = Condition("local step", sp.Le(eta_l, 1 / (2 * E * L)), "the local iterates do not run away within a visit")

drift_noise = et**3 / (eta_g**2 * E**2) * H  # et eta_l^2 H as the paper writes it
self_term = 2 * eta_l**2 * L**2 * E**2  # share of the drift that the drift itself causes


def one_round(quantity: str, dimension: Dimension) -> Metric:
    """The metric after one round, in expectation over the cohort and the orders of the samples."""
    return Metric(quantity, dimension, rounds=sp.Integer(1), expectation=COHORTS_AND_ORDERS)


def of_drift(dimension: Dimension, scale: sp.Expr = sp.S.One) -> Metric:
    """The drift of the round that starts at the start, times a scale."""
    return Metric("drift", dimension, scale=scale, expectation="orders of the samples")
