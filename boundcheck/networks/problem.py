"""A neural network on labelled data that is spread over clients; trained by engine = "neural" alone.

f_ij(x) = -log softmax(scores of the model x at sample j of client i)_{its label} + ridge/2 |x|^2, f_i the mean over the
client's samples, F = sum of w_i f_i. The model x is one flat vector, in the order of `Network.slots`.

With model = "softmax" F is that of the kind "softmax_regression" with an intercept, of the same samples, the intercepts
standing after all other coordinates. That kind has certified constants, a certified minimum and the engines "sampled"
and "neural": take it wherever a bound is to be checked on softmax regression, and this one where accuracy on held-out
samples or the comparison with other networks is wanted. (It reads all samples of the digits, this one keeps a test
part; it reads images as level / 255, this one standardises them.)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, overload

import numpy as np
from flint import arb
from numpy.typing import NDArray

from boundcheck.certified.constant import Constant, Known
from boundcheck.certified.lazy import LazyConstants
from boundcheck.core.linalg import float_up
from boundcheck.core.numbers import as_fraction, format_exact, format_short, round_up
from boundcheck.errors import BadInput, UnknownName, Unsupported, shown
from boundcheck.networks import models
from boundcheck.networks.data.imdb import PADDING
from boundcheck.networks.data.labelled import LEVELS, NAMES, Labelled, client_rows, labelled
from boundcheck.networks.data.own import own_labelled
from boundcheck.networks.functional import Network
from boundcheck.networks.partition import coordinates, partition
from boundcheck.problems._instance import ASSUMPTIONS, Instance, Offsets, unknown
from boundcheck.problems._own_data import is_own
from boundcheck.problems._specs import whole
from boundcheck.problems._split import data_weights, permutation
from boundcheck.problems.problem import Floats, Vector


@dataclass(frozen=True, eq=False)
class Start(Sequence[Fraction]):
    """The coordinates of a start as exact numbers, each made when it is read: models have millions."""

    vector: Floats

    def __len__(self) -> int:
        return len(self.vector)

    @overload
    def __getitem__(self, index: int) -> Fraction: ...
    @overload
    def __getitem__(self, index: slice) -> Start: ...
    def __getitem__(self, index: int | slice) -> Fraction | Start:
        return Start(self.vector[index]) if isinstance(index, slice) else Fraction(float(self.vector[index]))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.vector, dtype=dtype) if copy or dtype is not None else self.vector


@dataclass(frozen=True, eq=False, repr=False)
class TrainedProblem(Offsets, Instance):
    """A model and the samples of its clients; classes below it add what is known of it.

    name, spec: see `Problem`. network: the model. inputs: (N, *sample), client after client; labels: (N,); offsets:
    client i owns the rows offsets[i] to offsets[i + 1]. weights: w_i. ridge: at least 0. start_vector: x_0 (dim,).
    test_inputs, test_labels: held out, or None.
    """

    trains_network: ClassVar[bool] = True

    name: str
    spec: Mapping[str, Any]
    network: Network
    inputs: NDArray[Any]
    labels: NDArray[Any]
    offsets: tuple[int, ...]
    weights: tuple[Fraction, ...]
    ridge: Fraction
    start_vector: Floats
    test_inputs: NDArray[Any] | None
    test_labels: NDArray[Any] | None

    @property
    def dim(self) -> int:
        """How many coordinates a model has."""
        return self.network.dim

    @property
    def client_weights(self) -> tuple[Fraction, ...]:
        """The weights that the clients report: those of the objective."""
        return self.weights

    @property
    def start(self) -> Sequence[Fraction]:
        """x_0, each coordinate made when it is read."""
        return Start(self.start_vector)

    @property
    def metrics(self) -> tuple[str, ...]:
        """f = F(x); grad2 = |grad F(x)|^2; accuracy and test_f, of the held-out samples, if there are any."""
        return ("f", "grad2") if self.test_inputs is None else ("f", "grad2", "accuracy", "test_f")

    def gradient(self, client: int, x: Vector) -> Vector:
        """Raises Unsupported: gradients of networks are the neural engine's."""
        raise Unsupported(
            f"the problem '{self.name}' has gradients in the neural engine alone: take engine = 'neural'."
        )

    def metric(self, name: str, x: NDArray[Any]) -> float:
        """Raises UnknownName for what is no metric, Unsupported for the others: they are the neural engine's."""
        if name not in self.metrics:
            raise UnknownName("the metric", name, self.metrics)
        raise Unsupported(f"the problem '{self.name}' has metrics in the neural engine alone: take engine = 'neural'.")


