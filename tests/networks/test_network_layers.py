"""Batched layers against one plain torch module for each model, in float64."""

from __future__ import annotations

from dataclasses import replace

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

from boundcheck.networks.architectures.architecture import Architecture
from boundcheck.networks.architectures.layers import Dense
from boundcheck.networks.engine.losses import descend, gradients, lane_losses

torch.set_num_threads(1)


@pytest.mark.parametrize("name", MODELS)
def test_against_a_plain_module_for_each_lane(name: str) -> None:
    compare(task_of(MODELS[name]), MODELS[name].layers)


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


@pytest.mark.parametrize("name", ["perceptron", "convolutions", "residual", "lstm", "lstm both ways"])
def test_a_step_goes_down_the_gradient(name: str) -> None:
    task = task_of(MODELS[name])
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


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("name", ["perceptron", "convolutions", "lstm both ways"])
def test_what_is_not_a_number_stays_in_its_model(name: str, masked: bool) -> None:
    """A model whose parameters are NaN has a NaN loss and gradient; the others are as without it."""
    task = task_of(MODELS[name])
    before = models(task.network.dim)
    rows, mask = drawn(task)
    own = mask if masked else None
    wanted, slopes = gradients(task, before, rows, own)
    before[1] = torch.nan
    losses, found = gradients(task, before, rows, own)
    assert torch.isnan(losses[1])
    assert torch.isnan(found[1]).any()
    for k in (0, 2):
        assert_near(losses[k], wanted[k])
        assert_near(found[k], slopes[k])


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
