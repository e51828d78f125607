"""Constants and hypotheses of every kind of method are as frozen, sampled seeds to the last bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from boundcheck.methods.build import kinds
from tests.oracle import runs
from tests.oracle.frozen import check, load
from tests.oracle.instances import METHODS

PARTS: Mapping[str, Callable[[], Mapping[str, Mapping[str, Any]]]] = {
    "constants": runs.constants,
    "hypotheses": runs.hypotheses,
    "seeds": runs.seeds,
}


def test_every_kind_has_an_instance() -> None:
    assert set(METHODS) == set(kinds())
    assert all(set(load(part)) == set(METHODS if part != "seeds" else runs.SAMPLED) for part in PARTS)


@pytest.mark.parametrize("part", PARTS)
def test_as_frozen(part: str) -> None:
    check(part, PARTS[part]())


SLOW = ("accelerated_gradient", "saga")  # 13 s each, nearly all of it for compiling


@pytest.mark.parametrize("kind", [pytest.param(k, marks=[pytest.mark.slow] if k in SLOW else []) for k in runs.SAMPLED])
def test_rows_are_those_of_a_seed_alone_bit_for_bit(kind: str) -> None:
    """In the reference, whose bits are frozen, and in the path that a run takes, which rounds sums as it likes."""
    reference = runs.sampled(kind, "numpy").samples
    for path in ("numpy", "auto"):
        found = runs.sampled(kind, path).samples
        alone = [runs.sampled(kind, path, range(seed, seed + 1)).samples for seed in runs.SEEDS]
        for name, rows in found.items():
            np.testing.assert_array_equal(np.concatenate([one[name] for one in alone]), rows, err_msg=f"{kind}, {name}")
            np.testing.assert_allclose(rows, reference[name], rtol=1e-14, atol=0, err_msg=f"{kind}, {name}")


def test_a_run_without_draws_is_the_exact_one() -> None:
    """Where a method draws nothing, every seed is the exact value to rounding: the two engines run the same thing."""
    same = 0
    for kind in runs.SAMPLED:
        exact = [float(value) for value in runs.exact(kind).exact["dist2"]]
        found = runs.sampled(kind, "numpy").samples["dist2"]
        if np.ptp(found, axis=0).max() == 0:
            same += 1
            assert found[0, 0] == pytest.approx(exact[0], rel=1e-12), kind
    assert same >= 8
