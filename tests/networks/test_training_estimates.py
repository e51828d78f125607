"""Constants measured along the runs of a table: what the page shows of them, and that the store keeps their runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from boundcheck.core.numbers import format_short
from boundcheck.core.store import Store
from boundcheck.evidence.studies import carry_out_study, load_studies
from boundcheck.methods.build import build as build_method
from boundcheck.methods.parts import Blocks
from boundcheck.networks.engine import run as neural
from boundcheck.networks.engine.device import Settings
from boundcheck.networks.engine.probing import Effort, probe
from boundcheck.networks.engine.task import resolved, task_of
from boundcheck.problems.build import build

torch.set_num_threads(1)

PROBLEM: dict[str, Any] = {
    "kind": "neural",
    "data": "digits",
    "model": {"name": "mlp", "hidden": [4]},
    "clients": 4,
    "samples": 60,
}
EFFORT = {"clients": 2, "samples": 8, "curved": 4, "steps": 5}
METHODS: dict[str, dict[str, Any]] = {
    "partial": {"kind": "partial_averaging", "tau": 3, "batch": 5, "eta": "1/5"},
    "FedAvg": {"kind": "fedavg_rr", "batch": 5, "eta_l": "1/5"},
}
SPEC = """schema = 1
[[training]]
name = "A small network"
source = "a test"
neural = { device = "cpu", precision = "float64" }
problem = { kind = "neural", data = "digits", model = { name = "mlp", hidden = [4] }, clients = 4, samples = 60 }
rounds = 4
points = 2
seeds = 1
compare = { metric = "f" }
methods = [
  { label = "partial", method = { kind = "partial_averaging", tau = 3, batch = 5, eta = "1/5" } },
  { label = "FedAvg", method = { kind = "fedavg_rr", batch = 5, eta_l = "1/5" } },
]
estimate = [
  { method = "partial", points = 2, effort = EFFORT },
  { method = "FedAvg", points = 1, effort = EFFORT },
]
""".replace("EFFORT", "{ " + ", ".join(f"{k} = {v}" for k, v in EFFORT.items()) + " }")


def test_the_page_shows_what_is_measured_along_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "spec.toml"
    path.write_text(SPEC)
    (asked,) = load_studies(path)
    store = Store(tmp_path / "store")
    study = carry_out_study(asked, None, store)
    tables = {table.caption: table for table in study.tables}
    problem, settings = build(PROBLEM), Settings(device="cpu", precision="float64")
    for data, (label, spec), rounds in zip(study.data["estimates"], METHODS.items(), ([0, 2, 4], [0, 4]), strict=True):
        method = build_method(spec)
        curve = neural.run_neural(method, problem, 4, 1, ("f",), rounds, settings, keep_points=True)
        exchange = resolved(method, problem).exchange
        blocks = exchange.blocks(problem.dim) if isinstance(exchange, Blocks) else ()
        assert curve.points is not None
        known = probe(task_of(problem, settings), problem, curve.points[0], blocks=blocks, effort=Effort(**EFFORT))
        assert (data["method"], data["seed"], data["rounds"]) == (label, 0, rounds)
        shown = tables[f"Estimated along the run of {label}, seed 0"]
        assert [row[0] for row in shown.rows] == [str(n) for n in rounds]
        for k, (name, values) in enumerate(known.along.items(), start=1):
            assert data["along"][name] == pytest.approx(values.tolist(), rel=1e-6)
            assert [row[k] for row in shown.rows] == [format_short(float(v), 4) for v in data["along"][name]]
        assert (f"Estimated by block of the model: {label}" in tables) == (label == "partial")
    by_block = tables["Estimated by block of the model: partial"]
    measured = study.data["estimates"][0]
    assert len(by_block.rows) == 3
    assert [row[1] for row in by_block.rows] == [format_short(v, 4) for v in np.max(measured["block_noise"], axis=0)]
    assert [row[2] for row in by_block.rows] == [format_short(v, 4) for v in measured["kappa2"]]
    how = tables["How it was estimated: partial"]
    assert all(row[2] for row in how.rows)
    assert not [row for row in how.rows if "chosen;" in row[2]]  # only what is an estimate
    json.dumps(study.data)
    told = next(words for words in study.words if "no bounds" in words)
    assert "(partial, after 0, 2, 4 rounds; FedAvg, after 0, 4 rounds)" in told

    def again(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("what the store holds is run again")

    monkeypatch.setattr(neural, "run_neural", again)
    assert carry_out_study(asked, None, store).tables == study.tables
    assert len(store.keys()) == 6  # two runs of the table, and for each its points and what was measured there
