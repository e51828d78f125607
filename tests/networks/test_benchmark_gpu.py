"""The benchmark of the neural engine: what it counts is what torch counts, and it runs without a GPU."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from boundcheck.networks.architectures import zoo
from boundcheck.networks.architectures.architecture import Architecture
from boundcheck.networks.architectures.layers import Convolution, Dense, Flatten, Relu


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "neural_gpu.py"
    sys.path.insert(0, str(path.parent))  # as where it is run as a script
    spec = importlib.util.spec_from_file_location("neural_gpu", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.path.remove(str(path.parent))
    return module


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def test_without_a_gpu_it_says_so(
    benchmark: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert benchmark.main([]) == 2
    assert capsys.readouterr().out.startswith("There is no GPU here (torch sees none), so nothing was run;")


def test_the_work_of_a_small_network_by_hand(benchmark: ModuleType) -> None:
    layers = (Convolution(2, 3, 2), Relu(), Flatten(), Dense(12, 5))
    model = Architecture("hand", layers, (2, 3, 3), 5, "image")
    assert model.dim == (3 * 2 * 4 + 3) + (12 * 5 + 5) == 92
    found = benchmark.client_step(model, 7)
    one, two, out = 7 * 18, 7 * 12, 7 * 5  # numbers in front of the layers, for 7 samples
    assert found == [
        (0, 2 * 4 * one),  # gather
        *[(2 * two * 8, 4 * (one + two + 27))] * 2,  # convolution: forward and weights
        (two, 8 * two),  # relu: reads and writes
        (two, 12 * two),  # back: reads two, writes one
        *[(2 * out * 12, 4 * (two + out + 65))] * 3,  # dense: forward, weights, inputs
        (2 * 92, 12 * 92),  # update
    ]


@pytest.mark.parametrize("name", ["CNN", "ResNet-20"])
def test_products_are_those_that_torch_counts(benchmark: ModuleType, name: str) -> None:
    model: Architecture = benchmark.models(small=True)[name]
    module = benchmark.module(model)
    inputs = torch.randn(3, *model.inputs)
    with FlopCounterMode(display=False) as counter:
        module(inputs).sum().backward()
    counted: dict[Any, int] = counter.get_flop_counts()["Global"]
    kinds = ("convolution", "convolution_backward", "addmm", "mm")
    products = sum(v for op, v in counted.items() if any(kind in str(op) for kind in kinds))
    rows = benchmark.client_step(model, 3)
    others = _without_products(benchmark, model, 3)
    assert sum(w.operations for w in rows) - others == products


def _without_products(benchmark: ModuleType, model: Architecture, batch: int) -> float:
    """The operations of the passes of layers that are no products."""
    roofline = sys.modules["neural_roofline"]
    inner = roofline._passes

    def only(layer: Any, given: Any, samples: int, width: int, below: bool) -> Any:
        found = inner(layer, given, samples, width, below)
        return [] if isinstance(layer, Dense | Convolution) else found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(roofline, "_passes", only)
        return sum(w.operations for w in benchmark.client_step(model, batch))


def test_products_of_the_lstm(benchmark: ModuleType) -> None:
    model = zoo.architecture("char_lstm", (6,), 12, 12, {"embedding": 3, "hidden": 5})
    gates = 3 * (2 * 4 * 6 * 20) * ((3 + 5) + (5 + 5))  # forward and twice that back; 4 samples, 6 symbols, 20 gates
    scores = 3 * (2 * 4 * 5 * 12)
    symbols = 4 * 6 * 3  # summed up into the embedding
    assert sum(w.operations for w in benchmark.client_step(model, 4)) == gates + scores + symbols + 2 * model.dim


def test_the_docstring_has_the_numbers_of_the_count(benchmark: ModuleType) -> None:
    row = r"^ +(\S+), .*  +((?:\d+ )*\d+)  +([\d.]+) Gop +([\d.]+) MB +(\d+)$"
    told = re.findall(row, benchmark.__doc__ or "", re.M)
    found: list[tuple[str, ...]] = []
    for name, model in benchmark.models(small=False).items():
        work = benchmark.client_step(model, 32)
        operations, moved = sum(w.operations for w in work), sum(w.bytes for w in work)
        size = f"{model.dim:,}".replace(",", " ")
        rates = f"{operations / 1e9:.2f}", f"{moved / 1e6:#.3g}".rstrip("."), f"{operations / moved:.0f}"
        found.append((name, size, *rates))
    assert told == found


@pytest.mark.slow  # half a minute of training steps
def test_it_runs_on_the_cpu(benchmark: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert benchmark.main(["--cpu", "--small", "--clients", "3", "--batch", "2", "--lanes", "2"]) == 0
    out = capsys.readouterr().out
    for name in ("CNN", "ResNet-20", "char-LSTM"):
        (line,) = re.findall(rf"^{name} +float32 +(.*)$", out, re.M)
        ours, loop = (float(v) for v in line.split()[:2])
        assert ours > 0
        assert loop > 0
        assert float(line.split()[-1]) < 1e-3
    assert re.search(r"128 clients, tau = 10, 10000 iterations, float32: [\d.]+ (minutes|hours) \(extrapolated", out)


def test_contestants_that_disagree_are_reported(benchmark: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = benchmark.Bench.one_by_one
    monkeypatch.setattr(benchmark.Bench, "one_by_one", lambda self, *given: inner(self, *given) * (1 + 1e-6))
    with pytest.raises(SystemExit, match="CNN: the contestants disagree"):
        benchmark.main(["--cpu", "--small", "--clients", "2", "--batch", "2"])


@pytest.mark.parametrize("given", [["--clients", "0"], ["--loop", "-1"], ["--batch", "0"], ["--precision", "float16"]])
def test_impossible_options_are_refused(
    benchmark: ModuleType, given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        benchmark.main(["--cpu", "--small", *given])
    assert stopped.value.code == 2
    assert "at least 1" in (told := capsys.readouterr().err) or "invalid choice: 'float16'" in told


FULL = """schema = 1
[[training]]
name = "Digits"
source = "a test"
neural = { device = "cuda", precision = "float64" }
problem = { kind = "neural", data = DATA, model = "softmax", clients = 4, samples = 60 }
rounds = 100
points = 3
seeds = 5
compare = { metric = "f" }
methods = [{ label = "FedAvg", method = { kind = "fedavg_rr", batch = 5 }, grid = { eta_l = ["1/5", "1/10"] } }]
"""


def test_a_row_of_each_file_runs_for_some_rounds(
    benchmark: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.toml").write_text(FULL.replace("DATA", '"digits"'))
    out = tmp_path / "rows.json"
    (row,) = benchmark.neural_rows.report(tmp_path, "cpu", 3, graphs=False, out=out)
    assert (row.file, row.method, row.device, row.rounds) == ("a.toml", "FedAvg", "cpu", 3)
    assert row.last_loss < row.first_loss
    assert row.hours == pytest.approx(row.seconds_a_round * 100 * (5 + 2) / 3600)
    assert json.loads(out.read_text())[0]["table"] == "Digits"
    assert "after 3 rounds" in capsys.readouterr().out


def test_a_row_without_its_data_says_so(
    benchmark: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BOUNDCHECK_DATA", str(tmp_path / "data"))
    (tmp_path / "a.toml").write_text(FULL.replace("DATA", '"imdb"').replace("softmax", "sentiment_lstm"))
    assert benchmark.neural_rows.report(tmp_path, "cpu", 3, graphs=False) == []
    assert "boundcheck data fetch imdb" in capsys.readouterr().out
