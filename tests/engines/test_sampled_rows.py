"""Rows of the table of options in the sampled engine: its two paths, seeds on their own, means over seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from boundcheck.engines.run import run
from boundcheck.engines.simulate import run_sampled
from tests.oracle import options
from tests.oracle.runs import SAMPLED

SPECS = {row: frozen["spec"] for row, frozen in options.rows().items()}
ROWS = [row for row, spec in SPECS.items() if spec["kind"] in SAMPLED]
SEEDS, GRID = 2000, [1, 3]


def of(row: str) -> tuple[Any, Any]:
    return options.method_of(SPECS[row]), options.problem_of(SPECS[row]["kind"], "samples")


@pytest.mark.parametrize("first", range(4))
def test_paths_agree_and_rows_depend_on_their_seed_alone(first: int) -> None:
    for row in ROWS[first::8]:
        method, problem = of(row)
        reference, whole, pieces = (
            run_sampled(
                method, problem, 6, range(3, 9), ("dist2", "gap"), [1, 6], path=path, block=block, threads=block
            )  # pyright: ignore
            for path, block in (("numpy", 6), ("auto", 6), ("auto", 2))
        )
        some = run_sampled(method, problem, 6, range(7, 3, -2), ("gap",), [6])
        for name, found in whole.samples.items():
            np.testing.assert_allclose(found, reference.samples[name], rtol=1e-10, atol=1e-14, err_msg=row)
            np.testing.assert_array_equal(found, pieces.samples[name], err_msg=row)
        np.testing.assert_array_equal(some.samples["gap"][:, 0], whole.samples["gap"][[4, 2], 1], err_msg=row)


@pytest.mark.parametrize("row", [row for k, row in enumerate(ROWS) if row in SAMPLED or k % 4 == 2 or "low: 1" in row])
def test_means_are_those_of_the_exact_engine(row: str) -> None:
    """Within 5 standard errors; without randomness to rounding."""
    method, problem = of(row)
    exact = run(method, problem, rounds=GRID, metrics=["gap"], arithmetic="float64").values["gap"]
    gaps = run_sampled(method, problem, 3, SEEDS, ("gap",), GRID).samples["gap"]
    assert np.all(np.abs(gaps.mean(axis=0) - exact) <= 5 * gaps.std(axis=0) / SEEDS**0.5 + 1e-11 * exact)
