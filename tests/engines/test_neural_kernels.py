"""Batched kernels against one plain torch module for each model, in float64."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from neural_plain import (
    COUNTS,
    MODELS,
    assert_near,
    by_hand,
    compare,
    drawn,
    generator,
    models,
    task_of,
)

from boundcheck.engines.neural import losses as losses_module
from boundcheck.engines.neural.batched import Batched, batched
from boundcheck.engines.neural.kernels.convolution import ConvolutionKernel, Way
from boundcheck.engines.neural.kernels.recurrent import LSTMKernel
from boundcheck.engines.neural.losses import descend, gradients, lane_losses
from boundcheck.problems.architectures import LSTM, Architecture, Convolution, Dense

torch.set_num_threads(1)


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
    assert small.choose(torch.empty(1, 1, 32, 4, 4)) == "grouped"
    assert large.choose(torch.empty(1, 10, 32, 14, 14)) == "each"
    assert ConvolutionKernel(Convolution(16, 16, 3, padding=1)).choose(torch.empty(1, 32, 16, 32, 32)) == "each"
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

    def alone(self, inputs: Any, dtype: Any) -> bool:
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


@pytest.mark.parametrize("masked", [False, True])
def test_cross_entropy_by_torch_is_that_of_compiled_code(masked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is what a GPU takes; a model whose scores are NaN has a NaN loss and gradient either way."""
    task = task_of(MODELS["perceptron"])
    before = models(task.network.dim)
    before[1] = torch.nan
    rows, mask = drawn(task)
    own = mask if masked else None
    losses, found = gradients(task, before, rows, own)
    monkeypatch.setattr(losses_module, "_on_processor", lambda scores: False)
    other, wanted = gradients(task, before, rows, own)
    assert torch.isnan(losses[1])
    assert torch.isnan(found[1]).any()
    torch.testing.assert_close(losses, other, rtol=1e-12, atol=1e-14, equal_nan=True)
    torch.testing.assert_close(found, wanted, rtol=1e-10, atol=1e-13, equal_nan=True)


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
