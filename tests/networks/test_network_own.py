"""A user's own module as a network and as a problem."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from neural_plain import MODELS, assert_near, compare, plain, task_of
from torch import nn

from boundcheck.errors import BadInput, Unsupported
from boundcheck.networks.own_module import OwnProblem, functional, own_module

torch.set_num_threads(1)


@pytest.mark.parametrize("name", ["perceptron", "convolutions", "residual", "lstm"])
def test_own_modules_give_the_same_numbers(name: str) -> None:
    architecture = MODELS[name]
    task = task_of(architecture)
    module = plain(architecture.layers)
    own = functional(module)
    assert own.dim == architecture.dim
    assert list(own.shapes.values()) == [slot.parameter.shape for slot in architecture.slots]
    assert own.mapped == (name != "lstm")
    compare(replace(task, network=own), architecture.layers)
    assert_near(torch.from_numpy(own.start), nn.utils.parameters_to_vector(module.parameters()).detach())


@pytest.mark.parametrize(
    ("module", "said"),
    [
        (nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)), r"'1' \(BatchNorm1d\) keeps statistics"),
        (nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5)), r"'1' \(Dropout\) drops values"),
        (nn.LSTM(2, 2, 2, dropout=0.1), r"itself \(LSTM\) drops values"),
    ],
)
def test_own_modules_that_are_refused(module: nn.Module, said: str) -> None:
    with pytest.raises(Unsupported, match=said):
        functional(module)


class Noisy(nn.Linear):
    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return super().forward(input) + torch.randn(())


class Counting(nn.Linear):
    def __init__(self, given: int, found: int) -> None:
        super().__init__(given, found)
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        self.seen += 1
        return super().forward(input)


def own_problem(module: nn.Module, **changes: Any) -> OwnProblem:
    given: dict[str, Any] = {
        "inputs": np.arange(12, dtype=np.float32).reshape(6, 2) / 10,
        "labels": np.array([0, 1, 2, 0, 1, 2]),
        "sizes": (2, 1, 3),
    }
    return own_module(module, **(given | changes))


def test_own_problem() -> None:
    module = nn.Linear(2, 3)
    found = own_problem(module, test_inputs=np.ones((2, 2), dtype=np.float32), test_labels=[0, 2], ridge="1/10")
    assert (found.clients, found.dim, found.sizes, found.offsets) == (3, 9, (2, 1, 3), (0, 2, 3, 6))
    assert [str(w) for w in found.weights] == ["1/3", "1/6", "1/2"]
    assert found.metrics == ("f", "grad2", "accuracy", "test_f")
    assert [float(v) for v in found.start[:3]] == module.weight.flatten()[:3].tolist()
    with torch.no_grad():
        module.weight.zero_()
    assert found.network.start.any()  # its own copy
    assert found.spec != own_problem(module).spec  # never taken for another
    with pytest.raises(Unsupported, match="cannot be written down"):
        found.to_dict()


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"module": Noisy(2, 3)}, Unsupported, "two results"),
        ({"module": Counting(2, 3)}, Unsupported, "changes its buffers"),
        ({"module": nn.Linear(2, 2)}, BadInput, "from 0 to 1"),
        ({"module": nn.Unflatten(1, (1, 2))}, BadInput, "no parameters"),
        ({"module": "linear"}, BadInput, "no torch.nn.Module"),
        ({"sizes": (2, 2)}, BadInput, "every client must have samples"),
        ({"sizes": None}, BadInput, "either sizes or offsets"),
        ({"sizes": None, "offsets": (0, 3, 3, 6)}, BadInput, "every client must have samples"),
        ({"labels": np.array([0.5] * 6)}, BadInput, "must be integers"),
        ({"labels": np.array([0, 1])}, BadInput, "6 samples and their labels are 2"),
        ({"weights": ("1/2", "1/2", "1/2")}, BadInput, "sum to 1"),
        ({"loss": "hinge"}, BadInput, "hinge"),
        ({"loss": "logistic", "labels": np.array([1, -1] * 3)}, BadInput, "one score"),
        ({"test_inputs": np.ones((2, 2))}, BadInput, "together or not at all"),
        ({"inputs": np.full((6, 2), np.nan)}, BadInput, "not finite"),
    ],
)
def test_bad_own_problems(changes: dict[str, Any], error: type[Exception], said: str) -> None:
    module = changes.pop("module", nn.Linear(2, 3))
    with pytest.raises(error, match=said):
        own_problem(module, **changes)
