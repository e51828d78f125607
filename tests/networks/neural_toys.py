"""Small problems for tests of the neural engine."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

from boundcheck.core.arrays import pack_arrays, unpack_arrays
from boundcheck.engines.curve import Floats
from boundcheck.methods.method import Method
from boundcheck.networks.engine import losses
from boundcheck.networks.functional import Network
from boundcheck.networks.models import model
from boundcheck.networks.problem import NeuralProblem
from boundcheck.problems._classifier import Classifier
from boundcheck.problems._losses import Logistic, Softmax
from boundcheck.problems.digits import load
from boundcheck.problems.problem import clients_of
from tests.engines.drawn_plans import plan

F = Fraction
SIZES = (3, 1, 4, 2, 3)
SHARES = tuple(F(k, 20) for k in (6, 1, 7, 2, 4))
OFFSETS = tuple(int(v) for v in np.cumsum((0, *SIZES)))
PIXELS = (18, 26, 34, 42, 50)  # in the middle of the image, where digits differ


@cache
def classifier(loss: str = "softmax", sizes: tuple[int, ...] = SIZES) -> Classifier:
    """Softmax regression on the digits 0, 1, 2 with five pixels each, or logistic regression of 0 against both."""
    digits = load()
    rows = np.flatnonzero(digits.labels < 3)[: sum(sizes)]
    labels = digits.labels[rows]
    shares = SHARES if sizes == SIZES else tuple(F(s, sum(sizes)) for s in sizes)
    return Classifier(
        name="digits",
        spec={"kind": "softmax_regression", "data": "digits", "rows": "some"},
        features=np.ascontiguousarray(digits.numbers[rows][:, PIXELS] / 16.0),
        labels=labels if loss == "softmax" else np.where(labels == 0, 1.0, -1.0),
        offsets=tuple(int(v) for v in np.cumsum((0, *sizes))),
        weights=shares,
        ridge=F(1, 10),
        loss=Softmax(3) if loss == "softmax" else Logistic(),
    )


@cache
def perceptron(sizes: tuple[int, ...] = SIZES, hidden: int = 4) -> NeuralProblem:
    """A network with one hidden layer on the same samples."""
    given = classifier(sizes=sizes)
    network = Network(model("mlp", (len(PIXELS),), 3, 0, {"hidden": [hidden]}), (len(PIXELS),))
    return NeuralProblem(
        name="digits",
        spec={"kind": "neural", "data": "digits", "model": "mlp"},
        network=network,
        model="mlp",
        classes=3,
        inputs=given.features.astype(np.float32),
        labels=given.labels.astype(np.int64),
        offsets=given.offsets,
        weights=given.weights,
        ridge=F(1, 100),
        start_vector=network.start(1),
        test_inputs=None,
        test_labels=None,
    )


class Loop:
    """One seed of a method on a network of one hidden layer: eager torch, one client and one step of 1/4 at a time."""

    def __init__(self, problem: Any, method: Method, seed: int, rounds: int) -> None:
        self.problem = problem
        self.plan = plan(method, clients_of(problem), seed, rounds)
        self.inputs = torch.from_numpy(problem.inputs).double()
        self.labels = torch.from_numpy(problem.labels)
        hidden, given = problem.network.slots[0].shape
        self.net = torch.nn.Sequential(
            torch.nn.Linear(given, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, problem.classes)
        ).double()

    def gradient(self, client: int, rows: Sequence[int], x: Floats) -> Floats:
        """Of the mean over samples of a client, counted from its first, with the l2 term."""
        torch.nn.utils.vector_to_parameters(torch.from_numpy(x), self.net.parameters())
        own = torch.tensor(rows) + self.problem.offsets[client]
        loss = torch.nn.functional.cross_entropy(self.net(self.inputs[own]), self.labels[own])
        flat = torch.cat([g.ravel() for g in torch.autograd.grad(loss, list(self.net.parameters()))])
        return flat.numpy() + float(self.problem.ridge) * x

    def of_all(self, x: Floats) -> Floats:
        """The gradient of F."""
        weights = [float(w) for w in self.problem.weights]
        return sum((w * self.gradient(i, range(self.problem.sizes[i]), x) for i, w in enumerate(weights)), 0 * x)

    def local(self, r: int, client: int, x: Floats) -> Floats:
        """The model that a visit ends with."""
        for rows in self.plan.batches(r, client):
            x = x - self.gradient(client, list(rows), x) / 4
        return x


def spoil(monkeypatch: pytest.MonkeyPatch, call: int, lane: int, value: float) -> list[int]:
    """Makes the gradient of a lane this value in one call of the local step; the lanes of every call, from 1 on."""
    original, calls = losses.gradients, list[int]()

    def spoiled(task: Any, parameters: Any, rows: Any, mask: Any) -> Any:
        found, slope = original(task, parameters, rows, mask)
        calls.append(len(parameters))
        if len(calls) == call:
            slope[lane] = value
        return found, slope

    monkeypatch.setattr(losses, "gradients", spoiled)
    return calls


class Interrupted(Exception):
    """A run that ends in the middle."""


class Saving:
    """A checkpoint, packed as by the store, that is due after every round, and ends the run after this many saves."""

    def __init__(self, after: int) -> None:
        self.after = after
        self.kept: dict[str, np.ndarray] | None = None

    def load(self) -> dict[str, np.ndarray] | None:
        """See `Checkpoint`."""
        return self.kept

    def due(self) -> bool:
        """See `Checkpoint`."""
        return True

    def save(self, arrays: dict[str, np.ndarray]) -> None:  # pyright: ignore
        """See `core.store.Checkpoint`."""
        self.kept = unpack_arrays(pack_arrays(arrays), frozen=False)
        self.after -= 1
        if self.after == 0:
            raise Interrupted
