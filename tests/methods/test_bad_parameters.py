"""Specifications of methods that are refused, and what the sentence names."""

from __future__ import annotations

from typing import Any

import pytest

from boundcheck.errors import BadInput
from boundcheck.methods.build import build

PARTIAL: dict[str, Any] = {"kind": "partial_averaging", "tau": 4, "eta": "1/10"}
FEDDANE: dict[str, Any] = {"kind": "feddane", "mu": 1, "K": 1}
STEPS: dict[str, Any] = {"K": 2, "eta_l": "1/4"}
AVERAGED: dict[str, Any] = {"kind": "fedavgm", "eta_l": 1}
FEDAVG: dict[str, Any] = {"kind": "fedavg", "E": 2}
SCGD: dict[str, Any] = {"kind": "scgd", "E": 1}
ASYNC: dict[str, Any] = {"kind": "fedavg_async", **STEPS}
GEN: dict[str, Any] = {"kind": "fedshuffle_gen", "eta_l": "1/8"}
RR: dict[str, Any] = {"kind": "fedavg_rr", "eta_l": "1/8"}
CHOSEN: dict[str, Any] = {"kind": "biased_sampling", **STEPS}
# A kind of each of the ways to write local steps that are not plain
SHAPED: list[dict[str, Any]] = [
    {"kind": "periodic_averaging", "tau": 2, "eta": "1/100"},
    {"kind": "fedbuff", **STEPS, "times": "f80", "m": 2},
]
BY_STEPS: dict[str, Any] = {"kind": "fedshuffle", "eta_l": "1/10", "E": 2}

