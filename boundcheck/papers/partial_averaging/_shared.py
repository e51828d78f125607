"""What the statements about partial model averaging share: symbols, readings of Assumption 1, bounds, metrics.

Sunwoo Lee, Anit Kumar Sahu, Chaoyang He, Salman Avestimehr, "Partial Model Averaging in Federated Learning: Performance
Guarantees and Benefits".

u_k is the average of the m models at iteration k, u_1 the common start, so that the paper's average over k = 1, ..., K
is one over r = 0, ..., K - 1 finished rounds. Squares are symbols where the paper squares a letter (sigma2, beta2,
kappa2), and so are its sums over the blocks (sum_L_sigma2 = sum of L_j sigma_j^2): how they are made of L_j, sigma_j^2
and kappa_j^2 is told by Assumption 1, of which `SMOOTH` holds the readings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import sympy as sp

from boundcheck.theory.assumptions import (
    Assumption,
    averages_as_objective,
    averages_uniformly,
    block_dissimilarity,
    block_variance,
    bounded_below,
    iid_clients,
    smooth_blocks,
    smooth_globally,
    smooth_separable,
    smooth_weighted,
    total_dissimilarity,
)
from boundcheck.theory.dimension import CURVATURE, GRADIENT2, LENGTH2, ONE, STEP, Dimension
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric
from boundcheck.theory.symbols import Symbol, common

PAPER = "Partial Model Averaging in Federated Learning (S. Lee et al.)"

_CURVATURE2 = CURVATURE * CURVATURE


def _nonnegative(name: str, meaning: str, dimension: Dimension, **more: Any) -> Symbol:
    return Symbol(name, meaning, dimension, low=Fraction(0), **more)


_DECLARED = (
    Symbol("m", "workers (local models)", ONE, integer=True, low=Fraction(1), key="clients/m"),
    Symbol(
        "tau", "averaging interval: every number is averaged in tau iterations", ONE, integer=True, low=Fraction(1),
        latex=r"\tau", key="method/tau",
    ),
    common.eta,
    Symbol("K", "iterations", ONE, integer=True, low=Fraction(1), index=True),
    _nonnegative("Lmax", "largest smoothness constant L_j of a block", CURVATURE, latex=r"L_{\max}"),
    Symbol("sum_p2", "sum of the squares of the clients' weights p_i", ONE, low=Fraction(0), low_open=True,
           latex=r"(\sum_i p_i^2)", key="clients/sum_p2"),
    common.sigma2.but(key="blocks/sigma2", meaning="sum over the blocks of sigma_j^2, the variance of a step"),
    _nonnegative("sum_L_sigma2", "sum over the blocks of L_j sigma_j^2", CURVATURE * GRADIENT2,
                 latex=r"(\sum_j L_j\sigma_j^2)"),
    _nonnegative("sum_L2_sigma2", "sum over the blocks of L_j^2 sigma_j^2", _CURVATURE2 * GRADIENT2,
                 latex=r"(\sum_j L_j^2\sigma_j^2)"),
    Symbol("beta2", "factor beta^2 of the clients' dissimilarity", ONE, low=Fraction(1), latex=r"\beta^2",
           key="blocks/beta2"),
    _nonnegative("kappa2", "additive constant kappa^2 of the clients' dissimilarity", GRADIENT2, latex=r"\kappa^2",
                 key="blocks/kappa2_whole"),
    _nonnegative("sum_L2_kappa2", "sum over the blocks of L_j^2 kappa_j^2", _CURVATURE2 * GRADIENT2,
                 latex=r"(\sum_j L_j^2\kappa_j^2)"),
    common.gap_0.but(meaning="objective gap F(u_1) - inf F of the common start"),
    _nonnegative("d", "numbers of a model", ONE, integer=True, key="objective/dimension"),
    Symbol("k", "iterations that are done", ONE, integer=True, low=Fraction(0), index=True),
    Symbol("eta_unit", "unit of the step size, which is eta_unit*sqrt(m/K)", STEP, low=Fraction(0), low_open=True,
           latex=r"\eta_1", free=True),
    _nonnegative("L2_discrepancy", "mean over iterations and workers of sum of L_j^2 E|u_j - x_ij|^2, as measured",
                 GRADIENT2),
    _nonnegative("local_grad2", "mean over iterations and workers of E|grad F_i(x_i)|^2, as measured", GRADIENT2),
    _nonnegative("mean_grad2", "mean over iterations of E|grad F(u_k)|^2, as measured", GRADIENT2),
)  # fmt: skip
SYMBOLS: Mapping[str, Symbol] = MappingProxyType({s.name: s for s in _DECLARED})

m, tau, eta, K, Lmax = (SYMBOLS[name].expr for name in ("m", "tau", "eta", "K", "Lmax"))
sum_p2, sigma2, S1, S2 = (SYMBOLS[name].expr for name in ("sum_p2", "sigma2", "sum_L_sigma2", "sum_L2_sigma2"))
beta2, kappa2, S3, gap_0 = (SYMBOLS[name].expr for name in ("beta2", "kappa2", "sum_L2_kappa2", "gap_0"))
d, k, eta_unit = (SYMBOLS[name].expr for name in ("d", "k", "eta_unit"))
local_grad2, mean_grad2 = SYMBOLS["local_grad2"].expr, SYMBOLS["mean_grad2"].expr


_READINGS = {"B": "blocks", "S": "separable", "W": "weighted", "G": "global"}


@dataclass(frozen=True)
class Smooth:
    """One reading of Assumption 1, "f is L_j-smooth for all x_j".

    suffix: of the names under which methods and problems know its constants. noise, noise2, spread: sums of L_j
    sigma_j^2, L_j^2 sigma_j^2 and L_j^2 kappa_j^2 in the symbols of this reading.
    """

    suffix: str
    assumption: Assumption
    noise: Any
    noise2: Any
    spread: Any

    def changed(self) -> dict[str, Symbol]:
        """The declarations that depend on the reading."""
        names = ("Lmax", "sum_L_sigma2", "sum_L2_sigma2", "sum_L2_kappa2")
        found = {name: SYMBOLS[name].but(key=f"blocks/{name}_{_READINGS[self.suffix]}") for name in names}
        if self.suffix == "G":
            found["beta2"] = SYMBOLS["beta2"].but(key="blocks/beta2_whole")
            found["Lmax"] = found["Lmax"].but(meaning="smoothness constant of all clients, taken for every block")
        return found

    @property
    def dissimilarity(self) -> Assumption:
        """The form of Assumption 4 that goes with it."""
        return total_dissimilarity if self.suffix == "G" else block_dissimilarity


BLOCKS = Smooth("B", smooth_blocks, S1, S2, S3)
SEPARABLE = Smooth("S", smooth_separable, S1, S2, S3)
WEIGHTED = Smooth("W", smooth_weighted, S1, S2, S3)
GLOBAL = Smooth("G", smooth_globally, Lmax * sigma2, Lmax**2 * sigma2, Lmax**2 * kappa2)
SMOOTH: Mapping[str, Smooth] = MappingProxyType(
    {"blocks": BLOCKS, "separable": SEPARABLE, "weighted": WEIGHTED, "global": GLOBAL}
)


def symbols_in(
    *parts: Any,
    smooth: Smooth | None = None,
    also: Iterable[str] = (),
    changed: Mapping[str, Symbol] | None = None,
) -> tuple[Symbol, ...]:
    """The declarations of all symbols in the parts (expressions or conditions), in the shared order.

    smooth: whose constants they are. also: names without an expression. changed: name -> another declaration.
    """
    found = set(also)
    for part in parts:
        relation = part.relation if isinstance(part, Condition) else part
        found |= {s.name for s in relation.free_symbols}
    table = {**SYMBOLS, **({} if smooth is None else smooth.changed()), **(changed or {})}
    for name in found:
        table[name]  # a typing error is told here, by its name
    return tuple(symbol for name, symbol in table.items() if name in found)


# --- hypotheses -----------------------------------------------------------------------------------------------


def iid(smooth: Smooth) -> tuple[Assumption, ...]:
    """Assumptions 1 to 3 on IID data; the averages have the clients' equal weights."""
    return (smooth.assumption, block_variance, iid_clients, averages_as_objective, bounded_below)


