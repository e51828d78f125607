"""What the textbook statements share: symbols, step conditions, sources.

The proofs are a few lines each; the readings "sharp" keep what the textbook form gives away.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.theory.assumptions import averages_as_objective, block_variance, plain_mean, smooth_clients
from boundcheck.theory.dimension import GRADIENT2, ONE
from boundcheck.theory.statement import Condition
from boundcheck.theory.symbols import Symbol, common

TEXTBOOK = "Textbook bounds of first-order methods"

L, mu, eta, dist2_0, gap_0 = (getattr(common, s).expr for s in ("L", "mu", "eta", "dist2_0", "gap_0"))
STEPS = common.K.but(name="k", meaning="finished steps", low=Fraction(1), index=True)
k = STEPS.expr

NOISE = common.sigma2.but(
    key="blocks/sigma2", meaning="variance of one worker's stochastic gradient, at most, at every point"
)
SHARES = Symbol(
    "sum_p2",
    "sum of the squared weights of the workers, 1/m for m alike",
    ONE,
    low=Fraction(0),
    low_open=True,
    key="clients/sum_p2",
)
variance = NOISE.expr * SHARES.expr  # of the averaged gradient

SMOOTH_DESCENT = (plain_mean, smooth_clients)
STOCHASTIC = (averages_as_objective, block_variance, smooth_clients)

# F smooth and strongly convex through its samples, for the readings that need more than quasi-convexity
L_SAMPLES = common.L.but(key="samples/L", meaning="smoothness constant of every sample's loss")
MU_SAMPLES = common.mu.but(key="samples/mu", meaning="strong convexity constant of every sample's loss")
MU_AT_MOST_L = sp.Le(mu, L)

__all__ = [
    "GRADIENT2",
    "L_SAMPLES",
    "MU_AT_MOST_L",
    "MU_SAMPLES",
    "NOISE",
    "SHARES",
    "SMOOTH_DESCENT",
    "STEPS",
    "STOCHASTIC",
    "TEXTBOOK",
    "L",
    "at_most",
    "dist2_0",
    "eta",
    "gap_0",
    "k",
    "mu",
    "variance",
]


def at_most(limit: Any, *, strict: bool = False) -> Condition:
    """The condition on the step size."""
    return Condition("step size", sp.Lt(eta, limit) if strict else sp.Le(eta, limit), "the step is small enough")
