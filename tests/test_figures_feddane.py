"""The figures of the FedDANE paper at a tiny size: what they record, against a plain loop and the exact objective."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from boundcheck.errors import DataNotFetched
from boundcheck.methods.build import build as build_method
from boundcheck.problems.problem import clients_of

FIGURES = Path(__file__).parents[1] / "figures"
NAMES = ("_common", "_feddane", "feddane_figure_1", "feddane_figure_2", "feddane_figure_3")
TINY = ("--rounds", "4", "--seeds", "2", "--samples", "12")


@pytest.fixture(scope="module")
def figures() -> Iterator[dict[str, ModuleType]]:
    patch = pytest.MonkeyPatch()
    patch.syspath_prepend(str(FIGURES))
    yield {name: importlib.import_module(name) for name in NAMES}
    patch.undo()


def made(module: ModuleType, tmp_path: Path, *more: str) -> dict[str, Any]:
    module.main(["-o", str(tmp_path), *more])
    assert (tmp_path / f"{module.NAME}.png").read_bytes()[:4] == b"\x89PNG"
    assert (tmp_path / f"{module.NAME}.md").read_text().startswith("# ")
    return json.loads((tmp_path / f"{module.NAME}.json").read_text())


def test_the_loss_is_that_of_all_samples(figures: dict[str, ModuleType]) -> None:
    f = figures["_feddane"]
    size = f.Size(12, 2, 3, 2)
    devices = f.synthetic("tiny", size, alpha=1, beta=1)
    problem = f.measured(devices)
    loss = f.losses(f.method("FedDANE", devices, size, "1/10", 5), problem, size, 2)
    assert loss.shape == (2, 4)
    assert loss[:, 0] == pytest.approx([np.log(10)] * 2)  # at 0 all ten classes are alike
    x = np.random.default_rng(0).standard_normal(problem.dim) / 10
    scores = problem.features @ x.reshape(10, -1).T
    shares = np.repeat([float(w) / n for w, n in zip(problem.weights, problem.sizes, strict=True)], problem.sizes)
    own = np.log(np.exp(scores).sum(1)) - scores[np.arange(len(scores)), problem.labels]
    assert problem.metric("loss", x) == pytest.approx(shares @ own + float(problem.ridge) / 2 * x @ x)


def test_methods_are_those_of_the_paper(figures: dict[str, ModuleType]) -> None:
    f = figures["_feddane"]
    size = f.Size(None, 20, 200, 5)
    devices = f.four(size)
    assert devices[0].title == "Synthetic IID"
    assert [d.problem.get("alpha") for d in devices[1:]] == ["0", "0.5", "1"]
    for name, kind in (("FedAvg", "fedprox"), ("FedProx", "fedprox"), ("FedDANE", "feddane")):
        spec = f.method(name, devices[1], size, "1", 10)
        built = build_method(spec)
        assert built.name == kind
        assert (built.correction is not None) == (name == "FedDANE")
        weight = built.local.visits(
            0, (0,), clients_of(f.measured(f.synthetic("tiny", f.Size(12, 1, 2, 1), iid=True)))
        )[0][1].prox
        assert weight == (0 if name == "FedAvg" else 1)


def test_mu_is_tuned_by_the_loss_in_the_end(figures: dict[str, ModuleType]) -> None:
    f = figures["_feddane"]
    size = f.Size(40, 5, 6, 1)
    devices = f.synthetic("some", size, alpha=1, beta=1)
    problem = f.measured(devices)
    chosen = f.tuned(devices, problem, size, 5)
    ends = [f.Line("", mu, f.losses(f.method("FedDANE", devices, size, mu, 5), problem, size, 1)).end for mu in f.GRID]
    assert f.GRID.index(chosen) == int(np.argmin(ends))


def test_worse_is_two_per_cent(figures: dict[str, ModuleType]) -> None:
    f = figures["_feddane"]
    assert f.larger(1.03, 1.0)
    assert not f.larger(1.01, 1.0)
    assert f.larger(float("inf"), 1.0)


def test_figure_1(figures: dict[str, ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without MNIST, whose panel takes long at any size."""
    f = figures["_feddane"]
    whole = f.compared

    def compared(devices: Any, *more: Any) -> Any:
        if devices.problem.get("data") == "mnist":
            raise DataNotFetched("not here")
        return whole(devices, *more)

    monkeypatch.setattr(f, "compared", compared)
    found = made(figures["feddane_figure_1"], tmp_path, *TINY)
    assert list(found["ends"]) == [*(d.title for d in f.four(f.Size(12, 1, 2, 1))), "Digits, shards"]
    assert all(set(ends) == {"FedAvg", "FedProx", "FedDANE"} for ends in found["ends"].values())
    assert all(mu["FedDANE"] in f.GRID for mu in found["mu"].values())
    assert len(found["agrees"]) + len(found["differs"]) == len(found["ends"])
    assert "Scaled down for speed: at most 12 samples a device" in found["caption"]
    assert "MNIST is not on this machine" in found["caption"]


def test_the_mnist_panel(figures: dict[str, ModuleType]) -> None:
    f, first = figures["_feddane"], figures["feddane_figure_1"]
    try:
        problem = f.measured(first.MNIST)
    except DataNotFetched as missing:
        pytest.skip(f"MNIST is not on this machine: {missing}")
    assert (problem.clients, problem.dim) == (1000, 7850)
    size = f.Size(None, 1, 2, 1, points=1)
    loss = f.losses(f.method("FedAvg", first.MNIST, size, "0", 10), problem, size, 1)
    assert loss[0, 0] == pytest.approx(np.log(10))
    assert np.isfinite(loss[0, 1])


def test_figure_2(figures: dict[str, ModuleType], tmp_path: Path) -> None:
    found = made(figures["feddane_figure_2"], tmp_path, *TINY)
    assert [list(ends) for ends in found["ends"].values()] == [["K = 1", "K = 5", "K = 10", "K = 30"]] * 3
    assert len(found["agrees"]) + len(found["differs"]) == 4


def test_figure_3(figures: dict[str, ModuleType], tmp_path: Path) -> None:
    found = made(figures["feddane_figure_3"], tmp_path, *TINY)
    assert found["E"] == 1
    assert len(found["agrees"]) + len(found["differs"]) == 4
    assert "epochs instead of" not in found["caption"]


def test_sizes_are_refused(figures: dict[str, ModuleType], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        figures["feddane_figure_3"].main(["--rounds", "1"])
    assert "at least 2 rounds" in capsys.readouterr().err
