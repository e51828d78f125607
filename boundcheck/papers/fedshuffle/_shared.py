"""What the statements about FedShuffle share: symbols, derived expressions, assumptions, conditions, reasons.

Samuel Horvath, Maziar Sanjabi, Lin Xiao, Peter Richtarik, Michael Rabbat, "FedShuffle: Recipes for Better Use of Local
Work in Federated Learning", Transactions on Machine Learning Research, 2022.

`SYMBOLS` holds the declarations, `declare` picks some of them in order, and the lower-case module variables of the same
names are their SymPy symbols. Squares are symbols where the paper squares a letter: G2 = G^2, B2 = B^2, P2 = P^2,
sigma2 = sigma^2, dist2_0 = D, gap_0 = F.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import sympy as sp

from boundcheck.theory.assumptions import (
    Assumption,
    bounded_below,
    convex_samples,
    data_weights,
    gradient_dissimilarity,
    local_variance,
    relaxed_dissimilarity,
    smooth_samples,
    strongly_convex_samples,
)
from boundcheck.theory.dimension import CURVATURE, GRADIENT2, LENGTH2, ONE, STEP, Dimension
from boundcheck.theory.statement import ROUND, Belief, Condition
from boundcheck.theory.symbols import Symbol, common

PAPER = "FedShuffle: Recipes for Better Use of Local Work in Federated Learning (S. Horvath et al.)"


def _positive(name: str, meaning: str, dimension: Dimension, **more: Any) -> Symbol:
    return Symbol(name, meaning, dimension, low=Fraction(0), low_open=True, **more)


def _nonnegative(name: str, meaning: str, dimension: Dimension, **more: Any) -> Symbol:
    return Symbol(name, meaning, dimension, low=Fraction(0), **more)


_DECLARED = (
    common.L.but(key="samples/L", meaning="smoothness constant of every sample's loss f_ij"),
    common.mu.but(key="samples/mu", meaning="strong convexity constant of every sample's loss f_ij"),
    _nonnegative(
        "G2", "additive constant G^2 of the clients' gradient dissimilarity", GRADIENT2, latex="G^2", key="clients/G2"
    ),
    _nonnegative("B2", "factor B^2 of the clients' gradient dissimilarity", ONE, latex="B^2", key="clients/B2"),
    _nonnegative("P2", "largest P_i^2/|D_i| over the clients (Section 5)", ONE, latex="P^2", key="samples/P2"),
    common.sigma2.but(key="samples/sigma2", meaning="sum of sigma_i^2 over the number of all samples (Section 5)"),
    _nonnegative(
        "M", "largest s_i w_i/p_i over the clients: the variance of the participation", ONE, key="participation/M"
    ),
    common.E.but(meaning="local epochs of a visit"),
    _positive("eta_l", "local step size; client i steps by eta_l/|D_i|", STEP, latex=r"\eta_l", key="method/eta_l"),
    _positive("eta_g", "server step size", ONE, latex=r"\eta_g", key="method/eta_g"),
    Symbol("R", "communication rounds", ONE, integer=True, low=Fraction(1), index=True),
    common.dist2_0.but(meaning="squared distance D of the start to a minimiser", latex="D"),
    common.gap_0.but(meaning="objective gap F of the start", latex="F"),
    _nonnegative(
        "delta",
        "largest difference of a client's Hessian from that of f",
        CURVATURE,
        latex=r"\delta",
        key="clients/delta",
    ),
    _positive("a", "momentum parameter of MVR (momentum 0.9 is a = 1/10)", ONE, key="method/a"),
    _positive(
        "W",
        "sum of wtilde_i |D_i| E_i/(q_i c_i) over the clients: how much local work reaches the server (wtilde_i: "
        "aggregation weight; q_i: its normaliser, 1/q_i the mean of 1/q_i^S over the cohorts S with i; c_i: divisor of "
        "the local step)",
        ONE,
        key="participation/W",
    ),
    _nonnegative(
        "M1",
        "largest h_i s_i what_i over the clients: the variance of the aggregation (what_i: client i's share of W)",
        ONE,
        latex="M_1",
        key="participation/M1",
    ),
    _nonnegative(
        "M2",
        "sum of E_i |D_i| times the largest wtilde_i/(W q_i c_i) (aggregation weight over W, normaliser and step "
        "divisor)",
        ONE,
        latex="M_2",
        key="participation/M2",
    ),
    _nonnegative(
        "P2_gen", "largest P_i^2/(3 |D_i| E_i^2) over the clients (Appendix E)", ONE, latex="P^2", key="samples/P2_gen"
    ),
    _nonnegative(
        "sigma2_gen",
        "sum of what_i sigma_i^2/(3 |D_i| E_i^2) over the clients (Appendix E)",
        GRADIENT2,
        key="samples/sigma2_gen",
        latex=r"\sigma^2",
    ),
    _nonnegative(
        "drift_0", "drift of the first round: mean squared distance of the local iterates", LENGTH2, key="start/drift"
    ),
)
SYMBOLS: Mapping[str, Symbol] = MappingProxyType({s.name: s for s in _DECLARED})

# for the statements in which convexity alone is enough
CONVEXITY = SYMBOLS["mu"].but(low_open=False, meaning="convexity constant of every sample's loss f_ij, 0 allowed")


def declare(*names: str) -> tuple[Symbol, ...]:
    """The shared declarations under these names, in this order; KeyError for an unknown one."""
    return tuple(SYMBOLS[name] for name in names)


def symbols_in(*parts: Any, also: Iterable[str] = (), **changed: Symbol) -> tuple[Symbol, ...]:
    """The declarations of all symbols in the parts (expressions, or conditions), in the shared order.

    also: names without an expression (parameters of the method). changed: name -> another declaration of it, which
    comes in the same place, or at the end where the name is not shared. KeyError for a name declared nowhere.
    """
    found = set(also)
    for part in parts:
        relation = part.relation if isinstance(part, Condition) else part
        found |= {s.name for s in relation.free_symbols} - {ROUND.name}
    table = {**SYMBOLS, **changed}
    for name in found:
        table[name]  # a typing error is told here, by its name
    return tuple(symbol for name, symbol in table.items() if name in found)


L, mu, G2, B2, P2, sigma2, M = (SYMBOLS[name].expr for name in ("L", "mu", "G2", "B2", "P2", "sigma2", "M"))
E, eta_l, eta_g, R = (SYMBOLS[name].expr for name in ("E", "eta_l", "eta_g", "R"))
dist2_0, gap_0, delta, a = (SYMBOLS[name].expr for name in ("dist2_0", "gap_0", "delta", "a"))
W, M1, M2, P2_gen, sigma2_gen = (SYMBOLS[name].expr for name in ("W", "M1", "M2", "P2_gen", "sigma2_gen"))
drift_0 = SYMBOLS["drift_0"].expr

# Section 5: the effective step of a round, beta, and the numerator of the middle term
et = E * eta_g * eta_l
beta = 1 + (1 + sp.sqrt(P2)) * sp.sqrt(B2) + M * B2
H_main = (E**2 + P2) * G2 + sigma2

# Appendix C: Lemma C.2 defines P^2 and sigma^2 with a factor 1/3, which Section 5 leaves out
P2_c, sigma2_c = P2 / 3, sigma2 / 3
beta_c = 1 + (1 + sp.sqrt(P2_c)) * sp.sqrt(B2) + M * B2
H = (E**2 + P2_c) * G2 + sigma2_c

# Appendix E: the same with W, M1 and its own P^2 and sigma^2
et_gen = W * eta_g * eta_l
H_gen = (1 + P2_gen) * G2 + sigma2_gen
beta_gen = 1 + (1 + sp.sqrt(P2_gen)) * sp.sqrt(B2) + M1 * B2
beta_gen_printed = 1 + M2 + (1 + sp.sqrt(P2_gen)) * sp.sqrt(B2) + M1 * B2

MU_AT_MOST_L = sp.Le(mu, L)

# Assumptions 3.1 to 3.4; (5) instead of (4) where the losses are convex
STRONGLY_CONVEX = (strongly_convex_samples, smooth_samples, relaxed_dissimilarity, local_variance)
CONVEX = (convex_samples, smooth_samples, relaxed_dissimilarity, local_variance)
NONCONVEX = (smooth_samples, gradient_dissimilarity, local_variance, bounded_below)


def of_data(assumptions: tuple[Assumption, ...]) -> tuple[Assumption, ...]:
    """The hypotheses with the paper's choice of weights (1), without which sigma^2 and the drift are other sums."""
    return (*assumptions, data_weights)


