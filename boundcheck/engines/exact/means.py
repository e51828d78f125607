"""Expected iterates: E x_r round by round, from the first moments of the state alone."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from boundcheck.engines.curve import Floats
from boundcheck.engines.exact.dynamics import Dynamics
from boundcheck.engines.exact.rings import FloatRing, Matrix, RationalRing, Ring
from boundcheck.engines.exact.state import lower
from boundcheck.methods.method import Method
from boundcheck.problems.problem import Problem


def expected_iterates(method: Method, problem: Problem, rounds: int) -> Floats:
    """E x_r after 0, ..., rounds rounds, shape (rounds + 1, d), in double precision; x_r itself of a method without
    randomness.

    Raises Unsupported for problems that are not quadratic and for methods that the engine does not carry out.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        walk = _states(method, problem, FloatRing())
        rows = [np.asarray(next(walk), dtype=np.float64)[:, 0] for _ in range(rounds + 1)]
        return np.where(np.isnan(rows), np.inf, rows)


def exact_iterate(method: Method, problem: Problem, round_index: int) -> list[str]:
    """E x_r of one round as d fractions, written as text. Raises Unsupported as `expected_iterates`."""
    walk = _states(method, problem, RationalRing())
    point = next(itertools.islice(walk, round_index, None))
    return [str(v) for v in point.entries()]


def _states(method: Method, problem: Problem, ring: Ring) -> Iterator[Matrix]:
    """E x_r (d, 1) for r = 0, 1, ..."""
    exact = lower(method, problem, ())
    pick, centre = ring.lift(exact.layout.block(0)), ring.lift(exact.centre)
    return (ring.mul(pick, state) + centre for state in Dynamics(ring, method, exact).means())
