"""The plan of a run: what it may depend on, and the compiled draws against the definition of the streams."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from boundcheck.core import streams
from boundcheck.engines.sampled import plan
from boundcheck.engines.sampled.drawing import ORDERS, draw_cohorts, draw_orders
from boundcheck.errors import BadInput
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Average, Constant, Epochs, Full, GradientSteps, InverseCycle, Uniform

HALF = Fraction(1, 2)


def test_the_plan_is_the_methods_own() -> None:
    method = Method("m", Uniform(2), Epochs(3, 2), Constant(Fraction(1, 8)))
    drawn = plan(method, (4, 1, 3), 9, 6)
    assert drawn.cohorts.shape == (6, 2)
    assert drawn.order(0, 0).shape == (3, 4)
    # a longer run, another batch or other work on the other clients change nothing that was drawn
    other = Method("other", Uniform(2), Epochs(2, 1), InverseCycle(HALF, 2), aggregation=Average())
    longer = plan(other, (4, 5, 3), 9, 60)
    assert np.array_equal(longer.cohorts[:6], drawn.cohorts)
    assert np.array_equal(longer.order(5, 0), drawn.order(5, 0)[:2])
    full = Method("fedavg", Full(), GradientSteps(2), Constant(HALF))
    assert plan(full, (1, 1), 0, 3).order(0, 1).shape == (0, 1)
    with pytest.raises(BadInput, match="seed = -1"):
        plan(method, (4, 1, 3), -1, 6)


def test_compiled_draws_are_the_streams_bit_for_bit() -> None:
    sizes = np.array([3, 1, 2, 5, 4, 6, 7, 3])  # looked up, and swapped one by one
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    distinct, rank = np.unique(sizes, return_inverse=True)
    seeds = np.array([5, 2**64 - 1], dtype=np.uint64)
    first, rounds, m, epochs = 2**32 - 7, 4, 3, 2
    cohorts = np.zeros((2, rounds, m), dtype=np.uint32)
    draw_cohorts(seeds, first, rounds, len(sizes), cohorts)
    width = epochs * int(sizes.sum())
    sequence = np.zeros((2, rounds * width), dtype=np.uint32)
    draw_orders(seeds, first, rounds, offsets, sizes, rank, distinct, ORDERS, epochs, cohorts, 0, sequence, width)
    for r in range(rounds):
        expected = streams.shuffle(seeds, streams.COHORT, first + r, 0, len(sizes), m)
        assert np.array_equal(cohorts[:, r], expected)
        for s, seed in enumerate(seeds):
            steps: list[int] = []
            for c in expected[s]:
                n = int(sizes[c])
                for e in range(epochs):
                    order = streams.shuffle([seed], streams.ORDER, first + r, int(c), n, n, e * (n - 1))
                    steps += [int(offsets[c]) + int(i) for i in order[0]]
            assert sequence[s, r * width : r * width + len(steps)].tolist() == steps
