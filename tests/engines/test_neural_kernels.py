"""Batched kernels against one plain torch module for each model, in float64."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from boundcheck.engines.neural.batched import Batched, batched
from boundcheck.engines.neural.functional import functional
from boundcheck.engines.neural.kernels.convolution import ConvolutionKernel, Way
from boundcheck.engines.neural.kernels.recurrent import LSTMKernel
from boundcheck.engines.neural.losses import descend, gradients, lane_losses
from boundcheck.engines.neural.own import OwnProblem, own_module
from boundcheck.engines.neural.task import Task
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.problems.architectures import (
    LSTM,
    Architecture,
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


# --- tests -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_against_a_plain_module_for_each_lane(name: str) -> None:
    compare(task_of(MODELS[name]), MODELS[name].layers)


def with_way(architecture: Architecture, way: Way) -> Batched:
    """The network with all its convolutions by one way."""
    found = batched(architecture)

    def over(chain: Any) -> Any:
        kernels: list[tuple[Any, int]] = []
        for kernel, count in chain.kernels:
            if isinstance(kernel, ConvolutionKernel):
                kernel = replace(kernel, way=way)
            elif hasattr(kernel, "shortcut"):
                kernel = replace(kernel, body=over(kernel.body), shortcut=over(kernel.shortcut))
            kernels.append((kernel, count))
        return replace(chain, kernels=tuple(kernels))

    return replace(found, chain=over(found.chain))


@pytest.mark.parametrize("way", ["grouped", "columns", "each"])
@pytest.mark.parametrize("name", ["grey", "convolutions", "wide", "norm", "residual"])
def test_ways_of_convolutions(name: str, way: Way) -> None:
    task = task_of(MODELS[name])
    compare(replace(task, network=with_way(MODELS[name], way)), MODELS[name].layers)


def test_the_way_of_a_convolution_is_that_of_the_stated_rule() -> None:
    small, large, grey = (ConvolutionKernel(Convolution(inputs, 64, 5, padding=2)) for inputs in (32, 32, 1))
    assert small.choose(torch.empty(1, 1, 32, 4, 4)) == "columns"
    assert large.choose(torch.empty(1, 10, 32, 14, 14)) == "each"
    assert grey.choose(torch.empty(1, 64, 1, 28, 28)) == "columns"
    assert large.choose(torch.empty(1, 10, 32, 14, 14, device="meta")) == "grouped"


@pytest.mark.parametrize("name", ["lstm", "lstm both ways"])
def test_lstm_through_the_library(name: str) -> None:
    """What a processor takes in float32; here in float64, where the numbers can be held against."""
    task = task_of(MODELS[name])
    net = task.network
    assert isinstance(net, Batched)
    kernels = [(replace(k, way="each") if isinstance(k, LSTMKernel) else k, c) for k, c in net.chain.kernels]
    compare(replace(task, network=replace(net, chain=replace(net.chain, kernels=tuple(kernels)))), MODELS[name].layers)
    found = LSTMKernel(LSTM(3, 4))
    assert (found.choose("cpu", torch.float32), found.choose("cpu", torch.float64)) == ("each", "batched")
    assert found.choose("cuda", torch.float32) == "batched"


@pytest.mark.parametrize("name", ["perceptron", "convolutions", "residual", "lstm", "lstm both ways"])
def test_single_precision_is_near(name: str) -> None:
    task = task_of(MODELS[name])
    inputs = task.inputs if MODELS[name].kind == "tokens" else task.inputs.float()
    single = replace(task, inputs=inputs, dtype=torch.float32)
    rows, mask = drawn(task)
    parameters = models(task.network.dim)
    _, wanted = gradients(task, parameters, rows, mask)
    _, found = gradients(single, parameters.float(), rows, mask)
    assert found.dtype == torch.float32
    assert float((found - wanted).abs().max()) <= 1e-5 * float(wanted.abs().max())


class Alone(Batched):
    """One model at a time."""

    def alone(self, parameters: Any, inputs: Any) -> bool:
        return True


@pytest.mark.parametrize("name", ["perceptron", "convolutions", "residual", "lstm", "lstm both ways"])
@pytest.mark.parametrize("alone", [False, True])
def test_a_step_goes_down_the_gradient(name: str, alone: bool) -> None:
    task = task_of(MODELS[name])
    if alone:
        net = task.network
        assert isinstance(net, Batched)
        task = replace(task, network=Alone(net.architecture, net.chain))
    before = models(task.network.dim)
    rows, mask = drawn(task)
    eta = torch.tensor([[0.1], [0.2], [0.3]], dtype=torch.float64)
    wanted = before.clone()
    for k in range(2):  # the third has no samples
        wanted[k] -= eta[k] * by_hand(task, MODELS[name].layers, before[k], rows[k, : COUNTS[k]])[1]
    after = before.clone()
    losses = descend(task, after, rows, mask, eta)
    assert_near(after, wanted)
    assert_near(losses, gradients(task, before, rows, mask)[0])
    plain = replace(task, ridge=0.0)  # the step that is added in place
    after, below = before.clone(), before - eta * gradients(plain, before, rows, mask)[1]
    assert_near(descend(plain, after, rows, mask, eta), gradients(plain, before, rows, mask)[0])
    assert_near(after, below)
    into = torch.full_like(before, torch.nan)
    _, found = gradients(task, before, rows, mask, into)
    assert found is into
    assert_near(before - eta * found, wanted)


def test_logistic_loss() -> None:
    architecture = Architecture("line", (Dense(4, 1, bias=False),), (4,), 1, "features")
    compare(task_of(architecture, "logistic"), architecture.layers)


def test_logistic_loss_does_not_overflow() -> None:
    architecture = Architecture("line", (Dense(4, 1, bias=False),), (4,), 1, "features")
    task = replace(task_of(architecture, "logistic"), ridge=0.0)
    losses, slope = gradients(task, 1e6 * models(4), torch.arange(len(task.inputs))[None], None)
    assert torch.isfinite(losses).all()
    assert torch.isfinite(slope).all()


@pytest.mark.parametrize("name", ["perceptron", "convolutions"])
def test_padding_touches_nothing(name: str) -> None:
    """Rows under a mask of 0 may be any: results are the same to the last bit."""
    task = task_of(MODELS[name])
    rows, mask = drawn(task)
    other = torch.where(mask, rows, (rows + 4) % len(task.inputs))
    assert not torch.equal(rows, other)
    parameters = models(task.network.dim)
    for a, b in zip(gradients(task, parameters, rows, mask), gradients(task, parameters, other, mask), strict=True):
        assert torch.equal(a, b)
    numbers = gradients(task, parameters, rows, mask.double())
    assert torch.equal(numbers[1], gradients(task, parameters, rows, mask)[1])


def test_scores_that_overflow_under_a_mask_do_no_harm() -> None:
    task = task_of(MODELS["softmax"])
    scores = torch.tensor([[[1.0, 2.0, 3.0], [torch.nan, torch.inf, 0.0]]], dtype=torch.float64)
    labels = torch.tensor([[0, 1]])
    found = lane_losses(task, scores, labels, torch.tensor([[1, 0]]))
    assert_near(found, lane_losses(task, scores[:, :1], labels[:, :1], None))


@pytest.mark.parametrize("name", ["perceptron", "residual", "lstm both ways"])
def test_gradients_against_finite_differences(name: str) -> None:
    task = task_of(MODELS[name])
    rows, mask = drawn(task)
    parameters, h = models(task.network.dim), 1e-5
    direction = torch.randn(parameters.shape, generator=generator(7), dtype=torch.float64)
    up, down = (gradients(task, parameters + s * h * direction, rows, mask)[0] for s in (1, -1))
    _, slope = gradients(task, parameters, rows, mask)
    assert ((up - down) / (2 * h)).tolist() == pytest.approx((slope * direction).sum(1).tolist(), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("name", ["residual", "lstm"])
def test_scores_can_be_differentiated_twice(name: str) -> None:
    """Products with the Hessian of each lane's loss against differences of gradients."""
    task = replace(task_of(MODELS[name]), ridge=0.0)
    rows, _ = drawn(task)
    parameters, h = models(task.network.dim), 1e-6
    direction = torch.randn(parameters.shape, generator=generator(7), dtype=torch.float64)
    leaf = parameters.clone().requires_grad_()
    losses = lane_losses(task, task.network.scores(leaf, task.inputs[rows]), task.labels[rows], None)
    (slope,) = torch.autograd.grad(losses.sum(), leaf, create_graph=True)
    (found,) = torch.autograd.grad((slope * direction).sum(), leaf)
    up, down = (gradients(task, parameters + s * h * direction, rows, None)[1] for s in (1, -1))
    wanted = (up - down) / (2 * h)
    assert float((found - wanted).abs().max()) <= 1e-6 * float(wanted.abs().max())


def test_passes_under_autocast_stay_near() -> None:
    task = task_of(MODELS["perceptron"])
    single = replace(task, inputs=task.inputs.float(), dtype=torch.float32)
    rows, mask = drawn(task)
    parameters = models(task.network.dim).float()
    _, exact = gradients(single, parameters, rows, mask)
    _, rough = gradients(replace(single, autocast=True), parameters, rows, mask)
    error = float((rough - exact).norm() / exact.norm())
    assert 0 < error < 0.03  # 8 bits


# --- a user's own module ---------------------------------------------------------------------------------------


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
