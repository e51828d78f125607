"""The study of the proximal weight that FedDANE's theorems need: numbers by hand, bounds of L, what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundcheck.errors import BadInput, SpecError
from boundcheck.evidence.studies import carry_out_study, load_studies
from boundcheck.evidence.studies.proximal_weight import lower_smoothness, needed_weights
from boundcheck.problems.build import build as build_problem

TINY = {"kind": "synthetic", "devices": 3, "max_samples": 12}
EXAMPLE = Path(__file__).parents[2] / "examples" / "feddane_mu.toml"
SPEC = """[[proximal_weight]]
name = "mu on the line"
rounds = 20
grid = [0, "1/10", 1]
problems = [{ kind = "feddane_1d" }, { kind = "feddane_1d", start = 3 }]
"""


def _write(folder: Path, text: str) -> Path:
    path = folder / "spec.toml"
    path.write_text(text)
    return path


def _rotated(angle: float, first: float, second: float) -> np.ndarray[Any, Any]:
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, -s], [s, c]])
    return turn @ np.diag([first, second]) @ turn.T


@pytest.mark.parametrize("seed", range(5))
def test_the_lower_bound_of_l_on_quadratics(seed: int) -> None:
    random = np.random.default_rng(seed)
    matrices = [_rotated(*random.uniform([0, 0.1, 2], [3, 1, 9])) for _ in range(3)]
    clients = [{"A": [[str(v) for v in row] for row in (A + A.T) / 2], "b": [1, -2]} for A in matrices]
    problem = build_problem({"kind": "quadratics", "clients": clients, "start": [100, -50]})
    L = float(problem.constants()["L"].value)
    low = lower_smoothness(problem, np.array([100.0, -50.0]))
    assert low <= L
    assert low == pytest.approx(L, rel=1e-4)


def test_rounding_never_lifts_the_lower_bound() -> None:
    """Gradients of 10^12 with a curvature of 1: differences over 10^-4 are rounding."""
    problem = build_problem({"kind": "quadratics", "clients": [{"A": 1, "b": 10**12}], "start": [0]})
    assert lower_smoothness(problem, np.zeros(1)) <= 1


def test_the_lower_bound_of_l_on_a_classifier() -> None:
    problem = build_problem(TINY)
    low = lower_smoothness(problem, np.zeros(problem.dim))
    high = float(problem.constants()["L"].value)
    assert 0 < low <= high
    # at 0 all classes have the probability 1/10: the Hessian is A'A/n kron (diag(1/10) - 1/100)
    rows: Any = problem
    each = [slice(a, b) for a, b in zip(rows.offsets, rows.offsets[1:], strict=False)]
    top = max(float(np.linalg.eigvalsh(rows.features[s].T @ rows.features[s] / (s.stop - s.start))[-1]) for s in each)
    assert low == pytest.approx(top / 10 + 1e-6, rel=1e-3)


def test_the_line_needs_9_at_every_point() -> None:
    found = needed_weights(build_problem({"kind": "feddane_1d"}), rounds=20)
    assert [p[0] for p in found.points][:3] == [0, 1, 2]
    for _, b2, low, high, gamma in found.points:
        assert (b2, high, gamma) == (pytest.approx(2), pytest.approx(9), pytest.approx(0.4))
        assert 9 * (1 - 1e-6) < low <= 9 * (1 + 1e-12)


def test_b_grows_towards_the_solution() -> None:
    found = needed_weights(build_problem(TINY), rounds=10)
    assert [p[0] for p in found.points] == sorted({p[0] for p in found.points})
    assert found.points[-1][1] > found.points[0][1] >= 1
    assert all(low <= high for _, _, low, high, _ in found.points)


def test_a_page(tmp_path: Path) -> None:
    (asked,) = load_studies(_write(tmp_path, SPEC))
    done: list[float] = []
    study = carry_out_study(asked, done.append)
    assert done == [0.5, 1.0]
    short, along = study.tables
    assert len(short.rows) == 2
    assert short.rows[0][-2:] == ("too small by a factor 9", "too small by a factor 9")
    assert len({len(row) for row in short.rows} | {len(short.columns)}) == 1
    assert len({len(row) for row in along.rows} | {len(along.columns)}) == 1
    tried = [s.y[0] for s in study.series if s.role == "bound"]
    assert tried == [0.1, 1.0]  # 0 has no place on a logarithmic axis


def test_a_weight_that_is_enough(tmp_path: Path) -> None:
    for largest, words in (("10", "is enough"), ('"9"', "too small")):
        (asked,) = load_studies(_write(tmp_path, SPEC.replace('"1/10", 1', largest)))
        cell = carry_out_study(asked).tables[0].rows[0][-1]
        assert words in cell or "undecided" in cell
        assert (words == "is enough") == (cell == "is enough")


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("rounds = 20", "rounds = 0", "1 to 1000000 are"),
        ('"1/10"', '"-1"', "it is at least 0"),
        ("feddane_1d", "feddane_2d", "feddane_2d"),
        ('problems = [{ kind = "feddane_1d" }, { kind = "feddane_1d", start = 3 }]', "problems = []", "at least one"),
    ],
)
def test_bad_input(tmp_path: Path, old: str, new: str, what: str) -> None:
    with pytest.raises(SpecError, match=what):
        load_studies(_write(tmp_path, SPEC.replace(old, new)))


def test_a_stationary_start() -> None:
    with pytest.raises(BadInput, match="gradient vanishes"):
        needed_weights(build_problem({"kind": "feddane_1d", "start": 0}))


def test_the_shipped_table_is_sound() -> None:
    (asked,) = load_studies(EXAMPLE)
    assert asked.kind == "proximal_weight"