def non_iid(smooth: Smooth, *, plain: bool = False) -> tuple[Assumption, ...]:
    """Assumptions 1 to 4; plain: the averages have the weights 1/m of Algorithm 1, whatever those of F."""
    weights = averages_uniformly if plain else averages_as_objective
    return (smooth.assumption, block_variance, smooth.dissimilarity, weights, bounded_below)


# --- bounds ---------------------------------------------------------------------------------------------------


def theorem_1_bound(smooth: Smooth, step: Any = eta) -> Any:
    """(4): twice the gap over eta K, the noise of u, and the noise that spreads the models."""
    return 2 * gap_0 / (step * K) + step / m * smooth.noise + step**2 * (tau - 1) * smooth.noise2


def theorem_2_bound(smooth: Smooth, factor: int = 2, step: Any = eta, squares: Any = sum_p2) -> Any:
    """The bound of Theorem 2; factor: 4 in the main text, 2 in its proof; squares: the sum of p_i^2."""
    spread = 3 * step**2 * (tau - 1) * smooth.noise2 + 6 * step**2 * tau * (tau - 1) * smooth.spread
    return 4 * gap_0 / (step * K) + factor * step * squares * smooth.noise + spread


STEP_1 = Condition("step size", sp.Le(Lmax**2 * eta**2 * tau * (tau - 1) + eta * Lmax, 1), "exactly eta*Lmax <= 1/tau")


