"""The figures of the FedDANE paper at a tiny size: what they record, against a plain loop and the exact objective."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundcheck.engines.simulate import run_sampled
from boundcheck.methods.build import build as build_method
from boundcheck.problems.problem import clients_of

TINY = ("--rounds", "4", "--seeds", "2", "--samples", "12")


def tiny(figures: Any, **more: Any) -> Any:
    """Unlike devices of few samples."""
    f = figures["_feddane"]
    return f.Devices("tiny", {"kind": "synthetic", "devices": 30, "max_samples": 12, "alpha": 1, "beta": 1, **more})


def test_the_loss_is_that_of_all_samples(figures: Any) -> None:
    f = figures["_feddane"]
    size, devices = f.Size(12, 2, 3, 2), tiny(figures)
    problem = f.measured(devices)
    loss = f.Runs(devices, size, off(figures)).losses("FedDANE", Fraction(1, 10), 5, 2)
    assert loss.shape == (2, 4)
    assert loss[:, 0] == pytest.approx([np.log(10)] * 2)  # at 0 all ten classes are alike
    x = np.random.default_rng(0).standard_normal(problem.dim) / 10
    scores = problem.features @ x.reshape(10, -1).T
    shares = np.repeat([float(w) / n for w, n in zip(problem.weights, problem.sizes, strict=True)], problem.sizes)
    own = np.log(np.exp(scores).sum(1)) - scores[np.arange(len(scores)), problem.labels]
    assert problem.metric("loss", x) == pytest.approx(shares @ own + float(problem.ridge) / 2 * x @ x)


def off(figures: Any) -> Any:
    return figures["_recorded"].Recorded("none", "off")


def test_methods_are_those_of_the_paper(figures: Any) -> None:
    f = figures["_feddane"]
    size = f.Size(None, 20, 200, 5)
    devices = f.four(size)
    assert devices[0].title == "Synthetic IID"
    assert [d.problem.get("alpha") for d in devices[1:]] == ["0", "0.5", "1"]
    clients = clients_of(f.measured(tiny(figures)))
    for name, kind in (("FedAvg", "fedprox"), ("FedProx", "fedprox"), ("FedDANE", "feddane")):
        built = build_method(f.method(name, size, Fraction(name != "FedAvg"), 10))
        assert built.name == kind
        assert (built.correction is not None) == (name == "FedDANE")
        assert built.local.visits(0, (0,), clients)[0][1].prox == (0 if name == "FedAvg" else 1)


def test_mu_is_tuned_by_the_loss_in_the_end(figures: Any) -> None:
    f = figures["_feddane"]
    size, devices = f.Size(40, 5, 6, 2), tiny(figures, max_samples=40)
    runs = f.Runs(devices, size, off(figures))
    best, further, tried = runs.tuned(5)
    ends = {mu: f.Line("", mu, runs.losses("FedDANE", mu, 5, 2)).ends.mean() for mu in map(Fraction, tried)}
    assert best == min(f.GRID, key=lambda mu: ends[mu])
    assert further == min(ends, key=lambda mu: ends[mu]) < max(ends)


def test_figure_1(figures: Any, made: Any) -> None:
    found = made("feddane_figure_1", *TINY)
    f = figures["_feddane"]
    assert list(found["ends"]) == [d.title for d in f.four(f.Size(12, 1, 2, 1))]
    assert all(set(ends) >= {"FedAvg", "FedProx", "FedDANE"} for ends in found["ends"].values())
    assert all(Fraction(mu["FedDANE"]) in f.GRID for mu in found["mu"].values())
    assert [f["key"] for f in found["findings"]] == ["worse_fedavg", "worse_fedprox", "iid"]
    assert "Scaled down: at most 12 samples a device" in found["caption"]


def test_figure_2(made: Any) -> None:
    found = made("feddane_figure_2", *TINY)
    shown = [[name for name in ends if "beyond" not in name] for ends in found["ends"].values()]
    assert shown == [["K = 1", "K = 5", "K = 10", "K = 30"]] * 3


def test_figure_3_reads_its_record(made: Any) -> None:
    found = made("feddane_figure_3")
    assert (found["E"], found["rounds"], found["seeds"], found["samples"]) == (1, 200, 10, None)
    assert "Recorded in figures/results/feddane_figure_3.json" in found["caption"]
    # with one epoch and all (1, 1) devices FedDANE ends below FedAvg in every run
    ends = found["ends"]["Synthetic (1, 1)"]
    assert all(own < other for own, other in zip(ends["FedDANE"], ends["FedAvg"], strict=True))
    assert found["findings"][0]["word"] == "reversed"


def test_a_recorded_run_comes_out_again(figures: Any) -> None:
    """The first recorded rounds of one row, run anew."""
    f, three = figures["_feddane"], figures["feddane_figure_3"]
    kept = figures["_recorded"].Recorded(three.NAME, "read")
    devices = f.four(three.PAPER)[3]
    spec = f.method("FedDANE", three.PAPER, Fraction(0), None)
    recorded = kept.known(devices.problem, spec, three.PAPER.grid, [7])
    assert recorded is not None
    again = run_sampled(build_method(spec), f.measured(devices), 10, range(7, 8), ("loss",), [0, 5, 10])
    assert again.samples["loss"][0] == pytest.approx(recorded[0, :3], rel=1e-6)


def test_runs_are_kept_one_by_one_and_taken_up_again(figures: Any, tmp_path: Path) -> None:
    recorded = figures["_recorded"]
    problem, method, grid = {"kind": "p"}, {"kind": "m"}, [0, 1]
    asked: list[int] = []

    def compute(seed: int) -> np.ndarray:
        asked.append(seed)
        if seed == 2:
            raise KeyboardInterrupt
        return np.array([1.0, np.inf])

    kept = recorded.Recorded("some", "extend", tmp_path)
    with pytest.raises(KeyboardInterrupt):
        kept.row(problem, method, grid, range(4), compute)
    again = recorded.Recorded("some", "extend", tmp_path)
    assert again.known(problem, method, grid, [0, 1]) == pytest.approx(np.array([[1.0, np.inf]] * 2))
    assert {"command", "code", "versions", "processor_hours"} <= set(again.provenance)
    asked.clear()
    again.row(problem, method, grid, [0, 1, 3], compute)
    assert asked == [3]
    with pytest.raises(recorded.NotRecorded):
        recorded.Recorded("some", "read", tmp_path).row(problem, {"kind": "other"}, grid, [0], compute)


def test_sizes_are_refused(figures: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        figures["feddane_figure_3"].main(["--rounds", "1"])
    assert "at least 2 rounds" in capsys.readouterr().err
