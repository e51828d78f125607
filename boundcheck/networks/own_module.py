"""A problem whose model is a torch module of the user: its samples, its loss, what is known of it."""

from __future__ import annotations

import itertools
import operator
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from boundcheck.certified.constant import Constant, Known
from boundcheck.core.numbers import as_fraction, format_short
from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.networks.engine.device import library
from boundcheck.networks.functional import own_network
from boundcheck.networks.problem import TrainedProblem
from boundcheck.problems._instance import unknown
from boundcheck.problems._split import data_weights

LOSSES = ("cross_entropy", "logistic")
_LOOKED = 3  # samples with which the module is tried


@dataclass(frozen=True, eq=False, repr=False)
class OwnProblem(TrainedProblem):
    """A module and its samples, see `TrainedProblem`; the losses are those of `NeuralProblem`.

    spec: names the module, but nothing rebuilds it: it is for reports, and a part of it is drawn anew for every such
    problem, so that no kept result is ever taken for that of another. labels: in
    0..classes-1, or +1 and -1 for loss = "logistic".
    """

    loss: Literal["cross_entropy", "logistic"]

    def to_dict(self) -> dict[str, Any]:
        """Raises Unsupported: a module has no JSON-able form."""
        raise Unsupported(f"the problem '{self.name}' is a module in this process and cannot be written down.")

    def constants(self) -> Mapping[str, Constant]:
        """n, d and f_low: F >= 0 everywhere."""
        low = "the losses and the l2 term are nowhere negative"
        return {
            "n": Constant(Fraction(self.clients), Known.EXACT, "exact", "number of clients"),
            "d": Constant(Fraction(self.dim), Known.EXACT, "exact", "number of parameters"),
            "f_low": Constant(Fraction(0), Known.CERTIFIED, "lower", low),
        }

    def _objection(self, assumption: str) -> str | None:
        if assumption == "bounded_below":
            return None
        raise unknown(assumption, ("plain_mean", "bounded_below"))


def own_module(
    module: Any,
    *,
    inputs: Any,
    labels: Any = None,
    sizes: Sequence[int] | None = None,
    offsets: Sequence[int] | None = None,
    test_inputs: Any = None,
    test_labels: Any = None,
    weights: str | Sequence[Any] = "data",
    ridge: Any = 0,
    loss: str = "cross_entropy",
    name: str | None = None,
) -> OwnProblem:
    """A problem from a torch module and samples, for engine = "neural"; it starts from the module's parameters.

    module: a torch.nn.Module from (B, *sample) to scores (B, classes), for loss = "logistic" (B,) or (B, 1), whose
    result depends on its parameters and the samples alone. inputs: (N, *sample) and labels: (N,), as arrays, client
    after client; sizes: how many samples each client has, or offsets: where each begins, and the end. Or inputs: a
    Dataset of torch of pairs (sample, label), or a list of them, one a client; labels and sizes follow. test_inputs
    likewise. weights: "data", "equal" or one number a client, summing to 1. ridge: of the l2 term, at least 0.
    Raises BadInput, and Unsupported for modules with running statistics or dropout.
    """
    if loss not in LOSSES:
        raise UnknownName("the loss", loss, LOSSES)
    given, targets, counted = _part(inputs, labels, "", loss)
    held, held_targets = None, None
    if test_inputs is not None or test_labels is not None:
        held, held_targets, _ = _part(test_inputs, test_labels, "test_", loss)
    if counted is not None and sizes is None and offsets is None:
        sizes = counted
    places = _offsets(sizes, offsets, len(given))
    strength = as_fraction(ridge, "ridge")
    if not 0 <= strength <= 10**6:
        raise BadInput(f"ridge = {format_short(strength)} is not allowed; it must be from 0 to 1000000.")
    network, start, classes = own_network(module, library().from_numpy(given[:_LOOKED]))
    if held is not None and held.shape[1:] != given.shape[1:]:
        raise BadInput(f"test_inputs has samples of the shape {list(held.shape[1:])}, not {list(given.shape[1:])}.")
    for what, own in (("inputs", targets), ("test_inputs", held_targets)):
        if own is not None and loss == "cross_entropy" and (own.min() < 0 or own.max() >= classes):
            raise BadInput(f"the labels of {what} must be from 0 to {classes - 1}, as many as the module's scores.")
    if loss == "logistic" and classes != 1:
        raise BadInput(f"loss = 'logistic' takes one score a sample; the module returns {classes}.")
    kind = type(module).__name__
    return OwnProblem(
        name=name or f"{kind}, {len(places) - 1} clients",
        spec={"kind": "own_module", "module": kind, "problem": uuid.uuid4().hex},
        network=network,
        inputs=given,
        labels=targets,
        offsets=places,
        weights=_weights(weights, [b - a for a, b in itertools.pairwise(places)]),
        ridge=strength,
        start_vector=start,
        test_inputs=held,
        test_labels=held_targets,
        loss=loss,  # pyright: ignore[reportArgumentType]
    )


