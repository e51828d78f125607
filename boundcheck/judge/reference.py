"""What a composition does: its expected iterates and metrics from the exact engine, its runs from the sampled one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from boundcheck.core.linalg import nearest_float
from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact.means import expected_iterates
from boundcheck.engines.exact.paths import oracle_iterates
from boundcheck.engines.exact.run import run_exact
from boundcheck.engines.simulate.lowering import lower
from boundcheck.engines.simulate.paths import choose_path, known_clients
from boundcheck.errors import BoundcheckError, Unsupported
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Average, GradientSteps
from boundcheck.problems.problem import Floats, Problem, Quadratic, clients_of, flat_arrays

T = TypeVar("T")


def attempted(compute: Callable[..., T], *arguments: Any) -> T | None:
    """What a function returns; None where it refuses, such as an engine that does not carry a method out."""
    try:
        return compute(*arguments)
    except BoundcheckError:
        return None


def is_random(method: Method, problem: Problem) -> bool:
    """Whether two runs of the method can differ; not where only samples are drawn and those of a client are alike."""
    clients = clients_of(problem)
    if not method.is_random(clients):
        return False
    cohorts_alone = replace(method, local=GradientSteps(1), aggregation=Average())
    return cohorts_alone.is_random(clients) or not _draws_are_alike(method, problem)


def _draws_are_alike(method: Method, problem: Problem) -> bool:
    """Whether every client has a fixed number of steps, and samples of one and the same function."""
    clients = clients_of(problem)
    everyone = tuple(range(clients.count))
    arrays = flat_arrays(problem)
    if arrays is None or any(len(method.local.visits(i, everyone, clients)) > 1 for i in everyone):
        return False
    rows = [part for part in (arrays.A, arrays.curvature, arrays.b, arrays.target) if len(part)]
    return all(bool((part[a:b] == part[a]).all()) for part in rows for a, b in pairwise(arrays.offsets.tolist()))


def iterates(method: Method, problem: Problem, rounds: int) -> Floats:
    """x_r after 0, ..., rounds rounds, shape (rounds + 1, d); E x_r where the method is random.

    From the exact engine on quadratic problems, else a run in double precision. Raises Unsupported for random methods
    on other problems, and where no engine carries out the method.
    """
    if is_random(method, problem):
        return expected_iterates(method, problem, rounds)
    if isinstance(problem, Quadratic):
        with suppress(Unsupported):  # such as clients with a momentum of their own
            return expected_iterates(method, problem, rounds)
    if method.is_plain:
        return oracle_iterates(method, problem, rounds)
    return sampled_iterates(method, problem, range(rounds + 1), range(1))[0]


def look_ahead(method: Method, problem: Problem, rounds: int) -> Floats | None:
    """The points of Nesterov's method at which the next gradients are taken, as `iterates`; None for other methods."""
    own = method.server_momentum
    if own is None or not own.nesterov:
        return None
    x = iterates(method, problem, rounds)
    momentum = np.array([[0.0], *([float(own.at(r))] for r in range(1, rounds + 1))])
    return x + momentum * np.diff(x, axis=0, prepend=x[:1])


def sampled_iterates(method: Method, problem: Problem, rounds: Sequence[int], seeds: range) -> Floats:
    """The iterates (S, R, d) of the sampled engine's seeds after these rounds. Raises Unsupported as that engine."""
    arrays = flat_arrays(problem)
    lowered = lower(method, known_clients(problem, arrays), int(rounds[-1]))
    path = "numpy" if len(seeds) * rounds[-1] < 10_000 else "auto"  # compiling takes seconds
    runner = choose_path(path, problem, lowered, arrays)
    start = np.array([nearest_float(v) for v in problem.start], dtype=np.float64)
    words = np.array(seeds, dtype=np.uint64)
    points = np.empty((len(words), len(rounds), problem.dim))
    with np.errstate(all="ignore"):  # divergence is a result here
        state = runner.begin(words, start)
        runner.advance(words, state, 0, np.array(rounds, dtype=np.int64), points)
    return points


def expected_metrics(
    method: Method, problem: Problem, rounds: Sequence[int], names: Sequence[str]
) -> Mapping[str, Floats]:
    """E of the metrics after these rounds, from the exact engine. Raises Unsupported as that engine."""
    if not names:
        return {}
    return run_exact(method, problem, rounds, names, arithmetic=Arithmetic.FLOAT64).values
