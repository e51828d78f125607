"""The models of the papers' experiments, by name, each at the size that the paper states and at any smaller one.

Each is a module of torch without memory (on the device "meta"): its parameters are given when it is called. Sizes are
options, so that the same model can be trained on a processor. Normalisation is GroupNorm throughout (K. Hsieh et al.,
The Non-IID Data Quagmire of Decentralized Machine Learning, 2020): statistics over a batch would make a client's
gradient depend on which samples share a batch, and F would be no mean over samples any more.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from boundcheck.errors import BadInput, UnknownName, shown
from boundcheck.networks.engine.device import library
from boundcheck.problems._specs import whole

WIDEST = 65536  # units of a layer
DEEPEST = 100  # layers of one kind
VGG_SIDE = 32  # the side of the images for which VGG-11's five halvings are made
Shape = tuple[int, ...]


def _nn() -> Any:
    return library().nn


def softmax(inputs: Shape, classes: int, symbols: int) -> list[Any]:
    """Linear scores: softmax regression."""
    return [_nn().Linear(inputs[0], classes)]


def mlp(
    inputs: Shape, classes: int, symbols: int, *, hidden: Sequence[Any] = (200, 200), activation: str = "relu"
) -> list[Any]:
    """Dense layers with an activation, "relu" or "tanh", between them.

    hidden: their widths; (200, 200) is the "2NN" of B. McMahan et al., Communication-Efficient Learning of Deep
    Networks from Decentralized Data (2017).
    """
    if activation not in ("relu", "tanh"):
        raise UnknownName("the activation", str(activation), ("relu", "tanh"))
    nn, layers, at = _nn(), list[Any](), inputs[0]
    for width in _widths(hidden, "hidden", None):
        layers += [nn.Linear(at, width), nn.ReLU() if activation == "relu" else nn.Tanh()]
        at = width
    return [*layers, nn.Linear(at, classes)]


def cnn(
    inputs: Shape,
    classes: int,
    symbols: int,
    *,
    channels: Sequence[Any] = (32, 64),
    kernel: Any = 5,
    hidden: Any = 512,
) -> list[Any]:
    """Two convolutions that keep the size, each with 2 x 2 max pooling and ReLU; a dense layer with ReLU; the scores.

    (32, 64), 5 x 5, 512: the CNN of McMahan et al. (2017); with hidden = 2048 that of LEAF for FEMNIST (S. Caldas et
    al., 2018). hidden = 0: no dense layer between, as Y. Fraboni et al. describe theirs ("two convolutional layers and
    a linear transformation layer to produce logits").
    """
    first, second = _widths(channels, "channels", 2)
    size = whole(kernel, "kernel", 1, 15)
    if size % 2 == 0:
        raise BadInput(f"kernel = {size} is not allowed; only an odd one keeps the size of the images.")
    own = whole(hidden, "hidden", 0, WIDEST)
    nn, layers = _nn(), list[Any]()
    for given, width in ((inputs[0], first), (first, second)):
        # ReLU after pooling: the same values on fewer numbers
        layers += [nn.Conv2d(given, width, size, padding=size // 2), nn.MaxPool2d(2), nn.ReLU()]
    layers.append(nn.Flatten())
    at = math.prod(_after(layers, inputs))
    if own:
        layers += [nn.Linear(at, own), nn.ReLU()]
        at = own
    return [*layers, nn.Linear(at, classes)]


def resnet20(
    inputs: Shape, classes: int, symbols: int, *, width: Any = 16, blocks: Any = 3, groups: Any = 8
) -> list[Any]:
    """The residual network for images of 32 x 32 (K. He et al., 2016, Section 4.2) with GroupNorm; 6 * blocks + 2 deep.

    width: channels of the first of three stages; a stage doubles them and halves the sides, with a 1 x 1 convolution as
    the shortcut there (option B). groups: of each normalisation (of a stage with fewer channels: as many as divide
    them).
    """
    base, depth = whole(width, "width", 1, WIDEST // 4), whole(blocks, "blocks", 1, DEEPEST)
    return _residual(inputs, classes, (base, 2 * base, 4 * base), depth, whole(groups, "groups", 1, WIDEST))


def resnet18(
    inputs: Shape, classes: int, symbols: int, *, width: Any = 64, blocks: Any = 2, groups: Any = 32
) -> list[Any]:
    """ResNet-18 (K. He et al., 2016) with GroupNorm, for small images: a 3 x 3 first convolution and no first pooling.

    width: channels of the first of four stages; blocks: in each; groups: as in `resnet20`.
    """
    base, depth = whole(width, "width", 1, WIDEST // 8), whole(blocks, "blocks", 1, DEEPEST)
    stages = (base, 2 * base, 4 * base, 8 * base)
    return _residual(inputs, classes, stages, depth, whole(groups, "groups", 1, WIDEST))


def vgg11(inputs: Shape, classes: int, symbols: int, *, width: Any = 64) -> list[Any]:
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
    nn, layers, at = _nn(), list[Any](), inputs[0]
    for times, pool in ((1, True), (2, True), (4, False), (4, True), (8, False), (8, True), (8, False), (8, True)):
        layers.append(nn.Conv2d(at, times * base, 3, padding=1 + (0 if layers else frame // 2)))
        layers += [nn.MaxPool2d(2)] if pool else []
        layers.append(nn.ReLU())
        at = times * base
    layers.append(nn.Flatten())
    return [*layers, nn.Linear(math.prod(_after(layers, inputs)), classes)]


def char_lstm(
    inputs: Shape, classes: int, symbols: int, *, embedding: Any = 8, hidden: Any = 100, layers: Any = 2
) -> list[Any]:
    """The next character: an embedding, LSTM layers, scores from the last output.

    embedding 8 and 2 x 100: Y. Fraboni et al. (Shakespeare); 2 x 512: S. Horvath et al., FedShuffle, Section 6.
    """
    return _texts(classes, symbols, embedding, hidden, layers, both=False)


def sentiment_lstm(
    inputs: Shape, classes: int, symbols: int, *, embedding: Any = 256, hidden: Any = 256, layers: Any = 1
) -> list[Any]:
    """The class of a text: an embedding of words, a bidirectional LSTM, scores from the ends of both passes.

    256 and 256: S. Lee et al., Partial Model Averaging in Federated Learning, for 10000 words. Their dropout of 0.3 is
    left out: with it a gradient would not be that of a loss of the sample.
    """
    return _texts(classes, symbols, embedding, hidden, layers, both=True)


MODELS: Mapping[str, tuple[str, Callable[..., list[Any]]]] = {
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


def model(name: str, inputs: Shape, classes: int, symbols: int = 0, options: Mapping[str, Any] | None = None) -> Any:
    """A module (nn.Sequential) for samples of a shape, without memory.

    inputs: (features,), (channels, height, width) or (length,), as `takes` says; classes: how many scores; symbols: how
    many there are, for tokens; options: see the model's own function. Raises UnknownName, BadInput and MissingExtra.
    """
    from boundcheck.networks.modules import suit

    kind, given = takes(name), dict(options or {})
    check_options(name, given)
    axes = {"features": 1, "image": 3, "tokens": 1}[kind]
    if len(inputs) != axes:
        raise BadInput(f"the model '{name}' takes {kind}, of {axes} axes, not samples of the shape {list(inputs)}.")
    if kind == "tokens" and symbols < 1:
        raise BadInput(f"the model '{name}' needs to know how many symbols there are.")
    with library().device("meta"):
        layers = MODELS[name][1](inputs, classes, symbols, **given)
        if kind == "image":  # an LSTM takes every length, and its loop is long
            _after(layers, inputs)
        found = _nn().Sequential(*layers)
    suit(found)
    return found


def _after(layers: Sequence[Any], inputs: Shape) -> Shape:
    """The shape of what layers return for one sample. Raises BadInput where they do not fit it."""
    try:
        found = _nn().Sequential(*layers)(library().empty((1, *inputs), device="meta"))
    except RuntimeError as error:
        said = str(error).splitlines()[0].rstrip(".")
        raise BadInput(f"the layers of the model do not fit samples of the shape {list(inputs)}: {said}.") from error
    return tuple(found.shape[1:])


def _widths(given: Any, name: str, count: int | None) -> tuple[int, ...]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise BadInput(f"{name} = {shown(repr(given))} is not allowed; it must be a list of widths.")
    values: Sequence[Any] = given
    if len(values) > DEEPEST or (count is not None and len(values) != count):
        wanted = f"exactly {count}" if count is not None else f"at most {DEEPEST}"
        raise BadInput(f"{name} has {len(values)} widths; {wanted} are allowed.")
    return tuple(whole(v, f"{name}[{k}]", 1, WIDEST) for k, v in enumerate(values))


def _texts(classes: int, symbols: int, embedding: Any, hidden: Any, layers: Any, *, both: bool) -> list[Any]:
    from boundcheck.networks.modules import LSTM, Last

    width, units = whole(embedding, "embedding", 1, WIDEST), whole(hidden, "hidden", 1, WIDEST)
    depth = whole(layers, "layers", 1, DEEPEST)
    lstm = LSTM(width, units, depth, batch_first=True, bidirectional=both)
    return [_nn().Embedding(symbols, width), lstm, Last(both=both), _nn().Linear(units * (1 + both), classes)]


def _residual(inputs: Shape, classes: int, stages: Sequence[int], blocks: int, groups: int) -> list[Any]:
    """Stages of residual blocks of two 3 x 3 convolutions each; every stage after the first halves the sides."""
    from boundcheck.networks.modules import GlobalMean, Residual

    nn = _nn()

    def convolved(given: int, width: int, size: int, stride: int = 1) -> list[Any]:
        own = nn.Conv2d(given, width, size, stride, padding=size // 2, bias=False)
        return [own, nn.GroupNorm(math.gcd(groups, width), width)]

    at = stages[0]
    layers: list[Any] = [*convolved(inputs[0], at, 3), nn.ReLU()]
    for stage, width in enumerate(stages):
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            body = [*convolved(at, width, 3, stride), nn.ReLU(), *convolved(width, width, 3)]
            shortcut = convolved(at, width, 1, stride) if stride != 1 or at != width else ()
            layers += [Residual(body, shortcut), nn.ReLU()]
            at = width
    return [*layers, GlobalMean(), nn.Linear(at, classes)]
