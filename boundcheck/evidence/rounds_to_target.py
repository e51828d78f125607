"""Rounds to a target: what a bound promises, and what a run really needs.

The target is a value of the statement's own metric (last iterate, or average over rounds, as the statement says)
without the factor that it may carry, so that it is a share of what a method has that never moves. What is promised is
the least index at which the bound, over that factor, is at most the target, found by doubling and bisection (the bound
is taken to stay below once it has come below); what is needed is the first measured index at which the metric is.

How large a step size works in practice: on quadratic problems a constant step works where the exact linear map of a
period contracts (`engines.exact.contraction`); elsewhere where the mean over a few sampled runs ends below its start.
On large data there are fewer runs, and then fewer rounds. The search goes up or down from a first guess by factors of
4 and then bisects, so that it finds one edge of the steps that work, not necessarily the last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from boundcheck.core.linalg import nearest_float
from boundcheck.core.numbers import format_exact, round_down
from boundcheck.engines.run import carry_out, describe, run
from boundcheck.engines.summaries import summary_of
from boundcheck.errors import BadInput, BoundcheckError, Unsupported
from boundcheck.evidence.claim_rounds import affine_rounds, index_name, rounds_of
from boundcheck.evidence.compared_points import FLOAT_EQUAL, Points, points_of
from boundcheck.evidence.constant_claims import broken_assumption
from boundcheck.evidence.hypotheses import hypotheses
from boundcheck.evidence.open_step_sizes import first_method, first_setting, start_constants, with_start, with_steps
from boundcheck.methods.build import build as build_method
from boundcheck.problems.problem import Quadratic, clients_of
from boundcheck.setting import Setting
from boundcheck.theory.decide import Point, sign
from boundcheck.theory.statement import Kind

if TYPE_CHECKING:
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem
    from boundcheck.theory.statement import Statement


LAST_INDEX = 10**15
MOST_ROUNDS = 10**6  # of a run, where the metric is that of the last iterate and the engine composes rounds
MOST_AVERAGED = 20_000  # where it is an average over all of them
MOST_SAMPLED = 2000
SEEDS = 10
MOST_EXACT, MOST_TIES = 1000, 10  # rounds of a run that decides a tie in rational arithmetic, and number of ties
# of the search for the largest step that works:
FACTOR = 4  # between the trials of the first search
TRIALS = 20  # of it, at most
HALVINGS = 7  # of the bracket, on a logarithmic scale: its ends are then within 1.1 % of one another
MOST_TRIED, MOST_SEEDS = 200, 20  # rounds and seeds of the sampled runs where they are cheap
LEAST_TRIED, LEAST_SEEDS = 20, 4
WORK = 10**9  # coordinates of samples that one trial may visit: seconds
POINTS = 60  # of a grid on the way to the first index below the target

# Metrics that say how far a method still is -> the metric of a point that they are at the start.
PROGRESS: Mapping[str, str] = {
    "dist2": "dist2",
    "gap": "gap",
    "grad2": "grad2",
    "epoch_grad2": "grad2",
    "virtual_gap": "gap",
    "virtual_grad2": "grad2",
}
OF_ROUNDS = ("round_gap", "virtual_round_gap")  # gaps of the objectives of the rounds


@dataclass(frozen=True)
class Setup:
    """A statement about a setting, all constants known.

    spec: the method's specification. values: by the statement's names, without the index.
    """

    claimed: Statement
    setting: Setting
    spec: Mapping[str, Any]
    values: Mapping[str, Fraction]

    @property
    def method(self) -> Method:
        """The method, with its step sizes as numbers."""
        return self.setting.method

    @property
    def problem(self) -> Problem:
        """The problem that the statement is about."""
        return self.setting.problem


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
    setup = assembled(claimed, problem, method_spec, constants, at)
    if isinstance(setup, str):
        return setup
    try:
        curve = describe(carry_out(setup.method, setup.problem, rounds=[0], metrics=()), setup.setting)
        curve = with_start(curve, start_constants(claimed, setup.setting))
        out, _ = hypotheses(claimed, curve, setup.values)
    except BoundcheckError as error:
        return str(error).rstrip(".")
    return setup if out is None else out


def assembled(
    claimed: Statement,
    problem: Problem,
    method_spec: Mapping[str, Any],
    constants: Mapping[str, Any] | None = None,
    at: Mapping[str, Any] | None = None,
) -> Setup | str:
    """As `prepare`, whether or not the hypotheses of the statement hold."""
    try:
        first = Setting(first_method(method_spec), problem)
        solved, setting = with_steps(method_spec, claimed, first, constants, at)
        setting = setting.following() if claimed.metric.surrogate else setting
        known = claimed.known(start_constants(claimed, setting))
        known = {**claimed.known(setting.constants()), **known}
        values = {k: c.value for k, c in known.items()} | {k: Fraction(v) for k, v in (constants or {}).items()}
    except BoundcheckError as error:
        return _broken(claimed, problem, method_spec) or str(error).rstrip(".")
    lacking = [f"{s.name}, {s.meaning}" for s in claimed.symbols if s.name not in (*values, claimed.metric.index)]
    if not setting.metric(claimed.metric.quantity).source:
        lacking.append(f"the metric {claimed.metric.quantity}")
    if lacking:
        return _broken(claimed, problem, method_spec) or f"no value for {'; '.join(lacking)}"
    values = {s.name: values[s.name] for s in claimed.symbols if s.name in values}
    return Setup(claimed, setting, solved, values)


def _broken(claimed: Statement, problem: Problem, method_spec: Mapping[str, Any]) -> str | None:
    """Which hypothesis fails whatever the step size: why a constant that goes with it is not there."""
    try:
        return broken_assumption(claimed, first_setting(claimed, method_spec, problem))
    except BoundcheckError:
        return None


def measures_progress(claimed: Statement) -> bool:
    """Whether the statement's metric tells how far a method still is, so that a share of its start can be a target."""
    return claimed.metric.quantity in (*PROGRESS, *OF_ROUNDS)


