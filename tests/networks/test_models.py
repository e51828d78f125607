"""Shipped models and modules of users as functions of a flat vector, many at once, against one plain module each."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from boundcheck.engines.run import run
from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.methods.build import build as method_of
from boundcheck.methods.clients import Clients
from boundcheck.networks.engine.losses import gradients, lane_losses
from boundcheck.networks.engine.task import Task
from boundcheck.networks.functional import Network, own_network
from boundcheck.networks.models import MODELS, model, options_of, takes
from boundcheck.networks.own_module import own_module
from boundcheck.networks.partition import coordinates, layers, partition

torch.set_num_threads(1)
MNIST, CIFAR, DIGITS = (1, 28, 28), (3, 32, 32), (1, 8, 8)
LANES, WIDTH, COUNTS, SYMBOLS, RIDGE = 3, 5, (5, 2, 0), 7, 0.3  # COUNTS: samples of each lane that count


def network(name: str, inputs: tuple[int, ...], classes: int = 10, symbols: int = 0, **options: Any) -> Network:
    return Network(model(name, inputs, classes, symbols, options), inputs)


# --- the shipped models, written down as one writes them in PyTorch -------------------------------------------


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
    np.testing.assert_allclose(network("mlp", (2,), 2, hidden=[2]).start(1)[:3], FROZEN, rtol=1e-14)


FROZEN = (-0.3562239777301163, 0.5987068626734638, 0.08334089772959037)


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


# --- modules of users ---------------------------------------------------------------------------------------------


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
