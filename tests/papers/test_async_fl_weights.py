"""Aggregation weights given as numbers: what Corollary 1 of the asynchronous paper says where they are below 1."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import boundcheck as bc
from boundcheck.errors import BadInput
from boundcheck.evidence.claim import run_claim
from boundcheck.methods.build import algorithms, build
from boundcheck.methods.clients import Clients
from boundcheck.setting.expected_weights import expected_weights
from boundcheck.verdict import Outcome

F = Fraction
ALIKE = {"kind": "quadratics", "clients": [{"A": 1, "b": 0}] * 3}
TWO = {"kind": "uniform_sampling", "m": 2, "K": 1, "eta_l": "largest"}
STEPS = {"K": 1, "eta_l": "1/10"}
KINDS: tuple[dict[str, Any], ...] = (
    {"kind": "fedavg_async", "times": [1, 2, 3]},
    {"kind": "fedfix", "times": [1, 2, 3], "dt": 1},
    {"kind": "fedbuff", "times": [1, 2, 3], "m": 2},
    {"kind": "biased_sampling", "cohorts": [[0, 1], [2]]},
    {"kind": "uniform_sampling", "m": 2},
)


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k["kind"])
def test_expected_weights_by_hand(kind: dict[str, Any]) -> None:
    clients = Clients.alike(3)
    for given, own in (("1/4", [F(1, 4)] * 3), (["1/2", "1/4", 1], [F(1, 2), F(1, 4), F(1)])):
        method = build({**kind, **STEPS, "weights": given})
        assert kind["kind"] in algorithms(method)
        found = expected_weights(method, clients)
        assert found is not None
        chance = F(2, 3) if kind["kind"] == "uniform_sampling" else 1
        for round_kind in found.kinds:
            assert round_kind.q == {i: chance * own[i] for i in round_kind.q}
        assert {i for k in found.kinds for i in k.q} == {0, 1, 2}


def test_beta_of_uniform_sampling_is_for_the_weights_of_the_paper() -> None:
    about = "async_fl/table_2_uniform_beta/as_printed"
    own = {**TWO, "eta_l": "1/10"}
    assert run_claim(bc.Claim(about, ALIKE, own)).verdict.outcome is Outcome.HOLDS
    found = run_claim(bc.Claim(about, ALIKE, {**own, "weights": "1/10"})).verdict
    assert found.outcome is Outcome.OUT_OF_SCOPE
    assert "time_based" in found.reason


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        ("timed", "the weights of the contributions 'timed' is unknown"),
        ("-1", "the aggregation weight -1 is not allowed"),
        (0, "the aggregation weight 0 is not allowed"),
        ([0, 0, 0], r"the aggregation weights \[0, 0, 0\] are not allowed"),
        ([1, "x"], "is not a number"),
    ],
)
def test_bad_weights_are_one_sentence(weights: Any, text: str) -> None:
    for kind in KINDS:
        with pytest.raises(BadInput, match=text):
            build({**kind, **STEPS, "weights": weights})


def test_the_number_of_weights_is_checked_before_the_run() -> None:
    with pytest.raises(BadInput, match="2 aggregation weights were given for 3 clients"):
        build({**KINDS[0], **STEPS, "weights": [1, 1]}).check(Clients.alike(3))
