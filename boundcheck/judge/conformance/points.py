"""A problem at sampled points."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from boundcheck.errors import BadInput, BoundcheckError
from boundcheck.judge.conformance.result import Check, Subject
from boundcheck.judge.task import Samples
from boundcheck.problems.problem import Floats, Problem, flat_arrays, optional

POINTS = 12  # sampled points
CLIENTS = 6  # clients whose gradients are looked at
SAMPLES = 8  # of a client, whose gradients are looked at
COORDINATES = 8  # coordinates that finite differences move
ROUNDING = 1e-9  # relative, of sums in double precision
DIFFERENCE = 2e-4  # relative, of finite differences


class Plain:
    """A problem with points at which it is looked at."""

    def __init__(self, problem: Problem, seed: int = 0) -> None:
        self.problem = problem
        self.weights = np.array([float(w) for w in problem.weights])
        self.start = np.array([float(v) for v in problem.start])
        self._known: dict[tuple[int, bytes], Floats] = {}
        draw = np.random.default_rng(seed)
        centre = self.start if self.minimiser is None else self.minimiser
        reach = self.reach = float(np.linalg.norm(self.start - centre)) or 1.0
        directions = draw.normal(size=(POINTS, problem.dim))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        scales = reach * np.array([1e-3, 0.1, 1.0, 10.0])[np.arange(POINTS) % 4, None]
        self.points = np.vstack([self.start[None], centre + scales * directions])
        self.draw = draw

    @property
    def some_clients(self) -> list[int]:
        """All clients, or the first and some others."""
        n = self.problem.clients
        return np.unique(np.linspace(0, n - 1, min(n, CLIENTS)).astype(int)).tolist()

    def gradient(self, client: int, x: Floats) -> Floats:
        """grad f_client(x)."""
        return self._once(client, x, lambda: np.asarray(self.problem.gradient(client, x), dtype=np.float64))

    def full(self, x: Floats) -> Floats:
        """grad F(x), the weighted sum over all clients."""
        return self._once(-1, x, lambda: np.array(sum(w * self.gradient(i, x) for i, w in enumerate(self.weights))))

    def _once(self, which: int, x: Floats, compute: Callable[[], Floats]) -> Floats:
        key = which, x.tobytes()
        if key not in self._known:
            self._known[key] = compute()
        return self._known[key]

    def sample_gradients(self, client: int, x: Floats) -> Floats:
        """The gradients of the client's first samples at x, (at most 8, d); f_client is the mean of all its samples.

        Raises BadInput where the problem has no arrays with its samples.
        """
        rows = sample_gradients(self.problem, client, x)
        if rows is None:
            raise BadInput("the problem has no arrays() with its samples")
        return rows[:SAMPLES]

    @cached_property
    def minimiser(self) -> Floats | None:
        """A minimiser: the one nearest to the start, or one that is searched for; None where none can be found."""
        nearest = optional(self.problem, "nearest")
        if nearest is not None:
            try:
                return np.asarray(nearest(self.start), dtype=np.float64)
            except BadInput:
                return None
        if "gap" not in self.problem.metrics:
            return None
        from scipy.optimize import minimize

        found: Any = minimize(
            lambda x: float(self.problem.metric("gap", x)), self.start, jac=self.full, method="L-BFGS-B",
            options={"maxiter": 2000, "ftol": 1e-15, "gtol": 1e-10},
        )  # fmt: skip
        return np.asarray(found.x)

    @cached_property
    def pairs(self) -> list[tuple[Floats, Floats]]:
        """Pairs of points, near and far."""
        points = self.points
        near = [(x, x + 1e-3 * self.draw.normal(size=len(x))) for x in points[::2]]
        return [*itertools.pairwise(points), *near]

    def near(self, x: Floats, step: int) -> tuple[Floats, Floats]:
        """A pair of close points around x, closer to x with every step."""
        moved = x + self.reach * 0.9**step * self.draw.normal(size=len(x)) / np.sqrt(len(x))
        return moved, moved + 1e-4 * self.reach * self.draw.normal(size=len(x))

    @property
    def size(self) -> float:
        """How large gradients are, to measure rounding against."""
        return max(float(np.linalg.norm(self.gradient(i, x))) for i in self.some_clients for x in self.points) or 1.0


def at(x: Floats) -> str:
    """A point in a message."""
    shown = ", ".join(f"{v:.6g}" for v in x[:6])
    return f"x = [{shown}{', ...' if len(x) > 6 else ''}]"


def sample_gradients(problem: Problem, client: int, x: Floats) -> Floats | None:
    """The gradients of a client's samples at x, (samples, d), by the arrays of the problem; None without arrays.

    They are such that f_client is their mean: where it is the sum of its samples, each is multiplied by their number.
    """
    data = flat_arrays(problem)
    if data is None:
        return None
    own = Samples(data, client, np)
    with np.errstate(over="ignore"):
        return own.whole * (own.gradients(x, slice(None)) + own.ridge * x)


def settled(subject: Subject, name: str, sentence: str, objection: Callable[[], str | None]) -> Check:
    """The check of an objection; BadInput: it cannot be asked; any other error is one of the plug-in's code."""
    try:
        return subject.settled(name, sentence, objection())
    except BoundcheckError as error:
        return subject.not_asked(name, sentence, str(error))
    except Exception as error:  # the plug-in's own code
        return subject.failed(name, sentence, f"it raises {type(error).__name__}: {error}")
