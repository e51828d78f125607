"""Steps of one model at a time in memory that stays, beside those of all models at once by autograd."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch
from neural_plain import MODELS, SYMBOLS, generator, models, sequence, task_of

from boundcheck.engines.neural import losses
from boundcheck.engines.neural import single as single_module
from boundcheck.engines.neural.batched import Batched, Chain
from boundcheck.engines.neural.fast import Prepared
from boundcheck.engines.neural.kernels import dense, pooled_convolution
from boundcheck.engines.neural.kernels.recurrent import LSTMKernel
from boundcheck.engines.neural.kernels.words import usable
from boundcheck.engines.neural.lanes import Tally
from boundcheck.engines.neural.library import library
from boundcheck.engines.neural.single import Lane, Single
from boundcheck.engines.neural.task import Task
from boundcheck.engines.neural.training import Direction, Work, train
from boundcheck.problems.architectures import LSTM, Architecture, Convolution, Dense, Flatten, MaxPool, Relu, Tanh

torch.set_num_threads(1)
pytestmark = pytest.mark.skipif(not usable(), reason="needs a processor with fused multiplication on wide words")
DOUBLE = torch.float64
LANES = 3


def pooled(inputs: int, outputs: int, bias: bool = True) -> tuple[Any, ...]:
    return Convolution(inputs, outputs, 3, padding=1, bias=bias), Relu(), MaxPool(2)


LAYERS = (*pooled(2, 5), *pooled(5, 8), Flatten(), Dense(32, 8), Relu(), Dense(8, 5), Tanh(), Dense(5, 3, bias=False))
NETWORKS = {
    "convolutions": Architecture("network", LAYERS, (2, 8, 8), 3, "image"),
    "grey, no bias": Architecture(
        "network", (*pooled(1, 3, False), Flatten(), Tanh(), Dense(12, 3)), (1, 4, 4), 3, "image"
    ),
    "perceptron": MODELS["perceptron"],
    "lstm": sequence(LSTM(4, 5, layers=2)),
    "lstm both ways": sequence(LSTM(3, 4, layers=2, both=True)),
}
CONSTANT = torch.linspace(-1, 1, LANES, dtype=DOUBLE).unsqueeze(1)
DIRECTIONS = {
    "plain": Direction(np.array([0.1, 0.2, 0.05]), np.zeros(LANES)),
    "prox": Direction(np.full(LANES, 0.1), np.array([0.5, 0.0, 2.0])),
    "momentum": Direction(np.full(LANES, 0.1), np.zeros(LANES), 0.3, CONSTANT),
    "reduced variance": Direction(np.full(LANES, 0.1), np.zeros(LANES), 1.0, CONSTANT, 0.7),
}


@dataclass(frozen=True)
class Scores:
    """A network that does not know its own way back."""

    inner: Batched

    @property
    def dim(self) -> int:
        return self.inner.dim

    def scores(self, parameters: Any, inputs: Any) -> Any:
        return self.inner.scores(parameters, inputs)


class Alone(Batched):
    """One model at a time, recurrences by the compiled passes."""

    def alone(self, inputs: Any, dtype: Any) -> bool:
        return True


def alone(name: str, ridge: float = 0.0) -> Task:
    task = replace(task_of(NETWORKS[name]), ridge=ridge)
    net = task.network
    assert isinstance(net, Batched)
    kernels = [(LSTMKernel(k.layer, "each", True) if isinstance(k, LSTMKernel) else k, c) for k, c in net.chain.kernels]
    return replace(task, network=Alone(net.architecture, Chain(tuple(kernels))))


def work(task: Task) -> Work:
    """Epochs of 7, 5 and 2 samples in batches of 3: of all sizes."""
    size, steps = np.array([7, 5, 2]), np.array([5, 4, 2])
    drawn = torch.randint(0, len(task.inputs), (40,), generator=generator(5)).numpy().astype(np.uint32)
    return Work(np.array([0, 20, 33]), size, 3, steps, drawn)


def trained(task: Task, direction: Direction, at_once: bool = False) -> tuple[Any, Tally]:
    net = task.network
    assert isinstance(net, Batched)
    local = Prepared(replace(task, network=Scores(net)) if at_once else task)
    assert local.alone(3) is not at_once
    y, tally = models(task.network.dim)[:LANES].clone(), Tally()
    constant = direction.constant
    if constant is not None:
        constant = constant * torch.linspace(0, 1, task.network.dim, dtype=DOUBLE)
    train(local, work(task), replace(direction, constant=constant), y, tally)
    return y, tally


def assert_near(found: Any, wanted: Any) -> None:
    assert float((found - wanted).abs().max()) <= 1e-10 * float(wanted.abs().max())


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("name", NETWORKS)
def test_steps_are_those_of_all_models_at_once(name: str, ridge: float, direction: str) -> None:
    task = alone(name, ridge)
    found, tally = trained(task, DIRECTIONS[direction])
    wanted, together = trained(task, DIRECTIONS[direction], at_once=True)
    assert_near(found, wanted)
    assert not torch.equal(found[0], models(task.network.dim)[0])
    assert tally.padded == 0
    assert tally.samples == together.samples - together.padded


@pytest.mark.parametrize("worth", [1e9, 0.0], ids=["windows", "frequencies"])
def test_all_passes_of_a_network(worth: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """By windows and by frequencies, and through a weight that is large."""
    task = alone("convolutions")
    wanted, _ = trained(task, DIRECTIONS["plain"], at_once=True)
    monkeypatch.setattr(pooled_convolution, "WORTH", worth)
    monkeypatch.setattr(dense, "LARGE", 0)
    assert_near(trained(task, DIRECTIONS["plain"])[0], wanted)


@pytest.mark.parametrize("name", NETWORKS)
def test_steps_are_those_made_anew(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever holds the memory; the sums of small layers run in another order."""
    task = alone(name)
    found, _ = trained(task, DIRECTIONS["plain"])
    monkeypatch.setattr(Single, "of", lambda self, width: None)
    assert_near(trained(task, DIRECTIONS["plain"])[0], found)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_all_steps_are_made_so(name: str, direction: str, monkeypatch: pytest.MonkeyPatch) -> None:
    task = alone(name, 0.3)
    wanted, _ = trained(task, DIRECTIONS[direction])
    monkeypatch.setattr(losses, "gradients", None)
    monkeypatch.setattr(losses, "descend", None)
    assert torch.equal(trained(task, DIRECTIONS[direction])[0], wanted)


