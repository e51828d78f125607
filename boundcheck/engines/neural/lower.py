"""A problem as the neural engine reads it: samples, model and loss on a device."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from boundcheck.core.digest import package_version
from boundcheck.core.linalg import nearest_float
from boundcheck.engines.curve import Floats, Ints
from boundcheck.engines.neural.library import library
from boundcheck.engines.neural.network import Network, Tensor
from boundcheck.engines.neural.refusals import refuse_problem
from boundcheck.engines.neural.settings import Settings
from boundcheck.engines.neural.task import Task
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Blocks
from boundcheck.problems._classifier import Classifier
from boundcheck.problems._losses import Logistic
from boundcheck.problems.architectures import Architecture, Dense
from boundcheck.problems.architectures.partition import PARTITIONS, coordinates, partition
from boundcheck.problems.problem import Problem, clients_of, is_neural

__all__ = ["architecture_of", "device_of", "name_of", "resolved", "start_of", "task_of"]


def architecture_of(problem: Problem) -> Architecture | None:
    """The network of a problem as data; None for a module of the user's own and for problems without a network."""
    if isinstance(problem, Classifier):
        rows = problem.features.shape[1]
        layers = (Dense(rows, problem.loss.columns, bias=False),)
        return Architecture(problem.name, layers, (rows,), problem.loss.columns, "features")
    found = getattr(problem, "architecture", None)
    return found if isinstance(found, Architecture) else None


def start_of(problem: Problem) -> Floats:
    """x_0 (dim,)."""
    if is_neural(problem):
        return np.asarray(getattr(problem, "start_vector"), dtype=np.float64)  # noqa: B009
    return np.array([float(v) for v in problem.start], dtype=np.float64)


def device_of(settings: Settings) -> str:
    """The device that settings mean, "cpu", "cuda" or "cuda:1". Raises BadInput for a GPU that is not there."""
    if settings.device == "cpu" or (settings.device == "auto" and (package_version("torch") or "").endswith("+cpu")):
        return "cpu"
    cuda = library().cuda
    if settings.device == "auto":
        return "cuda" if cuda.is_available() else "cpu"
    number = int(settings.device.partition(":")[2] or 0)
    count = cuda.device_count() if cuda.is_available() else 0
    if number >= count:
        seen = "no GPU" if count == 0 else f"GPUs up to 'cuda:{count - 1}'"
        raise BadInput(f"device = '{settings.device}' is not there: torch sees {seen}; take device = 'auto' or 'cpu'.")
    return settings.device


def resolved(method: Method, problem: Problem) -> Method:
    """The method with the coordinates of its blocks, where these are layers or channels of the problem's network."""
    blocks = method.exchange
    if not isinstance(blocks, Blocks) or blocks.partition not in PARTITIONS:
        return method
    architecture = architecture_of(problem)
    if architecture is None:
        raise Unsupported(
            f"partition = '{blocks.partition}' is that of a network whose layers boundcheck knows; '{problem.name}' is "
            "none, take partition = 'even'."
        )
    own = tuple(coordinates(ranges) for ranges in partition(architecture, str(blocks.partition), blocks.tau))
    return replace(method, exchange=replace(blocks, partition=own))


def name_of(device: str) -> str:
    """The kind of a device, on which the bits of a result depend: "cpu", or the name of the GPU."""
    return "cpu" if device == "cpu" else str(library().cuda.get_device_name(device))


def task_of(problem: Problem, settings: Settings) -> Task:
    """The problem on the settings' device in their precision.

    Takes neural problems and linear classifiers, whose features are the samples of one dense layer without a bias.
    Raises Unsupported for other problems, BadInput for a device or precision that is not there, and MissingExtra.
    """
    torch = library()
    if not isinstance(problem, Classifier) and not is_neural(problem):
        raise refuse_problem(problem)
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
        network=_network(problem),
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


def _network(problem: Problem) -> Network:
    architecture = architecture_of(problem)
    if architecture is None:
        return getattr(problem, "network")  # noqa: B009  (a module of the user's own)
    from boundcheck.engines.neural.batched import batched

    return batched(architecture)
