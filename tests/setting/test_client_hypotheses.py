"""Hypotheses that a problem's clients and start decide: equal weights, one objective for all, and a start at 0."""

from __future__ import annotations

from typing import Any

import pytest

from boundcheck.problems.build import build
from boundcheck.setting.client_hypotheses import client_hypotheses

TWO = [{"A": [[2]], "b": [3]}, {"A": [[2]], "b": [3]}]
UNLIKE = "the objective of client 1 is not that of client 0."
WEIGHTS = "its clients have different weights."


@pytest.mark.parametrize(
    ("spec", "objection", "exact"),
    [
        ({"kind": "quadratics", "clients": TWO}, None, True),
        ({"kind": "quadratics", "clients": [TWO[0], {"A": [[2]], "b": [4]}]}, UNLIKE, True),
        ({"kind": "quadratics", "clients": [TWO[0], {"A": [[1]], "b": [3]}]}, UNLIKE, True),
        ({"kind": "quadratics", "clients": TWO, "weights": ["1/3", "2/3"]}, WEIGHTS, True),
        ({"kind": "huber"}, None, True),
        ({"kind": "scgd_appendix_b", "clients": 3}, None, True),
        ({"kind": "scgd_appendix_c", "cubic": True}, "the objective of client 2 is not that of client 0.", True),
        ({"kind": "population", "clients": 4, "dim": 2}, UNLIKE, True),
        ({"kind": "population", "clients": 4, "dim": 2, "model": "logistic"}, UNLIKE, False),
        ({"kind": "coupled_blocks", "clients": 3, "d": 4}, None, True),
        ({"kind": "surrogate", "of": {"kind": "quadratics", "clients": TWO}, "weights": ["1/4", "3/4"]}, WEIGHTS, True),
    ],
)
def test_one_objective_for_all_clients(spec: dict[str, Any], objection: str | None, exact: bool) -> None:
    found, inexact = client_hypotheses(build(spec))
    assert found["iid_clients"] == objection
    assert ("iid_clients" not in inexact) is exact


def test_clients_with_other_samples() -> None:
    spec = {"kind": "logistic_regression", "data": "breast_cancer", "weights": "equal", "split": "sorted"}
    found, inexact = client_hypotheses(build({**spec, "clients": 2}))
    assert found["iid_clients"] == UNLIKE
    assert inexact == {"iid_clients"}
    found, inexact = client_hypotheses(build({**spec, "clients": 1}))
    assert found["iid_clients"] is None
    assert not inexact


def test_a_network_whose_clients_hold_other_samples() -> None:
    network = {"kind": "neural", "data": "digits", "model": "mlp", "clients": 3, "seed": 1, "weights": "equal"}
    assert client_hypotheses(build(network))[0]["iid_clients"] is not None
    assert client_hypotheses(build({**network, "clients": 1}))[0]["iid_clients"] is None


def test_the_start() -> None:
    for start, objection in (([0, 0], None), ([0, "1/9"], "the start is not 0.")):
        clients = [{"A": [[1, 0], [0, 1]]}]
        found, _ = client_hypotheses(build({"kind": "quadratics", "clients": clients, "start": start}))
        assert found["zero_at_start"] == objection
    assert client_hypotheses(build({"kind": "huber"}))[0]["zero_at_start"] is not None


def test_equal_weights() -> None:
    assert client_hypotheses(build({"kind": "quadratics", "clients": TWO}))[0]["plain_mean"] is None
    unequal = build({"kind": "quadratics", "clients": TWO, "weights": ["1/3", "2/3"]})
    assert client_hypotheses(unequal)[0]["plain_mean"] is not None
    assert client_hypotheses(build({"kind": "population", "clients": 2**24, "dim": 1}))[0]["plain_mean"] is None
