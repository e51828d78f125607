"""Modules of users as networks and as problems."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from plain_models import assert_near, compare, task_of
from torch import nn

from boundcheck.engines.run import run
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.build import build as method_of
from boundcheck.networks.functional import own_network
from boundcheck.networks.own_module import own_module


class Branching(nn.Linear):
    """The same function; vmap does not carry what looks at a value."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return super().forward(input) if float(input.square().sum()) >= 0 else input


class Failing(nn.Linear):
    def forward(self, input: torch.Tensor) -> torch.Tensor:
        raise KeyError("no such layer")


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


class Recurrent(nn.Module):
    """An LSTM or GRU with the time first, given states, and its last state as the scores."""

    def __init__(self, kind: type, **more: Any) -> None:
        super().__init__()
        self.rnn, self.dense = kind(2, 3, 2, bias=False, **more), nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = x.new_ones(2, len(x), 3) / 2
        state = self.rnn(x.unflatten(1, (3, 2)).transpose(0, 1), (h, h) if isinstance(self.rnn, nn.LSTM) else h)[1]
        return self.dense((state[0] if isinstance(state, tuple) else state)[-1])


@pytest.mark.parametrize(
    ("module", "mapped"),
    [
        (nn.Linear(6, 3), True),
        (nn.Sequential(nn.Unflatten(1, (2, 3)), nn.LayerNorm(3), nn.Linear(3, 2), nn.Flatten(), nn.Linear(4, 3)), True),
        (Recurrent(nn.LSTM), True),
        (Recurrent(nn.GRU), False),
        (Branching(6, 3), False),
    ],
    ids=["linear", "norm", "lstm", "gru", "branching"],
)
def test_modules_of_users_give_their_numbers(module: nn.Module, mapped: bool) -> None:
    module = module.double()
    own, start, classes = own_network(module, torch.zeros(2, 6, dtype=torch.float64))
    assert (own.mapped, classes) == (mapped, 3)
    assert_near(torch.from_numpy(start), nn.utils.parameters_to_vector(module.parameters()).detach())
    compare(task_of(own), module)


INPUTS, LABELS = np.arange(12, dtype=np.float32).reshape(6, 2) / 10, np.array([0, 1, 2, 0, 1, 2])


def own_problem(module: Any = None, **changes: Any) -> Any:
    given: dict[str, Any] = {"inputs": INPUTS, "labels": LABELS, "sizes": (2, 1, 3)}
    return own_module(nn.Linear(2, 3) if module is None else module, **(given | changes))


def test_own_problem() -> None:
    module = nn.Linear(2, 3)
    found = own_problem(module, test_inputs=np.ones((2, 2), dtype=np.float32), test_labels=[0, 2], ridge="1/10")
    assert (found.clients, found.dim, found.sizes, found.offsets) == (3, 9, (2, 1, 3), (0, 2, 3, 6))
    assert own_problem(sizes=None, offsets=np.array([0, 2, 3, 6])).offsets == found.offsets
    assert [str(w) for w in found.weights] == ["1/3", "1/6", "1/2"]
    assert found.metrics == ("f", "grad2", "accuracy", "test_f")
    assert [float(v) for v in found.start[:3]] == module.weight.flatten()[:3].tolist()
    with torch.no_grad():
        module.weight.zero_()
    method = method_of({"kind": "fedavg_rr", "eta_l": "1/10"})
    curve = run(method, found, rounds=2, engine="neural", seeds=1, metrics=["f"], neural={"precision": "float64"})
    assert curve.samples["f"][0, 0] != pytest.approx(np.log(3), abs=1e-6)  # its own copy of the parameters
    assert found.spec != own_problem(module).spec  # never taken for another
    with pytest.raises(Unsupported, match="cannot be written down"):
        found.to_dict()


class Pairs(torch.utils.data.Dataset[Any]):
    def __init__(self, own: slice) -> None:
        self.own = [(torch.from_numpy(x), y) for x, y in zip(INPUTS[own], LABELS[own], strict=True)]

    def __len__(self) -> int:
        return len(self.own)

    def __getitem__(self, k: int) -> Any:
        return self.own[k]


