"""Methods by every reader that carries them out: balls, doubles and outcomes one by one against fractions, simulated
seeds by both paths, seed by seed and in the mean.

The rows are those of the table of options of `tests/oracle`, whose fractions are held against all outcomes there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from boundcheck.core.linalg import column
from boundcheck.core.linalg import fraction as of_flint
from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact import paths, paths_histories, paths_rounds, paths_visits
from boundcheck.engines.run import run
from boundcheck.engines.simulate import run_sampled
from boundcheck.errors import Unsupported
from boundcheck.methods.build import kinds
from boundcheck.methods.clients import Repeated
from tests.oracle import options

SPECS = {row: frozen["spec"] for row, frozen in options.rows().items()}
KINDS = set(kinds())
NEAR, SEEDS, GRID = [0, 1, 3], 2000, [1, 3]


def of(row: str, where: str = "samples") -> tuple[Any, Any]:
    return options.method_of(SPECS[row], where), options.problem_of(SPECS[row]["kind"], where)


@pytest.mark.parametrize("where", options.PROBLEMS)
@pytest.mark.parametrize("kind", kinds())
def test_balls_hold_the_fractions_and_doubles_are_near(kind: str, where: str) -> None:
    """By single rounds, and beyond the size of a state, where the map of a round is raised to powers."""
    method, problem = of(kind, where)
    exact = run(method, problem, rounds=NEAR, metrics=options.METRICS, arithmetic="rational").exact
    grids = (NEAR, [*NEAR, 150]) if where == "own" else ([*NEAR, 150], NEAR)
    ball, near = (
        run(method, problem, rounds=grid, metrics=options.METRICS, arithmetic=arithmetic)
        for grid, arithmetic in zip(grids, ("ball", "float64"), strict=True)
    )
    for name, expected in exact.items():
        np.testing.assert_allclose(near.values[name][:3], [float(v) for v in expected], rtol=1e-9, atol=1e-12)
        for value, low, high in zip(expected, ball.low[name], ball.high[name], strict=False):
            assert Fraction(low) <= value <= Fraction(high)
            assert high - low <= 1.1e-12 * high


# --- outcome by outcome ---------------------------------------------------------------------------------------------


class Stepped:
    """A quadratic problem by the gradients of its samples."""

    arithmetics = ("rational",)

    def __init__(self, problem: Any) -> None:
        self._forms, self._samples = problem.forms(), problem.sample_maps()
        for name in ("name", "dim", "start", "clients", "weights", "metrics"):
            setattr(self, name, getattr(problem, name))
        self.sizes = getattr(problem, "sizes", Repeated(1, problem.clients))

    def gradient_of(self, client: int, sample: int | None, x: Sequence[Any]) -> list[Any]:
        a, b = self._forms.maps[client] if sample is None else self._samples[client][sample]
        return [of_flint(v) for v in (a * column(x) - b).entries()]

    def metric_of(self, name: str, x: Sequence[Any]) -> Any:
        centre, q = self._forms.quadratic[name]
        moved = column(x) - centre
        return of_flint((moved.transpose() * q * moved)[0, 0])


def outcomes_compared(row: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """How a row was compared: after how many rounds, or why not."""
    (method, problem), why = of(row), ""
    stepped: Any = Stepped(problem)
    for rounds, histories in ((2, 50), (1, 500)):
        for part in (paths_histories, paths_rounds, paths_visits):
            monkeypatch.setattr(part, "MAX_HISTORIES", histories)
            monkeypatch.setattr(part, "MAX_GRADIENTS", {Arithmetic.RATIONAL: 700}, raising=False)
        grid = range(rounds + 1)
        try:
            own = paths.run_paths(method, stepped, grid, options.METRICS, Arithmetic.RATIONAL, lambda share: None)
        except Unsupported as error:
            known = {"Newton's method": "no solves", "these rounds have more than": "too many outcomes"}
            why = next((short for words, short in known.items() if words in str(error)), str(error))
            continue
        moments = run(method, problem, rounds=grid, metrics=options.METRICS, arithmetic="rational")
        assert own.exact == moments.exact, row
        return f"{rounds} rounds"
    return why


@pytest.mark.slow  # a row of each sort of method is compared by the next test
def test_every_option_outcome_by_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Counter(outcomes_compared(row, monkeypatch) for row in SPECS)
    assert found == {"2 rounds": 229, "1 rounds": 239, "too many outcomes": 28, "no solves": 23}


@pytest.mark.parametrize(
    "row",
    [
        *("scaffold", "fedshuffle_mvr", "fedavg_async", "fedavgm", "partial_averaging", "svrg", "fedprox"),
        *("feddane: solver: {eta: 1/8, steps: 2}", "dane: eta: 1/8, steps: 2", "fedshuffle_mvr: warm_up: 2"),
        "partial_averaging: hand_over: {active: 2, design: 2, every: 1}",
        "feddane: decay: inverse, pipelined: true, solver: {E: 1, eta: 1/8}",
    ],
)
def test_a_row_outcome_by_outcome(row: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert outcomes_compared(row, monkeypatch).endswith("rounds")


# --- seeds ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", range(4))
def test_paths_agree_and_rows_depend_on_their_seed_alone(first: int) -> None:
    for row in list(SPECS)[first::8]:
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


@pytest.mark.parametrize("row", [row for k, row in enumerate(SPECS) if row in KINDS or k % 4 == 2 or "low: 1" in row])
def test_means_over_seeds_are_expectations(row: str) -> None:
    """Within 5 standard errors; without randomness to rounding."""
    method, problem = of(row)
    exact = run(method, problem, rounds=GRID, metrics=["gap"], arithmetic="float64").values["gap"]
    gaps = run_sampled(method, problem, 3, SEEDS, ("gap",), GRID).samples["gap"]
    assert np.all(np.abs(gaps.mean(axis=0) - exact) <= 5 * gaps.std(axis=0) / SEEDS**0.5 + 1e-11 * exact)
