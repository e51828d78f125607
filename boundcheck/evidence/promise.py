"""Rounds to a target: what a bound promises, and what a run really needs.

The target is a value of the statement's own metric (last iterate, or average over rounds, as the statement says). What
is promised is the least index at which the bound is at most the target, found by doubling and bisection (the bound is
taken to stay below once it has come below); what is needed is the first measured index at which the metric is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from boundcheck.engines.run import is_round_metric, run
from boundcheck.errors import BadInput, BoundcheckError, Unsupported
from boundcheck.evidence.claim import rounds_of
from boundcheck.evidence.compare import hypotheses
from boundcheck.evidence.points import index_name, points_of
from boundcheck.evidence.steps import joint, objective, resolve_steps, start_constants, with_start
from boundcheck.methods.build import build as build_method
from boundcheck.problems.problem import QuadraticProblem, clients_of
from boundcheck.theory.statement import Kind

if TYPE_CHECKING:
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem
    from boundcheck.theory.statement import Statement

__all__ = [
    "MOST_AVERAGED",
    "MOST_ROUNDS",
    "Setup",
    "is_bound",
    "needed",
    "prepare",
    "promised",
    "rounds_at",
    "start_value",
]

LAST_INDEX = 10**15
MOST_ROUNDS = 10**6  # of a run, where the metric is that of the last iterate and the engine composes rounds
MOST_AVERAGED = 20_000  # where it is an average over all of them
MOST_SAMPLED = 2000
SEEDS = 10
POINTS = 60  # of a grid on the way to the first index below the target


@dataclass(frozen=True)
class Setup:
    """A statement about a method on a problem, all constants known. values: by the statement's names, no index."""

    claimed: Statement
    problem: Problem
    method: Method
    spec: Mapping[str, Any]
    values: Mapping[str, Fraction]


def prepare(
    claimed: Statement,
    problem: Problem,
    method_spec: Mapping[str, Any],
    constants: Mapping[str, Any] | None = None,
    at: Mapping[str, Any] | None = None,
) -> Setup | str:
    """The statement on this method and problem, or why it does not apply, in a clause.

    Step sizes such as "largest" and "tuned" are those of the statement. at: index of a step that depends on it.
    """
    try:
        solved = resolve_steps(method_spec, claimed, problem, constants, at)
        method = build_method(solved)
        about = objective(claimed, method, problem)
        own = joint(claimed, method, about)
        known = {**own, **claimed.known(start_constants(claimed, method, about))}
        values = {k: c.value for k, c in known.items()} | {k: Fraction(v) for k, v in (constants or {}).items()}
    except BoundcheckError as error:
        return str(error).rstrip(".")
    lacking = [s.name for s in claimed.symbols if s.name not in values and s.name != claimed.metric.index]
    quantity = claimed.metric.quantity
    if quantity not in about.metrics and not is_round_metric(quantity):
        lacking.append(f"the metric {quantity}")
    if lacking:
        return f"no value for {', '.join(lacking)}"
    values = {s.name: values[s.name] for s in claimed.symbols if s.name in values}
    setup = Setup(claimed, about, method, solved, values)
    try:
        curve = with_start(run(method, about, rounds=[0], metrics=()), start_constants(claimed, method, about))
        out, _ = hypotheses(claimed, curve, values)
    except BoundcheckError as error:
        return str(error).rstrip(".")
    return setup if out is None else out


def start_value(setup: Setup) -> Fraction:
    """The statement's quantity at the start. Raises BadInput where it is none of a point."""
    x = np.empty(setup.problem.dim, dtype=object)
    x[:] = setup.problem.start
    quantity = setup.claimed.metric.quantity
    if quantity not in setup.problem.metrics:
        raise BadInput(f"{setup.claimed.best_id} is about '{quantity}', which is none of a point.")
    return Fraction(setup.problem.metric(quantity, x))


def promised(setup: Setup, target: Fraction) -> int | None:
    """The least index at which the bound is at most the target; None where that is beyond `LAST_INDEX`."""
    symbol = setup.claimed.symbol(index_name(setup.claimed))
    least = max(1, 1 if symbol.low is None else int(symbol.low))

    def met(index: int) -> bool:
        found = setup.claimed.evaluate(**setup.values, **{symbol.name: index})
        return found.in_scope is True and float(found.value) <= float(target)

    last, before = least, None
    while not met(last):
        before, last = last, 2 * last
        if last > LAST_INDEX:
            return None
    if before is None:
        return last
    low, high = before, last
    while high - low > max(1, high // 10_000):
        middle = (low + high) // 2
        low, high = (low, middle) if met(middle) else (middle, high)
    return high


def rounds_at(setup: Setup, index: int) -> int:
    """Communication rounds that are done at an index."""
    expr = setup.claimed.metric.rounds
    own = setup.claimed.symbol(index_name(setup.claimed)).expr
    return int(expr.subs({**{s: setup.values[s.name] for s in expr.free_symbols if s != own}, own: index}))


def needed(setup: Setup, target: Fraction, most: int | None = None) -> int | None:
    """The first measured index at which the metric is at most the target; None where `most` rounds do not get there.

    Exact engine on quadratic problems (plain doubles: no verdict rests on this), else the mean of a few sampled runs.
    """
    exact = isinstance(setup.problem, QuadraticProblem)
    averaged = setup.claimed.metric.weights is not None
    limit = most or (MOST_AVERAGED if averaged else MOST_ROUNDS if exact else MOST_SAMPLED)
    low, high = 0, 1
    found: int | None = None
    while found is None and rounds_at(setup, low + 1) <= limit:
        while rounds_at(setup, high) > limit:
            high = max(low + 1, high - max(1, (high - low) // 8))
        found = _first(setup, target, low, high, exact)
        low, high = high, 8 * high
    return found


def _first(setup: Setup, target: Fraction, low: int, high: int, exact: bool) -> int | None:
    """The first index of (low, high] at which the metric is at most the target, on grids that are refined around it."""
    while True:
        grid = sorted({int(k) for k in np.linspace(low + 1, high, min(POINTS, high - low)).round()})
        below = [k for k, v in zip(grid, _metric(setup, grid, exact), strict=True) if v <= float(target)]
        if not below:
            return None
        at = grid.index(below[0])
        low, high = (low if at == 0 else grid[at - 1]), grid[at]
        if high - low <= 1:
            return high


def _metric(setup: Setup, index: list[int], exact: bool) -> list[float]:
    claimed, method, problem = setup.claimed, setup.method, setup.problem
    wanted = [Fraction(k) for k in index]
    rounds = rounds_of(claimed, wanted, setup.values)
    if not rounds:
        return [float("inf")] * len(index)
    quantity = claimed.metric.quantity
    try:
        if exact:
            curve = run(method, problem, rounds=rounds, metrics=[quantity], arithmetic="float64")
        else:
            seeds = SEEDS if method.is_random(clients_of(problem)) else 1
            curve = run(method, problem, rounds=rounds, metrics=[quantity], engine="sampled", seeds=seeds)
    except Unsupported as error:
        raise Unsupported(f"{claimed.best_id}: what {method.name} needs cannot be measured: {error}") from error
    points = points_of(claimed, curve, setup.values, wanted, every_index=True)
    known = dict(zip(points.index, points.high, strict=True))
    return [float(known.get(k, np.inf)) for k in wanted]


def is_bound(claimed: Statement) -> bool:
    """Whether a statement bounds a metric of a point for every index."""
    return claimed.kind is Kind.UPPER_BOUND and claimed.metric.index is not None
