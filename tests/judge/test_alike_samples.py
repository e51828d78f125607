"""Clients whose samples are all alike: runs are determined, and a SCAFFOLD with the wrong sign is named."""

from __future__ import annotations

from typing import Any

from corpus.loops import Scaffold, looped

import boundcheck as bc
from boundcheck.judge.reference import is_random

ALIKE: dict[str, Any] = {
    "kind": "quadratics",
    "clients": [
        {"components": [{"A": [[h, 0], [0, k]], "b": b}] * size}
        for size, h, k, b in ((1, 1, 2, [1, 0]), (2, 3, 1, [0, 1]), (3, 2, 4, [-1, 2]))
    ],
    "start": [1, -2],
}
EPOCHS: dict[str, Any] = {"eta_l": "1/20", "E": 2}
SCAFFOLD: dict[str, Any] = {"kind": "scaffold", **EPOCHS}


def scaffold(sign: int) -> Any:
    """Option II of SCAFFOLD; sign 1 is that of the paper."""
    return looped(
        Scaffold,
        batches=lambda s, i: [[0]] * (2 * s.clients[i].size),
        direction=lambda s, i, y, x, b: s.g(i, y, b) + sign * (s.c - s.own[i]),
        variate=lambda s, i, x, y: s.own[i] - s.c + (x - y) / (2 * s.clients[i].size * s.lr),
    )


def test_only_the_order_of_alike_samples_is_not_random() -> None:
    method, problem = bc.method({"kind": "fedavg_rr", **EPOCHS}), bc.problem(ALIKE)
    assert not is_random(method, problem)
    other = {**ALIKE, "clients": [{"components": [{"A": [[1, 0], [0, 1]], "b": [k, 0]} for k in (0, 1)]}] * 3}
    assert is_random(method, bc.problem(other))
    drawn = bc.method({"kind": "fedavg_rr", **EPOCHS, "participation": {"kind": "uniform", "size": 2}})
    assert is_random(drawn, problem)
    lengths = bc.method({"kind": "fedavg_rr", "eta_l": "1/20", "E": {"low": 1, "high": 2}})
    assert is_random(lengths, problem)


def test_scaffold_agrees_number_by_number() -> None:
    found = bc.judge(SCAFFOLD, scaffold(1), ALIKE, rounds=12)
    assert (found.how, found.agrees) == ("run", True)


def test_the_wrong_sign_of_the_control_variates_is_named() -> None:
    found = bc.judge(SCAFFOLD, scaffold(-1), ALIKE, rounds=12)
    # with -c_i in the place of c_i these are one and the same
    assert set(found.mistakes) == {"control variates with the wrong sign", "c_i with the wrong difference"}
    assert found.difference is not None
    assert found.difference.round == 2  # in the first round all variates are 0
