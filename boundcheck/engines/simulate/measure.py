"""Metrics at recorded points, the same for both execution paths."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from boundcheck.engines.curve import Floats
from boundcheck.errors import BadInput
from boundcheck.problems._own_problem import ask
from boundcheck.problems.problem import Arrays, Problem, optional
from boundcheck.setting.metrics import unknown_metric

AT_ONCE = 16  # points that a problem measures at once

Measure = Callable[[Floats], Floats]  # (S, G, d) points -> (S, G) values, +inf where the metric is not finite


def _form(centre: Floats, matrix: Floats) -> Measure:
    """The quadratic form (x - centre)' matrix (x - centre), for a symmetric matrix."""
    d = len(centre)
    entries = [[(k, 2.0 * matrix[i, k]) for k in range(i) if matrix[i, k] != 0.0] for i in range(d)]

    def measure(points: Floats) -> Floats:
        # a fixed order of elementwise operations: a seed's value does not depend on its neighbours
        z = np.ascontiguousarray(np.moveaxis(points - centre, -1, 0))
        total = np.zeros(points.shape[:2])
        for i in range(d):
            inner = matrix[i, i] * z[i]
            for k, twice in entries[i]:
                inner += twice * z[k]
            total += inner * z[i]
        return total

    return measure


def pointwise(value: Callable[[Floats], Any]) -> Measure:
    """A metric by its value at each finite point."""

    def measure(points: Floats) -> Floats:
        flat = points.reshape(-1, points.shape[2])
        values = [float(value(x)) if np.isfinite(x).all() else np.inf for x in flat]
        return np.array(values, dtype=np.float64).reshape(points.shape[:2])

    return _finite(measure)


def _many(many: Callable[[str, Floats], Floats], name: str) -> Measure:
    def measure(points: Floats) -> Floats:
        flat = points.reshape(-1, points.shape[2])
        finite = np.flatnonzero(np.isfinite(flat).all(axis=1))
        values = np.full(len(flat), np.inf)
        # Always as many points: how products of matrices round may depend on their shape, and a seed's value must not
        # depend on how many seeds or rounds are measured.
        block = np.empty((AT_ONCE, points.shape[2]))
        for begin in range(0, len(finite), AT_ONCE):
            rows = finite[begin : begin + AT_ONCE]
            block[: len(rows)], block[len(rows) :] = flat[rows], flat[rows[-1]]
            values[rows] = many(name, block)[: len(rows)]
        return values.reshape(points.shape[:2])

    return measure


def _finite(measure: Measure) -> Measure:
    def guarded(points: Floats) -> Floats:
        values = measure(points)
        values[~np.isfinite(values)] = np.inf
        return values

    return guarded


def ratios(problem: Problem) -> tuple[str, ...]:
    """Metrics of a point that the problem knows and only sampled runs have."""
    return tuple(optional(problem, "ratios") or ())


def measures(problem: Problem, arrays: Arrays | None, names: tuple[str, ...]) -> dict[str, Measure]:
    """How to compute each named metric. Raises UnknownName, and BadInput when no metric is asked for."""
    if not names:
        raise BadInput("no metric is asked for; name at least one of " + ", ".join(problem.metrics) + ".")
    found: dict[str, Measure] = {}
    for name in names:
        if name not in problem.metrics and name not in ratios(problem):
            raise unknown_metric(problem, name)
        if arrays is not None and name in arrays.centred:
            form = _form(np.asarray(arrays.centre), np.asarray(arrays.centred[name]))
        elif (many := optional(problem, "metric_many")) is not None:
            form = _many(many, name)
        else:
            form = pointwise(partial(ask, problem, "metric", name))
        found[name] = _finite(form)
    return found
