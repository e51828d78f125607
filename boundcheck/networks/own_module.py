"""A problem whose model is a torch module of the user, evaluated for many models at once through `torch.func`.

The module is called as it is, with the parameters of one model after another mapped over (vmap). Its recurrent layers
cannot be mapped over and are called in a loop, and so is a module with something else that vmap does not support. The
flat vector holds the parameters in the order of `named_parameters`, each in C order.
"""

from __future__ import annotations

import copy
import itertools
import math
import operator
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from boundcheck.certified.constant import Constant, Known
from boundcheck.core.numbers import as_fraction, format_short
from boundcheck.engines.curve import Floats
from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.networks.engine.device import library
from boundcheck.networks.engine.network import Tensor
from boundcheck.networks.problem import TrainedProblem
from boundcheck.problems._instance import unknown
from boundcheck.problems._split import data_weights

LOSSES = ("cross_entropy", "logistic")
_LOOKED = 3  # samples with which the module is tried


@dataclass(frozen=True, eq=False, repr=False)
class OwnProblem(TrainedProblem):
    """A module and its samples, see `TrainedProblem`; the losses are those of `NeuralProblem`.

    spec: names the module, but nothing rebuilds it: it is for reports, and a part of it is drawn anew for every such
    problem, so that no kept result is ever taken for that of another. network: the module's models. labels: in
    0..classes-1, or +1 and -1 for loss = "logistic".
    """

    network: Functional
    loss: Literal["cross_entropy", "logistic"]

    def to_dict(self) -> dict[str, Any]:
        """Raises Unsupported: a module has no JSON-able form."""
        raise Unsupported(f"the problem '{self.name}' is a module in this process and cannot be written down.")

    @property
    def dim(self) -> int:
        """How many coordinates a model has."""
        return self.network.dim

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
    labels: Any,
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
    after client; sizes: how many samples each client has, or offsets: where each begins, and the end. weights: "data",
    "equal" or one number a client, summing to 1. ridge: of the l2 term, at least 0.
    Raises BadInput, and Unsupported for modules with running statistics or dropout.
    """
    if loss not in LOSSES:
        raise UnknownName("the loss", loss, LOSSES)
    network = functional(module)
    given, targets = _samples(inputs, "inputs"), _labels(labels, "labels", loss)
    places = _offsets(sizes, offsets, len(given))
    strength = as_fraction(ridge, "ridge")
    if not 0 <= strength <= 10**6:
        raise BadInput(f"ridge = {format_short(strength)} is not allowed; it must be from 0 to 1000000.")
    some = library().from_numpy(given[:_LOOKED])
    classes = check_calls(network, some)
    network = mapped_where_possible(network, some)
    if (test_inputs is None) != (test_labels is None):
        raise BadInput("test_inputs and test_labels are given together or not at all.")
    held = None if test_inputs is None else _samples(test_inputs, "test_inputs")
    held_targets = None if test_labels is None else _labels(test_labels, "test_labels", loss)
    if held is not None and held.shape[1:] != given.shape[1:]:
        raise BadInput(f"test_inputs has samples of the shape {list(held.shape[1:])}, not {list(given.shape[1:])}.")
    for what, rows, own in (("inputs", given, targets), ("test_inputs", held, held_targets)):
        if rows is None or own is None:
            continue
        if len(rows) != len(own):
            raise BadInput(f"{what} has {len(rows)} samples and their labels are {len(own)}.")
        if loss == "cross_entropy" and (own.min() < 0 or own.max() >= classes):
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
        start_vector=network.start,
        test_inputs=held,
        test_labels=held_targets,
        loss=loss,  # pyright: ignore[reportArgumentType]
    )


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


@dataclass(frozen=True, eq=False)
class Functional:
    """A module as a network.

    module: whose parameters and buffers are those that it had when it was handed over, on the CPU. shapes: of its
    parameters, by name, in the order of the flat vector. mapped: whether vmap carries it.
    """

    module: Any
    shapes: Mapping[str, tuple[int, ...]]
    mapped: bool

    @property
    def dim(self) -> int:
        """Coordinates of a model."""
        return sum(math.prod(shape) for shape in self.shapes.values())

    @property
    def start(self) -> Floats:
        """The parameters that the module was handed over with (dim,)."""
        torch = library()
        values = [p.detach().to("cpu", torch.float64).reshape(-1) for p in self.module.parameters()]
        return torch.cat(values).numpy()

    def scores(self, parameters: Tensor, inputs: Tensor) -> Tensor:
        """Scores (N, B, classes), see `Network`."""
        torch = library()
        lanes = parameters.shape[0]
        parts = torch.split(parameters, [math.prod(shape) for shape in self.shapes.values()], dim=1)
        models = {
            name: part.view(lanes, *shape) for part, (name, shape) in zip(parts, self.shapes.items(), strict=True)
        }
        buffers = {
            name: b.to(parameters.device, parameters.dtype if b.is_floating_point() else b.dtype)
            for name, b in self.module.named_buffers()
        }

        def one(own: Mapping[str, Tensor], samples: Tensor) -> Tensor:
            found = torch.func.functional_call(self.module, (dict(own), buffers), (samples,))
            return found.unsqueeze(-1) if found.ndim == 1 else found

        shared = inputs.shape[0] == 1
        if self.mapped:
            samples = inputs[0] if shared else inputs
            return torch.func.vmap(one, in_dims=(0, None if shared else 0))(models, samples)
        each = [one({n: p[k] for n, p in models.items()}, inputs[0 if shared else k]) for k in range(lanes)]
        return torch.stack(each)


def functional(module: Any) -> Functional:
    """The network of a module. Raises BadInput for what is no module, Unsupported for what `check_module` refuses."""
    torch = library()
    if not isinstance(module, torch.nn.Module):
        raise BadInput(f"{type(module).__name__} is no torch.nn.Module.")
    check_module(module)
    own = copy.deepcopy(module).to("cpu").requires_grad_(True)
    shapes = {name: tuple(p.shape) for name, p in own.named_parameters()}
    if not shapes:
        raise BadInput(f"the module {type(module).__name__} has no parameters.")
    mapped = not any(isinstance(m, torch.nn.RNNBase) for m in own.modules())
    return Functional(own, shapes, mapped)


def mapped_where_possible(network: Functional, inputs: Tensor) -> Functional:
    """The network, called in a loop over the models where vmap does not carry its module, such as one that branches.

    inputs: some samples (B, *sample), with which it can be called.
    """
    torch = library()
    if not network.mapped:
        return network
    samples = inputs.to(torch.float64) if inputs.is_floating_point() else inputs
    models = torch.from_numpy(network.start).expand(2, -1)
    try:
        with torch.no_grad():
            network.scores(models, samples.expand(2, *samples.shape))
    except RuntimeError:
        return replace(network, mapped=False)
    return network


def check_module(module: Any) -> None:
    """Raises Unsupported for layers whose result is no function of the parameters and the sample alone, by name."""
    nn = library().nn
    batch = (nn.modules.batchnorm._BatchNorm,)
    for name, layer in module.named_modules():
        kind, place = type(layer).__name__, f"'{name}'" if name else "itself"
        if isinstance(layer, batch) or getattr(layer, "track_running_stats", False):
            raise Unsupported(
                f"the module's layer {place} ({kind}) keeps statistics of what it has seen, so that no loss is "
                "a mean over samples; take GroupNorm."
            )
        if isinstance(layer, nn.modules.dropout._DropoutNd) or (
            isinstance(layer, nn.RNNBase | nn.MultiheadAttention) and layer.dropout
        ):
            raise Unsupported(
                f"the module's layer {place} ({kind}) drops values at random, so that its gradient is that of no loss; "
                "take dropout = 0."
            )


def check_calls(network: Functional, inputs: Tensor) -> int:
    """How many scores a module returns for a sample, found by calling it.

    inputs: some samples (B, *sample). Raises Unsupported where two calls differ or change the module's buffers,
    BadInput where it cannot be called with them or returns anything but (B, classes), or (B,).
    """
    torch = library()
    own, name = copy.deepcopy(network.module), type(network.module).__name__
    kept = {n: b.clone() for n, b in own.named_buffers()}
    samples = inputs.to(next(own.parameters()).dtype) if inputs.is_floating_point() else inputs
    try:
        with torch.no_grad():
            first, second = own(samples), own(samples)
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        NotImplementedError,
        RuntimeError,
        TypeError,
        ValueError,
    ) as e:
        why = next(iter(str(e).splitlines()), "") or type(e).__name__
        shape = list(samples.shape[1:])
        raise BadInput(
            f"the module {name} cannot be called with samples of the shape {shape}: {why.rstrip('.')}."
        ) from e
    if not isinstance(first, torch.Tensor) or first.ndim not in (1, 2) or first.shape[0] != samples.shape[0]:
        raise BadInput(f"the module {name} must return scores of the shape (samples, classes).")
    if not torch.equal(first, second):
        raise Unsupported(f"the module {name} gives two results for the same samples; it must not draw random numbers.")
    if any(not torch.equal(b, kept[n]) for n, b in own.named_buffers()):
        raise Unsupported(f"the module {name} changes its buffers when it is called; they must stay as they are.")
    return 1 if first.ndim == 1 else int(first.shape[1])
