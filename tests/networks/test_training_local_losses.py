"""A table that compares the loss of the averaged model with that of the clients' own, which may lie above it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from boundcheck.errors import Unsupported
from boundcheck.evidence.studies import carry_out_study, load_studies

SPEC = """schema = 1
[[training]]
name = "A small network"
source = "a test"
neural = { device = "cpu", precision = "float64" }
problem = { kind = "neural", data = "digits", model = { name = "mlp", hidden = [4] }, clients = 4, samples = 60 }
rounds = 4
points = 3
seeds = 3
compare = { metric = "f_above_least_local" }
also = [{ metric = "least_local_f" }, { metric = "least_local_loss" }]
methods = [{ label = "own models", method = METHOD }]
"""
PERIODIC = '{ kind = "periodic_averaging", tau = 2, batch = 5, eta = "1/5" }'


def test_a_difference_may_be_negative(tmp_path: Path) -> None:
    path = tmp_path / "spec.toml"
    path.write_text(SPEC.replace("METHOD", PERIODIC))
    study = carry_out_study(load_studies(path)[0])
    (run,) = study.data["cases"][0]["runs"]
    ends = np.array(run["samples"]["f_above_least_local"])[:, -1]
    assert ends.min() < 0 < ends.max()
    (row,) = study.tables[0].rows
    assert all("±" in cell for cell in row[2:])  # no end at 0, which the interval would reach beyond


def test_a_method_without_own_models_is_named(tmp_path: Path) -> None:
    path = tmp_path / "spec.toml"
    path.write_text(SPEC.replace("METHOD", '{ kind = "fedavg_rr", batch = 5, eta_l = "1/5" }'))
    with pytest.raises(Unsupported, match="'fedavg_rr' keeps no models at its clients"):
        carry_out_study(load_studies(path)[0])
