"""Rows of networks in float64, one of every architecture, are those of a loop in eager torch to 1e-10.

The loop takes one seed, one client and one step at a time, with plain modules of `torch.nn` and autograd. What else is
held against one, in `tests/networks/test_network_engine.py`: methods on a perceptron, and every kind of method that
trains networks on softmax regression, against the reference of the sampled engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

import boundcheck as bc
from boundcheck.networks.functional import Network
from boundcheck.networks.models import MODELS, model
from boundcheck.networks.problem import NeuralProblem
from boundcheck.problems.problem import clients_of
from tests.engines.drawn_plans import plan
from tests.networks.plain_models import loaded

ROUNDS, SEEDS, CLIENTS = 3, range(2, 4), 3
STEP, RIDGE = 1 / 8, Fraction(1, 16)
SYMBOLS, LENGTH = 5, 4
# Small models of every architecture, each with a local step of its own.
SMALL: Mapping[str, Mapping[str, Any]] = {
    "softmax": {},
    "mlp": {"hidden": [5, 4], "activation": "tanh"},
    "cnn": {"channels": [2, 3], "kernel": 3, "hidden": 4},
    "resnet20": {"width": 2, "blocks": 1, "groups": 2},
    "resnet18": {"width": 2, "blocks": 1, "groups": 2},
    "vgg11": {"width": 1},
    "char_lstm": {"embedding": 2, "hidden": 3},
    "sentiment_lstm": {"embedding": 2, "hidden": 3},
}
PLAIN: Mapping[str, Any] = {"kind": "fedavg_reshuffled", "eta": STEP, "size": 2, "E": 2, "batch": 2}
HEAVY = {**PLAIN, "momentum_l": 0.5}
SHAPED = {**PLAIN, "momentum_l": 0.5, "weight_decay_l": 0.25, "clip_l": 0.5}
STEPS: Mapping[str, Any] = {"kind": "fedavg", "eta": STEP, "size": 2, "E": 3}
SHAPES: Mapping[str, float] = {"momentum_l": 0.0, "weight_decay_l": 0.0, "clip_l": np.inf}
METHODS: Mapping[str, Mapping[str, Any]] = {
    "softmax": SHAPED,
    "mlp": HEAVY,
    "cnn": SHAPED,
    "resnet20": PLAIN,
    "resnet18": STEPS,
    "vgg11": PLAIN,
    "char_lstm": HEAVY,
    "sentiment_lstm": SHAPED,
}


def network(name: str) -> NeuralProblem:
    """Of images of digits, or of random symbols: the data sets of texts are not here without a download."""
    if MODELS[name][0] != "tokens":
        spec = {"kind": "neural", "data": "digits", "samples": 12, "clients": CLIENTS, "seed": 3, "start": 1}
        return bc.problem({**spec, "model": {"name": name, **SMALL[name]}, "ridge": RIDGE})  # pyright: ignore
    source = np.random.default_rng(7)
    own = Network(model(name, (LENGTH,), 3, SYMBOLS, SMALL[name]), (LENGTH,))
    return NeuralProblem(
        name="symbols",
        spec={"kind": "neural", "data": "symbols", "model": name},
        network=own,
        model=name,
        classes=3,
        inputs=source.integers(0, SYMBOLS, (11, LENGTH)),
        labels=source.integers(0, 3, 11),
        offsets=(0, 5, 7, 11),
        weights=(Fraction(5, 11), Fraction(2, 11), Fraction(4, 11)),
        ridge=RIDGE,
        start_vector=own.start(1),
        test_inputs=None,
        test_labels=None,
    )


def loss_and_gradient(problem: NeuralProblem, rows: Any, x: np.ndarray) -> tuple[float, np.ndarray]:  # pyright: ignore
    """Of the mean over these samples, with the l2 term."""
    module = loaded(problem.network, torch.from_numpy(x))
    inputs = torch.from_numpy(problem.inputs[rows])
    scores = module(inputs.double() if inputs.is_floating_point() else inputs)
    loss = torch.nn.functional.cross_entropy(scores, torch.from_numpy(problem.labels[rows]))
    loss.backward()
    slope = torch.cat([p.grad.flatten() for p in module.parameters()]).numpy()  # pyright: ignore
    return float(loss.detach()) + float(RIDGE) / 2 * float(x @ x), slope + float(RIDGE) * x


def rows_of_a_loop(problem: NeuralProblem, spec: Mapping[str, Any], seed: int) -> np.ndarray:  # pyright: ignore
    """f and |grad f|^2 at the server's model after each round; shape (2, rounds + 1)."""
    method = bc.method(spec)
    planned = plan(method, clients_of(problem), seed, ROUNDS)
    rho, decay, clip = (float(spec.get(name, default)) for name, default in SHAPES.items())
    x, found = problem.start_vector, []
    for r in range(ROUNDS + 1):
        parts = [
            loss_and_gradient(problem, np.arange(*problem.offsets[i : i + 2]), x) for i in range(len(problem.weights))
        ]
        slope = sum(float(w) * g for w, (_, g) in zip(problem.weights, parts, strict=True))
        found.append((sum(float(w) * f for w, (f, _) in zip(problem.weights, parts, strict=True)), slope @ slope))
        if r == ROUNDS:
            break
        models = []
        for client in planned.cohort(r):
            y, buffer = x, np.zeros_like(x)
            for batch in planned.batches(r, client):
                _, g = loss_and_gradient(problem, problem.offsets[client] + np.array(batch), y)
                g = g * min(1.0, clip / np.linalg.norm(g)) + decay * y
                buffer = rho * buffer + g
                y = y - STEP * buffer
            models.append(y)
        x = np.mean(models, axis=0)
    return np.array(found).T


def test_every_architecture_is_here() -> None:
    assert set(SMALL) == set(METHODS) == set(MODELS)


@pytest.mark.parametrize("name", SMALL)
def test_rows_are_those_of_an_eager_loop(name: str) -> None:
    torch.set_num_threads(1)
    problem, spec = network(name), METHODS[name]
    curve = bc.run(
        spec, problem, rounds=range(ROUNDS + 1), engine="neural", seeds=SEEDS, metrics=("f", "grad2"),
        neural={"precision": "float64"},
    )  # fmt: skip
    for row, seed in enumerate(SEEDS):
        f, grad2 = rows_of_a_loop(problem, spec, seed)
        assert abs(f[-1] - f[0]) > 1e-4
        np.testing.assert_allclose(curve.samples["f"][row], f, rtol=1e-10, atol=0)
        np.testing.assert_allclose(curve.samples["grad2"][row], grad2, rtol=1e-10, atol=0)