def steps_2(first: Any = sp.S.One) -> tuple[Condition, Condition]:
    """eta*Lmax <= min(first, 1/sqrt(2 tau (tau - 1) (2 beta^2 + 1))), without a division by 0 at tau = 1."""
    return (
        Condition("step size", sp.Le(eta * Lmax, first)),
        Condition("step size and interval", sp.Le(2 * tau * (tau - 1) * (2 * beta2 + 1) * (eta * Lmax) ** 2, 1)),
    )


# --- metrics --------------------------------------------------------------------------------------------------

NOISE = "the samples of all steps"


def of_average() -> Metric:
    """The left side of Theorems 1 and 2."""
    return Metric(
        "grad2",
        GRADIENT2,
        index="K",
        rounds=K,
        average="plain mean over u_1, ..., u_K",
        expectation=NOISE,
        weights=sp.S.One,
    )


def of_discrepancy() -> Metric:
    """The mean over the first K iterations of the workers' mean squared distance to u."""
    return Metric(
        "discrepancy",
        LENGTH2,
        index="K",
        rounds=K,
        average="plain mean over the first K iterations",
        expectation=NOISE,
        weights=sp.S.One,
    )


METHOD = Algorithm("block_averaging", ("tau", "eta"))


@dataclass(frozen=True)
class Reading:
    """One reading, with what the project holds of it."""

    name: str
    belief: Belief
    replaces: str = ""
    why: str = ""
    remark: str = ""


# words that several statements share
COUPLED = (
    "Where blocks are coupled, (19) loses up to a factor tau and (30) up to tau^2: with F = |1'x|^2/2, blocks of one "
    "number and noise along (1, ..., 1), L_j is 1 but F is smooth with tau alone, and for small steps the left side is "
    "about tau/2 times the bound. (19) and (30) need one inequality over all blocks"
)
WEIGHTED_WHY = (
    f"{COUPLED}: |grad F(x) - grad F(y)|^2 <= sum of L_j^2 |x_j - y_j|^2. It gives (30) as it stands, and the descent "
    "lemma (19), because H^2 <= diag(L_j^2 I) implies H <= diag(L_j I)"
)