Inputs = NDArray[Any]
SUBSET, TEST = 1020, 1021  # purposes of the streams that choose samples
DATA = NAMES  # the data sets that a network can be trained on
ZERO = "zero"
SIDES: Mapping[str, tuple[int, int, int]] = {"digits": (1, 8, 8)}  # of data sets of features that are images
Maker = Callable[[], Constant]
# What softmax regression meets only with an l2 term, as far as is known: F has a minimiser, samples are curved.
_OF_RIDGE = {
    "strong_quasi_convexity",
    "finite_gradient_noise",
    "convexity",
    "convex_samples",
    "strongly_convex_samples",
}


@dataclass(frozen=True, eq=False, repr=False)
class NeuralProblem(TrainedProblem):
    """A network and its samples, see `TrainedProblem`.

    model: its name. inputs: float32 or, for symbols, int64; labels: in 0..classes-1. notes: what was left out of the
    data, or drawn, in sentences.
    """

    model: str
    classes: int
    loss: Literal["cross_entropy"] = "cross_entropy"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        top = self.classes - 1
        for what, inputs, labels in (
            ("labels", self.inputs, self.labels),
            ("test_labels", self.test_inputs, self.test_labels),
        ):
            if inputs is None or labels is None:
                continue
            kind = getattr(getattr(labels, "dtype", None), "kind", "")  # a list has none
            if kind not in ("i", "u") or (labels.size and not 0 <= labels.min() <= labels.max() <= top):
                must_be = f"must be a NumPy array of integers from 0 to {top}, the numbers of the classes."
                raise BadInput(f"{what} of '{self.name}' {must_be}")
            if labels.shape != (len(inputs),):
                raise BadInput(f"{what} of '{self.name}' must be {len(inputs)} in one row, one a sample.")

    def constants(self) -> Mapping[str, Constant]:
        """n, d, f_low (F >= 0 everywhere), and gap_0 from above where the start is 0: F(0) - F* <= log classes.

        Each is computed when it is first read. What holds for a network along a trajectory is measured by the
        neural engine and is no constant of the instance.
        """
        return self._constants

    @cached_property
    def _constants(self) -> LazyConstants:
        def exact(value: int, how: str) -> Maker:
            return lambda: Constant(Fraction(value), Known.EXACT, "exact", how)

        low = "cross entropy and the l2 term are nowhere negative"
        found: dict[str, Maker] = {
            "n": exact(self.clients, "number of clients"),
            "d": exact(self.dim, "number of parameters"),
            "f_low": lambda: Constant(Fraction(0), Known.CERTIFIED, "lower", low),
        }
        if not self.start_vector.any():  # all scores are 0, as every model ends in a dense layer
            found["gap_0"] = self._gap_at_zero
        return LazyConstants(found)

    def _gap_at_zero(self) -> Constant:
        top = round_up(Fraction(float_up(arb(self.classes).log())))
        how = f"all scores are 0 at the start, so that F = log {self.classes} there, and F* >= 0"
        return Constant(top, Known.CERTIFIED, "upper", how)

    def _objection(self, assumption: str) -> str | None:
        """Raises UnknownName if neither is known: for networks only "plain_mean" and "bounded_below" are. For
        softmax regression, whose Hessians are bounded and whose samples' gradients differ by bounded vectors, all but
        the two of the dissimilarity at one point; without the l2 term neither whether F has a minimiser.
        """
        if assumption in self._met:
            return None
        if assumption == "strongly_convex_samples" and self.is_linear:  # the same vector added to every row of W
            return "the scores of all classes can move together, which leaves the loss unchanged, and ridge is 0."
        known = {"plain_mean", *self._met, *(("strongly_convex_samples",) if self.is_linear else ())}
        raise unknown(assumption, known)

    def block_coordinates(self, kind: str, blocks: int) -> tuple[tuple[int, ...], ...]:
        """The coordinates of each block of layers or of channels (`kind`) of the model."""
        ranges = partition(self.network, kind, blocks)
        return tuple(tuple(coordinates(own).tolist()) for own in ranges)

    @property
    def is_linear(self) -> bool:
        """Whether the scores are linear in the parameters: softmax regression."""
        layers = list(self.network.module)
        return len(layers) == 1 and layers[0].__class__.__name__ == "Linear"

    @property
    def _met(self) -> frozenset[str]:
        if not self.is_linear:
            return frozenset({"bounded_below"})
        untold = {"plain_mean", "dissimilarity_at_start", "bounded_dissimilarity"}
        return frozenset(ASSUMPTIONS) - untold - (_OF_RIDGE if self.ridge == 0 else set())