def start_value(setup: Setup) -> Fraction:
    """The statement's quantity, without its factor, of a method that stays at the start.

    For gaps of the objectives L^n of the rounds this is the mean of L^n(x_0) - min L^n over a period. Raises BadInput
    where the quantity tells no progress.
    """
    quantity = setup.claimed.metric.quantity
    problem, kind = setup.problem, PROGRESS.get(quantity, "")
    if quantity in OF_ROUNDS:
        problem, kind = setup.setting.following().problem, "gap"
    if kind not in problem.metrics:
        raise BadInput(
            f"{setup.claimed.best_id} is about '{quantity}', no share of whose value at the start can be a target."
        )
    x = np.empty(problem.dim, dtype=object)
    x[:] = problem.start
    found = Fraction(problem.metric(kind, x))
    if quantity not in OF_ROUNDS:
        return found
    setting = setup.setting
    return setting.constant("participation/q_bar").value * found + setting.constant("surrogate/R").value


def bound_at(setup: Setup, index: int) -> float | None:
    """The bound at an index over the factor of the metric; None where the statement does not cover it."""
    symbol = setup.claimed.symbol(index_name(setup.claimed))
    values = {**setup.values, symbol.name: Fraction(index)}
    found = setup.claimed.evaluate(**values)
    return float(found.value) / _factor(setup, Fraction(index)) if found.in_scope is True else None


def _factor(setup: Setup, index: Fraction) -> float:
    """The factor of the metric at an index."""
    scale = setup.claimed.metric.scale
    if scale == 1:
        return 1.0
    low, high = Point(scale, {**setup.values, index_name(setup.claimed): index}).enclose(64)
    return nearest_float((low + high) / 2)


def promised(setup: Setup, target: Fraction) -> int | None:
    """The least index at which the bound is at most the target, to a relative 1e-4; None beyond `LAST_INDEX`."""
    symbol = setup.claimed.symbol(index_name(setup.claimed))
    least = max(1, 1 if symbol.low is None else int(symbol.low))

    def met(index: int) -> bool:
        found = bound_at(setup, index)
        if found is not None and _ties(found, target):
            over = _sign_over(setup, setup.claimed.bound, index, target)
            return over is not None and over <= 0  # a tie that stays undecided is no promise
        return found is not None and found <= nearest_float(target)

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
    first, step = affine_rounds(setup.claimed, setup.values)
    return int(first + step * index)


