"""Where methods end: the exact limit of a constant step size as a function of the step, against small-step theory.

A method whose clients take unequal steps minimises another objective than F (objective inconsistency). To first order
in the step that objective is known (`setting.followed_objective`); at any step the limit itself is solved exactly
(`engines.exact.stationary`). A specification file asks for this with `[[limits]]` tables, and a claim about a limit is
decided by it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from boundcheck.core.numbers import format_short
from boundcheck.core.toml_lines import TomlFile
from boundcheck.engines.exact import limit_cycle, stationary
from boundcheck.errors import BadInput, Unsupported
from boundcheck.evidence.claim_rounds import affine_rounds, index_name
from boundcheck.evidence.deciding import NoLimit
from boundcheck.evidence.not_run import NotRun
from boundcheck.evidence.studies import load_tables
from boundcheck.evidence.studies.study import Methods, TableSpec, cases, label
from boundcheck.methods.build import build as build_method
from boundcheck.methods.parts import Blocks, ReferencePoint
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Problem, Quadratic, clients_of, no_minimum
from boundcheck.setting.followed_objective import effective_weights, small_step_weights, weighted_minimiser
from boundcheck.theory.statement import Average, Kind

if TYPE_CHECKING:
    from boundcheck.methods.method import Method
    from boundcheck.theory.statement import Statement


MAX_POINTS = 200
MAX_SHOWN = 4  # values of a cycle in a reason


class Limits(TableSpec):
    """One `[[limits]]` table.

    problem: specification. methods: specifications without `parameter`, which takes the values of the grid `values`.
    """

    name: str
    """what the page calls it"""
    problem: dict[str, Any]
    """as in a claim; a quadratic with a minimiser"""
    methods: Methods
    """methods, each without the parameter that the grid gives"""
    parameter: str
    """the step size that takes the values"""
    values: Any
    """the grid, at most 200 numbers above 0"""


Spec = Limits


@dataclass(frozen=True)
class LimitPoint:
    """The limit at one step size, exact.

    gap: limit of E F(x_r) - F*. bias: F(limit of E x_r) - F*, the part that no averaging removes. weights: those of the
    clients whose weighted objective the mean of the limit minimises (None: not unique). None all over where the method
    does not converge; why says so.
    """

    value: Fraction
    gap: Fraction | None = None
    bias: Fraction | None = None
    weights: tuple[Fraction, ...] | None = None
    why: str = ""


@dataclass(frozen=True)
class LimitCurve:
    """One method. predicted_weights, predicted_bias: as the step size tends to 0."""

    method: Mapping[str, Any]
    label: str
    predicted_weights: tuple[Fraction, ...]
    predicted_bias: Fraction
    points: tuple[LimitPoint, ...]


@dataclass(frozen=True)
class LimitStudy:
    """All curves of one table. data_weights: w_i, what a consistent method has."""

    limits: Limits
    problem: str
    data_weights: tuple[Fraction, ...]
    curves: tuple[LimitCurve, ...]


def load_limits(path: Path | str | TomlFile, not_run: list[NotRun] | None = None) -> list[Limits]:
    """The `[[limits]]` tables of a specification file, validated; see `evidence.studies.load_tables`."""
    return [spec for _, spec in load_tables(path, ["limits"], lambda _: sys.modules[__name__], not_run)]


def check(limits: Limits) -> None:
    """Raises BadInput, UnknownName and Unsupported for what cannot be carried out."""
    first, *_ = _cases(limits).values()
    problem = _problem(limits)
    for spec in first:
        build_method(spec).check(clients_of(problem), problem.dim)


def limit_study(limits: Limits, on_progress: Callable[[float], None] | None = None) -> LimitStudy:
    """Carries out one table. Raises BadInput, UnknownName and Unsupported (a problem without exact limits)."""
    problem, grid = _problem(limits), _cases(limits)
    clients = clients_of(problem)
    curves: list[LimitCurve] = []
    for k, spec in enumerate(limits.methods):
        first = build_method(next(iter(grid.values()))[k])
        weights = small_step_weights(first, clients)
        points: list[LimitPoint] = []
        for j, (value, own) in enumerate(grid.items()):
            points.append(_point(problem, build_method(own[k]), value))
            if on_progress is not None:
                on_progress((k + (j + 1) / len(grid)) / len(limits.methods))
        bias = _gap(problem, weighted_minimiser(problem, weights))
        curves.append(LimitCurve(spec, label(first.name, spec, "[]"), tuple(weights), bias, tuple(points)))
    return LimitStudy(limits, problem.name, tuple(problem.weights), tuple(curves))


def exact_limit(claimed: Statement, method: Method, problem: Problem) -> Fraction | NoLimit | None:
    """The exact limit, as the rounds go on, of the expected metric that the statement says a limit of, or that it has
    none: it runs through a cycle, or the models that it says tend to a point do not (`engines.exact.growing`).

    Of a plain mean over all rounds, the mean over the cycle that the metric ends in is the limit. None where it is not
    known: the step sizes are rounded or change, the problem is not quadratic, the metric is scaled, averaged otherwise,
    or none of the problem's, what it should tend to changes with the index, or a limit superior is not of such a mean.
    """
    metric = claimed.metric
    moving = {s.name for s in claimed.bound.free_symbols} & {index_name(claimed)}
    least = metric.average is Average.LEAST
    if not claimed.kind.limit or moving or least or metric.scale != 1 or metric.weights not in (None, 1):
        return None
    if not isinstance(problem, Quadratic) or metric.quantity not in problem.metrics:
        return None
    if not method.schedule.is_exact():
        return None
    if metric.weights is not None:
        return _limit_of_mean(metric.quantity, method, problem)
    if claimed.kind is Kind.LIMSUP:
        return None
    if isinstance(method.exchange, Blocks) and method.exchange.tau > 1:  # the rounds of a period differ
        return None
    try:
        renewed = isinstance(method.control, ReferencePoint)  # the rounds between two renewals differ
        if renewed or method.participation.period(clients_of(problem)) != 1:
            return _limit_in_cycle(claimed, method, problem)
        value = stationary(method, problem, (metric.quantity,)).values[metric.quantity]
    except (BadInput, Unsupported):
        return _no_limit(claimed, method, problem)
    assert isinstance(value, Fraction)  # the arithmetic is rational
    return value


def _limit_of_mean(quantity: str, method: Method, problem: Problem) -> Fraction | None:
    """The limit of the plain mean over all rounds; None where the method does not contract."""
    try:
        values = limit_cycle(method, problem, (quantity,)).values[quantity]
    except (BadInput, Unsupported):
        return None
    return sum((v for v in values if isinstance(v, Fraction)), Fraction(0)) / len(values)  # all: rational arithmetic


def _limit_in_cycle(claimed: Statement, method: Method, problem: Problem) -> Fraction | NoLimit | None:
    """The limit over those positions of the period that the statement's rounds fall on."""
    places = _places(claimed)
    if places is None:
        return None
    begin, step = places
    found = limit_cycle(method, problem, (claimed.metric.quantity,))
    values = found.values[claimed.metric.quantity]
    seen = [values[(begin + k * step - found.first) % found.period] for k in range(found.period)]
    own = list(dict.fromkeys(v for v in seen if isinstance(v, Fraction)))  # all of them: the arithmetic is rational
    if len(own) == 1:
        return own[0]
    shown = ", ".join(format_short(v) for v in own[:MAX_SHOWN]) + (", ..." if len(own) > MAX_SHOWN else "")
    why = f"The metric has no limit: in the end it runs through a cycle of {len(own)} values, {shown}."
    return NoLimit(why, tuple(own[:MAX_POINTS]))