def build(
    *,
    data: Any,
    model: Any,
    clients: Any = None,
    split: str | None = None,
    seed: Any = None,
    alpha: Any = None,
    shards_per_client: Any = None,
    imbalance: Any = None,
    weights: str = "data",
    ridge: Any = 0,
    start: Any = 0,
    samples: Any = None,
    test_samples: Any = None,
    target: str | None = None,
    client: str | None = None,
) -> NeuralProblem:
    """A network on a labelled data set.

    data: a name of `_labelled`, or a table {name = ..., options}; or own data, a file or arrays, with target and client
    (see `problems._own_data`), which are features for the models softmax and mlp, and of which a test part is drawn
    (see `networks.data.own`). model: a name of `networks.models`, or a table
    {name = ..., options}, such as {name = "cnn", channels = [8, 16], hidden = 64}.
    clients: default 10, with split = "owners" all that the data have; split, seed, alpha, shards_per_client, imbalance:
    see `_split`; a sorted split goes by the label. weights: "data" (|D_i|/|D|) or "equal". ridge: of the l2 term, at
    least 0. start: the seed of the start, which has the ranges of PyTorch's default, or "zero".
    samples, test_samples: how many samples are kept, a uniformly random subset by the seed; with split = "owners" one
    of each owner is kept before others.

    Images become float32 numbers, standardised by channel with the training part's mean and deviation; softmax and mlp
    take them as one long row. The features of "digits" are read as they are, by the convolutional models as 1 x 8 x 8.
    Reviews are filled up at their beginning. Raises UnknownName, BadInput, and DataNotFetched where the data set is
    missing.
    """
    model_name, model_options = _named(model, "model")
    everything, data_spec = _data_of(data, target, client)
    strength = as_fraction(ridge, "ridge")
    if not 0 <= strength <= 10**6:
        raise BadInput(f"ridge = {format_short(strength)} is not allowed; it must be from 0 to 1000000.")
    own = whole(0 if seed is None else seed, "seed", 0, 2**64 - 1)
    models.check_options(model_name, model_options)
    if not (start == ZERO or isinstance(start, int)) or isinstance(start, bool):
        raise BadInput(f"start = {shown(repr(start))} is not allowed; it must be the seed of the start or '{ZERO}'.")
    begin = None if start == ZERO else whole(start, "start", 0, 2**64 - 1)
    split = split or ("owners" if is_own(data) and everything.owners is not None else "random")
    owned = everything.owners if split == "owners" else None
    rows = _subset(len(everything.labels), samples, "samples", SUBSET, own, owned)
    found = everything if samples is None else _only(everything, rows)
    dealt, parts = client_rows(
        found,
        split,
        10 if clients is None and split != "owners" else clients,
        seed=own,
        alpha=alpha,
        shards_per_client=shards_per_client,
        imbalance=imbalance,
    )
    sizes, order = [len(part) for part in parts], np.concatenate(parts)
    _check_labels(found, model_name)
    inputs = _prepared(found, found.inputs[order], model_name)
    module = models.model(model_name, inputs.shape[1:], found.classes, found.vocabulary, model_options)
    network = Network(module, inputs.shape[1:])
    held = _subset(len(found.test_labels), test_samples, "test_samples", TEST, own)
    spec: dict[str, Any] = {"kind": "neural", "data": data_spec, "model": _plain(model), "clients": dealt.clients}
    spec |= {"split": split, **{k: v for k, v in dealt.given.items() if k != "feature"}, "weights": weights}
    spec |= {"ridge": format_exact(strength), "start": start}
    spec |= {} if seed is None else {"seed": own}
    spec |= {} if samples is None else {"samples": len(rows)}
    spec |= {} if test_samples is None else {"test_samples": len(held)}
    return NeuralProblem(
        name=f"{model_name} on {everything.name}, {dealt.clients} clients, split {dealt.name}",
        spec=spec,
        network=network,
        model=model_name,
        classes=found.classes,
        inputs=inputs,
        labels=found.labels[order],
        offsets=tuple(itertools.accumulate(sizes, initial=0)),
        weights=data_weights(sizes, weights),
        ridge=strength,
        start_vector=np.zeros(network.dim) if begin is None else network.start(begin),
        test_inputs=_prepared(found, found.test_inputs[held], model_name),
        test_labels=found.test_labels[held],
        notes=found.notes,
    )


