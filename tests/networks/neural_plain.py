"""Small networks, the same as plain torch modules, and what holds one against the other in float64."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from boundcheck.methods.clients import Clients
from boundcheck.networks.architectures.architecture import Architecture
from boundcheck.networks.architectures.layers import (
    LSTM,
    Convolution,
    Dense,
    Embedding,
    Flatten,
    GlobalMean,
    GroupNorm,
    Last,
    Layer,
    MaxPool,
    Relu,
    Residual,
    Tanh,
)
from boundcheck.networks.engine.batched import batched
from boundcheck.networks.engine.losses import gradients
from boundcheck.networks.engine.task import Task

torch.set_num_threads(1)
TOLERANCE = 1e-10
LANES, WIDTH, RIDGE = 3, 5, 0.3
COUNTS = (5, 2, 0)  # samples of each lane that count
SYMBOLS = 7


# --- the same architectures as plain modules ------------------------------------------------------------------


class Add(nn.Module):
    """body(x) + shortcut(x)."""

    def __init__(self, body: nn.Module, shortcut: nn.Module) -> None:
        super().__init__()
        self.body, self.shortcut = body, shortcut

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(x) + self.shortcut(x)


class Recurrent(nn.LSTM):
    """The outputs alone."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return super().forward(x)[0]


class End(nn.Module):
    """The last place, or half of it and half of the first."""

    def __init__(self, both: bool) -> None:
        super().__init__()
        self.both = both

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = x.shape[2] // 2
        return torch.cat((x[:, -1, :h], x[:, 0, h:]), dim=1) if self.both else x[:, -1]


class Mean(nn.Module):
    """Over all positions."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.mean(dim=(2, 3))


PLAIN: dict[type, Callable[[Any], nn.Module]] = {
    Dense: lambda v: nn.Linear(v.inputs, v.outputs, v.bias),
    Convolution: lambda v: nn.Conv2d(v.inputs, v.outputs, v.kernel, v.stride, v.padding, bias=v.bias),
    GroupNorm: lambda v: nn.GroupNorm(v.groups, v.channels, v.epsilon),
    Relu: lambda _: nn.ReLU(),
    Tanh: lambda _: nn.Tanh(),
    MaxPool: lambda v: nn.MaxPool2d(v.size, v.stride, v.padding),
    GlobalMean: lambda _: Mean(),
    Flatten: lambda _: nn.Flatten(),
    Embedding: lambda v: nn.Embedding(v.symbols, v.width),
    LSTM: lambda v: Recurrent(v.inputs, v.hidden, v.layers, batch_first=True, bidirectional=v.both),
    Last: lambda v: End(v.both),
    Residual: lambda v: Add(plain(v.body), plain(v.shortcut)),
}


def plain(layers: tuple[Layer, ...]) -> nn.Module:
    """The layers as one writes them in PyTorch."""
    return nn.Sequential(*(PLAIN[type(layer)](layer) for layer in layers)).double()


def loaded(layers: tuple[Layer, ...], vector: torch.Tensor) -> nn.Module:
    """The same with the parameters of a flat vector."""
    module = plain(layers)
    torch.nn.utils.vector_to_parameters(vector.clone(), module.parameters())
    return module


# --- architectures ---------------------------------------------------------------------------------------------


def image(*layers: Layer, shape: tuple[int, int, int]) -> Architecture:
    """A model of images that ends in three scores."""
    given: tuple[int, ...] = shape
    for layer in (*layers, Flatten()):
        given = layer.shape(given)
    return Architecture("image", (*layers, Flatten(), Dense(given[0], 3)), shape, 3, "image")


def sequence(layer: LSTM, length: int = 6) -> Architecture:
    """A model of sequences of symbols."""
    width = layer.hidden * (2 if layer.both else 1)
    layers = (Embedding(SYMBOLS, layer.inputs), layer, Last(layer.both), Dense(width, 3))
    return Architecture("sequence", layers, (length,), 3, "tokens")


BLOCK = (Convolution(4, 6, 3, 2, 1, bias=False), GroupNorm(2, 6), Relu(), Convolution(6, 6, 3, 1, 1), GroupNorm(3, 6))
SHORT = (Convolution(4, 6, 1, 2, bias=False), GroupNorm(2, 6))
SAME = (Convolution(6, 6, 3, 1, 1, bias=False), GroupNorm(2, 6), Relu())
MODELS: dict[str, Architecture] = {
    "softmax": Architecture("softmax", (Dense(4, 3, bias=False),), (4,), 3, "features"),
    "perceptron": Architecture(
        "mlp", (Dense(4, 6), Relu(), Dense(6, 5), Tanh(), Dense(5, 3, bias=False)), (4,), 3, "features"
    ),
    "flattened": image(Flatten(), shape=(2, 3, 2)),
    "grey": image(Convolution(1, 4, 5, padding=2), Relu(), MaxPool(2), shape=(1, 8, 8)),
    "convolutions": image(
        Convolution(2, 4, 3, padding=1), Tanh(), MaxPool(3, 2, 1), Convolution(4, 5, 3, 2), shape=(2, 9, 7)
    ),
    "wide": image(Convolution(6, 4, 3, bias=False), Relu(), MaxPool(2, padding=1), shape=(6, 6, 5)),
    "norm": image(Convolution(2, 6, 3), GroupNorm(3, 6), Relu(), GroupNorm(1, 6), shape=(2, 5, 6)),
    "mean": Architecture("mean", (Convolution(2, 4, 3), GlobalMean(), Dense(4, 3)), (2, 5, 6), 3, "image"),
    "residual": Architecture(
        "residual",
        (
            *(Convolution(1, 4, 3, padding=1), Relu(), Residual(BLOCK, SHORT), Relu(), Residual(SAME), Relu()),
            *(GlobalMean(), Dense(6, 3)),
        ),
        (1, 8, 6),
        3,
        "image",
    ),
    "lstm": sequence(LSTM(3, 4, layers=2)),
    "lstm both ways": sequence(LSTM(3, 4, layers=2, both=True)),
    "lstm of one step": sequence(LSTM(3, 4), length=1),
    "dense on a sequence": Architecture(
        "sequence", (Embedding(SYMBOLS, 3), Dense(3, 5), Tanh(), Last(), Dense(5, 3)), (4,), 3, "tokens"
    ),
}


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def task_of(architecture: Architecture, loss: Any = "cross_entropy", count: int = 11) -> Task:
    """Random samples."""
    source = generator(1)
    if architecture.kind == "tokens":
        inputs = torch.randint(0, SYMBOLS, (count, *architecture.inputs), generator=source)
    else:
        inputs = torch.randn(count, *architecture.inputs, generator=source, dtype=torch.float64)
    if loss == "logistic":
        labels = torch.randint(0, 2, (count,), generator=source).double() * 2 - 1
    else:
        labels = torch.randint(0, architecture.classes, (count,), generator=source)
    return Task(
        network=batched(architecture),
        known=Clients.alike(1, count),
        weights=np.ones(1),
        inputs=inputs,
        labels=labels,
        offsets=np.array([0, count]),
        loss=loss,
        ridge=RIDGE,
        start=architecture.start(0),
        test_inputs=None,
        test_labels=None,
        device=torch.device("cpu"),
        dtype=torch.float64,
    )


def models(dim: int, lanes: int = LANES) -> torch.Tensor:
    return torch.randn(lanes, dim, generator=generator(2), dtype=torch.float64) / 3


def drawn(task: Task) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows (LANES, WIDTH) and the mask of `COUNTS`."""
    rows = torch.randint(0, len(task.inputs), (LANES, WIDTH), generator=generator(3))
    mask = torch.arange(WIDTH) < torch.tensor(COUNTS)[:, None]
    return rows, mask


