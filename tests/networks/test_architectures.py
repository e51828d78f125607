"""The models of the papers: how many parameters they are known to have, and how they are cut into blocks."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch

from boundcheck.errors import BadInput, UnknownName
from boundcheck.networks.architectures.architecture import Architecture
from boundcheck.networks.architectures.layers import LSTM, Convolution, Dense, Flatten, GroupNorm, MaxPool, Relu
from boundcheck.networks.architectures.partition import coordinates, layers, partition
from boundcheck.networks.architectures.zoo import MODELS, architecture, options_of, takes

torch.set_num_threads(1)

MNIST, CIFAR, DIGITS = (1, 28, 28), (3, 32, 32), (1, 8, 8)


def dense(inputs: int, outputs: int) -> int:
    return inputs * outputs + outputs


def conv(inputs: int, outputs: int, side: int = 3) -> int:
    return inputs * outputs * side**2


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
        ("resnet20", CIFAR, 10, 0, {}, 272_474),  # 0.27 M: He et al., Table 6
        ("resnet18", CIFAR, 10, 0, {}, 11_173_962),
        ("resnet18", CIFAR, 100, 0, {}, 11_220_132),  # 11.2 M
        ("vgg11", CIFAR, 10, 0, {}, 9_225_610),
    ],
)
def test_known_numbers_of_parameters(
    name: str, inputs: tuple[int, ...], classes: int, symbols: int, options: dict[str, Any], count: int
) -> None:
    assert architecture(name, inputs, classes, symbols, options).dim == count


def test_numbers_of_parameters_by_hand() -> None:
    fraboni = conv(3, 32, 5) + 32 + conv(32, 64, 5) + 64 + dense(64 * 8 * 8, 10)
    assert architecture("cnn", CIFAR, 10, options={"hidden": 0}).dim == fraboni
    digits = conv(1, 4, 3) + 4 + conv(4, 8, 3) + 8 + dense(8 * 2 * 2, 16) + dense(16, 10)
    small = {"channels": [4, 8], "kernel": 3, "hidden": 16}
    assert architecture("cnn", DIGITS, 10, options=small).dim == digits
    for hidden in (100, 512):
        text = 82 * 8 + lstm(8, hidden) + lstm(hidden, hidden) + dense(hidden, 82)
        assert architecture("char_lstm", (80,), 82, 82, {"hidden": hidden}).dim == text
    words = 10000 * 256 + lstm(256, 256, both=2) + dense(512, 2)
    assert architecture("sentiment_lstm", (200,), 2, 10000).dim == words
    first = conv(1, 64) + 64  # a 28 x 28 image is framed, so that only the first layer differs from CIFAR's
    assert architecture("vgg11", MNIST, 10).dim == 9_225_610 - conv(3, 64) - 64 + first
    blocks = [conv(16, 16)] * 6 + [conv(16, 32)] + [conv(32, 32)] * 5 + [conv(32, 64)] + [conv(64, 64)] * 5
    shortcuts = conv(16, 32, 1) + conv(32, 64, 1)
    norms = 2 * (16 * 7 + 32 * 7 + 64 * 7)  # after every convolution, those of the two shortcuts included
    assert architecture("resnet20", CIFAR, 10).dim == conv(3, 16) + sum(blocks) + shortcuts + norms + dense(64, 10)


def test_numbers_of_parameters_and_shapes_are_those_of_torch() -> None:
    modules: list[tuple[Any, Any]] = [
        (Convolution(3, 5, 3, 2, 1), torch.nn.Conv2d(3, 5, 3, 2, 1)),
        (Dense(7, 4), torch.nn.Linear(7, 4)),
        (GroupNorm(2, 6), torch.nn.GroupNorm(2, 6)),
        (LSTM(8, 5, 2), torch.nn.LSTM(8, 5, 2)),
        (LSTM(3, 5, 2, both=True), torch.nn.LSTM(3, 5, 2, bidirectional=True)),
    ]
    for layer, module in modules:
        own = {p.name: p.shape for p in layer.parameters()}
        assert list(own.items()) == [(name, tuple(value.shape)) for name, value in module.named_parameters()]


def test_starts_have_the_ranges_of_torch() -> None:
    for layer, module in ((Dense(50, 40), torch.nn.Linear(50, 40)), (Convolution(4, 30, 3), torch.nn.Conv2d(4, 30, 3))):
        for parameter, (name, value) in zip(layer.parameters(), module.named_parameters(), strict=True):
            width = parameter.width
            assert parameter.name == name
            largest = float(value.detach().abs().max())
            assert 0.85 * width < largest <= width  # torch's own draw fills the same range
    net = architecture("cnn", DIGITS, 10, options={"channels": [4, 8], "hidden": 16})
    x = net.start(3)
    assert np.array_equal(x, net.start(3))
    assert not np.array_equal(x, net.start(4))
    for slot in net.slots:
        own, width = x[slot.offset : slot.offset + slot.size], slot.parameter.width
        assert np.abs(own).max() <= width
        assert slot.size < 100 or (np.abs(own).max() > 0.95 * width and abs(own.mean()) < 4 * width / slot.size**0.5)
    normed = architecture("resnet20", DIGITS, 10, options={"width": 4, "blocks": 1})
    start = normed.start(0)
    for slot in normed.slots:
        own = start[slot.offset : slot.offset + slot.size]
        if slot.parameter.start in ("ones", "zeros"):
            assert (own == (slot.parameter.start == "ones")).all()


def test_a_residual_network_is_as_deep_as_it_says() -> None:
    for blocks in (1, 3):
        net = architecture("resnet20", CIFAR, 10, options={"blocks": blocks})
        weights = [s for s in net.slots if len(s.parameter.shape) == 4 and s.parameter.shape[2] == 3]
        assert len(weights) + 1 == 6 * blocks + 2
    for slot in architecture("resnet18", CIFAR, 10).slots:
        assert "shortcut" not in slot.name or slot.parameter.shape[0] > 64  # stages of other widths only


def test_groups_divide_the_channels() -> None:
    net = architecture("resnet20", CIFAR, 10, options={"width": 6, "groups": 8})
    norms = [layer for layer in net.layers if isinstance(layer, GroupNorm)]
    assert [(n.groups, n.channels) for n in norms] == [(2, 6)]


@pytest.mark.parametrize("name", list(MODELS))
def test_every_model_fits_the_small_shapes(name: str) -> None:
    inputs = {"features": (64,), "image": DIGITS, "tokens": (12,)}[takes(name)]
    assert architecture(name, inputs, 10, 20).dim > 0
    assert set(options_of(name)) >= ({"hidden"} if "lstm" in name else set())


def test_what_is_refused() -> None:
    with pytest.raises(UnknownName, match="resnet20"):
        architecture("resnet21", CIFAR, 10)
    with pytest.raises(UnknownName, match=r"option 'chanels'.*channels"):
        architecture("cnn", MNIST, 10, options={"chanels": [1, 2]})
    for name, inputs, options in (
        ("cnn", (784,), {}),
        ("softmax", MNIST, {}),
        ("cnn", MNIST, {"channels": [1, 2, 3]}),
        ("cnn", MNIST, {"channels": 8}),
        ("cnn", MNIST, {"channels": "ab"}),
        ("cnn", MNIST, {"kernel": 4}),
        ("cnn", MNIST, {"hidden": -1}),
        ("cnn", (1, 3, 3), {}),
        ("mlp", (64,), {"hidden": [0]}),
        ("mlp", (64,), {"activation": "sin"}),
        ("vgg11", (1, 27, 27), {}),
        ("vgg11", (1, 28, 30), {}),
        ("char_lstm", (80,), {}),  # no symbols
        ("resnet18", CIFAR, {"width": 0}),
    ):
        with pytest.raises(BadInput) as found:
            architecture(name, inputs, 10, options=options)
        assert "\n" not in str(found.value)
    with pytest.raises(ValueError, match="not in 10 scores"):
        Architecture("odd", (Dense(3, 4),), (3,), 10, "features")


def tiny() -> Architecture:
    """By hand: a convolution of 2 kernels on 1 channel (2*1*1 + 2), a norm (2 + 2), a dense layer (3, 8) + 3."""
    body = (Convolution(1, 2, 1), GroupNorm(1, 2), Relu(), MaxPool(2), Flatten(), Dense(8, 3))
    return Architecture("tiny", body, (1, 4, 4), 3, "image")


def test_blocks_by_layer_by_hand() -> None:
    assert layers(tiny()) == ((0, 4), (4, 8), (8, 35))
    assert partition(tiny(), "layer", 1) == (((0, 35),),)
    assert partition(tiny(), "layer", 2) == (((0, 8),), ((8, 35),))
    assert partition(tiny(), "layer", 3) == (((0, 4),), ((4, 8),), ((8, 35),))
    assert partition(tiny(), "layer", 5) == (((0, 4),), ((4, 8),), ((8, 35),), (), ())


def test_blocks_by_channel_by_hand() -> None:
    # channel 0 and 1 of the first three arrays; the dense layer's 3 rows of 8 go 1 and 2
    assert partition(tiny(), "channel", 2) == (
        ((0, 1), (2, 3), (4, 5), (6, 7), (8, 16), (32, 33)),
        ((1, 2), (3, 4), (5, 6), (7, 8), (16, 32), (33, 35)),
    )
    assert partition(tiny(), "channel", 4)[0] == ()  # no array has 4 channels: its first piece is empty


def test_units_of_an_lstm_keep_their_gates() -> None:
    net = architecture("char_lstm", (5,), 4, 4, {"embedding": 2, "hidden": 2, "layers": 1})
    first, second = (set(coordinates(block).tolist()) for block in partition(net, "channel", 2))
    slots = {slot.name: slot for slot in net.slots}
    matrix = slots["1.weight_hh_l0"]
    at = np.arange(matrix.offset, matrix.offset + matrix.size).reshape(4, 2, 2)  # gates, units, inputs
    assert set(at[:, 0].ravel().tolist()) <= first
    assert set(at[:, 1].ravel().tolist()) <= second
    table = slots["0.weight"]
    at = np.arange(table.offset, table.offset + table.size).reshape(4, 2)  # symbols, coordinates
    assert set(at[:, 0].tolist()) <= first
    assert set(at[:, 1].tolist()) <= second


@pytest.mark.parametrize("by", ["layer", "channel"])
@pytest.mark.parametrize("tau", [1, 2, 4, 11, 70])
def test_blocks_are_partitions(by: str, tau: int) -> None:
    small = {"hidden": 12, "layers": 2}
    for net in (
        architecture("resnet20", DIGITS, 10),
        architecture("cnn", DIGITS, 10, options={"channels": [4, 6], "hidden": 10}),
        architecture("softmax", (64,), 10),
        architecture("char_lstm", (10,), 20, 20, small),
        architecture("sentiment_lstm", (10,), 2, 30, {"embedding": 6, "hidden": 5, "layers": 2}),
    ):
        blocks = partition(net, by, tau)
        assert len(blocks) == tau
        seen = np.zeros(net.dim, dtype=np.int64)
        for block in blocks:
            assert all(a < b for a, b in block)
            assert all(b < c for (_, b), (c, _) in itertools.pairwise(block))
            seen[coordinates(block)] += 1
        assert (seen == 1).all()
        if by == "layer":
            starts = {begin for begin, _ in layers(net)}
            assert all(len(block) <= 1 and (not block or block[0][0] in starts) for block in blocks)
            assert sum(not block for block in blocks) == max(0, tau - len(starts))


def test_the_cut_by_layer_is_the_best_of_all() -> None:
    net = architecture("resnet20", DIGITS, 10, options={"blocks": 1, "width": 4})
    sizes = [end - begin for begin, end in layers(net)]

    def cost(cuts: tuple[int, ...]) -> int:
        return sum(sum(sizes[a:b]) ** 2 for a, b in itertools.pairwise((0, *cuts, len(sizes))))

    for tau in (2, 3, 4):
        best = min(cost(cuts) for cuts in itertools.combinations(range(1, len(sizes)), tau - 1))
        found = [coordinates(block).size for block in partition(net, "layer", tau)]
        assert sum(v**2 for v in found) == best


def test_blocks_that_are_refused() -> None:
    with pytest.raises(UnknownName):
        partition(tiny(), "row", 2)
    with pytest.raises(BadInput):
        partition(tiny(), "layer", 0)


def test_deep_lstms_are_cut_between_their_layers() -> None:
    net = architecture("char_lstm", (5,), 4, 4, {"embedding": 2, "hidden": 3})
    sizes = [end - begin for begin, end in layers(net)]
    assert sizes == [4 * 2, lstm(2, 3), lstm(3, 3), dense(3, 4)]
    assert math.prod(net.slots[0].parameter.shape) == 8