def _ties(value: float, target: Fraction) -> bool:
    """Whether doubles do not order a value and the target."""
    return abs(value - nearest_float(target)) <= FLOAT_EQUAL * nearest_float(target)


def _sign_over(setup: Setup, side: Any, index: int, target: Fraction) -> int | None:
    """Sign of the bound or metric `side`, with its factor, minus the target; None where undecided."""
    over = sp.sympify(side) - setup.claimed.metric.scale * sp.sympify(target)
    return sign(over, {**setup.values, index_name(setup.claimed): Fraction(index)})


def needed_range(setup: Setup, target: Fraction) -> tuple[int, int] | None:
    """As `needed`, with ties of metric and target decided in rational arithmetic.

    Where that cannot be done, the first index is the tie, and the second one that at which the metric is below.
    """
    tie, last = None, 0
    for _ in range(MOST_TIES if isinstance(setup.problem, Quadratic) else 0):
        index = needed(setup, target * (1 + Fraction(FLOAT_EQUAL)), last=last)
        if index is None:
            return None
        met = _met_exactly(setup, index, target) if _ties(_metric(setup, [index], exact=True)[0], target) else True
        if met:
            return tie or index, index
        tie, last = tie or (index if met is None else None), index
    index = needed(setup, target)
    return None if index is None else (min(tie or index, index), index)


def _met_exactly(setup: Setup, index: int, target: Fraction) -> bool | None:
    """Whether the metric is at most the target at an index; None where rational arithmetic does not decide it."""
    if rounds_at(setup, index) > MOST_EXACT:
        return None
    try:
        value = _points(setup, [Fraction(index)], arithmetic="rational").exact[-1]
    except Unsupported:
        return None
    exceeds = None if value is None else _sign_over(setup, value, index, target)
    return None if exceeds is None else exceeds <= 0


def needed(setup: Setup, target: Fraction, most: int | None = None, last: int = 0) -> int | None:
    """The first measured index after `last` at which the metric is at most the target; None beyond `most` rounds.

    Exact engine on quadratic problems (plain doubles: no verdict rests on this), else the mean of a few sampled runs.
    """
    exact = isinstance(setup.problem, Quadratic)
    averaged = setup.claimed.metric.over_rounds
    limit = most or (MOST_AVERAGED if averaged else MOST_ROUNDS if exact else MOST_SAMPLED)
    low, high = last, last + 1
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
        below = [k for k, v in zip(grid, _metric(setup, grid, exact), strict=True) if v <= nearest_float(target)]
        if not below:
            return None
        at = grid.index(below[0])
        low, high = (low if at == 0 else grid[at - 1]), grid[at]
        if high - low <= 1:
            return high


def _metric(setup: Setup, index: list[int], exact: bool) -> list[float]:
    method, wanted = setup.method, [Fraction(k) for k in index]
    if not rounds_of(setup.claimed, wanted, setup.values):
        return [float("inf")] * len(index)
    seeds = SEEDS if method.is_random(clients_of(setup.problem)) else 1
    how: dict[str, Any] = {"arithmetic": "float64"} if exact else {"engine": "sampled", "seeds": seeds}
    try:
        points = _points(setup, wanted, **how)
    except Unsupported as error:
        raise Unsupported(f"{setup.claimed.best_id}: what {method.name} needs cannot be measured: {error}") from error
    known = dict(zip(points.index, points.high, strict=True))
    return [float(known[k]) / _factor(setup, k) if k in known else float("inf") for k in wanted]


def _points(setup: Setup, wanted: list[Fraction], **how: Any) -> Points:
    """The statement's metric at these values of its index; how: as `engines.run.run` takes it."""
    claimed = setup.claimed
    how |= {"summaries": [summary_of(claimed, setup.values)]} if claimed.metric.over_rounds else {}
    rounds = rounds_of(claimed, wanted, setup.values)
    curve = run(setup.method, setup.problem, rounds=rounds, metrics=[claimed.metric.quantity], **how)
    return points_of(claimed, curve, setup.values, wanted, every_index=True)


def is_bound(claimed: Statement) -> bool:
    """Whether a statement bounds a metric of a point for every index."""
    return claimed.kind is Kind.UPPER_BOUND and claimed.metric.index is not None


