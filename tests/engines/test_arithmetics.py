"""Balls hold the fractions of every kind of method and doubles are near, by single rounds and by composed maps."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from boundcheck.engines.run import run
from boundcheck.methods.build import kinds
from tests.oracle import options

NEAR = [0, 1, 3]


@pytest.mark.parametrize("where", options.PROBLEMS)
@pytest.mark.parametrize("kind", kinds())
def test_balls_and_doubles(kind: str, where: str) -> None:
    method, problem = options.method_of(options.rows()[kind]["spec"], where), options.problem_of(kind, where)
    exact = run(method, problem, rounds=NEAR, metrics=options.METRICS, arithmetic="rational").exact
    for grid in (NEAR, [*NEAR, 150]):  # beyond the size of a state the map of a round is raised to powers
        ball, near = (
            run(method, problem, rounds=grid, metrics=options.METRICS, arithmetic=a) for a in ("ball", "float64")
        )
        for name, expected in exact.items():
            np.testing.assert_allclose(near.values[name][:3], [float(v) for v in expected], rtol=1e-9, atol=1e-12)
            for value, low, high in zip(expected, ball.low[name], ball.high[name], strict=False):
                assert Fraction(low) <= value <= Fraction(high)
                assert high - low <= 1.1e-12 * high