COHORTS_AND_ORDERS = "cohorts and orders of the samples"

B_AT_LEAST_1 = Condition(
    "B at least 1", sp.Ge(B2, 1), "used in the proofs; no loss, since a larger B is always allowed"
)
SERVER_AT_LEAST_1 = Condition("server step size", sp.Ge(eta_g, 1))


def step_condition(step: Any, factor: Any, meaning: str = "") -> Condition:
    """The step condition 4 L * step * factor <= 1, on the effective step unless it is said otherwise."""
    return Condition("step size", sp.Le(step, 1 / (4 * factor * L)), meaning)


# letters that texts use without a symbol of that name, as (pattern, what it stands for)
_LETTERS = (
    (r"\bet\b(?! al)", "et is the effective step E*eta_g*eta_l of a round (W*eta_g*eta_l in Appendix E)"),
    (r"\bbeta\b", "beta is 1 + (1 + P) B + M B^2 (with M1 for M in Appendix E)"),
    (r"\bH\b", "H is (E^2 + P^2) G^2 + sigma^2 ((1 + P^2) G^2 + sigma^2 in Appendix E)"),
    (r"\bP\b", "P^2, like other squares, is a symbol of its own (P2 for P^2)"),
)


def letters_in(text: str) -> str:
    """One sentence that says what the letters et, beta, H and P stand for, as far as the text uses them; else empty."""
    said: list[str] = []
    for pattern, meaning in _LETTERS:
        if re.search(pattern, " ".join([text, *said])):  # beta and H bring in P
            said.append(meaning)
    return f"Here {'; '.join(said)}." if said else ""


@dataclass(frozen=True)
class Reading:
    """One reading, with what the project holds of it. The remark ends with what the letters of its texts stand for."""

    name: str
    belief: Belief
    replaces: str = ""
    why: str = ""
    remark: str = ""

    def __post_init__(self) -> None:
        letters = letters_in(" ".join((self.replaces, self.why, self.remark)))
        if letters and letters not in self.remark:
            object.__setattr__(self, "remark", f"{self.remark} {letters}".strip())


# words that several statements share: why the middle term carries a factor L
LOST_L = (
    "Lemma C.2 multiplies the drift by 3*L*et and then drops the L, so that its last term, and everything built on it, "
    "has the wrong unit"
)