def test_memory_that_was_used_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    task = alone("convolutions")
    y = models(task.network.dim)[:1]
    single, rows = Single(task), np.array([3, 1, 4])
    found = list[Any]()
    for _ in range(2):
        into = torch.full_like(y, torch.nan)
        Lane(single, y, into).gradient(rows)
        Lane(single, torch.full_like(y, torch.nan), torch.empty_like(y)).gradient(rows)
        found.append(into)
    monkeypatch.setattr(single_module, "KEPT", 0)  # memory for one size at a time
    lane = Lane(Single(task), y, into := torch.empty_like(y))
    for own in (rows, rows[:2], rows):
        lane.gradient(own)
    assert all(torch.equal(other, found[0]) for other in (*found[1:], into))
    assert torch.isfinite(into).all()


def test_where_there_is_no_such_way() -> None:
    assert Single(alone("convolutions")).of(2) is not None
    for name in ("residual", "norm"):
        assert Single(task_of(MODELS[name])).of(2) is None
    line = Architecture("line", (Dense(4, 1, bias=False),), (4,), 1, "features")
    assert Single(task_of(line, "logistic")).of(2) is None
    assert Single(replace(alone("convolutions"), autocast=True)).of(2) is None


def test_a_symbol_beyond_the_vocabulary_is_an_error() -> None:
    task = alone("lstm")
    task = replace(task, inputs=torch.full_like(task.inputs, SYMBOLS))
    y = models(task.network.dim)[:1]
    with pytest.raises(IndexError, match="vocabulary"):
        Lane(Single(task), y, library().empty_like(y)).gradient(np.array([0]))