def _part(given: Any, labels: Any, part: str, loss: str) -> tuple[NDArray[Any], NDArray[Any], list[int] | None]:
    """Samples and labels as arrays, and of datasets the size of each; part: "" or "test_", for messages."""
    name, sizes = f"{part}inputs", None
    sets: list[Any] = list(given) if isinstance(given, list | tuple) else [given]
    if sets and all(isinstance(own, library().utils.data.Dataset) for own in sets):
        if labels is not None:
            raise BadInput(f"{name} is a Dataset, which gives its labels itself; leave the labels out.")
        try:
            pairs = [own[k] for own in sets for k in range(len(own))]
            given = np.stack([np.asarray(sample) for sample, _ in pairs])
            labels, sizes = np.array([int(label) for _, label in pairs]), list(map(len, sets))
        except (TypeError, ValueError) as error:
            raise BadInput(
                f"{name}: a Dataset must have a length and give pairs of a sample and the number of its class, all "
                f"samples of one shape: {str(error).splitlines()[0]}."
            ) from error
    if part and (given is None or labels is None):
        raise BadInput("test_inputs and test_labels are given together or not at all.")
    samples, targets = _samples(given, name), _labels(labels, f"{part}labels", loss)
    if len(samples) != len(targets):
        raise BadInput(f"{name} has {len(samples)} samples and their labels are {len(targets)}.")
    return samples, targets, sizes


def _samples(given: Any, name: str) -> NDArray[Any]:
    """The samples as float32 (float64 if they were float64), or int64 for symbols."""
    try:
        found = np.asarray(given)
    except (ValueError, TypeError) as error:
        raise BadInput(f"{name} must be an array of numbers; its samples are not all of one shape.") from error
    if found.ndim < 1 or not len(found) or found.dtype.kind not in "fiu":
        raise BadInput(f"{name} must be an array of numbers with at least one sample.")
    if found.dtype.kind in "iu":
        return np.ascontiguousarray(found, dtype=np.int64)
    if not np.isfinite(found).all():
        raise BadInput(f"{name} holds numbers that are not finite.")
    return np.ascontiguousarray(found, dtype=np.float64 if found.dtype == np.float64 else np.float32)


def _labels(given: Any, name: str, loss: str) -> NDArray[Any]:
    found = np.asarray(given)
    if found.ndim != 1 or not len(found):
        raise BadInput(f"{name} must be one long row of labels.")
    if loss == "logistic":
        if not np.isin(found, (-1, 1)).all():
            raise BadInput(f"{name} must be +1 or -1 for loss = 'logistic'.")
        return found.astype(np.float64)
    if found.dtype.kind not in "iu":
        raise BadInput(f"{name} must be integers, the numbers of the classes.")
    return found.astype(np.int64)


def _offsets(sizes: Sequence[int] | None, offsets: Sequence[int] | None, count: int) -> tuple[int, ...]:
    if (sizes is None) == (offsets is None):
        raise BadInput("either sizes or offsets must say which samples a client has.")
    name, given = ("sizes", sizes) if offsets is None else ("offsets", offsets)
    try:
        numbers = [operator.index(v) for v in (() if given is None else given)]
    except TypeError as error:
        raise BadInput(f"{name} must be a list of integers.") from error
    places = list(itertools.accumulate(numbers, initial=0) if offsets is None else numbers)
    rising = all(a < b for a, b in itertools.pairwise(places))
    if len(places) < 2 or places[0] != 0 or places[-1] != count or not rising:
        raise BadInput(f"every client must have samples, and the clients together the {count} of inputs.")
    return tuple(places)


def _weights(given: str | Sequence[Any], sizes: Sequence[int]) -> tuple[Fraction, ...]:
    if isinstance(given, str):
        return data_weights(sizes, given)
    found = tuple(as_fraction(w, "weights") for w in given)
    if len(found) != len(sizes) or min(found) < 0 or sum(found) != 1:
        raise BadInput(f"weights must be {len(sizes)} numbers that are nowhere negative and sum to 1.")
    return found
