"""An implementation against the exact runs of its method: where they part, and which mistake it looks like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from boundcheck.core.parameters import checks_types
from boundcheck.engines.exact.means import exact_iterate
from boundcheck.errors import BadInput, BoundcheckError
from boundcheck.judge import findings
from boundcheck.judge.agreement import POWER, RATE
from boundcheck.judge.diagnosis import Mutations, agreeing, solved
from boundcheck.judge.identify import siblings
from boundcheck.judge.instances import telling_problem
from boundcheck.judge.precision import SINGLE_ROUNDOFF, Rounding, rounding_of
from boundcheck.judge.random_comparison import compare_random
from boundcheck.judge.reference import is_random, iterates, look_ahead
from boundcheck.judge.task import Task, task_of
from boundcheck.judge.trajectories import Run, Trajectories, follow
from boundcheck.methods.build import algorithms
from boundcheck.methods.build import build as build_method
from boundcheck.methods.method import Method
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.problem import Floats, Problem, Quadratic, clients_of

SEEDS = 1024
LOOK_AHEAD = (
    " The points are those after the look-ahead, x + momentum (x - x_previous), where the next gradients are taken, as "
    "torch and optax return them; statements about this method are about x."
)
FEW_ROUNDS = 40  # a fraction is printed for rounds up to here
LONGEST_FRACTION = 30
MOST_WORK = 200_000  # rounds times clients times dimension up to which all mistakes are run without being asked for


@checks_types
def compare_implementation(
    method: Method | Mapping[str, Any],
    run: Run,
    problem: Problem | Mapping[str, Any] | None = None,
    *,
    rounds: int = 200,
    tolerance: float | None = None,
    seeds: int = SEEDS,
    rate: float = RATE,
    power: float = POWER,
) -> findings.Agreement:
    """Run `run(task, seed)` and compare what it returns with the exact runs of a method.

    problem: default `instances.telling_problem`, on which the mistakes of the method differ. A method without
    randomness is compared number by number, up to `tolerance` relative to the largest number so far: 1e-9 by default,
    and what `precision.rounding_of` derives where iterates are float32 or float16. A random one is compared in
    expectation and in law, with up to `seeds` seeds; a right implementation is refuted with probability `rate` at most,
    and the errors that would have been seen with probability `power` are stated; numbers within `tolerance` are the
    same. Where they differ, the mistakes of `mutants` are run and those that explain it are named.
    Raises BadInput, UnknownName and Unsupported; an error inside `run` passes through.
    """
    composed = build_method(method) if isinstance(method, Mapping) else method
    given = telling_problem(composed) if problem is None else problem
    instance = build_problem(given) if isinstance(given, Mapping) else given
    if not callable(run):
        raise BadInput(f"run is {type(run).__name__}; it must be a function run(task, seed).")
    if tolerance is not None and not 0 < tolerance < 1:
        raise BadInput(f"tolerance = {tolerance} is not allowed; it lies between 0 and 1.")
    task = task_of(composed, instance, rounds)
    if is_random(composed, instance):
        return compare_random(task, run, seeds, rate, power, tolerance)
    return _compare_fixed(task, run, tolerance)


def _compare_fixed(task: Task, run: Run, given: float | None) -> findings.Agreement:
    """A method without randomness, on one seed."""
    found = follow(run, task, [0])
    rounding = rounding_of(task, found.roundoff) if given is None else Rounding(given)
    tolerance = rounding.tolerance
    names = tuple(sorted(found.metrics))

    def measure(points: Floats) -> Floats:
        if not names:
            return points
        whole = Trajectories(points[None], {}, 0).measured(task.problem, names)
        return np.stack([whole[name][0] for name in names], axis=1)

    got = np.stack([found.metrics[name][0] for name in names], axis=1) if names else _points(found)
    whole = measure(iterates(task.method, task.problem, task.rounds))
    if found.first:  # metrics without the start
        got = np.concatenate([whole[:1], got])
    same, which = agreeing(got, whole, tolerance), ""
    ahead = None if same.all() else look_ahead(task.method, task.problem, task.rounds)
    if ahead is not None and agreeing(got, measure(ahead), tolerance).all():
        same, which = np.ones_like(same), LOOK_AHEAD
    cheap = task.rounds * len(task.clients) * task.dimension <= MOST_WORK
    known = Mutations(task.method, task.problem, task.rounds, measure) if cheap or not same.all() else None
    alike = () if known is None else tuple(m.name for m in known.like(whole, tolerance))
    tried = 0 if known is None else known.tried
    what = f"{task.rounds} rounds of {task.method.name} on '{task.problem.name}'"
    if same.all():
        reason = f"{what} agree with the exact run to {tolerance:.3g}, relative to the largest number so far."
        also = () if not which or known is None else tuple(m.name for m in known.like(got, tolerance))
        alike, which = (*also, *alike), which + (findings.also_those_of(also) if also else "")
        reason += which + rounding.words
        return _agreement(task, True, None, {}, tried, alike, reason + findings.not_told(alike, known is not None))
    assert known is not None
    row, column = (int(v) for v in np.argwhere(~same)[0])
    difference = findings.Difference(
        row, findings.labels(task, names)[column], float(whole[row, column]), _fraction(task, names, row, column),
        float(got[row, column]),
    )  # fmt: skip
    mistakes = known.like(got, tolerance) or solved(task.method, task.problem, got, measure, tolerance)
    mistakes = mistakes or (known.pairs(got, tolerance) if cheap else [])
    named = {m.name: m.sentence + _of_kinds(m.method, task) for m in mistakes}
    reason = f"{what} differ from the exact run: {difference.words()} (tolerance {tolerance:.3g}). "
    single = rounding_of(task, SINGLE_ROUNDOFF).tolerance if not named else 0.0
    if tolerance < single and agreeing(got, whole, single).all():
        reason += findings.within_single("rounds", single)
    others = () if named or not cheap else siblings(task.method, task.problem, got, measure, tolerance)
    early, until = ([], 0) if named or others else known.prefix(got, whole, tolerance)
    if others:
        reason += f"Its runs are those of another method: {'; '.join(m.words() for m in others[:3])}."
    elif until:
        reason += findings.at_first([m.name for m in early], until)
    else:
        reason += findings.looks_like(named, tried)
    return _agreement(task, False, difference, named, tried, alike, reason + findings.not_told(alike))


def _of_kinds(wrong: Method, task: Task) -> str:
    """Which kinds of methods a mistake makes of the method, as a clause; "" for none."""
    clients = clients_of(task.problem)
    others = [k for k in algorithms(wrong, clients) if k not in algorithms(task.method, clients)]
    return f", as the kind '{others[0]}' does" if others else ""


def _points(found: Trajectories) -> Floats:
    assert found.points is not None
    return found.points[0]


def _agreement(
    task: Task,
    agrees: bool,
    difference: findings.Difference | None,
    mistakes: Mapping[str, str],
    tried: int,
    alike: tuple[str, ...],
    reason: str,
) -> findings.Agreement:
    return findings.Agreement(
        task.method.name, task.problem.name, task.rounds, agrees, "run", difference, mistakes, tried, alike, reason
    )


def _fraction(task: Task, names: Sequence[str], row: int, column: int) -> str:
    """The expected coordinate as a fraction, where it is short."""
    if names or row > FEW_ROUNDS or not isinstance(task.problem, Quadratic):
        return ""
    try:
        text = exact_iterate(task.method, task.problem, row)[column]
    except BoundcheckError:
        return ""
    return text if len(text) <= LONGEST_FRACTION else ""
