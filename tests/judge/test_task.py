"""The oracles of a task against the problem's own gradients, finite differences and the other array libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import boundcheck as bc
from boundcheck.errors import BadInput, BoundcheckError
from boundcheck.judge.task import Task, task_of
from boundcheck.judge.trajectories import follow

PROBLEMS: list[dict[str, Any]] = [
    {"kind": "fedshuffle_36"},
    {"kind": "random_quadratics", "clients": 3, "d": 2, "seed": 1},
    {"kind": "least_squares", "data": "diabetes", "clients": 4, "split": "random", "seed": 0},
    {"kind": "logistic_regression", "data": "breast_cancer", "clients": 3, "ridge": "1/10"},
    {"kind": "softmax_regression", "data": "digits", "clients": 3, "ridge": "1/10"},
]
NAMES = [str(p["kind"]) for p in PROBLEMS]


def task(problem: dict[str, Any], rounds: int = 3) -> Task:
    return task_of(bc.method(kind="scgd", E=2, eta="1/100"), bc.problem(problem), rounds)


@pytest.mark.parametrize("problem", PROBLEMS, ids=NAMES)
def test_gradients_and_losses(problem: dict[str, Any]) -> None:
    """Gradients are those of the problem and of the losses; a client's gradient is made of those of its samples."""
    given, rng = task(problem), np.random.default_rng(0)
    x, direction = rng.normal(size=(2, given.dimension)) / 10
    for client in given.clients:
        own = client.gradient(x)
        np.testing.assert_allclose(own, given.problem.gradient(client.index, x), rtol=1e-9, atol=1e-9)
        mean = client.gradient(x, range(client.size))
        times = float(own @ direction) / float(mean @ direction)  # a client may be the sum of its samples
        assert times == pytest.approx(1, rel=1e-9) or times == pytest.approx(client.size, rel=1e-9)
        for samples in (None, [0], [client.size - 1, 0, 0]):
            step = 1e-5 * direction
            slope = (client.loss(x + step, samples) - client.loss(x - step, samples)) / 2e-5
            assert slope == pytest.approx(float(client.gradient(x, samples) @ direction), rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("problem", PROBLEMS, ids=NAMES)
def test_torch_sees_the_same(problem: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    given = task(problem)
    tensors = given.torch()
    for ours, theirs in zip(given.clients, tensors.clients, strict=True):
        x = tensors.start.clone().requires_grad_()
        for samples in (None, [0, ours.size - 1]):
            (slope,) = torch.autograd.grad(theirs.loss(x, samples), x)
            np.testing.assert_allclose(slope.numpy(), ours.gradient(given.start, samples), rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(
                theirs.gradient(x.detach(), samples).numpy(), slope.numpy(), rtol=1e-9, atol=1e-12
            )


def test_what_is_no_sample_or_iterate() -> None:
    given = task(PROBLEMS[0])
    for samples in ([], [-1], [99], [0.5]):
        with pytest.raises(BadInput, match="samples"):
            given.clients[0].gradient(given.start, samples)  # pyright: ignore[reportArgumentType]
    right = np.ones((3, given.dimension))
    for returned, words in [
        (right[:2], "shape"),
        (np.ones((4, given.dimension)) * 77, "begin with the start"),
        ("text", "no array"),
        ({}, "mapping"),
        ({"gap": [1.0]}, "needs 3 values"),
    ]:
        with pytest.raises(BoundcheckError, match=words):
            follow(lambda task, seed, value=returned: value, given, [0])
    with pytest.raises(BadInput, match="seed 1 returned"):
        follow(lambda task, seed: right if seed == 0 else {"gap": [1, 2, 3]}, given, [0, 1])


def test_a_curve_of_iterates_is_that_of_the_engine() -> None:
    """SCGD by its own loop over clients in turn, against the exact engine."""

    def scgd(task: Task, seed: int) -> Any:
        x, points = task.start, []
        for r in range(task.rounds):
            for _ in range(int(task.parameters["E"])):
                x = x - task.step_sizes[r] * task.clients[r % len(task.clients)].gradient(x)
            points.append(x)
        return points

    given = task(PROBLEMS[1], rounds=7)
    curve = follow(scgd, given, [0]).curve(given.problem, ["gap", "dist2"])
    exact = bc.run(given.method, given.problem, rounds=7)
    for name in ("gap", "dist2"):
        np.testing.assert_allclose(curve.values[name], exact.values[name], rtol=1e-12)