def test_datasets_of_torch_are_the_arrays_that_they_hold() -> None:
    sets = [Pairs(slice(a, b)) for a, b in ((0, 2), (2, 3), (3, 6))]
    found = own_problem(inputs=sets, labels=None, sizes=None, test_inputs=sets[0])
    np.testing.assert_array_equal(found.inputs, INPUTS)
    np.testing.assert_array_equal(found.labels, LABELS)
    assert found.sizes == (2, 1, 3)
    assert found.test_labels.tolist() == [0, 1]
    assert own_problem(inputs=Pairs(slice(0, 6)), labels=None).sizes == (2, 1, 3)
    with pytest.raises(BadInput, match="inputs is a Dataset, which gives its labels itself"):
        own_problem(inputs=sets)
    sets[1].own[0] = (torch.zeros(5), 1)
    with pytest.raises(BadInput, match="all samples of one shape: all input arrays must have the same shape"):
        own_problem(inputs=sets, labels=None, sizes=None)


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"module": Noisy(2, 3)}, Unsupported, "two results"),
        ({"module": Counting(2, 3)}, Unsupported, "changes its buffers"),
        ({"module": nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))}, Unsupported, r"'1' \(BatchNorm1d\) keeps"),
        ({"module": nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))}, Unsupported, r"'1' \(Dropout\) drops values"),
        ({"module": nn.LSTM(2, 2, 2, dropout=0.1)}, Unsupported, r"itself \(LSTM\) drops values"),
        ({"module": Failing(2, 3)}, BadInput, r"shape \[2\]: 'no such layer'\.$"),
        ({"module": nn.Linear(3, 3)}, BadInput, r"Linear cannot be called with samples of the shape \[2\]: mat1"),
        ({"module": nn.Linear(2, 2)}, BadInput, "from 0 to 1"),
        ({"module": nn.Unflatten(1, (1, 2))}, BadInput, "no parameters"),
        ({"module": "linear"}, BadInput, "no torch.nn.Module"),
        ({"sizes": (2, 2)}, BadInput, "every client must have samples"),
        ({"sizes": (6, 0)}, BadInput, "every client must have samples"),
        ({"sizes": "57"}, BadInput, "sizes must be a list of integers"),
        ({"sizes": (2.5, 3.5)}, BadInput, "sizes must be a list of integers"),
        ({"sizes": None}, BadInput, "either sizes or offsets"),
        ({"sizes": None, "offsets": (0, 3, 3, 6)}, BadInput, "every client must have samples"),
        ({"sizes": None, "offsets": (0, 2.5, 6)}, BadInput, "offsets must be a list of integers"),
        ({"labels": np.array([0.5] * 6)}, BadInput, "must be integers"),
        ({"labels": np.array([0, 1])}, BadInput, "6 samples and their labels are 2"),
        ({"labels": LABELS + 1}, BadInput, "the labels of inputs must be from 0 to 2"),
        ({"weights": ("1/2", "1/2", "1/2")}, BadInput, "sum to 1"),
        ({"loss": "hinge"}, BadInput, "hinge"),
        ({"loss": "logistic", "labels": np.array([1, -1] * 3)}, BadInput, "one score"),
        ({"test_inputs": np.ones((2, 2))}, BadInput, "together or not at all"),
        ({"inputs": np.full((6, 2), np.nan)}, BadInput, "not finite"),
        ({"inputs": [[1.0, 2.0], [3.0]]}, BadInput, "its samples are not all of one shape"),
    ],
)
def test_bad_own_problems(changes: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        own_problem(**changes)


EXAMPLE = Path(__file__).parents[2] / "examples" / "own_module.py"


def test_the_example_learns(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    found = [re.fullmatch(r"round +(\d+): F = ([\d.]+), held-out accuracy ([\d.]+)%", line) for line in lines]
    rows = [tuple(float(v) for v in match.groups()) for match in found if match is not None]
    assert [r for r, _, _ in rows] == [0, 5, 10, 20]
    assert rows[0][1] == pytest.approx(2.3026, abs=0.1)  # ln 10: it knows nothing yet
    assert rows[-1][1] < 0.8 * rows[0][1]
    assert rows[-1][2] > 50 > 3 * rows[0][2]
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) < 40