def by_hand(task: Task, layers: tuple[Layer, ...], vector: torch.Tensor, rows: torch.Tensor) -> tuple[float, Any]:
    """Loss and gradient (dim,) of one model, ridge included, by a plain module and autograd."""
    module = loaded(layers, vector)
    scores = module(task.inputs[rows])
    if task.loss == "cross_entropy":
        loss = nn.functional.cross_entropy(scores, task.labels[rows])
    else:
        loss = torch.log1p(torch.exp(-task.labels[rows] * scores[:, 0])).mean()
    loss = loss + RIDGE / 2 * sum(p.square().sum() for p in module.parameters())
    loss.backward()
    slopes = [p.grad for p in module.parameters() if p.grad is not None]
    return float(loss.detach()), torch.cat([g.flatten() for g in slopes])


def assert_near(found: torch.Tensor, wanted: torch.Tensor) -> None:
    scale = max(1.0, float(wanted.abs().max()))
    assert found.shape == wanted.shape
    assert float((found - wanted).abs().max()) <= TOLERANCE * scale


def compare(task: Task, layers: tuple[Layer, ...]) -> None:
    """Scores and gradients, by the way back that is written out and by autograd, against a plain module a lane."""
    parameters = models(task.network.dim)
    rows, mask = drawn(task)
    scores = task.network.scores(parameters, task.inputs[rows])
    shared = task.network.scores(parameters, task.inputs[None])
    for k in range(LANES):
        module = loaded(layers, parameters[k])
        assert_near(scores[k], module(task.inputs[rows[k]]).detach())
        assert_near(shared[k], module(task.inputs).detach())
    for network in (task.network, Recorded(task.network)):
        own = replace(task, network=network)
        losses, found = gradients(own, parameters, rows, mask)
        every, at_all = gradients(own, parameters, torch.arange(len(task.inputs))[None], None)
        for k in range(LANES):
            loss, slope = by_hand(task, layers, parameters[k], torch.arange(len(task.inputs)))
            assert float(every[k]) == pytest.approx(loss, rel=TOLERANCE)
            assert_near(at_all[k], slope)
            if COUNTS[k] == 0:
                assert float(losses[k]) == 0
                assert not found[k].any()
                continue
            loss, slope = by_hand(task, layers, parameters[k], rows[k, : COUNTS[k]])
            assert float(losses[k]) == pytest.approx(loss, rel=TOLERANCE)
            assert_near(found[k], slope)


class Recorded:
    """A network without its own way back."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.dim = inner, inner.dim

    def scores(self, parameters: Any, inputs: Any) -> Any:
        return self.inner.scores(parameters, inputs)