@dataclass(frozen=True)
class Practice:
    """works: the largest step that was tried and works (None: none did); fails: the smallest above it that does not
    (None: none was found). how: what "works" means here, as a clause.
    """

    works: Fraction | None
    fails: Fraction | None
    how: str


def largest_in_practice(
    method: Mapping[str, Any],
    name: str,
    problem: Problem,
    first: Fraction,
    on_trial: Callable[[int], None] | None = None,
) -> Practice:
    """The largest step `name` that works for a method on a problem.

    method: its specification, whose value of `name` does not count; first: where the search starts, above 0; on_trial:
    called with the number of the steps that were tried.
    Raises Unsupported where neither engine carries the method on this problem, BadInput for a bad specification.
    """

    def with_step(step: Fraction) -> Method:
        return build_method({**method, name: format_exact(step)})

    tries, how = _criterion(with_step, problem, first)
    tried: list[Fraction] = []

    def works(step: Fraction) -> bool:
        found = tries(step)
        tried.append(step)
        if on_trial is not None:
            on_trial(len(tried))
        return found

    low, high = _bracket(works, first)
    for _ in range(HALVINGS if low is not None and high is not None else 0):
        assert low is not None
        assert high is not None
        middle = round_down(Fraction(min(nearest_float(low * high), 1e300) ** 0.5), 6)
        if not low < middle < high:
            break
        low, high = (middle, high) if works(middle) else (low, middle)
    return Practice(low, high, how)


def _criterion(
    with_step: Callable[[Fraction], Method], problem: Problem, first: Fraction
) -> tuple[Callable[[Fraction], bool], str]:
    """Whether a step works, and what that means."""
    from boundcheck.engines.exact import contraction

    try:
        contraction(with_step(first), problem)
    except Unsupported:
        return _by_runs(with_step, problem, first)

    def contracts(step: Fraction) -> bool:
        return contraction(with_step(step), problem).converges is True

    return contracts, "the exact linear map of a period contracts"


def _by_runs(
    with_step: Callable[[Fraction], Method], problem: Problem, first: Fraction
) -> tuple[Callable[[Fraction], bool], str]:
    metric = next((m for m in ("gap", "dist2", "grad2") if m in problem.metrics), None)
    if metric is None:
        raise Unsupported(f"the problem '{problem.name}' has no metric by which a run could be said to get nearer.")
    count, rounds = _effort(with_step(first), problem)

    def nearer(step: Fraction) -> bool:
        with np.errstate(over="ignore", invalid="ignore"):
            curve = run(
                with_step(step), problem, rounds=[0, rounds], engine="sampled", seeds=range(count), metrics=[metric]
            )
        start, end = curve.values[metric]
        return bool(np.isfinite(end) and end < start)

    runs = f"{metric} of the one run there is" if count == 1 else f"mean {metric} of {count} sampled runs"
    return nearer, f"the {runs} is below its start after {rounds} rounds"


def _effort(method: Method, problem: Problem) -> tuple[int, int]:
    """Seeds and rounds of one trial: as many as `WORK` allows between the least and the usual numbers."""
    clients = clients_of(problem)
    seeds = MOST_SEEDS if method.is_random(clients) else 1
    drawing = method.participation.drawing(clients)
    share = 1.0 if drawing is None else drawing.largest / clients.count
    allowed = WORK / max(1.0, share * sum(clients.sizes) * problem.dim)  # rounds, those of all seeds together
    seeds = min(seeds, max(LEAST_SEEDS, int(allowed // MOST_TRIED)))
    return seeds, min(MOST_TRIED, max(LEAST_TRIED, int(allowed // seeds)))


def _bracket(works: Callable[[Fraction], bool], first: Fraction) -> tuple[Fraction | None, Fraction | None]:
    """Neighbours on a grid of powers of FACTOR around the first guess of which one works and the next does not."""
    step = first
    if works(step):
        for _ in range(TRIALS):
            if not works(step * FACTOR):
                return step, step * FACTOR
            step *= FACTOR
        return step, None
    for _ in range(TRIALS):
        if works(step / FACTOR):
            return step / FACTOR, step
        step /= FACTOR
    return None, step
