"""How large a step size works in practice, beside what a theorem allows.

On quadratic problems a constant step works where the exact linear map of a period contracts
(`engines.exact.contraction`); elsewhere where the mean over a few sampled runs ends below its start (on large data
there are fewer runs, and then fewer rounds). The search goes up or down from a first guess by factors of 4 and then
bisects, so that it finds one edge of the steps that work, not necessarily the last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from boundcheck.core.linalg import nearest_float
from boundcheck.core.numbers import format_exact, round_down
from boundcheck.engines.run import run
from boundcheck.errors import Unsupported
from boundcheck.methods.build import build as build_method
from boundcheck.problems.problem import clients_of

if TYPE_CHECKING:
    from boundcheck.methods.method import Method
    from boundcheck.problems.problem import Problem


FACTOR = 4  # between the trials of the first search
TRIALS = 20  # of it, at most
HALVINGS = 7  # of the bracket, on a logarithmic scale: its ends are then within 1.1 % of one another
ROUNDS, SEEDS = 200, 20  # of the sampled runs where they are cheap
LEAST_ROUNDS, LEAST_SEEDS = 20, 4
WORK = 10**9  # coordinates of samples that one trial may visit: seconds


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
    seeds = SEEDS if method.is_random(clients) else 1
    drawing = method.participation.drawing(clients)
    share = 1.0 if drawing is None else drawing.largest / clients.count
    allowed = WORK / max(1.0, share * sum(clients.sizes) * problem.dim)  # rounds, those of all seeds together
    seeds = min(seeds, max(LEAST_SEEDS, int(allowed // ROUNDS)))
    return seeds, min(ROUNDS, max(LEAST_ROUNDS, int(allowed // seeds)))


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
