"""Hypotheses that follow from a problem's clients and start alone, decided in one way for every kind of problem.

"plain_mean": equal weights. "zero_at_start": x_0 = 0. "iid_clients": equal weights, and all clients have one objective
up to a constant, that is one gradient at every point. Quadratic clients are compared exactly. Other clients differ
where their gradients differ at one of a few points; in double precision a difference counts from `APART` of the
gradients' size on. Clients of a network, whose gradients the neural engine alone has, are taken to differ where they
hold different samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from boundcheck.errors import Unsupported
from boundcheck.problems._scalar import ScalarInstance
from boundcheck.problems.problem import Quadratic, clients_of, is_neural, optional

if TYPE_CHECKING:
    from boundcheck.problems.problem import Problem


APART = 1e-9
MOST_CLIENTS = 100  # whose gradients are compared
_DIFFERENT = "its clients have different weights"


def client_hypotheses(problem: Problem) -> tuple[dict[str, str | None], frozenset[str]]:
    """Hypothesis -> why it fails, or None where it holds, and those of them that rest on double precision.

    One that cannot be decided is left out.
    """
    alike = replace(clients_of(problem), weights=problem.weights).one_weight
    found: dict[str, str | None] = {
        "plain_mean": None if alike else f"{_DIFFERENT}, so that F is not their plain mean.",
        "zero_at_start": "the start is not 0." if _starts_away(problem) else None,
    }
    if not alike:
        return {**found, "iid_clients": f"{_DIFFERENT}."}, frozenset()
    other, exact = _unlike_client(problem)
    if other is not None:
        found["iid_clients"] = f"the objective of client {other} is not that of client 0." if other else None
    return found, frozenset() if exact else frozenset({"iid_clients"})


def _starts_away(problem: Problem) -> bool:
    vector = optional(problem, "start_vector")
    return bool(np.any(vector)) if vector is not None else any(v != 0 for v in problem.start)


def _unlike_client(problem: Problem) -> tuple[int | None, bool]:
    """A client whose objective is not that of client 0 (0: there is none, None: not known), and whether exactly."""
    if problem.clients == 1:
        return 0, True
    base: Any = optional(problem, "base") or problem
    if is_neural(base):
        return _other_samples(base), True
    if isinstance(base, ScalarInstance) and base.equal_clients:
        return 0, True
    if isinstance(problem, Quadratic):
        maps = problem.forms().maps
        first = maps[0]
        return next((i for i, own in enumerate(maps) if own is not first and own != first), 0), True
    return _other_gradients(problem)


def _other_samples(problem: Any) -> int:
    """The first client whose samples, in any order, are not those of client 0; 0 if all clients hold the same."""
    ends = problem.offsets

    def held(i: int) -> list[bytes]:
        rows = range(ends[i], ends[i + 1])
        return sorted(problem.inputs[j].tobytes() + problem.labels[j].tobytes() for j in rows)

    sizes = problem.sizes
    bad = next((i for i, size in enumerate(sizes) if size != sizes[0]), None)
    if bad is not None:
        return bad
    first = held(0)
    return next((i for i in range(1, len(sizes)) if held(i) != first), 0)


def _points(problem: Problem) -> Iterator[Any]:
    start = np.empty(problem.dim, dtype=object)
    start[:] = list(problem.start)
    for shift in (Fraction(0), Fraction(1, 2), Fraction(-2)):
        yield start + shift


def _other_gradients(problem: Problem) -> tuple[int | None, bool]:
    """A client with another gradient than client 0 at one of a few points; None where none is seen."""
    for point in _points(problem):
        try:
            first, exact = _gradient(problem, 0, point)
            for i in range(1, min(problem.clients, MOST_CLIENTS)):
                own, exact = _gradient(problem, i, point)
                if _apart(first, own, exact):
                    return i, exact
        except Unsupported:
            return None, False
    return None, False


def _gradient(problem: Problem, client: int, point: Any) -> tuple[Any, bool]:
    """A client's gradient at an exact point, and whether it is exact itself."""
    try:
        found: Any = problem.gradient(client, point)
    except Unsupported:  # gradients that are not rational
        found = problem.gradient(client, point.astype(np.float64))
    return found, found.dtype == object and all(isinstance(v, int | Fraction) for v in found)


def _apart(first: Any, own: Any, exact: bool) -> bool:
    if exact:
        return any(a != b for a, b in zip(first, own, strict=True))
    a, b = np.asarray(first, dtype=np.float64), np.asarray(own, dtype=np.float64)
    size = max(float(np.linalg.norm(a)), float(np.linalg.norm(b)))
    return bool(np.linalg.norm(a - b) > APART * size)
