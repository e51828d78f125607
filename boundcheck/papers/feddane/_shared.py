"""What the statements about FedDANE share: symbols, guaranteed decreases, assumptions, conditions, metrics.

Tian Li, Anit Kumar Sahu, Manzil Zaheer, Maziar Sanjabi, Ameet Talwalkar, Virginia Smith, "FedDANE: A Federated
Newton-Type Method".

Squares are symbols where the paper squares a letter: B2 = B^2, grad2_0 = |grad f|^2 at the start, sigma2 = sigma^2;
gap_0 is Delta. mu is the weight of the proximal term (the parameter `prox` of methods), not a convexity constant.
A theorem about one iteration is about the first: its w^{t-1} is the start of the run.

One iteration, with G = |grad f(w^{t-1})|, m = mu - lam and g the plain mean of the gradients of S_t: averaging the
quadratic upper model of f over S'_t (not f itself, so that no convexity of f is needed) gives for every S'_t

    f(w^t) <= f - <grad f, g>/mu + (L/(2 mu m) + gamma/(2 m)) (G^2 + |g|^2) + L (1 + gamma)^2/(2 m^2) |g|^2,

and E g = grad f turns it into a decrease by rho G^2, in which E|g|^2 is bounded by 2 B^2 G^2 (the paper), by B^2 G^2
(Jensen), or is (1 + V) G^2 with V = (B^2 - 1)/K (K draws with replacement). `decrease` is that rho.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import sympy as sp

from boundcheck.theory.assumptions import (
    client_smoothness,
    convex_clients,
    dissimilarity_at_start,
    gradient_cohort_variance,
    independent_cohorts,
    inexact_solves,
    lower_curvature,
    smooth_clients,
    unbiased_gradient_cohort,
)
from boundcheck.theory.dimension import CURVATURE, GRADIENT2, ONE, STEP, VALUE, Dimension
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric
from boundcheck.theory.symbols import Symbol, common

PAPER = "FedDANE: A Federated Newton-Type Method (T. Li et al.)"


def _positive(name: str, meaning: str, dimension: Dimension, **more: Any) -> Symbol:
    return Symbol(name, meaning, dimension, low=Fraction(0), low_open=True, **more)


def _nonnegative(name: str, meaning: str, dimension: Dimension, **more: Any) -> Symbol:
    return Symbol(name, meaning, dimension, low=Fraction(0), **more)


_SQUARED_STEP = STEP.power(Fraction(2))
_MEAN = "mean over the devices of S'_t of"

_DECLARED = (
    common.L,
    _positive("L_f", "Lipschitz constant of the gradient of f", CURVATURE, latex="L_f", key="objective/L"),
    Symbol(
        "lam",
        "lam*I + Hessian of F_k is positive semidefinite for every device",
        CURVATURE,
        latex=r"\lambda",
        key="clients/lambda",
    ),
    _positive("mu", "weight of the proximal term", CURVATURE, latex=r"\mu", key="method/prox"),
    # Definition 1 asks for gamma < 1, which rho > 0 implies
    _nonnegative(
        "gamma", "inexactness of the local solutions (Definition 1)", ONE, latex=r"\gamma", key="subproblem/gamma"
    ),
    Symbol("B2", "squared dissimilarity B^2 of the devices", ONE, low=Fraction(1), latex="B^2", key="start/B2"),
    Symbol(
        "K",
        "devices in S_t, whose gradients are averaged",
        ONE,
        integer=True,
        low=Fraction(1),
        key="participation/gradient_cohort_size",
    ),
    common.gap_0.but(meaning="objective gap of the start, Delta", latex=r"\Delta"),
    _nonnegative(
        "grad2_0", "squared gradient norm of f at the start", GRADIENT2, latex=r"\|\nabla f(w^0)\|^2", key="start/grad2"
    ),
    _positive("inv_mu", f"{_MEAN} 1/mu_k", STEP, key="subproblem/inv_mu"),
    _nonnegative("gamma_inv_mu", f"{_MEAN} gamma_k/mu_k", STEP, key="subproblem/gamma_inv_mu"),
    _nonnegative("L_inv_mu2", f"{_MEAN} L_k/mu_k^2", STEP, key="subproblem/L_inv_mu2"),
    _positive("gamma2_inv_mu2", f"{_MEAN} (1 + gamma_k)^2/mu_k^2", _SQUARED_STEP, key="subproblem/gamma2_inv_mu2"),
    _nonnegative("L_gamma2_inv_mu2", f"{_MEAN} L_k (1 + gamma_k)^2/mu_k^2", STEP, key="subproblem/L_gamma2_inv_mu2"),
    _positive("eps", "target of the mean squared gradient norm", GRADIENT2, latex=r"\varepsilon"),
    _positive("rho", "guaranteed decrease of an iteration over |grad f|^2", STEP, latex=r"\rho"),
    _nonnegative("sigma2", "bound of sum of p_k |grad F_k - grad f|^2", GRADIENT2, latex=r"\sigma^2"),
    common.T.but(key="", meaning="iterations (two communications each)", index=True),
)
SYMBOLS: Mapping[str, Symbol] = MappingProxyType({s.name: s for s in _DECLARED})

# B^2 along a whole run: the one number that serves every point
EVERYWHERE = SYMBOLS["B2"].but(
    key="clients/B2_without_G2", meaning="squared dissimilarity B^2 of the devices at every point"
)


def symbols_in(*parts: Any, also: Iterable[str] = (), **changed: Symbol) -> tuple[Symbol, ...]:
    """The declarations of all symbols in the parts (expressions, or conditions), in the shared order.

    also: names without an expression. changed: name -> another declaration of it. KeyError for a name declared nowhere.
    """
    found = set(also)
    for part in parts:
        relation = part.relation if isinstance(part, Condition) else part
        found |= {s.name for s in relation.free_symbols}
    table = {**SYMBOLS, **changed}
    for name in found:
        table[name]  # a typing error is told here, by its name
    return tuple(symbol for name, symbol in table.items() if name in found)


def _expr(name: str) -> sp.Symbol:
    return SYMBOLS[name].expr


L, L_f, lam, mu, gamma, B2, K = (_expr(n) for n in ("L", "L_f", "lam", "mu", "gamma", "B2", "K"))
gap_0, grad2_0, eps, rho, sigma2, T = (_expr(n) for n in ("gap_0", "grad2_0", "eps", "rho", "sigma2", "T"))
inv_mu, gamma_inv_mu, L_inv_mu2 = (_expr(n) for n in ("inv_mu", "gamma_inv_mu", "L_inv_mu2"))
gamma2_inv_mu2, L_gamma2_inv_mu2 = _expr("gamma2_inv_mu2"), _expr("L_gamma2_inv_mu2")

HALF = sp.Rational(1, 2)
JENSEN = B2 - 1  # largest E|g - grad f|^2/|grad f|^2 of an unbiased plain mean
REPLACED = (B2 - 1) / K  # of K draws with replacement


def decrease(V: Any, curvature: Any = lam) -> Any:
    """rho of one iteration where E|g|^2 = (1 + V) |grad f|^2, with lam = `curvature`."""
    m = mu - curvature
    mixed = (L / (2 * mu * m) + gamma / (2 * m)) * (2 + V)
    return 1 / mu - mixed - L * (1 + gamma) ** 2 * (1 + V) / (2 * m**2)


# Theorem 3 and Theorem 5 as they are printed
rho_3 = (
    (2 - 3 * gamma) / (2 * mu)
    - (2 * L * (1 + gamma) ** 2 + 3 * L) / (2 * mu**2)
    - (B2 - 1) * ((L * (1 + gamma) ** 2 + L) / mu**2 + gamma / mu)
)
rho_5 = (
    1 / mu
    - 3 * gamma / (2 * (mu - lam))
    - L * (1 + gamma) ** 2 / (mu - lam) ** 2
    - 3 * L / (2 * mu * (mu - lam))
    - (B2 - 1) * (L * (1 + gamma) ** 2 / (mu - lam) ** 2 + L / (mu * (mu - lam)) + gamma / (mu - lam))
)

METHOD = Algorithm("feddane", ("mu",))
DEVICE_METHOD = Algorithm("feddane")  # where every device has a proximal weight of its own
DEVICES = "S_t, S'_t and the local solvers"

CONVEX = (convex_clients, smooth_clients, dissimilarity_at_start, inexact_solves, unbiased_gradient_cohort)
NONCONVEX = (smooth_clients, lower_curvature, dissimilarity_at_start, inexact_solves, unbiased_gradient_cohort)
DEVICE_SPECIFIC = (
    convex_clients,
    client_smoothness,
    dissimilarity_at_start,
    inexact_solves,
    unbiased_gradient_cohort,
    independent_cohorts,
)
SPREAD = (gradient_cohort_variance,)  # E|g - grad f|^2 falls like 1/K

ABOVE_CURVATURE = Condition("proximal weight", sp.Gt(mu, lam), "the local subproblems are strongly convex")


def guarantees(decrease_of: Any) -> Condition:
    """rho > 0, without which the theorem promises no decrease."""
    return Condition("positive decrease", sp.Gt(decrease_of, 0), "rho > 0", vacuity=True)


def one_iteration() -> Metric:
    """The gap after one iteration, in expectation."""
    return Metric("gap", VALUE, rounds=sp.S.One, expectation=DEVICES)


def after(decrease_of: Any) -> Any:
    """The guaranteed gap after one iteration: gap_0 - rho |grad f|^2."""
    return gap_0 - decrease_of * grad2_0


@dataclass(frozen=True)
class Reading:
    """One reading, with what the project holds of it."""

    name: str
    belief: Belief
    replaces: str = ""
    why: str = ""
    remark: str = ""


FACTOR_2 = (
    "The proof bounds |g|^2 by 2 |grad f|^2 + 2 |g - grad f|^2 (10), although E|g|^2 is |grad f|^2 + E|g - grad f|^2 "
    "exactly once E g = grad f"
)
WITH_REPLACEMENT = "with K draws with replacement E|g - grad f|^2 is at most (B^2 - 1) |grad f|^2/K"
