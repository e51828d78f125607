"""Constants measured along the runs of a table: what the page shows of them, and that the store keeps them."""

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

torch.set_num_threads(1)

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
  { method = "partial", points = 2, effort = { clients = 2, samples = 8, curved = 4, steps = 5 } },
  { method = "FedAvg", points = 1, effort = { clients = 2, samples = 8, curved = 4, steps = 5 } },
]
"""


def test_the_page_shows_what_is_measured_along_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "spec.toml"
    path.write_text(SPEC)
    (asked,) = load_studies(path)
    spec: Any = asked.spec
    store = Store(tmp_path / "store")
    study = carry_out_study(asked, None, store)
    tables = {table.caption: table for table in study.tables}
    for data, one, rounds in zip(study.data["estimates"], spec.methods, ([0, 2, 4], [0, 4]), strict=True):
        assert (data["method"], data["seed"], data["rounds"]) == (one.label, 0, rounds)
        (run,) = [run for run in study.data["cases"][0]["runs"] if run["method"] == one.label]
        assert [data["along"]["f"][k] for k in (0, -1)] == pytest.approx([run["samples"]["f"][0][k] for k in (0, -1)])
        shown = tables[f"Estimated along the run of {one.label}, seed 0"]
        assert [row[0] for row in shown.rows] == [str(n) for n in rounds]
        for name, values in data["along"].items():
            cells = [row[shown.columns.index(name)] for row in shown.rows]
            assert cells == [format_short(float(v), 4) for v in values]
        assert (f"Estimated by block of the model: {one.label}" in tables) == (one.label == "partial")
    by_block = tables["Estimated by block of the model: partial"]
    measured = study.data["estimates"][0]
    assert len(by_block.rows) == 3
    assert [row[1] for row in by_block.rows] == [format_short(v, 4) for v in np.max(measured["block_noise"], axis=0)]
    assert [row[2] for row in by_block.rows] == [format_short(v, 4) for v in measured["kappa2"]]
    how_measured = tables["How it was estimated: partial"]
    assert all(row[2] for row in how_measured.rows)
    assert not [row for row in how_measured.rows if "chosen;" in row[2]]  # only what is an estimate
    json.dumps(study.data)
    told = next(words for words in study.words if "no bounds" in words)
    assert "(partial, after 0, 2, 4 rounds; FedAvg, after 0, 4 rounds)" in told

    def again(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("what the store holds is run again")

    monkeypatch.setattr("boundcheck.networks.engine.run.run_neural", again)
    assert carry_out_study(asked, None, store).tables == study.tables
    assert len(store.keys()) == 4  # two runs of the table, and what was measured along each
