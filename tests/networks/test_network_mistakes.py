"""Mistakes in the options of a neural run are one sentence each."""

from __future__ import annotations

from typing import Any

import pytest

import boundcheck as bc
from boundcheck.errors import BadInput
from boundcheck.networks.engine.device import Settings


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (3, "neural = 3 is not allowed; it must be a table"),
        ({"lanes": "auto"}, "it must be an integer"),
        ({"lanes": True}, "it must be an integer"),
        ({"graphs": "yes"}, "it must be true or false"),
        ({"device": 3}, "it must be a text"),
        ({"threads": 10**9}, "at most 1024"),
        ({"device": "cuda:x"}, "the device 'cuda:x' is unknown"),
        ({"device": "cuda:-1"}, "the device 'cuda:-1' is unknown"),
        ({"precision": "float46"}, "did you mean 'float64'"),
    ],
)
def test_settings_are_asked_for_in_words(given: Any, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        Settings.of(given)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"metrics": "grad2"}, r"it must be a list of names, such as \['grad2'\]"),
        ({"metrics": [3]}, "metrics: 3 is not allowed; a metric is asked for by its name"),
        ({"metrics": 3}, r"it must be a list of names, such as \['f'\]"),
        ({"seeds": "a"}, "it must be an integer or a range"),
        ({"seeds": True}, "it must be an integer or a range"),
        ({"seeds": -1}, "needs at least 1"),
        ({"seeds": [1, 2]}, "it must be an integer or a range"),
    ],
)
@pytest.mark.parametrize("engine", ["sampled", "neural"])
def test_metrics_and_seeds_are_asked_for_in_words(engine: str, asked: dict[str, Any], told: str) -> None:
    problem = bc.problem(kind="softmax_regression", data="digits", clients=4)
    method = bc.method(kind="fedshuffle", eta_l="1/10")
    with pytest.raises(BadInput, match=told):
        bc.run(method, problem, engine=engine, rounds=[1], **asked)


def test_what_a_model_takes_is_told_in_words() -> None:
    network: dict[str, Any] = {"kind": "neural", "data": "digits", "clients": 2}
    with pytest.raises(BadInput, match="takes tokens; the samples of the data set 'digits' are features"):
        bc.problem(**network, model="char_lstm")


def test_a_network_without_constants_is_told_that_they_can_be_measured() -> None:
    from boundcheck.evidence.spec import claims_from_text

    text = (
        '[[claim]]\nstatement = "fedshuffle/theorem_5_1_nonconvex/corrected"\nengine = "neural"\n'
        'problem = { kind = "neural", data = "digits", model = "softmax", clients = 2 }\n'
        'method = { kind = "fedshuffle", eta_l = "1/10" }\n'
    )
    with pytest.raises(BadInput, match="or measure it along the run with estimate = true"):
        claims_from_text(text)
