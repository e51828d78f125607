"""Shipped models as functions of a flat vector, many at once, against plain modules; their starts and blocks."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from plain_models import DIGITS, PLAIN, SYMBOLS, assert_near, compare, drawn, generator, network, points, task_of
from torch import nn

from boundcheck.errors import BadInput, UnknownName
from boundcheck.networks.engine.losses import gradients, lane_losses
from boundcheck.networks.functional import Network, own_network
from boundcheck.networks.models import MODELS, options_of, takes
from boundcheck.networks.partition import coordinates, layers, partition

MNIST, CIFAR = (1, 28, 28), (3, 32, 32)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_is_that_of_a_plain_module(name: str) -> None:
    inputs, options, plain = PLAIN[name]
    own, module = network(name, inputs, 3, SYMBOLS, **options), plain().double()
    assert [slot.shape for slot in own.slots] == [tuple(p.shape) for p in module.parameters()]
    compare(task_of(own), module)


@pytest.mark.parametrize("name", ["mlp", "resnet20", "char_lstm"])
def test_scores_can_be_differentiated_twice(name: str) -> None:
    """Products with the Hessian of each lane's loss against differences of gradients."""
    inputs, options, _ = PLAIN[name]
    task = replace(task_of(network(name, inputs, 3, SYMBOLS, **options)), ridge=0.0)
    (rows, _), parameters, h = drawn(task), points(task.network.dim), 1e-6
    direction = torch.randn(parameters.shape, generator=generator(7), dtype=torch.float64)
    leaf = parameters.clone().requires_grad_()
    losses = lane_losses(task, task.network.scores(leaf, task.inputs[rows]), task.labels[rows], None)
    (slope,) = torch.autograd.grad(losses.sum(), leaf, create_graph=True)
    (found,) = torch.autograd.grad((slope * direction).sum(), leaf)
    up, down = (gradients(task, parameters + s * h * direction, rows, None)[1] for s in (1, -1))
    assert_near(found, (up - down) / (2 * h), 1e-6)


def test_logistic_loss() -> None:
    linear = nn.Linear(4, 1, bias=False).double()
    task = task_of(own_network(linear, torch.zeros(2, 4))[0], "logistic")
    compare(task, linear)
    far = gradients(replace(task, ridge=0.0), 1e6 * points(4), torch.arange(11)[None], None)
    assert all(torch.isfinite(v).all() for v in far)


def test_what_is_masked_or_not_a_number_touches_nothing_else() -> None:
    inputs, options, _ = PLAIN["cnn"]
    task = task_of(network("cnn", inputs, 3, **options))
    (rows, mask), parameters = drawn(task), points(task.network.dim)
    other = torch.where(mask, rows, (rows + 4) % 11)
    assert not torch.equal(rows, other)
    wanted = gradients(task, parameters, rows, mask)
    for own in ((other, mask), (rows, mask.double())):
        assert all(torch.equal(a, b) for a, b in zip(wanted, gradients(task, parameters, *own), strict=True))
    parameters[1] = torch.nan
    losses, found = gradients(task, parameters, rows, mask)
    assert torch.isnan(losses[1])
    assert torch.isnan(found[1]).any()
    for k in (0, 2):
        assert_near(found[k], wanted[1][k])
    scores = torch.tensor([[[1.0, 2.0, 3.0], [torch.nan, torch.inf, 0.0]]], dtype=torch.float64)
    labels, kept = torch.tensor([[0, 1]]), lane_losses(task, scores[:, :1], torch.tensor([[0]]), None)
    assert_near(lane_losses(task, scores, labels, torch.tensor([[1, 0]])), kept)


# --- sizes and starts ------------------------------------------------------------------------------------------


def dense(inputs: int, outputs: int) -> int:
    return inputs * outputs + outputs


def lstm(inputs: int, hidden: int, both: int = 1) -> int:
    """As PyTorch has it: four gates, two bias vectors."""
    return both * 4 * hidden * (inputs + hidden + 2)


