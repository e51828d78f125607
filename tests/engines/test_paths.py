"""Every option of every method on one problem: outcome by outcome, and by the moments of the exact reader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from boundcheck.core.linalg import column
from boundcheck.core.linalg import fraction as of_flint
from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.exact import paths, paths_histories, paths_rounds, paths_visits
from boundcheck.engines.run import run
from boundcheck.errors import Unsupported
from boundcheck.methods.clients import Repeated
from tests.oracle import options

METRICS = ("gap", "dist2", "grad2")


class Stepped:
    """A quadratic problem by the gradients of its samples."""

    arithmetics = ("rational",)

    def __init__(self, problem: Any) -> None:
        self._own, self._forms, self._samples = problem, problem.forms(), problem.sample_maps()
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


def both(row: str, grid: Sequence[int]) -> tuple[Any, Any]:
    spec = options.rows()[row]["spec"]
    method, problem = options.method_of(spec), options.problem_of(spec["kind"], "samples")
    stepped: Any = Stepped(problem)
    own = paths.run_paths(method, stepped, grid, METRICS, Arithmetic.RATIONAL, lambda share: None)
    moments = run(method, problem, rounds=grid, metrics=METRICS, arithmetic="rational")
    return own.exact, moments.exact


def compared(row: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """How a row was compared: after how many rounds, or why not."""
    why = ""
    for rounds, histories in ((2, 50), (1, 500)):
        for part in (paths_histories, paths_rounds, paths_visits):
            monkeypatch.setattr(part, "MAX_HISTORIES", histories)
            monkeypatch.setattr(part, "MAX_GRADIENTS", {Arithmetic.RATIONAL: 700}, raising=False)
        try:
            own, moments = both(row, range(rounds + 1))
        except Unsupported as error:
            known = {"Newton's method": "no solves", "these rounds have more than": "too many outcomes"}
            why = next((short for words, short in known.items() if words in str(error)), str(error))
            continue
        assert own == moments, row
        return f"{rounds} rounds"
    return why


@pytest.mark.slow
def test_every_option_outcome_by_outcome_and_by_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Counter(compared(row, monkeypatch) for row in options.rows())
    assert found == {"2 rounds": 229, "1 rounds": 239, "too many outcomes": 28, "no solves": 23}


@pytest.mark.parametrize(
    "row",
    [
        *("scaffold", "fedshuffle_mvr", "fedavg_async", "fedavgm", "partial_averaging", "svrg", "fedprox"),
        *("feddane: solver: {eta: 1/8, steps: 2}", "dane: eta: 1/8, steps: 2"),
        "feddane: decay: inverse, pipelined: true, solver: {E: 1, eta: 1/8}",
    ],
)
def test_a_row_outcome_by_outcome_and_by_moments(row: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compared(row, monkeypatch).endswith("rounds")
