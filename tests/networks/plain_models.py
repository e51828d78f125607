"""The shipped models as one writes them in PyTorch, and what holds a network against such a module in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from boundcheck.methods.clients import Clients
from boundcheck.networks.engine.losses import gradients
from boundcheck.networks.engine.task import Task
from boundcheck.networks.functional import Network
from boundcheck.networks.models import model

torch.set_num_threads(1)
DIGITS = (1, 8, 8)
LANES, WIDTH, COUNTS, SYMBOLS, RIDGE = 3, 5, (5, 2, 0), 7, 0.3  # COUNTS: samples of each lane that count


def network(name: str, inputs: tuple[int, ...], classes: int = 10, symbols: int = 0, **options: Any) -> Network:
    return Network(model(name, inputs, classes, symbols, options), inputs)


class Add(nn.Module):
    def __init__(self, body: nn.Module, shortcut: nn.Module) -> None:
        super().__init__()
        self.body, self.shortcut = body, shortcut

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(x) + self.shortcut(x)


class Texts(nn.Module):
    def __init__(self, both: bool, depth: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(SYMBOLS, 3)
        self.lstm = nn.LSTM(3, 4, depth, batch_first=True, bidirectional=both)
        self.dense, self.both = nn.Linear(8 if both else 4, 3), both

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.lstm(self.embedding(x))[0]
        return self.dense(torch.cat((y[:, -1, :4], y[:, 0, 4:]), dim=1) if self.both else y[:, -1])


def _stage(given: int, width: int, stride: int) -> list[nn.Module]:
    body = nn.Sequential(
        nn.Conv2d(given, width, 3, stride, 1, bias=False), nn.GroupNorm(2, width), nn.ReLU(),
        nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.GroupNorm(2, width),
    )  # fmt: skip
    short = nn.Sequential(nn.Conv2d(given, width, 1, stride, bias=False), nn.GroupNorm(2, width))
    return [Add(body, short if stride > 1 else nn.Identity()), nn.ReLU()]


def residual(stages: int) -> nn.Module:
    rest = [m for k in range(stages) for m in _stage(2 << max(0, k - 1), 2 << k, 2 if k else 1)]
    first = [nn.Conv2d(1, 2, 3, 1, 1, bias=False), nn.GroupNorm(2, 2), nn.ReLU()]
    return nn.Sequential(*first, *rest, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2 << (stages - 1), 3))


def vgg() -> nn.Module:
    found, at = list[nn.Module](), 1
    for k, (width, pool) in enumerate(((1, 1), (2, 1), (4, 0), (4, 1), (8, 0), (8, 1), (8, 0), (8, 1))):
        found += [nn.Conv2d(at, width, 3, padding=1 + 12 * (k == 0)), nn.ReLU(), *[nn.MaxPool2d(2)] * pool]
        at = width
    return nn.Sequential(*found, nn.Flatten(), nn.Linear(8, 3))


PLAIN: dict[str, tuple[tuple[int, ...], dict[str, Any], Callable[[], nn.Module]]] = {
    "softmax": ((6,), {}, lambda: nn.Linear(6, 3)),
    "mlp": (
        (6,), {"hidden": [4, 5], "activation": "tanh"},
        lambda: nn.Sequential(nn.Linear(6, 4), nn.Tanh(), nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3)),
    ),
    "cnn": (
        DIGITS, {"channels": [2, 3], "kernel": 3, "hidden": 5},
        lambda: nn.Sequential(
            nn.Conv2d(1, 2, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(2, 3, 3, padding=1), nn.ReLU(),
            nn.MaxPool2d(2), nn.Flatten(), nn.Linear(12, 5), nn.ReLU(), nn.Linear(5, 3),
        ),
    ),
    "resnet20": (DIGITS, {"width": 2, "blocks": 1, "groups": 2}, lambda: residual(3)),
    "resnet18": (DIGITS, {"width": 2, "blocks": 1, "groups": 2}, lambda: residual(4)),
    "vgg11": (DIGITS, {"width": 1}, vgg),
    "char_lstm": ((6,), {"embedding": 3, "hidden": 4, "layers": 2}, lambda: Texts(False, 2)),
    "sentiment_lstm": ((6,), {"embedding": 3, "hidden": 4, "layers": 1}, lambda: Texts(True, 1)),
}  # fmt: skip


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def task_of(own: Network, loss: Any = "cross_entropy", count: int = 11) -> Task:
    if len(own.sample) == 1 and own.sample[0] == 6 and "Embedding" in str(own.module):
        inputs = torch.randint(0, SYMBOLS, (count, *own.sample), generator=generator(1))
    else:
        inputs = torch.randn(count, *own.sample, generator=generator(1), dtype=torch.float64)
    labels = torch.randint(0, 3, (count,), generator=generator(4))
    return Task(
        network=own, known=Clients.alike(1, count), weights=np.ones(1), inputs=inputs,
        labels=labels if loss == "cross_entropy" else (labels % 2 * 2 - 1).double(), offsets=np.array([0, count]),
        loss=loss, ridge=RIDGE, start=np.zeros(own.dim), test_inputs=None, test_labels=None,
        device=torch.device("cpu"), dtype=torch.float64,
    )  # fmt: skip


def points(dim: int) -> torch.Tensor:
    return torch.randn(LANES, dim, generator=generator(2), dtype=torch.float64) / 3


def drawn(task: Task) -> tuple[torch.Tensor, torch.Tensor]:
    rows = torch.randint(0, len(task.inputs), (LANES, WIDTH), generator=generator(3))
    return rows, torch.arange(WIDTH) < torch.tensor(COUNTS)[:, None]


def by_hand(task: Task, module: nn.Module, x: torch.Tensor, rows: torch.Tensor) -> tuple[float, torch.Tensor]:
    """Loss and gradient (dim,) of one model, ridge included, by a plain module and autograd."""
    torch.nn.utils.vector_to_parameters(x.clone(), module.parameters())
    module.zero_grad()
    scores = module(task.inputs[rows])
    if task.loss == "cross_entropy":
        loss = nn.functional.cross_entropy(scores, task.labels[rows])
    else:
        loss = torch.log1p(torch.exp(-task.labels[rows] * scores[:, 0])).mean()
    loss = loss + RIDGE / 2 * sum(p.square().sum() for p in module.parameters())
    loss.backward()
    return float(loss.detach()), torch.cat([p.grad.flatten() for p in module.parameters() if p.grad is not None])


def assert_near(found: torch.Tensor, wanted: torch.Tensor, tolerance: float = 1e-10) -> None:
    assert found.shape == wanted.shape
    assert float((found - wanted).abs().max()) <= tolerance * max(1.0, float(wanted.abs().max()))


def compare(task: Task, module: nn.Module) -> None:
    """Scores and gradients against a plain module for each lane, with samples of their own and shared ones."""
    parameters, (rows, mask) = points(task.network.dim), drawn(task)
    scores, shared = (task.network.scores(parameters, task.inputs[r]) for r in (rows, torch.arange(11)[None]))
    with torch.no_grad():
        unrecorded = task.network.scores(parameters, task.inputs[rows])
    for k in range(LANES):
        torch.nn.utils.vector_to_parameters(parameters[k].clone(), module.parameters())
        assert_near(scores[k], module(task.inputs[rows[k]]).detach())
        assert_near(shared[k], module(task.inputs).detach())
        assert_near(unrecorded[k], scores[k])
    losses, found = gradients(task, parameters, rows, mask)
    every, at_all = gradients(task, parameters, torch.arange(11)[None], None)
    alone = gradients(task, parameters[:1], rows[:1], None)[1]
    assert_near(alone, gradients(task, parameters, rows, None)[1][:1])
    for k in range(LANES):
        loss, slope = by_hand(task, module, parameters[k], torch.arange(11))
        assert float(every[k]) == pytest.approx(loss, rel=1e-10)
        assert_near(at_all[k], slope)
        if COUNTS[k] == 0:
            assert float(losses[k]) == 0
            assert not found[k].any()
            continue
        loss, slope = by_hand(task, module, parameters[k], rows[k, : COUNTS[k]])
        assert float(losses[k]) == pytest.approx(loss, rel=1e-10)
        assert_near(found[k], slope)
