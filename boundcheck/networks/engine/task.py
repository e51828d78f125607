"""A problem on a device: its samples, its model, its loss."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from boundcheck.core.linalg import nearest_float
from boundcheck.engines.curve import Floats, Ints
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Blocks
from boundcheck.networks.engine.device import Settings, Tensor, device_of, library
from boundcheck.networks.functional import Network
from boundcheck.networks.partition import PARTITIONS, coordinates, partition
from boundcheck.problems._classifier import Classifier
from boundcheck.problems._losses import Logistic
from boundcheck.problems.problem import Problem, clients_of, is_neural, optional


@dataclass(frozen=True, eq=False)
class Task:
    """What a run reads of a problem.

    f_i(x) = mean over the client's samples of loss(scores(x, input), label) + ridge/2 |x|^2, F = sum of w_i f_i.

    known: the clients (weights as they report them, sizes). weights: w_i of the objective, (n,) float64.
    inputs: (N, *sample) in the dtype in which the network takes it (symbols: int64), labels: (N,) int64 (+1 or -1,
    float, for the loss "logistic"); client i owns the rows offsets[i] to offsets[i + 1]. start: x_0 (dim,) float64.
    test_inputs, test_labels: held-out samples, or None.
    device, dtype: of the parameters. autocast: whether passes run under bfloat16 autocast.
    """

    network: Network
    known: Clients
    weights: Floats
    inputs: Tensor
    labels: Tensor
    offsets: Ints
    loss: Literal["cross_entropy", "logistic"]
    ridge: float
    start: Floats
    test_inputs: Tensor | None
    test_labels: Tensor | None
    device: Tensor
    dtype: Tensor
    autocast: bool = False


def network_of(problem: Problem) -> Network:
    """The model of a problem: its own, or of a linear classifier one dense layer without a bias.

    Raises Unsupported for problems without labelled samples.
    """
    if isinstance(problem, Classifier):
        rows, torch = problem.features.shape[1], library()
        with torch.device("meta"):
            return Network(torch.nn.Linear(rows, problem.loss.columns, bias=False), (rows,))
    if not is_neural(problem):
        raise refuse_problem(problem)
    return getattr(problem, "network")  # noqa: B009


def start_of(problem: Problem) -> Floats:
    """x_0 (dim,)."""
    if is_neural(problem):
        return np.asarray(optional(problem, "start_vector"), dtype=np.float64)
    return np.array([float(v) for v in problem.start], dtype=np.float64)


def resolved(method: Method, problem: Problem) -> Method:
    """The method with the coordinates of its blocks, where these are layers or channels of the problem's network."""
    blocks = method.exchange
    if not isinstance(blocks, Blocks) or blocks.partition not in PARTITIONS:
        return method
    own = tuple(coordinates(ranges) for ranges in partition(network_of(problem), str(blocks.partition), blocks.tau))
    return replace(method, exchange=replace(blocks, partition=own))


def task_of(problem: Problem, settings: Settings) -> Task:
    """The problem on the settings' device in their precision.

    Takes neural problems and linear classifiers, whose features are the samples of one dense layer without a bias.
    Raises Unsupported for other problems, BadInput for a device or precision that is not there, and MissingExtra.
    """
    torch, network = library(), network_of(problem)
    device = torch.device(device_of(settings))
    dtype = torch.float64 if settings.precision == "float64" else torch.float32

    def samples(values: Any) -> Tensor:
        tensor = torch.from_numpy(np.ascontiguousarray(values))
        return tensor.to(device, dtype if tensor.is_floating_point() else torch.int64)

    known = clients_of(problem)
    if isinstance(problem, Classifier):
        inputs, test_inputs, test_labels = samples(problem.features), None, None
        loss, ridge = ("logistic" if isinstance(problem.loss, Logistic) else "cross_entropy"), problem.ridge
    else:
        given: Any = problem
        inputs, loss, ridge = samples(given.inputs), given.loss, given.ridge
        test_inputs = None if given.test_inputs is None else samples(given.test_inputs)
        test_labels = None if given.test_labels is None else samples(given.test_labels)
    found: Any = problem
    offsets: Ints = np.asarray(found.offsets, dtype=np.int64)
    if not np.array_equal(np.diff(offsets), np.asarray(known.sizes, dtype=np.int64)) or (np.diff(offsets) < 1).any():
        raise BadInput(f"problem '{problem.name}' has a client without samples; every client needs at least one.")
    return Task(
        network=network,
        known=known,
        weights=np.array([float(w) for w in problem.weights], dtype=np.float64),
        inputs=inputs,
        labels=samples(found.labels),
        offsets=offsets,
        loss=loss,
        ridge=nearest_float(ridge),
        start=start_of(problem),
        test_inputs=test_inputs,
        test_labels=test_labels,
        device=device,
        dtype=dtype,
        autocast=settings.precision == "bf16",
    )


def refuse_problem(problem: Problem) -> Unsupported:
    """The error for a problem without labelled samples."""
    return Unsupported(
        f"engine = 'neural' trains models on labelled samples, which the problem '{problem.name}' does not have; take "
        "engine = 'exact' or engine = 'sampled'."
    )
