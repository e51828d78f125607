"""Rounds by functions of a user's own train networks as the NumPy path of simulated runs carries them out."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from neural_toys import classifier

from boundcheck.engines.simulate.lowering import lower
from boundcheck.engines.simulate.oracles import ArrayOracle
from boundcheck.engines.simulate.rows import Rows
from boundcheck.errors import BadInput
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Constant, EpochRange, Epochs, ServerStep, SumOne, Uniform
from boundcheck.methods.round import At, Rule, Sent
from boundcheck.networks.engine.device import Settings
from boundcheck.networks.engine.run import run_neural
from boundcheck.problems.problem import clients_of

torch.set_num_threads(1)
ROUNDS, SEEDS = 4, range(3, 5)


class Everything(Rule):
    """Steps that are cut at norm 1/20, by the client's number, with noise, a local sum and a server's mean of norms."""

    kept_by_server = {"x": True, "m": False}  # noqa: RUF012
    kept_by_clients = {"c": False}  # noqa: RUF012
    local = ("y", "s")
    uniforms = ("u",)
    receives = True

    def numbers(self, round_index: int, dim: int) -> dict[str, Any]:
        return {"half": Fraction(1, 2 + round_index)}

    def drawn(self, round_index: int) -> Any:
        return (Fraction(1, 3), {"coin": Fraction(1)}), (Fraction(2, 3), {"coin": Fraction(0)})

    def step(self, y: Any, g: Any, at: At) -> Any:
        slope = g(y["y"]) + at.number["half"] * at.client["c"] + at.prox * (y["y"] - at.start)
        slope = slope * np.minimum(1.0, 0.05 / at.norm(slope)) + (at.uniform["u"] - 0.5) / 100
        return {"y": y["y"] - at.eta * slope, "s": y["s"] + np.sign(slope) / (1 + at.index)}

    def upload(self, y: Any, at: At) -> Any:
        return {
            "x": y["y"] - at.start,
            "m": Sent(y["s"] / at.steps, SumOne()),
            "own": Sent(at.length * y["s"], SumOne()),
        }

    def keep(self, y: Any, at: At) -> Any:
        return {"c": y["s"] / 100}

    def combine(self, total: Any, at: At) -> Any:
        x = at.server["x"] + (at.eta_g + at.number["coin"] / 4) * total["x"] - total["m"] / 50
        return {"x": x, "m": at.server["m"] + total["own"]}

    def receive(self, at: At) -> Any:
        return {"c": at.client["c"] - at.part(at.server["m"], (0, 3, 4)) / 10}


def test_functions_of_a_user_train() -> None:
    method = Method(
        "everything", Uniform(3), Epochs(EpochRange(1, 2), 2), Constant(Fraction(1, 4)), SumOne(),
        ServerStep(Fraction(3, 2)), functions=Everything(),
    )  # fmt: skip
    problem: Any = classifier()
    rows = Rows(lower(method, clients_of(problem), ROUNDS), ArrayOracle(problem.arrays()), problem.weights)
    seeds = np.array(SEEDS, dtype=np.uint64)
    state, wanted = rows.begin(rows.oracle, seeds, np.zeros(problem.dim)), np.empty((2, ROUNDS + 1, problem.dim))
    rows.advance(seeds, state, 0, np.arange(ROUNDS + 1), wanted)
    for lanes in (None, 2):
        how = Settings(precision="float64", lanes=lanes)
        found = run_neural(method, problem, ROUNDS, SEEDS, ("f",), None, how, keep_points=True).points
        assert found is not None
        assert np.abs(found - wanted).max() < 1e-12
    assert np.abs(wanted[:, -1]).max() > 0.05


class Failing(Rule):
    def combine(self, total: Any, at: At) -> Any:
        return {"x": at.server["x"] + total["z"]}


def test_functions_that_fail_are_told_in_a_sentence() -> None:
    method = Method("failing", Uniform(2), Epochs(1), Constant(Fraction(1, 4)), functions=Failing())
    with pytest.raises(BadInput, match="failing: the function combine of its round fails: there is no 'z'"):
        run_neural(method, classifier(), 1, 1, ("f",))
