"""The models of the papers' experiments, by name, each at the size that the paper states and at any smaller one.

Sizes are options, so that the same architecture can be trained on a processor. Normalisation is GroupNorm throughout
(K. Hsieh et al., The Non-IID Data Quagmire of Decentralized Machine Learning, 2020): statistics over a batch would make
a client's gradient depend on which samples share a batch, and F would be no mean over samples any more.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from boundcheck.errors import BadInput, UnknownName, shown
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
    Shape,
    Tanh,
)
from boundcheck.problems._specs import whole

WIDEST = 65536  # units of a layer
DEEPEST = 100  # layers of one kind
VGG_SIDE = 32  # the side of the images for which VGG-11's five halvings are made


def softmax(inputs: Shape, classes: int, symbols: int) -> tuple[Layer, ...]:
    """Linear scores: softmax regression."""
    return (Dense(inputs[0], classes),)


def mlp(
    inputs: Shape, classes: int, symbols: int, *, hidden: Sequence[Any] = (200, 200), activation: str = "relu"
) -> tuple[Layer, ...]:
    """Dense layers with an activation, "relu" or "tanh", between them.

    hidden: their widths; (200, 200) is the "2NN" of B. McMahan et al., Communication-Efficient Learning of Deep
    Networks from Decentralized Data (2017).
    """
    if activation not in ("relu", "tanh"):
        raise UnknownName("the activation", str(activation), ("relu", "tanh"))
    bend = Relu() if activation == "relu" else Tanh()
    layers, at = list[Layer](), inputs[0]
    for width in _widths(hidden, "hidden", None):
        layers += [Dense(at, width), bend]
        at = width
    return (*layers, Dense(at, classes))


def cnn(
    inputs: Shape,
    classes: int,
    symbols: int,
    *,
    channels: Sequence[Any] = (32, 64),
    kernel: Any = 5,
    hidden: Any = 512,
) -> tuple[Layer, ...]:
    """Two convolutions that keep the size, each with ReLU and 2 x 2 max pooling; a dense layer with ReLU; the scores.

    (32, 64), 5 x 5, 512: the CNN of McMahan et al. (2017); with hidden = 2048 that of LEAF for FEMNIST (S. Caldas et
    al., 2018). hidden = 0: no dense layer between, as Y. Fraboni et al. describe theirs ("two convolutional layers and
    a linear transformation layer to produce logits").
    """
    first, second = _widths(channels, "channels", 2)
    size = whole(kernel, "kernel", 1, 15)
    if size % 2 == 0:
        raise BadInput(f"kernel = {size} is not allowed; only an odd one keeps the size of the images.")
    own = whole(hidden, "hidden", 0, WIDEST)
    layers: list[Layer] = []
    for given, width in ((inputs[0], first), (first, second)):
        layers += [Convolution(given, width, size, padding=size // 2), Relu(), MaxPool(2)]
    layers.append(Flatten())
    at = math.prod(_after(layers, inputs))
    if own:
        layers += [Dense(at, own), Relu()]
        at = own
    return (*layers, Dense(at, classes))


def resnet20(
    inputs: Shape, classes: int, symbols: int, *, width: Any = 16, blocks: Any = 3, groups: Any = 8
) -> tuple[Layer, ...]:
    """The residual network for images of 32 x 32 (K. He et al., 2016, Section 4.2) with GroupNorm; 6 * blocks + 2 deep.

    width: channels of the first of three stages; a stage doubles them and halves the sides, with a 1 x 1 convolution as
    the shortcut there (option B). groups: of each normalisation (of a stage with fewer channels: as many as divide
    them).
    """
    base, depth = whole(width, "width", 1, WIDEST // 4), whole(blocks, "blocks", 1, DEEPEST)
    return _residual(inputs, classes, (base, 2 * base, 4 * base), depth, whole(groups, "groups", 1, WIDEST))


def resnet18(
    inputs: Shape, classes: int, symbols: int, *, width: Any = 64, blocks: Any = 2, groups: Any = 32
) -> tuple[Layer, ...]:
    """ResNet-18 (K. He et al., 2016) with GroupNorm, for small images: a 3 x 3 first convolution and no first pooling.

    width: channels of the first of four stages; blocks: in each; groups: as in `resnet20`.
    """
    base, depth = whole(width, "width", 1, WIDEST // 8), whole(blocks, "blocks", 1, DEEPEST)
    stages = (base, 2 * base, 4 * base, 8 * base)
    return _residual(inputs, classes, stages, depth, whole(groups, "groups", 1, WIDEST))


def vgg11(inputs: Shape, classes: int, symbols: int, *, width: Any = 64) -> tuple[Layer, ...]:
    """VGG-11 (K. Simonyan, A. Zisserman, 2015, configuration A) for small images: one dense layer at the end.

    width: channels of the first convolution (the others 2, 4, 4, 8, 8, 8, 8 times as many). Images with sides under 32
    are framed with zeros up to 32 by the padding of the first convolution.
    """
    base = whole(width, "width", 1, WIDEST // 8)
    if inputs[1] != inputs[2]:
        raise BadInput(f"the model 'vgg11' takes square images, not {inputs[1]} x {inputs[2]}.")
    frame = max(0, VGG_SIDE - inputs[1])
    if frame % 2:
        raise BadInput(f"the model 'vgg11' cannot frame images of {inputs[1]} x {inputs[1]} evenly up to {VGG_SIDE}.")
    layers, at = list[Layer](), inputs[0]
    for times, pool in ((1, True), (2, True), (4, False), (4, True), (8, False), (8, True), (8, False), (8, True)):
        layers += [Convolution(at, times * base, 3, padding=1 + (0 if layers else frame // 2)), Relu()]
        layers += [MaxPool(2)] if pool else []
        at = times * base
    layers.append(Flatten())
    return (*layers, Dense(math.prod(_after(layers, inputs)), classes))


def char_lstm(
    inputs: Shape, classes: int, symbols: int, *, embedding: Any = 8, hidden: Any = 100, layers: Any = 2
) -> tuple[Layer, ...]:
    """The next character: an embedding, LSTM layers, scores from the last output.

    embedding 8 and 2 x 100: Y. Fraboni et al. (Shakespeare); 2 x 512: S. Horvath et al., FedShuffle, Section 6.
    """
    width, units = whole(embedding, "embedding", 1, WIDEST), whole(hidden, "hidden", 1, WIDEST)
    depth = whole(layers, "layers", 1, DEEPEST)
    return (Embedding(symbols, width), LSTM(width, units, depth), Last(), Dense(units, classes))


def sentiment_lstm(
    inputs: Shape, classes: int, symbols: int, *, embedding: Any = 256, hidden: Any = 256, layers: Any = 1
) -> tuple[Layer, ...]:
    """The class of a text: an embedding of words, a bidirectional LSTM, scores from the ends of both passes.

    256 and 256: S. Lee et al., Partial Model Averaging in Federated Learning, for 10000 words. Their dropout of 0.3 is
    left out: with it a gradient would not be that of a loss of the sample.
    """
    width, units = whole(embedding, "embedding", 1, WIDEST), whole(hidden, "hidden", 1, WIDEST)
    depth = whole(layers, "layers", 1, DEEPEST)
    both = LSTM(width, units, depth, both=True)
    return (Embedding(symbols, width), both, Last(both=True), Dense(2 * units, classes))


MODELS: Mapping[str, tuple[str, Callable[..., tuple[Layer, ...]]]] = {
    "softmax": ("features", softmax),
    "mlp": ("features", mlp),
    "cnn": ("image", cnn),
    "resnet20": ("image", resnet20),
    "resnet18": ("image", resnet18),
    "vgg11": ("image", vgg11),
    "char_lstm": ("tokens", char_lstm),
    "sentiment_lstm": ("tokens", sentiment_lstm),
}


# Models of texts -> whether their labels are the symbol that follows, or else the class of the text.
NEXT_SYMBOL: Mapping[str, bool] = {"char_lstm": True, "sentiment_lstm": False}


def takes(name: str) -> str:
    """What the samples of a model are: "features", "image" or "tokens". Raises UnknownName."""
    if name not in MODELS:
        raise UnknownName("the model", name, MODELS)
    return MODELS[name][0]


def options_of(name: str) -> Mapping[str, Any]:
    """The options of a model with their defaults. Raises UnknownName."""
    takes(name)
    parameters = inspect.signature(MODELS[name][1]).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}


def check_options(name: str, options: Mapping[str, Any]) -> None:
    """Raises UnknownName for a model or an option that does not exist."""
    known = options_of(name)
    for option in options:
        if option not in known:
            raise UnknownName(f"the model '{name}': option", str(option), known)


def architecture(
    name: str, inputs: Shape, classes: int, symbols: int = 0, options: Mapping[str, Any] | None = None
) -> Architecture:
    """A model for samples of a shape.

    inputs: (features,), (channels, height, width) or (length,), as `takes` says; classes: how many scores; symbols: how
    many there are, for tokens; options: see the model's own function. Raises UnknownName and BadInput.
    """
    kind, given = takes(name), dict(options or {})
    check_options(name, given)
    axes = {"features": 1, "image": 3, "tokens": 1}[kind]
    if len(inputs) != axes:
        raise BadInput(f"the model '{name}' takes {kind}, of {axes} axes, not samples of the shape {list(inputs)}.")
    if kind == "tokens" and symbols < 1:
        raise BadInput(f"the model '{name}' needs to know how many symbols there are.")
    layers = MODELS[name][1](inputs, classes, symbols, **given)
    return Architecture(name, layers, inputs, classes, kind)  # pyright: ignore[reportArgumentType]


def _after(layers: Sequence[Layer], inputs: Shape) -> Shape:
    at = inputs
    for layer in layers:
        at = layer.shape(at)
    return at


def _widths(given: Any, name: str, count: int | None) -> tuple[int, ...]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise BadInput(f"{name} = {shown(repr(given))} is not allowed; it must be a list of widths.")
    values: Sequence[Any] = given
    if len(values) > DEEPEST or (count is not None and len(values) != count):
        wanted = f"exactly {count}" if count is not None else f"at most {DEEPEST}"
        raise BadInput(f"{name} has {len(values)} widths; {wanted} are allowed.")
    return tuple(whole(v, f"{name}[{k}]", 1, WIDEST) for k, v in enumerate(values))


def _norm(channels: int, groups: int) -> GroupNorm:
    return GroupNorm(math.gcd(groups, channels), channels)


def _residual(inputs: Shape, classes: int, stages: Sequence[int], blocks: int, groups: int) -> tuple[Layer, ...]:
    """Stages of residual blocks of two 3 x 3 convolutions each; every stage after the first halves the sides."""
    layers: list[Layer] = [
        Convolution(inputs[0], stages[0], 3, padding=1, bias=False),
        _norm(stages[0], groups),
        Relu(),
    ]
    at = stages[0]
    for stage, width in enumerate(stages):
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            body = (
                Convolution(at, width, 3, stride, padding=1, bias=False),
                _norm(width, groups),
                Relu(),
                Convolution(width, width, 3, padding=1, bias=False),
                _norm(width, groups),
            )
            changes = stride != 1 or at != width
            shortcut = (Convolution(at, width, 1, stride, bias=False), _norm(width, groups)) if changes else ()
            layers += [Residual(body, shortcut), Relu()]
            at = width
    return (*layers, GlobalMean(), Dense(at, classes))