def _data_of(data: Any, target: str | None, client: str | None) -> tuple[Labelled, Any]:
    """The samples, and what the specification keeps of `data`."""
    if is_own(data):
        return own_labelled(data, target, client)
    if target is not None or client is not None:
        raise BadInput("target and client go with a data file; a shipped data set has its own.")
    name, options = _named(data, "data")
    return labelled(name, **options), _plain(data)


def _named(given: Any, what: str) -> tuple[str, dict[str, Any]]:
    """A name and its options, from a text or a table with a name."""
    if isinstance(given, str):
        return given, {}
    if not isinstance(given, Mapping) or "name" not in given:
        raise BadInput(
            f'{what} = {shown(repr(given))} is not allowed; it must be a name or a table with one, {{name = "..."}}.'
        )
    options: dict[str, Any] = dict(given)
    return str(options.pop("name")), options


def _plain(given: Any) -> Any:
    """A name or a table as a specification keeps it."""
    if not isinstance(given, Mapping):
        return given
    table: Mapping[Any, Any] = given
    return {str(k): list(v) if isinstance(v, tuple) else v for k, v in table.items()}


def _subset(
    count: int, wanted: Any, name: str, purpose: int, seed: int, owners: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Which rows are kept, increasing: uniformly random ones; with owners one of each owner before others."""
    if wanted is None:
        return np.arange(count)
    fewest = 1 if owners is None else int(owners.max()) + 1
    size = whole(wanted, name, fewest, count)
    order = np.array(permutation(count, seed, purpose), dtype=np.int64)
    if owners is not None:
        _, first = np.unique(owners[order], return_index=True)
        order = np.concatenate([order[np.sort(first)], np.delete(order, first)])
    return np.sort(order[:size])


def _only(found: Labelled, rows: NDArray[np.int64]) -> Labelled:
    """The data set with these training samples alone."""
    owners = None if found.owners is None else found.owners[rows]
    return replace(found, inputs=found.inputs[rows], labels=found.labels[rows], owners=owners)


def _check_labels(found: Labelled, model: str) -> None:
    """Raises BadInput for a model of texts whose labels are of the other kind: the next symbol, or a class."""
    if found.kind != "tokens" or not found.symbols or model not in models.NEXT_SYMBOL:
        return
    of_model, of_data = models.NEXT_SYMBOL[model], found.meanings == found.symbols
    if of_model != of_data:
        words = {True: "the symbol that follows", False: "the class of a text"}
        other = next(name for name, follows in models.NEXT_SYMBOL.items() if follows == of_data)
        raise BadInput(
            f"the model '{model}' gives {words[of_model]}; the labels of the data set '{found.name}' are "
            f"{words[of_data]}, so take model = '{other}'."
        )


def _prepared(found: Labelled, raw: NDArray[Any], model: str) -> Inputs:
    """Samples as the model takes them. Raises BadInput where it does not take such data."""
    takes = models.takes(model)
    if found.kind == "tokens" and takes == "tokens":
        return _at_the_end(raw) if found.name == "imdb" else raw
    if found.kind == "image" and takes != "tokens":
        out = np.empty(raw.shape, dtype=np.float32)
        for c, (mean, std) in enumerate(zip(found.mean, found.std, strict=True)):
            levels = ((np.arange(LEVELS + 1) / LEVELS - mean) / std).astype(np.float32)
            out[:, c] = levels[raw[:, c]]
        return out.reshape(len(out), -1) if takes == "features" else out
    if found.kind == "features" and takes == "features":
        return raw.astype(np.float32)
    if found.kind == "features" and takes == "image" and found.name in SIDES:
        return raw.astype(np.float32).reshape(len(raw), *SIDES[found.name])
    own, asked = (kind + "s" * (kind == "image") for kind in (found.kind, takes))
    raise BadInput(f"the model '{model}' takes {asked}; the samples of the data set '{found.name}' are {own}.")


def _at_the_end(texts: NDArray[Any]) -> NDArray[Any]:
    """The same texts, filled up at the beginning, so that a recurrent model reads the text last."""
    length = texts.shape[1]
    used = length - np.argmax(texts[:, ::-1] != PADDING, axis=1)
    used = np.where((texts == PADDING).all(axis=1), 0, used)
    places = np.arange(length) - (length - used)[:, None]
    return np.where(places >= 0, np.take_along_axis(texts, np.maximum(places, 0), axis=1), PADDING).astype(texts.dtype)
