"""One small instance of every kind of method: what the frozen constants and sampled runs are about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

QUADRATICS: Mapping[str, Any] = {
    "kind": "quadratics",
    "clients": [
        {
            "components": [
                {"A": [["1", "1/3"], ["1/3", "1/2"]], "b": ["1", "-1/2"]},
                {"A": [["1/2", "0"], ["0", "3/4"]], "b": ["0", "1/3"]},
            ]
        },
        {"components": [{"A": [["2/3", "-1/4"], ["-1/4", "1"]], "b": ["-1", "1/5"]}]},
        {
            "components": [
                {"A": [["1/4", "0"], ["0", "1/2"]], "b": ["1/2", "0"]},
                {"A": [["1", "0"], ["0", "1/3"]], "b": ["0", "-1"]},
                {"A": [["3/4", "1/8"], ["1/8", "1/4"]], "b": ["1/4", "1/4"]},
            ]
        },
    ],
    "weights": ["1/3", "1/6", "1/2"],
    "start": ["1", "-1"],
}
# The samples of all clients at one, for a method that has no others.
ONE_CLIENT: Mapping[str, Any] = {
    "kind": "quadratics",
    "clients": [{"components": [sample for client in QUADRATICS["clients"] for sample in client["components"]]}],
    "start": QUADRATICS["start"],
}
TIMES = [1, 2, 3]
# Kind of method -> its parameters; every kind has one.
METHODS: Mapping[str, Mapping[str, Any]] = {
    "accelerated_gradient": {"eta": "1/8"},
    "biased_sampling": {"K": 2, "eta_l": "1/8", "cohorts": [[0, 1], [2]]},
    "block_averaging": {"tau": 2, "eta": "1/8"},
    "centralised": {"K": 2, "eta_l": "1/8"},
    "composed": {
        "eta": "1/8",
        "local": {"part": "stochastic_steps", "steps": 2, "batch": 1},
        "participation": {"kind": "uniform", "size": 2},
        "aggregation": "average",
        "eta_g": "3/2",
    },
    "dane": {"mu": 2},
    "fedavg": {"E": 2, "size": 2, "eta": "1/8"},
    "fedavg_async": {"K": 2, "eta_l": "1/8", "times": TIMES},
    "fedavg_mean": {"eta_l": "1/8", "E": 2},
    "fedavg_min": {"eta_l": "1/8", "E": 2},
    "fedavg_reshuffled": {"E": 2, "size": 2, "eta": "1/8"},
    "fedavg_rr": {"eta_l": "1/8", "participation": {"kind": "uniform", "size": 2}},
    "fedavg_sgd": {"eta_l": "1/8", "E": 1},
    "fedavg_sync": {"K": 2, "eta_l": "1/8"},
    "fedavg_weighted": {"eta_l": "1/8", "K": 2, "participation": {"kind": "uniform", "size": 2}},
    "fedavgm": {"eta_l": "1/8", "eta_g": "3/2", "momentum_g": "1/2", "participation": {"kind": "uniform", "size": 2}},
    "fedbuff": {"K": 2, "eta_l": "1/8", "times": TIMES, "m": 2},
    "feddane": {"mu": 2, "K": 2},
    "fedfix": {"K": 2, "eta_l": "1/8", "times": TIMES, "dt": 1},
    "fedlin": {"steps": [1, 2, 3], "eta": "1/8"},
    "fednova": {"eta": "1/8", "E": [1, 2, 1]},
    "fedprox": {"mu": 1, "E": 2, "eta": "1/8"},
    "fedrr": {"eta": "1/8"},
    "fedshuffle": {"eta_l": "1/8", "participation": {"kind": "uniform", "size": 2}},
    "fedshuffle_ascending": {"eta_l": "1/8"},
    "fedshuffle_gen": {"eta_l": "1/8", "c": "max", "normaliser": "sum_one"},
    "fedshuffle_mvr": {"eta_l": "1/8", "a": "1/4"},
    "fedshuffle_nova": {"eta_l": "1/8", "E": [1, 2, 1]},
    "fedshuffle_nova_rr": {"eta_l": "1/8", "E": [1, 2, 1]},
    "fedshuffle_sum_one": {"eta_l": "1/8", "participation": {"kind": "uniform", "size": 2}},
    "fedshuffle_unfinished": {"eta_l": "1/8", "missed": [1, 0, 1]},
    "fista": {"eta": "1/8"},
    "gradient_descent": {"eta": "1/8"},
    "heavy_ball": {"eta": "1/8", "momentum_g": "1/3"},
    "local_rr": {"eta": "1/8"},
    "md_sampling": {"K": 2, "eta_l": "1/8", "m": 2},
    "mime": {"K": 2, "batch": 1, "eta_l": "1/8", "momentum_g": "1/3"},
    "nesterov": {"eta": "1/8", "momentum_g": "1/3"},
    "partial_averaging": {"tau": 2, "eta": "1/8"},
    "periodic_averaging": {"tau": 2, "eta": "1/8"},
    "saga": {"eta": "1/8"},
    "scaffold": {"K": 2, "eta_l": "1/8", "participation": {"kind": "uniform", "size": 2}},
    "scaffold_option_1": {"K": 2, "batch": 1, "eta_l": "1/8"},
    "scgd": {"E": 2, "eta": "1/8"},
    "svrg": {"eta": "1/8", "inner": 3},
    "svrg_average": {"eta": "1/8", "inner": 3},
    "svrg_random": {"eta": "1/8", "inner": 3},
    "sync_sgd": {"eta": "1/8"},
    "uniform_sampling": {"K": 2, "eta_l": "1/8", "m": 2, "batch": 1},
}
