"""Partial averaging, periodic averaging and synchronous SGD as compositions.

S. Lee, A. K. Sahu, C. He, S. Avestimehr, "Partial Model Averaging in Federated Learning: Performance Guarantees and
Benefits".
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from boundcheck.engines.run import run
from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods.build import algorithms, build
from boundcheck.methods.clients import Clients
from boundcheck.methods.parts import Blocks, Constant, Full, GradientSteps, HandOver, StochasticSteps
from boundcheck.problems.build import build as build_problem

PARTIAL: dict[str, Any] = {"kind": "partial_averaging", "tau": 4, "eta": "1/10"}
PERIODIC = {**PARTIAL, "kind": "periodic_averaging"}
SYNC: dict[str, Any] = {"kind": "sync_sgd", "eta": "1/10"}


def test_partial_averaging() -> None:
    method = build({**PARTIAL, "order": [3, 1, 0, 2], "batch": 2, "weights": "data"})
    assert (method.participation, method.local) == (Full(), StochasticSteps(1, 2))
    assert method.schedule == Constant(Fraction(1, 10))
    assert method.exchange == Blocks(4, "even", (3, 1, 0, 2), "data")
    assert method.parameters() == {"steps": 1, "batch": 2, "eta": Fraction(1, 10), "eta_g": 1, "tau": 4}
    assert {"partial_averaging"} <= set(algorithms(method))
    assert not {"periodic_averaging", "sync_sgd", "fedavg", "gradient_descent"} & set(algorithms(method))
    assert method.is_random(Clients.alike(2, 2))


def test_partitions() -> None:
    method = build({"kind": "partial_averaging", "tau": 2, "eta": 1, "partition": [[0, 2], [1]], "gradient": "full"})
    assert method.local == GradientSteps(1)
    assert method.exchange == Blocks(2, ((0, 2), (1,)))
    assert not method.is_random(Clients.alike(2))


def test_periodic_averaging() -> None:
    method = build(PERIODIC)
    assert method.exchange == Blocks(4, "whole")
    assert "periodic_averaging" in algorithms(method)
    assert not {"partial_averaging", "sync_sgd"} & set(algorithms(method))


def test_a_hand_over() -> None:
    method = build({**PARTIAL, "tau": 11, "hand_over": {"active": 32, "every": 110}})
    assert method.exchange == Blocks(11, hand_over=HandOver(32, 110, 2))
    assert build({**PERIODIC, "hand_over": {"active": 2, "every": 4, "design": 1}}).exchange == Blocks(
        4, "whole", hand_over=HandOver(2, 4, 1)
    )


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"tau": 0}, "tau = 0"),
        ({"tau": "1/2"}, "tau = 1/2"),
        ({"partition": [[0], [1]]}, "2 blocks were given for tau = 4"),
        ({"partition": [[0], [1], [2], [-1]]}, "integers from 0 on"),
        ({"order": [0, 1]}, "no permutation of the blocks 0 to 3"),
    ],
)
def test_bad_parameters(more: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        build({**PARTIAL, **more})


@pytest.mark.parametrize(
    "more",
    [{"gradient": "half"}, {"weights": "size"}, {"hand_over": {"number": 2}}, {"partition": "halves"}, {"E": 2}],
)
def test_unknown_names(more: dict[str, Any]) -> None:
    with pytest.raises(UnknownName):
        build({**PARTIAL, **more})


def test_a_partition_that_does_not_fit_the_problem() -> None:
    problem = build_problem({"kind": "pure_noise", "clients": 2, "d": 3})
    with pytest.raises(BadInput, match="exactly once"):
        run(build({**PARTIAL, "tau": 2, "partition": [[0], [1]]}), problem, rounds=2)


@pytest.mark.parametrize("engine", ["exact", "sampled"])
def test_a_batch_above_a_clients_samples_draws_as_many_as_there_are(engine: str) -> None:
    problem = build_problem({"kind": "pure_noise", "clients": 3, "d": 4})  # two samples a client
    found = [
        run(build({**PARTIAL, "batch": batch}), problem, rounds=6, engine=engine, seeds=5, metrics=["discrepancy"])
        for batch in (1, 2, 7)
    ]
    one, two, seven = (curve.values["discrepancy"].tolist() for curve in found)
    assert seven == two != one
    assert [curve.constants["blocks/sigma2"].value for curve in found] == [4, 2, 2]


def test_stochastic_steps() -> None:
    clients = Clients.alike(2, 3)
    ((p, visit),) = StochasticSteps(2).visits(0, (0, 1), clients)
    assert (p, visit.sampling, visit.steps, visit.batch, visit.scale) == (1, "replacement", 2, 1, 1)
    assert StochasticSteps(1, 2).visits(0, (0,), clients)[0][1].batch == 2
    assert StochasticSteps(5, 3).visits(0, (0,), clients)[0][1].batch == 3
    assert StochasticSteps(5, 4).visits(0, (0,), clients)[0][1].batch == 4  # draws 3: as many as there are
    with pytest.raises(BadInput, match="client 0 holds 3 samples and takes 2 steps"):
        StochasticSteps(2, 2).visits(0, (0,), clients)