def _places(claimed: Statement) -> tuple[int, int] | None:
    """(rounds at index 0, rounds for each further one); None where they depend on more than the index."""
    index = claimed.metric.index
    if index is None or {s.name for s in claimed.metric.rounds.free_symbols} - {index}:
        return None
    begin, step = affine_rounds(claimed, {})
    return (int(begin), int(step)) if begin.denominator == step.denominator == 1 else None


def _no_limit(claimed: Statement, method: Method, problem: Problem) -> NoLimit | None:
    """That the models do not tend to a point, where the statement says so; None where that is not known."""
    from boundcheck.engines.exact.growing import stays_away

    metric = claimed.metric
    to_a_point = metric.quantity == "x" or (metric.quantity == "dist2" and claimed.bound == 0 and _one_point(problem))
    places = _places(claimed)
    # of a model that runs in a circle, every second point can have a limit
    if not to_a_point or places is None or places[1] != 1:
        return None
    try:
        grows = stays_away(method, problem)
    except Unsupported:
        return None
    return NoLimit("The metric has no such limit: the models do not converge, by exact arithmetic.") if grows else None


def _one_point(problem: Problem) -> bool:
    """Whether the squared distance to the minimisers is 0 at one point alone."""
    forms = problem.forms().quadratic if isinstance(problem, Quadratic) else {}
    return "dist2" in forms and forms["dist2"][1].rank() == problem.dim


def _point(problem: Problem, method: Method, value: Fraction) -> LimitPoint:
    try:
        found = stationary(method, problem, ("gap",))
    except (BadInput, Unsupported) as error:
        return LimitPoint(value, why=str(error))
    mean = [v for v in found.mean if isinstance(v, Fraction)]  # all of them: the arithmetic is rational
    gap, bias = found.values["gap"], found.bias["gap"]
    assert isinstance(gap, Fraction)
    assert isinstance(bias, Fraction)
    weights = effective_weights(problem, mean)
    return LimitPoint(value, gap, bias, None if weights is None else tuple(weights))


def _gap(problem: Problem, point: Sequence[Fraction]) -> Fraction:
    x = np.empty(len(point), dtype=object)
    x[:] = point
    return Fraction(problem.metric("gap", x))


def _problem(limits: Limits) -> Problem:
    problem = build_problem(limits.problem)
    why = no_minimum(problem)
    if why is not None:
        raise Unsupported(f"{why}, so that it has no gap, which limits are about.")
    if not isinstance(problem, Quadratic) or "gap" not in problem.metrics:
        raise Unsupported(f"the problem '{problem.name}' is no quadratic with a minimiser, so it has no exact limits.")
    return problem


def _cases(limits: Limits) -> dict[Fraction, list[dict[str, Any]]]:
    """The step sizes, increasing, and the methods at each."""
    found = dict(sorted(cases(limits.methods, limits.parameter, limits.values, MAX_POINTS, "step sizes").items()))
    least = next(iter(found))
    if least <= 0:
        raise BadInput(f"{limits.parameter} = {format_short(least)} is not allowed; step sizes are above 0.")
    return found