@pytest.mark.parametrize(
    ("name", "inputs", "classes", "symbols", "options", "count"),
    [
        ("softmax", (784,), 10, 0, {}, 7850),
        ("mlp", (784,), 10, 0, {}, 199_210),  # the 2NN of McMahan et al.
        ("cnn", MNIST, 10, 0, {}, 1_663_370),  # the CNN of McMahan et al.
        ("cnn", MNIST, 62, 0, {"hidden": 2048}, 6_603_710),  # LEAF's, for FEMNIST
        ("cnn", CIFAR, 10, 0, {"hidden": 0}, 75 * 32 + 32 + 800 * 64 + 64 + dense(64 * 64, 10)),  # Fraboni et al.
        ("resnet20", CIFAR, 10, 0, {}, 272_474),  # 0.27 M: He et al., Table 6
        ("resnet18", CIFAR, 10, 0, {}, 11_173_962),
        ("resnet18", CIFAR, 100, 0, {}, 11_220_132),  # 11.2 M
        ("vgg11", CIFAR, 10, 0, {}, 9_225_610),
        ("vgg11", MNIST, 10, 0, {}, 9_225_610 - 18 * 64),  # framed, so that the first layer alone differs
        ("char_lstm", (80,), 82, 82, {"hidden": 512}, 82 * 8 + lstm(8, 512) + lstm(512, 512) + dense(512, 82)),
        ("sentiment_lstm", (200,), 2, 10000, {}, 10000 * 256 + lstm(256, 256, both=2) + dense(512, 2)),
    ],
)
def test_known_numbers_of_parameters(
    name: str, inputs: tuple[int, ...], classes: int, symbols: int, options: dict[str, Any], count: int
) -> None:
    assert network(name, inputs, classes, symbols, **options).dim == count


def test_starts() -> None:
    """The ranges of torch's own start, from a stream of the seed alone."""
    net = network("cnn", DIGITS, channels=[4, 8], hidden=16)
    x = net.start(3)
    assert np.array_equal(x, net.start(3))
    assert not np.array_equal(x, net.start(4))
    fan = {1 * 25: 4 * 26, 4 * 25: 8 * 101, 8 * 4: 16 * 33, 16: 10 * 17}  # inputs of a unit -> coordinates
    assert sum(fan.values()) == net.dim
    for own, inputs in zip(np.split(x, np.cumsum(list(fan.values()))[:-1]), fan, strict=True):
        assert 0.9 / inputs**0.5 < np.abs(own).max() <= 1 / inputs**0.5
    normed = network("resnet20", DIGITS, width=4, blocks=1)
    start = normed.start(0)
    gains = [s for s in normed.slots if len(s.shape) == 1 and "weight" in s.name]
    assert len(gains) == 9
    assert all((start[s.offset : s.offset + s.size] == 1).all() for s in gains)
    text = network("char_lstm", (5,), 4, 4, embedding=2000, hidden=3)
    assert text.start(0)[:8000].std() == pytest.approx(1, abs=0.03)
    # numbers of the first release: a seed always means the same start
    np.testing.assert_allclose(network("mlp", (2,), 2, hidden=[2]).start(1)[[0, 1, 2, -1]], FROZEN, rtol=1e-14)


FROZEN = (-0.3562239777301163, 0.5987068626734638, 0.08334089772959037, 0.44351711397723476)


def test_what_is_refused() -> None:
    with pytest.raises(UnknownName, match="resnet20"):
        network("resnet21", CIFAR)
    with pytest.raises(UnknownName, match=r"option 'chanels'.*channels"):
        network("cnn", MNIST, chanels=[1, 2])
    for name, inputs, options in (
        ("cnn", (784,), {}), ("softmax", MNIST, {}), ("cnn", MNIST, {"channels": [1, 2, 3]}),
        ("cnn", MNIST, {"channels": 8}), ("cnn", MNIST, {"channels": "ab"}), ("cnn", MNIST, {"kernel": 4}),
        ("cnn", MNIST, {"hidden": -1}), ("cnn", (1, 3, 3), {}), ("mlp", (64,), {"hidden": [0]}),
        ("mlp", (64,), {"activation": "sin"}), ("vgg11", (1, 27, 27), {}), ("vgg11", (1, 28, 30), {}),
        ("char_lstm", (80,), {}), ("resnet18", CIFAR, {"width": 0}),
    ):  # fmt: skip
        with pytest.raises(BadInput) as found:
            network(name, inputs, **options)
        assert "\n" not in str(found.value)
    assert {name: takes(name) for name in ("mlp", "cnn", "char_lstm")} == {
        "mlp": "features", "cnn": "image", "char_lstm": "tokens",
    }  # fmt: skip
    assert options_of("resnet18") == {"width": 64, "blocks": 2, "groups": 32}


