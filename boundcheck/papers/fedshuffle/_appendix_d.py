"""What the lemmas of Appendix D (FedShuffleMVR) share: symbols for squared norms, conditions, assumptions.

Each of them is about one round, or one local epoch of it, in which client i is the one that was drawn. The squared
norms are expectations given what came before that round or epoch.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType

import sympy as sp

from boundcheck.papers.fedshuffle._shared import B2, P2, SYMBOLS, E, L, a, delta, eta_l
from boundcheck.theory.assumptions import (
    gradient_dissimilarity,
    hessian_similarity,
    local_variance,
    smooth_samples,
)
from boundcheck.theory.dimension import GRADIENT2, LENGTH2, ONE, Dimension
from boundcheck.theory.statement import Algorithm, Condition
from boundcheck.theory.symbols import Symbol


def _squared(name: str, meaning: str, dimension: Dimension = GRADIENT2, latex: str = "") -> Symbol:
    return Symbol(name, meaning, dimension, low=Fraction(0), latex=latex)


_DECLARED = (
    _squared("h2", "squared momentum error |m - grad f(x)|^2 at the start of the round", latex=r"\|h\|^2"),
    _squared("gam2", "squared deviation |grad f_i(x) - grad f(x)|^2 of the client's gradient", latex=r"\Gamma"),
    _squared("sigma2_i", "variance constant sigma_i^2 of the client (Assumption 3.4)", latex=r"\sigma_i^2"),
    _squared("S", "sum over the epochs of the round of |grad f(y_{i,e})|^2", latex=r"S"),
    _squared("d2", "squared length |d_{i,e}|^2 of the epoch's direction (25)", latex=r"\|d\|^2"),
    _squared("y2", "squared distance |y_{i,e} - x|^2 of the epoch's start from the round's", LENGTH2, r"\|y - x\|^2"),
    Symbol("D_i", "number |D_i| of samples of the client", ONE, integer=True, low=Fraction(1), latex="|D_i|"),
    *SYMBOLS.values(),
)
_BY_NAME: Mapping[str, Symbol] = MappingProxyType({s.name: s for s in _DECLARED})


def declare(*names: str) -> tuple[Symbol, ...]:
    """The declarations under these names, in this order; KeyError for an unknown one."""
    return tuple(_BY_NAME[name] for name in names)


h2, gam2, sigma2_i, S, d2, y2, D_i = (_BY_NAME[n].expr for n in ("h2", "gam2", "sigma2_i", "S", "d2", "y2", "D_i"))


def mvr(*parameters: str) -> Algorithm:
    """FedShuffleMVR, with those of its parameters that the statement names."""
    return Algorithm("fedshuffle_mvr", parameters)


A32, A33, A34, A35 = smooth_samples, gradient_dissimilarity, local_variance, hessian_similarity

MOMENTUM = Condition("momentum", sp.Le(a, 1), "the momentum parameter a is at most 1")
NO_RELATIVE_NOISE = Condition("P is 0", sp.Eq(P2, 0), "Assumption 3.4 holds with every P_i = 0")
B_IS_1 = Condition("B is 1", sp.Le(B2, 1), "Assumption 3.3 holds with B = 1")
LONG_ENOUGH = Condition(
    "momentum and step size", sp.Ge(a, 1152 * E**2 * delta**2 * eta_l**2), "a >= 1152 E^2 delta^2 eta_l^2"
)


def smooth_step(factor: int) -> Condition:
    """The step condition eta_l <= 1/(factor L)."""
    return Condition("step size and L", sp.Le(factor * L * eta_l, 1), f"eta_l <= 1/({factor} L)")


def similar_step(factor: int) -> Condition:
    """The step condition eta_l <= 1/(factor delta E); no condition where delta = 0."""
    relation = sp.Le(factor * delta * E * eta_l, 1)
    return Condition("step size and delta", relation, f"eta_l <= 1/({factor} delta E)")


ONE_CLIENT = "the client (one by weight) and the orders of its samples, given what came before"
EPOCH_ORDER = "the order of the samples in the epoch, given what came before"
