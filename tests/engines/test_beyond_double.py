"""Parameters that no double holds are refused by the engines that compute in doubles; the exact one carries them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from boundcheck.engines.run import run
from boundcheck.errors import BadInput
from boundcheck.methods.build import build as method_of
from boundcheck.problems.build import build

QUADRATICS = {"kind": "random_quadratics", "clients": 3, "d": 2, "seed": 1}
NETWORK = {
    "kind": "neural",
    "data": "digits",
    "model": {"name": "mlp", "hidden": [3]},
    "clients": 3,
    "samples": 30,
    "split": "random",
}
METHODS = {
    "a step size": {"kind": "fedavg_rr", "eta_l": "1e400"},
    "the weight decay": {"kind": "fedavg_rr", "eta_l": "1/10", "weight_decay_l": "1e400"},
    "clip_l": {"kind": "fedshuffle_nova", "eta_l": "1/10", "clip_l": "1e400"},
    "the server's factor": {"kind": "fedavg_rr", "eta_l": "1/10", "eta_g": "1e400"},
    "the proximal weight": {
        "kind": "feddane",
        "mu": "1e400",
        "participation": "full",
        "solver": {"steps": 2, "eta": "1/10"},
    },
}


@pytest.mark.parametrize("what", METHODS)
@pytest.mark.parametrize("engine", ["sampled", "neural"])
def test_numbers_above_the_largest_double(engine: str, what: str) -> None:
    problem: Any = build(QUADRATICS if engine == "sampled" else NETWORK)
    with pytest.raises(BadInput, match=f"^{what} of '.*', .*e[+](400|399), is above the largest number in double"):
        run(method_of(METHODS[what]), problem, rounds=2, engine=engine, seeds=2)


def test_below_it_a_run_diverges() -> None:
    method = method_of({"kind": "fedavg_rr", "eta_l": "1e200", "eta_g": "1e200"})
    for engine, problem in (("sampled", build(QUADRATICS)), ("neural", build(NETWORK))):
        curve = run(method, problem, rounds=2, engine=engine, seeds=2, metrics=["grad2"])
        assert np.isinf(curve.values["grad2"][-1])
    assert np.isinf(run(method_of(METHODS["a step size"]), build(QUADRATICS), rounds=2).values["gap"][-1])
