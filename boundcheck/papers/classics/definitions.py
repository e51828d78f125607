"""Notation of the textbook statements: symbols and sets of assumptions.

The proofs are a few lines each; the readings "sharp" keep what the textbook form gives away.
"""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from boundcheck.theory.assumptions import averages_as_objective, block_variance, plain_mean, smooth_clients
from boundcheck.theory.dimension import ONE
from boundcheck.theory.symbols import Symbol, common

TEXTBOOK = "Textbook bounds of first-order methods"
SMALL_STEP = "the step is small enough"

NOTATION = (
    common.mu,
    common.L,
    common.eta,
    common.sigma2.but(
        key="blocks/sigma2", meaning="variance of one worker's stochastic gradient, at most, at every point"
    ),
    Symbol(
        "sum_p2",
        "sum of the squared weights of the workers, 1/m for m alike",
        ONE,
        low=Fraction(0),
        low_open=True,
        key="clients/sum_p2",
    ),
    common.dist2_0,
    common.gap_0,
    common.K.but(name="k", meaning="finished steps", low=Fraction(1), index=True),
)
mu, L, eta, sigma2, sum_p2, dist2_0, gap_0, k = (symbol.expr for symbol in NOTATION)
variance = sigma2 * sum_p2  # of the averaged gradient

SMOOTH = (plain_mean, smooth_clients)
STOCHASTIC = (averages_as_objective, block_variance, smooth_clients)

# F smooth and strongly convex through its samples, for the readings that need more than quasi-convexity
OF_SAMPLES = (
    common.mu.but(key="samples/mu", meaning="strong convexity constant of every sample's loss"),
    common.L.but(key="samples/L", meaning="smoothness constant of every sample's loss"),
)
MU_AT_MOST_L = sp.Le(mu, L)
