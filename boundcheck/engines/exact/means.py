"""Expected iterates: E x_r round by round, from the first moments of the state alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from boundcheck.engines.curve import Arithmetic, Floats
from boundcheck.engines.exact.rings import FloatRing, Matrix, RationalRing
from boundcheck.engines.exact.rounds import Rounds
from boundcheck.engines.exact.state import lower
from boundcheck.methods.method import Method
from boundcheck.problems.problem import Problem


def expected_iterates(method: Method, problem: Problem, rounds: int) -> Floats:
    """E x_r after 0, ..., rounds rounds, shape (rounds + 1, d), in double precision; x_r itself of a method without
    randomness.

    Raises Unsupported for problems that are not quadratic and for methods that the engine does not carry out.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        walk = _states(method, problem, Arithmetic.FLOAT64)
        rows = [np.asarray(next(walk), dtype=np.float64)[:, 0] for _ in range(rounds + 1)]
        return np.where(np.isnan(rows), np.inf, rows)


def exact_iterate(method: Method, problem: Problem, round_index: int) -> list[str]:
    """E x_r of one round as d fractions, written as text. Raises Unsupported as `expected_iterates`."""
    walk = _states(method, problem, Arithmetic.RATIONAL)
    point = next(walk)
    for _ in range(round_index):
        point = next(walk)
    return [str(v) for v in point.entries()]


def _states(method: Method, problem: Problem, arithmetic: Arithmetic) -> Iterator[Matrix]:
    """E x_r (d, 1) for r = 0, 1, ..."""
    exact = lower(method, problem, ())
    ring = FloatRing() if arithmetic is Arithmetic.FLOAT64 else RationalRing()
    rounds = Rounds(ring, method, exact)
    pick, centre = ring.lift(exact.layout.block(0)), ring.lift(exact.centre)
    state, done = ring.lift(exact.start), 0
    while True:
        yield ring.mul(pick, state) + centre
        eta = method.schedule.step(method.cycle_of(done, exact.clients))
        state = ring.mul(rounds.plan(eta, done).mean, state)
        done += 1