# --- blocks ------------------------------------------------------------------------------------------------------


def tiny() -> Network:
    """By hand: a convolution of 2 kernels on 1 channel (2*1*1 + 2), a norm (2 + 2), a dense layer (3, 8) + 3."""
    body = (nn.Conv2d(1, 2, 1), nn.GroupNorm(1, 2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8, 3))
    return Network(nn.Sequential(*body), (1, 4, 4))


def test_blocks_by_hand() -> None:
    assert layers(tiny()) == ((0, 4), (4, 8), (8, 35))
    assert partition(tiny(), "layer", 2) == (((0, 8),), ((8, 35),))
    assert partition(tiny(), "layer", 5) == (((0, 4),), ((4, 8),), ((8, 35),), (), ())
    # channel 0 and 1 of the first three arrays; the dense layer's 3 rows of 8 go 1 and 2
    assert partition(tiny(), "channel", 2) == (
        ((0, 1), (2, 3), (4, 5), (6, 7), (8, 16), (32, 33)),
        ((1, 2), (3, 4), (5, 6), (7, 8), (16, 32), (33, 35)),
    )
    assert partition(tiny(), "channel", 4)[0] == ()  # no array has 4 channels: its first piece is empty
    with pytest.raises(UnknownName):
        partition(tiny(), "row", 2)
    with pytest.raises(BadInput):
        partition(tiny(), "layer", 0)


def test_units_of_an_lstm_keep_their_gates_and_its_layers_are_apart() -> None:
    net = network("char_lstm", (5,), 4, 4, embedding=2, hidden=2, layers=1)
    first, second = (set(coordinates(block).tolist()) for block in partition(net, "channel", 2))
    slots = {slot.name: slot for slot in net.slots}
    for name, shape in (("1.weight_hh_l0", (4, 2, 2)), ("0.weight", (4, 2, 1))):  # gates or symbols, units, inputs
        own = slots[name]
        at = np.arange(own.offset, own.offset + own.size).reshape(shape)
        assert set(at[:, 0].ravel().tolist()) <= first
        assert set(at[:, 1].ravel().tolist()) <= second
    deep = network("char_lstm", (5,), 4, 4, embedding=2, hidden=3)
    assert [end - begin for begin, end in layers(deep)] == [4 * 2, lstm(2, 3), lstm(3, 3), dense(3, 4)]


@pytest.mark.parametrize("by", ["layer", "channel"])
@pytest.mark.parametrize("tau", [1, 3, 11, 70])
def test_blocks_are_partitions(by: str, tau: int) -> None:
    for name, (inputs, options, _) in PLAIN.items():
        net = network(name, inputs, 3, SYMBOLS, **options)
        blocks, seen = partition(net, by, tau), np.zeros(net.dim, dtype=np.int64)
        assert len(blocks) == tau
        for block in blocks:
            assert all(a < b for a, b in block)
            assert all(b < c for (_, b), (c, _) in itertools.pairwise(block))
            seen[coordinates(block)] += 1
        assert (seen == 1).all()


def test_the_cut_by_layer_is_the_best_of_all() -> None:
    net = network("resnet20", DIGITS, blocks=1, width=4)
    sizes = [end - begin for begin, end in layers(net)]
    for tau in (2, 3):
        cuts = itertools.combinations(range(1, len(sizes)), tau - 1)
        best = min(sum(sum(sizes[a:b]) ** 2 for a, b in itertools.pairwise((0, *own, len(sizes)))) for own in cuts)
        assert sum(coordinates(block).size ** 2 for block in partition(net, "layer", tau)) == best
