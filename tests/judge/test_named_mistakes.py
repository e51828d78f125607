"""Mistakes that the corpus does not have are named, too; code is recognised as the method that it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpus.loops import FedProx, Loop, Momentum, Scaffold, Uniform, looped
from corpus.wrong_averages import Stale
from corpus.wrong_state import BALL, PROX

import boundcheck as bc
from boundcheck.cli import main
from boundcheck.judge.identify import identify

K2 = {"kind": "fedavg_sync", "K": 2, "eta_l": "1/10"}
BOTH = {"kind": "scaffold", "K": 2, "eta_l": "1/10"}
SERVER = {"kind": "fedavgm", "K": 2, "eta_l": "1/10", "momentum_g": "1/2"}


class StaleChanges(Stale):
    """Clients start from the model of the round before, and the server adds the change of their mean to its own."""

    def visit(self, i: int, x: Any) -> Any:
        return super().visit(i, x) - self.sent

    def server(self, x: Any, mean: Any, cohort: Any) -> Any:
        self.sent = x
        return x + mean


class InTurn(Loop):
    """Each client starts from the model of the one before it."""

    def visit(self, i: int, x: Any) -> Any:
        self.last = super().visit(i, x if i == 0 else self.last)
        return self.last


def ahead(s: Any, i: int, x: Any) -> Any:
    return x + Momentum.visit(s, i, x + s.beta * s.v) - (x + s.beta * s.v)


def backwards(s: Any, x: Any, mean: Any, cohort: Any) -> Any:
    return 2 * x - mean


WRONG = [
    (K2, looped(StaleChanges), "models of the round before"),
    (K2, looped(Uniform, batches=lambda s, i: [None] * 3), "uniform weights and one local step more"),
    (K2, looped(Loop, direction=lambda s, i, y, x, b: s.g(i, y) + 0.01 * y), "weight decay of 0.01"),
    (K2, looped(Loop, server=backwards), "server step with the wrong sign"),
    (
        K2,
        looped(Loop, server=backwards, rate=lambda s: s.task.step_sizes[s.r] / 2),
        "server step with the wrong sign and local step size times 1/2",
    ),
    (
        K2,
        looped(
            Loop,
            share=lambda s, who: s.task.weights * (np.arange(s.n) > 0),
            server=lambda s, x, mean, who: mean + s.task.weights[0] * x,
        ),
        "client 0 left out",
    ),
    (BALL, looped(Momentum, visit=ahead), "Nesterov instead of heavy ball"),
    (
        SERVER,
        looped(Momentum, buffer=lambda s, change: change, move=lambda s, change, old: change + old / 2),
        "momentum of one round",
    ),
    (PROX, looped(FedProx, pull=lambda s, y, x: 2 * (y - x)), "proximal weight doubled"),
    (PROX, looped(FedProx, pull=lambda s, y, x: y), "proximal term around the origin"),
    (BOTH, looped(Scaffold, variate=lambda s, i, x, y: s.own[i] - s.c + (x - y) / s.K), "no step size in c_i"),
    (
        BOTH,
        looped(Scaffold, variate=lambda s, i, x, y: s.c - s.own[i] + (x - y) / (s.K * s.lr)),
        "c and c_i swapped in c_i",
    ),
]


@pytest.mark.parametrize(("method", "run", "name"), WRONG, ids=[name for _, _, name in WRONG])
def test_a_mistake_is_found_and_named(method: Any, run: Any, name: str) -> None:
    with np.errstate(all="ignore"):
        found = bc.judge(method, run, rounds=40)
    assert not found.agrees
    assert name in found.mistakes


def first_round(s: Any, cohort: Any, models: Any) -> Any:
    return Loop.mean(s, cohort, models) if s.r else models[-1]


def test_first_rounds_are_named_where_no_mistake_explains_all() -> None:
    run = looped(Loop, mean=first_round, rate=lambda s: s.task.step_sizes[s.r] * 1.01**s.r)
    found = bc.judge(K2, run, rounds=40)
    assert not found.mistakes
    assert "Round 1 is as with 'last client only'; from round 2 on it is something else." in found.reason


PROXIMAL = looped(FedProx, setup=lambda s: setattr(s, "K", 2), pull=lambda s, y, x: (y - x) / 2)


def test_another_method_is_recognised() -> None:
    found = bc.judge(K2, PROXIMAL, rounds=40)
    assert "another method: 'fedprox' with solver = {'steps': 2, 'eta': '1/10'}" in found.reason


@pytest.mark.parametrize(
    ("run", "kind", "options"),
    [
        (looped(Loop), "fedavg_sync", {}),
        (PROXIMAL, "fedprox", {"solver": {"steps": 2, "eta": "1/10"}}),
        (looped(Scaffold, size=2), "scaffold", {"K": 2, "participation": {"kind": "uniform", "size": 2}}),
    ],
)
def test_identify(run: Any, kind: str, options: dict[str, Any]) -> None:
    found = identify(run, seeds=128)
    assert found.matches[0].kind == kind
    assert found.matches[0].options == options
    assert found.matches[0].paper in found.reason


def test_identify_names_a_mistake_where_no_kind_agrees() -> None:
    found = identify(looped(InTurn))
    assert not found.matches
    assert ("fedavg_sync", "clients in turn") in {(kind, name) for kind, name, _ in found.mistaken}


LOOP = """
def good(task, seed):
    points, x = [], task.start
    for _ in range(task.rounds):
        x = x - 0.1 * sum(c.weight * c.gradient(x) for c in task.clients)
        points.append(x)
    return points


def bad(task, seed):
    return task.parameters["nothing"]
"""


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "own.py"
    file.write_text(LOOP)
    assert main(["identify", str(file), "--run", "good", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["matches"][0]["kind"] == "gradient_descent"
    assert main(["identify", str(file), "--run", "bad"]) == 2
    assert "the function 'bad' fails: KeyError: 'nothing'" in capsys.readouterr().err
    assert main(["identify", str(file), "--run", "ugly"]) == 2
    assert "its functions are: good, bad." in capsys.readouterr().err
