"""Methods by the engine that trains networks, on softmax regression, against the sampled engine seed by seed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from boundcheck.engines.run import run
from boundcheck.methods.build import build
from boundcheck.problems.build import build as build_problem

DIGITS = {"data": "digits", "clients": 4, "split": "random", "seed": 0, "ridge": "1/100"}
STEP: dict[str, Any] = {"value": "1/5", "at": [3, 5], "factor": "1/2", "warm_up": 2}
PAIRS, DRAWN = {"kind": "uniform", "size": 2}, {"low": 1, "high": 4}
PUSHED = {"kind": "fedavgm", "batch": 50, "eta_l": "1/10", "momentum_g": "r/(r+3)", "participation": PAIRS}
METHODS: Mapping[str, Mapping[str, Any]] = {
    "drawn epochs": {"kind": "fedshuffle_nova", "batch": 100, "eta_l": "1/10", "E": DRAWN, "participation": PAIRS},
    "least drawn work": {"kind": "fedavg_min", "batch": 100, "eta_l": "1/10", "E": DRAWN, "participation": PAIRS},
    "momentum of the server": PUSHED,
    "nesterov": {**PUSHED, "nesterov": True},
    "steps by round": {"kind": "fedavg", "E": 2, "eta": "1/(4+r)"},
    "steps by iteration": {"kind": "fedavg", "E": 2, "eta": "1/(4+t)"},
    "decay": {"kind": "fedshuffle", "batch": 50, "eta_l": STEP},
    "decay, momentum": {
        "kind": "fedavg_sgd", "batch": 50, "eta_l": STEP, "momentum": {"a": "1/10", "form": "practical"}
    },
    "decay, averaging": {"kind": "partial_averaging", "tau": 2, "batch": 8, "eta": STEP},
    "decay, stale": {"kind": "fedfix", "K": 2, "batch": 8, "eta_l": STEP, "times": "f80", "dt": 1},
    "decay, corrected": {"kind": "feddane", "mu": 1, "K": 2, "solver": {"steps": 2, "eta": STEP}},
}  # fmt: skip


@pytest.mark.parametrize("name", METHODS)
def test_seeds_are_those_of_the_sampled_engine(name: str) -> None:
    problem, method = build_problem({"kind": "softmax_regression", **DIGITS}), build(METHODS[name])
    how: dict[str, Any] = {"rounds": [1, 3, 6], "metrics": ["gap"], "seeds": 2}
    sampled = run(method, problem, engine="sampled", **how).samples["gap"]
    trained = run(method, problem, engine="neural", neural={"precision": "float64"}, **how).samples["gap"]
    np.testing.assert_allclose(np.asarray(trained), np.asarray(sampled), rtol=1e-9)
    if name == "decay":
        constant = build({**METHODS[name], "eta_l": "1/5"})
        plain = run(constant, problem, engine="sampled", **how).samples["gap"]
        assert np.abs(np.asarray(plain) - np.asarray(sampled)).min() > 1e-6
