"""Partial averaging: bad parameters, and batches of its stochastic steps.

S. Lee, A. K. Sahu, C. He, S. Avestimehr, "Partial Model Averaging in Federated Learning: Performance Guarantees and
Benefits".
"""

from __future__ import annotations

from typing import Any

import pytest

from boundcheck.engines.run import run
from boundcheck.errors import BadInput
from boundcheck.methods.build import build
from boundcheck.methods.clients import Clients
from boundcheck.methods.parts import StochasticSteps
from boundcheck.problems.build import build as build_problem

PARTIAL: dict[str, Any] = {"kind": "partial_averaging", "tau": 4, "eta": "1/10"}


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
