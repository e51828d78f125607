"""What the statements about asynchronous federated learning share: symbols, assumptions, conditions, reasons.

Yann Fraboni, Richard Vidal, Laetitia Kameni, Marco Lorenzi, "A General Theory for Federated Optimization with
Asynchronous and Heterogeneous Clients Updates" (the paper of FedFix), its Algorithm 1 and aggregation (6).

Letters as in the paper, with three changes. tau, W and K are known to methods under the names tau_delay, window and
local_steps; dist2_0 is the squared distance of the start to the minimiser of the surrogate problem (10); and the paper
counts N rounds, here N = s times the period with the index s, since R, Sigma and the other means over rounds are those
of whole periods of the schedule; its window W can be shorter than that, because the weights can have their means before
the cohorts repeat. In a round in which no client takes part L^n is 0, and so is every quantity with it: a mean
over all rounds is at most the one over the others, so that no such round need be left out of Theorem 1.
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
    convex_clients,
    convex_samples,
    covariance_of_weights,
    independent_weights,
    smooth_clients,
    smooth_samples,
    unbiased_gradients,
)
from boundcheck.theory.dimension import GRADIENT2, ONE, STEP, VALUE, Dimension
from boundcheck.theory.statement import ROUND, Algorithm, Belief, Condition, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol, common

PAPER = (
    "A General Theory for Federated Optimization with Asynchronous and Heterogeneous Clients Updates "
    "(Y. Fraboni, R. Vidal, L. Kameni, M. Lorenzi)"
)


def positive(name: str, meaning: str, dimension: Dimension = ONE, **more: Any) -> Symbol:
    """A symbol above 0."""
    return Symbol(name, meaning, dimension, low=Fraction(0), low_open=True, **more)


def nonnegative(name: str, meaning: str, dimension: Dimension = ONE, **more: Any) -> Symbol:
    """A symbol that is 0 or more."""
    return Symbol(name, meaning, dimension, low=Fraction(0), **more)


def count(name: str, meaning: str, low: int = 1, **more: Any) -> Symbol:
    """An integer from `low` on."""
    return Symbol(name, meaning, ONE, integer=True, low=Fraction(low), **more)


def share(name: str, meaning: str, **more: Any) -> Symbol:
    """A number between 0 and 1."""
    return Symbol(name, meaning, ONE, low=Fraction(0), high=Fraction(1), **more)


_DECLARED = (
    common.L.but(key="samples/L", meaning="smoothness constant of the loss of every sample"),
    count("K", "local steps of a client", key="schedule/local_steps"),
    positive("eta_l", "local step size", STEP, latex=r"\eta_l", key="method/eta_l"),
    positive("eta_g", "server step size", latex=r"\eta_g", key="method/eta_g"),
    positive(
        "eta_unit", "step size times the root of K N: the step sizes go to 0 in proportion to it", STEP, free=True
    ),
    count("W", "window: rounds in which the expected weights have their means (Assumption 6)", key="schedule/window"),
    count(
        "period",
        "rounds after which the cohorts repeat; 1 where they are drawn",
        latex=r"\varpi",
        key="schedule/period",
    ),
    count("N", "rounds, set beforehand", free=True),
    Symbol(
        "rho",
        "largest sum q(n) of a round's expected weights, at least 1",
        ONE,
        low=Fraction(1),
        latex=r"\rho",
        key="participation/rho",
    ),
    share("alpha", "E[w_i w_j] is alpha q_i q_j for different clients", latex=r"\alpha", key="participation/alpha"),
    nonnegative(
        "beta", "largest d_i - alpha q_i over the clients that can take part", latex=r"\beta", key="participation/beta"
    ),
    count("tau", "largest delay n - rho_i(n) of a contribution, in rounds", 0, key="schedule/tau", latex=r"\tau"),
    nonnegative("R", "mean over the rounds of L^n(thetabar) - min L^n", VALUE, key="surrogate/R"),
    nonnegative(
        "S1", "mean over rounds of the sum of qt_i(n) E|g_i|^2 at the minimiser of L^n", GRADIENT2, key="surrogate/S1"
    ),
    nonnegative(
        "S2", "mean over rounds of the sum of qt_i(n)^2 E|g_i|^2 at the minimiser of L^n", GRADIENT2, key="surrogate/S2"
    ),
    nonnegative(
        "Sigma", "sum of q_i E|g_i|^2 at the minimiser of the surrogate problem (11)", GRADIENT2, key="surrogate/Sigma"
    ),
    common.dist2_0.but(
        key="start/dist2_surrogate", meaning="squared distance of the start to the minimiser of the surrogate problem"
    ),
    positive(
        "q_min",
        "smallest sum q(n) of a round's expected weights, rounds without any left out",
        key="participation/q_min",
    ),
    positive("q_bar", "mean over rounds of the sum q(n) of the expected weights", key="participation/q_bar"),
    positive("q_max", "largest expected weight q_i(n) of a client in a round", key="participation/q_max"),
    nonnegative(
        "B",
        "bound on the norm of the clients' gradients",
        GRADIENT2.power(Fraction(1, 2)),
        key="clients/gradient_bound",
    ),
    nonnegative(
        "chi2",
        "chi-square distance of the shares in F to those in the surrogate problem",
        latex=r"\chi^2",
        key="surrogate/chi2",
    ),
    nonnegative(
        "chi2_max", "largest chi-square distance chi_n^2 of a round", latex=r"\chi_{\max}^2", key="surrogate/chi2_max"
    ),
    nonnegative("P", "mean over rounds of chi_n^2 sum of st_j(n) [F_j(thetabar^n) - F_j*]", VALUE, key="surrogate/P"),
    nonnegative(
        "U", "mean of the sum over absent kinds j of r_j [F_j - F_j*], at the iterates", VALUE, key="surrogate/U"
    ),
    nonnegative("F_het", "surrogate minimum less the sum of s_j F_j*", VALUE, key="surrogate/F_het"),
    count("s", "finished periods of the schedule", index=True),
)
SYMBOLS: Mapping[str, Symbol] = MappingProxyType({symbol.name: symbol for symbol in _DECLARED})

L, K, eta_l, eta_g, eta_unit, W, rho = (
    SYMBOLS[name].expr for name in ("L", "K", "eta_l", "eta_g", "eta_unit", "W", "rho")
)
alpha, beta, tau, R, S1, S2, Sigma = (SYMBOLS[name].expr for name in ("alpha", "beta", "tau", "R", "S1", "S2", "Sigma"))
dist2_0, q_min, q_bar, q_max, B, chi2, chi2_max, P, U, F_het, s, N, period = (
    SYMBOLS[name].expr
    for name in ("dist2_0", "q_min", "q_bar", "q_max", "B", "chi2", "chi2_max", "P", "U", "F_het", "s", "N", "period")
)
ROUNDS = s * period  # the paper's N

# as_printed: smoothness and convexity of the clients' objectives, not of their samples
L_OF_CLIENTS = common.L.but(meaning="smoothness constant of every client's objective")
OPEN_ALPHA = (
    Condition("alpha above 0", sp.Gt(alpha, 0), "Assumption 5 to the letter"),
    Condition("alpha below 1", sp.Lt(alpha, 1), "Assumption 5 to the letter"),
)

PRINTED = (smooth_clients, convex_clients, unbiased_gradients, covariance_of_weights)
CORRECTED = (smooth_samples, convex_samples, unbiased_gradients, covariance_of_weights, independent_weights)

RUNS = "participation, delays and gradients"

et = eta_g * eta_l  # the effective step
h = K * et  # the step of a round
e = eta_l**2 * (K - 1) ** 2
D = 6 * e * L**2

SAMPLES = (
    "Smoothness and convexity are needed of every sample's loss, since the proof uses them for stochastic gradients; "
    "and who takes part must not depend on models and gradients."
)


@dataclass(frozen=True)
class Reading:
    """One reading, with what the project holds of it."""

    name: str
    belief: Belief
    replaces: str = ""
    why: str = ""
    remark: str = ""


def at_cap(factor: Any = eta_l) -> Condition:
    """The condition (98) on the local step size."""
    return Condition(
        "step size (98)",
        sp.Le(factor, sp.Min(1, 1 / (3 * rho**2 * eta_g * (tau + 1))) / (48 * K * L)),
        "small against the local work, the delay and the weights",
    )


def symbols_in(*parts: Any, also: Iterable[str] = (), **changed: Symbol) -> tuple[Symbol, ...]:
    """The declarations of all symbols in the parts (expressions, or conditions), in the shared order.

    also: names without an expression. changed: name -> another declaration, in the same place, or at the end where the
    name is not shared. KeyError for a name declared nowhere.
    """
    found = set(also)
    for part in parts:
        relation = part.relation if isinstance(part, Condition) else part
        found |= {symbol.name for symbol in relation.free_symbols} - {ROUND.name}
    table = {**SYMBOLS, **changed}
    for name in found:
        table[name]  # a typing error is told here, by its name
    return tuple(symbol for name, symbol in table.items() if name in found)


def mean_over_rounds(quantity: str, dimension: Dimension, **more: Any) -> Metric:
    """The plain mean of a metric over the N rounds, s periods."""
    return Metric(
        quantity,
        dimension,
        index="s",
        rounds=ROUNDS,
        weights=sp.S.One,
        average="mean over rounds",
        expectation=RUNS,
        **more,
    )


def told(
    reading: Reading,
    source: tuple[str, str],
    title: str,
    metric: Metric,
    bound: Any,
    *,
    kind: Kind = Kind.UPPER_BOUND,
    assumptions: tuple[Assumption, ...] = (),
    conditions: tuple[Condition, ...] = (),
    domain: tuple[Any, ...] = (),
    trivial: Any = None,
    printed_rate: Any = None,
    choices: tuple[tuple[str, Any], ...] = (),
    changed: Iterable[Symbol] = (),
    also: Iterable[str] = (),
    method: str = "",
) -> Statement:
    """A statement of the paper in one reading. source: (number, where). changed: its own symbols, or declared anew.

    method: the kind of method that it is about; empty for all that are Algorithm 1.
    """
    parts = [bound, metric.scale, metric.rounds, *conditions, *domain, *(expr for _, expr in choices)]
    parts += [part for part in (metric.weights, trivial, printed_rate) if part is not None]
    names = [*also, *(name for name, _ in choices), *([metric.index] if metric.index else [])]
    symbols = symbols_in(*parts, also=names, **{symbol.name: symbol for symbol in changed})
    steps = tuple(symbol.name for symbol in symbols if symbol.name in ("eta_l", "eta_g"))
    return Statement(
        source=Source(PAPER, *source),
        reading=reading.name,
        title=title,
        symbols=symbols,
        metric=metric,
        bound=bound,
        kind=kind,
        algorithm=Algorithm(method, steps) if method else None,
        conditions=conditions,
        assumptions=assumptions,
        domain=domain,
        trivial=trivial,
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
        printed_rate=printed_rate,
        choices=choices,
    )


def formula(
    reading: Reading, source: tuple[str, str], title: str, bound: Any, dimension: Dimension | None, **more: Any
) -> Statement:
    """A statement that is evaluated and not compared with a run."""
    return told(reading, source, title, Metric("none", dimension), bound, kind=Kind.FORMULA, **more)


def of_constant(
    reading: Reading, source: tuple[str, str], title: str, constant: str, bound: Any, **more: Any
) -> Statement:
    """A statement about a constant of method and problem, compared without a run."""
    dimension = more.pop("dimension", ONE)
    metric = Metric(f"constant:{constant}", dimension, expectation="none: a constant of the schedule")
    return told(reading, source, title, metric, bound, **more)