BAD: list[tuple[dict[str, Any], str]] = [
    ({**PARTIAL, "tau": 0}, "tau = 0"),
    ({**PARTIAL, "tau": "1/2"}, "tau = 1/2"),
    ({**PARTIAL, "partition": [[0], [1]]}, "2 blocks were given for tau = 4"),
    ({**PARTIAL, "partition": [[0], [1], [2], [-1]]}, "integers from 0 on"),
    ({**PARTIAL, "order": [0, 1]}, "no permutation of the blocks 0 to 3"),
    ({**PARTIAL, "gradient": "half"}, "'half' is unknown"),
    ({**PARTIAL, "weights": "size"}, "'size' is unknown"),
    ({**PARTIAL, "hand_over": {"number": 2}}, "'number' is unknown"),
    ({**PARTIAL, "partition": "halves"}, "'halves' is unknown"),
    ({**PARTIAL, "E": 2}, "'E' is unknown"),
    ({**FEDDANE, "mu": "x"}, "mu = 'x' is not a number"),
    ({**FEDDANE, "K": 0}, "K = 0 is not allowed"),
    ({**FEDDANE, "solver": {"steps": 3, "eta": 1, "E": 2}}, "parameter 'E' is unknown"),
    ({**FEDDANE, "decay": {"power": 2}}, "parameter 'power' is unknown"),
    ({"kind": "fedprox", "mu": 1, "solver": "exact", "eta": 1}, "either a solver or eta"),
    ({"kind": "fedprox", "mu": 1, "solver": "exact", "weights": "sizes"}, "the weights of fedprox 'sizes'"),
    ({**BY_STEPS, "participation": {"kind": "full", "size": 2}}, "'size' is unknown"),
    ({**BY_STEPS, "sign": "up"}, "the sign of the server step"),
    ({**GEN, "c": "all"}, "the divisor c of fedshuffle_gen"),
    ({**GEN, "normaliser": "none"}, "the normaliser of fedshuffle_gen"),
    ({**GEN, "normaliser": -1}, "normaliser = -1 is not allowed; it must be text in quotes"),
    ({**GEN, "normaliser": True}, "normaliser = True is not allowed; it must be text"),
    ({**GEN, "weights": [1, -1, 1], "normaliser": "sum_one"}, r"\[1, -1, 1\] are not allowed"),
    ({**GEN, "weights": "novel"}, "the aggregation weights 'novel' is unknown; did you mean 'nova'"),
    ({"kind": "fedshuffle_mvr", "eta_l": 1, "a": "1/2", "start": 3}, "the start of the momentum '3' is unknown"),
    ({"kind": "fedavg_mean", "eta_l": 1, "sampling": 3}, "the sampling of local steps '3' is unknown"),
    ({**RR, "aggregation": 3}, "aggregation = 3 is not allowed; it must be text"),
    ({**RR, "momentum": {"b": 2}}, "the momentum: parameter"),
    ({**RR, "aggregation": "sum"}, "the aggregation of fedavg_rr"),
    ({"kind": "fedshuffle_unfinished", "eta_l": 1, "missed": ["1/2"]}, "missed = 1/2 is not allowed"),
    ({**ASYNC, "times": "f81"}, "f80"),
    ({**ASYNC, "times": {"kind": "exponential", "rate": [1]}}, "rates"),
    ({**ASYNC, "times": "f0", "ties": "random"}, "one_by_one"),
    ({"kind": "fedbuff", **STEPS, "times": "f0", "m": 0}, "at least 1"),
    ({"kind": "fedfix", **STEPS, "times": "f0", "dt": 1, "window": 2}, "'window' is unknown"),
    ({**CHOSEN, "cohorts": [[0, -1]]}, "no client number"),
    ({**CHOSEN, "cohorts": [[0]], "weights": "mean"}, "average"),
    ({"kind": "composed", "local": "epoch", "eta": 1}, "the local 'epoch' is unknown; did you mean 'epochs'"),
    *[
        ({"kind": "fedshuffle", "eta_l": step}, text)
        for step, text in (
            ({"at": [1]}, "needs its value"),
            ({"value": 0, "at": [1]}, "must be above 0"),
            ({"value": 1, "at": [5, 5]}, "must increase from 1 on; they are 5, 5"),
            ({"value": 1, "at": [0]}, "eta_l: at = 0 is not allowed"),
            ({"value": 1, "at": "5"}, "eta_l: at must be the rounds"),
            ({"value": 1, "at": [5], "factor": 1}, "factor = 1 of a decaying step size"),
            ({"value": 1, "at": [5], "warm_up": "1/2"}, "eta_l: warm_up = 1/2 is not allowed"),
            ({"value": 1, "milestones": [5]}, "'milestones' is unknown"),
        )
    ],
    *[
        ({**spec, "momentum_l": value}, "momentum_l")
        for spec in SHAPED
        for value in (1, "-1/10", "3/2", "much", None, {"a": "1/10"})
    ],
    *[
        ({**spec, key: value}, key)
        for spec in (*SHAPED, BY_STEPS)
        for key, values in {"weight_decay_l": ("-1/10", "much"), "clip_l": (0, "-1", "off")}.items()
        for value in values
    ],
    *[
        ({**AVERAGED, **given}, text)
        for given, text in (
            ({"momentum_g": "-1/10"}, "at least 0 and below 1"),
            ({"momentum_g": "1/(r-2)"}, "momentum_g = -1 in round 1"),
            ({"momentum_g": "t/(t+3)"}, "the name 't' is unknown"),
            ({"momentum_g": "r/(r+"}, "it ends too early"),
            ({"momentum_g": [1]}, "is not a number"),
            ({"momentum_g": "1/2", "nesterov": "yes"}, "nesterov"),
        )
    ],
    *[
        ({**FEDAVG, "eta": eta}, text)
        for eta, text in (
            ("1/(8+t", "a bracket is not closed"),
            ("1/(8+s*t)", "'s' is unknown"),
            ("1/t", "it divides by zero"),
            ("r", "must be above 0"),
            ({"formula": "1/(8+t)", "t": 1}, "name of a variable"),
            ({"formula": "1/8"}, "neither r nor t"),
            ("1/8+", "is not a number"),
            ("sqrt(2)", "is not a number"),
        )
    ],
    *[
        ({**own, "eta_l": "1/(8+t)"}, "changes within a round")
        for own in ({"kind": "fedshuffle_gen", "momentum": "1/2"}, {"kind": "scaffold", "K": 2})
    ],
    ({"kind": "svrg", "eta": "1/8", "inner": 0}, "inner = 0 is not allowed"),
    ({**SCGD, "kind": "scdg", "eta": 1}, "did you mean 'scgd'"),
    ({}, "the method '' is unknown"),
    ({"kind": "parts.step_sizes"}, "unknown"),
    ({"kind": "__init__"}, "unknown"),
    ({"kind": "scgd", "eta": 1}, "needs the parameter 'E'"),
    ({**SCGD, "ete": 1}, "parameter 'ete' is unknown; did you mean"),
    ({**SCGD, "E": "1/2", "eta": 1}, "integer of at least 1"),
    ({**SCGD, "eta": "-1/2"}, "eta = -1/2 is not a step size"),
    ({**SCGD, "eta": float("nan")}, "eta = nan is not finite"),
    ({**SCGD, "eta": "9**9"}, "is not a number"),
    ({**FEDAVG, "eta": 1, "size": -3}, "size = -3 is not allowed"),
    ({"kind": "fedavg_reshuffled", "eta": 1, "batch": 0}, "batch = 0 is not allowed"),
    # these divide by the number of steps or of samples, of which a momentum makes another number
    *[
        ({**BY_STEPS, "kind": kind, "momentum_l": "9/10"}, "'momentum_l' is unknown")
        for kind in (
            *("fedshuffle", "fedshuffle_gen", "fedshuffle_sum_one"),
            *("fedshuffle_nova", "fedshuffle_nova_rr", "fedavg_min", "fedavg_mean"),
        )
    ],
]


@pytest.mark.parametrize(("spec", "text"), BAD)
def test_bad_input_is_one_sentence(spec: dict[str, Any], text: str) -> None:
    with pytest.raises(BadInput, match=text) as caught:
        build(spec)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)
