"""The figures of the asynchronous paper at a tiny size: what they say, against plain loops over the data."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from boundcheck.errors import BoundcheckError

FIGURES = Path(__file__).parents[1] / "figures"
NAMES = ("_common", "_async_fl", *(f"async_fl_{name}" for name in ("figure_2", "figure_3", "figure_4", "gantt")))


@pytest.fixture(scope="module")
def figures() -> Iterator[dict[str, ModuleType]]:
    patch = pytest.MonkeyPatch()
    patch.syspath_prepend(str(FIGURES))
    yield {name: importlib.import_module(name) for name in NAMES}
    patch.undo()


def made(module: ModuleType, tmp_path: Path, *more: str) -> dict[str, Any]:
    module.main(["-o", str(tmp_path), *more])
    assert (tmp_path / f"{module.NAME}.png").read_bytes()[:4] == b"\x89PNG"
    found = json.loads((tmp_path / f"{module.NAME}.json").read_text())
    text = (tmp_path / f"{module.NAME}.md").read_text()
    assert all(sentence in text for sentence in [*found["agrees"], *found["differs"]])
    return found


def test_the_losses_of_clients_are_those_of_the_data(figures: dict[str, ModuleType]) -> None:
    on = figures["_async_fl"].problem("digits", 10, "by Dirichlet(0.1)")
    x = np.linspace(-1, 1, on.dim)
    own = [on.metric(f"loss:{i}", x) for i in range(10)]
    rows = on.features[on.offsets[3] : on.offsets[4]] @ x.reshape(10, -1).T
    labels = on.labels[on.offsets[3] : on.offsets[4]].astype(int)
    entropy = np.log(np.exp(rows).sum(axis=1)) - rows[np.arange(len(rows)), labels]
    assert own[3] == pytest.approx(entropy.mean() + 1e-4 / 2 * (x @ x))
    assert np.mean(own) - on.minimum.low == pytest.approx(on.metric("gap", x))


def test_a_run_against_a_loop(figures: dict[str, ModuleType]) -> None:
    """FedFix-0.5 on equal hardware, one full gradient step: synchronous with twice the server step."""
    a = figures["_async_fl"]
    on = a.problem("digits", 10, "random")
    spec = {"kind": "fedfix", "times": "f0", "dt": "1/2", "K": 1, "eta_l": "1/4"}
    found = a.losses(spec, on, [0, 2, 4], 1)
    x = np.zeros(on.dim)
    for k in range(3):
        assert found.federated[0, k] == pytest.approx(np.mean([on.metric(f"loss:{i}", x) for i in range(10)]))
        x = x - 2 * 0.25 * np.mean([on.gradient(i, x) for i in range(10)], axis=0)
    assert found.federated[0, 0] == pytest.approx(np.log(10))


def test_figure_2(figures: dict[str, ModuleType], tmp_path: Path) -> None:
    found = made(figures["async_fl_figure_2"], tmp_path, "--seeds", "1", "--rounds", "400")
    ends = found["ends"]["by Dirichlet(0.1)"]
    assert ends["federated"]["time-based"] < ends["federated"]["identical"]
    assert ends["surrogate"]["identical"] < ends["surrogate"]["time-based"]
    assert len(found["agrees"]) + len(found["differs"]) == 5


def test_the_surrogate_of_identical_weights_is_by_speed(figures: dict[str, ModuleType]) -> None:
    a = figures["_async_fl"]
    on = a.problem("digits", 10, "random")
    spec = {"kind": "fedavg_async", "times": "f80", "K": 1, "eta_l": "1/4", "weights": "identical"}
    shares = [float(s) for s in a.losses(spec, on, [0, 1], 1).shares]
    speeds = np.array([1 / (1 + 4 * i / 9) for i in range(10)])
    assert sorted(shares) == pytest.approx(sorted(speeds / speeds.sum()))
    timed = a.losses({**spec, "weights": "time_based"}, on, [0, 1], 1).shares
    assert set(timed) == {timed[0]}


def test_figure_3(figures: dict[str, ModuleType], tmp_path: Path) -> None:
    module = figures["async_fl_figure_3"]
    found = made(module, tmp_path, "--seeds", "1", "--rounds", "60")
    assert {len(v) for v in found["values"].values()} == {len(module.LOCAL_STEPS)}
    means = [v[0] for v in found["values"]["identical"]]
    assert means[-1] < means[0] < np.log(10)


def test_figure_4(figures: dict[str, ModuleType], tmp_path: Path) -> None:
    found = made(figures["async_fl_figure_4"], tmp_path, "--rounds", "20")
    assert all(m["FedFix-0.5"] < m["synchronous"] for m in found["means"])
    assert "step for step" in found["caption"]


def test_gantt(figures: dict[str, ModuleType], tmp_path: Path) -> None:
    found = made(figures["async_fl_gantt"], tmp_path)
    # up to time 15: 3 rounds of 5; 7 + 5 + 3 arrivals; 7 windows of 2
    assert list(found["rounds"].values())[:3] == [3, 15, 7]
    assert list(found["delays"].values())[:3] == [0, 5, 2]


def mnist(figures: dict[str, ModuleType]) -> Any:
    try:
        return figures["_async_fl"].problem("mnist", 10, "random")
    except BoundcheckError as error:
        pytest.skip(f"MNIST is not on this machine: {error}")


def test_mnist_is_told_to_be_missing_or_spread(figures: dict[str, ModuleType]) -> None:
    found = mnist(figures)
    assert (found.clients, found.dim) == (10, 7850)


@pytest.mark.slow  # half a minute of losses over 60000 pictures
def test_mnist_is_drawn(figures: dict[str, ModuleType], tmp_path: Path) -> None:
    assert mnist(figures).clients == 10
    made(figures["async_fl_figure_2"], tmp_path, "--data", "mnist", "--seeds", "1", "--rounds", "20")
