"""Metrics of the neural engine against formulas written out in NumPy and against plain torch, client by client."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from boundcheck.engines.simulate.lowering import lower
from boundcheck.engines.simulate.metrics import discrepancy
from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.methods.build import build as method
from boundcheck.networks.engine import metrics
from boundcheck.networks.engine.device import Settings
from boundcheck.networks.engine.metrics import surrogate_weights
from boundcheck.networks.engine.passes import BUDGET, Passes
from boundcheck.networks.engine.task import task_of
from boundcheck.problems.build import build
from boundcheck.problems.problem import clients_of
from boundcheck.setting.followed_objective import small_step_weights

torch.set_num_threads(1)

SPEC = {
    "kind": "neural", "data": "digits", "model": {"name": "mlp", "hidden": [5]}, "clients": 3, "split": "random",
    "seed": 1, "samples": 50, "test_samples": 20, "ridge": "1/100",
}  # fmt: skip
NAMES = ("f", "gap", "grad2", "B2", "spread", "accuracy", "test_f")
ASYNCHRONOUS = {"kind": "fedavg_async", "times": [1, 2, 3], "weights": "identical", "K": 1, "eta_l": "1/10"}
DOUBLE = Settings(precision="float64", device="cpu")


@pytest.fixture(scope="module")
def problem() -> Any:
    return build(SPEC)


@pytest.fixture(scope="module")
def task(problem: Any) -> Any:
    return task_of(problem, DOUBLE)


@pytest.fixture(scope="module")
def points(task: Any) -> Any:
    return torch.as_tensor(np.random.default_rng(0).standard_normal((3, task.network.dim)) / 3)


def looked_at(task: Any, problem: Any, names: Any, lowered: Any = None) -> Any:
    """The metrics; by default of a method whose clients keep nothing."""
    plainly = lower(method({"kind": "fedavg_sgd", "E": 1, "eta_l": "1/10"}), task.known, 4)
    return metrics.metrics_of(task, problem, names, lowered or plainly)


def plain(problem: Any, x: Any, inputs: Any) -> Any:
    """The scores of the MLP, its parameters taken out of the flat vector by hand."""
    slots = {slot.name: x[slot.offset : slot.offset + slot.size].view(slot.shape) for slot in problem.network.slots}
    weights = [v for k, v in slots.items() if k.endswith("weight")]
    biases = [v for k, v in slots.items() if k.endswith("bias")]
    rows = torch.as_tensor(inputs, dtype=torch.float64)
    return torch.relu(rows.flatten(1) @ weights[0].T + biases[0]) @ weights[1].T + biases[1]


def client_losses(problem: Any, x: Any) -> Any:
    ends, found = problem.offsets, []
    for low, high in itertools.pairwise(ends):
        scores = plain(problem, x, problem.inputs[low:high])
        right = torch.as_tensor(problem.labels[low:high])
        own = -torch.log_softmax(scores, dim=1)[torch.arange(high - low), right]
        found.append(own.mean() + float(problem.ridge) / 2 * (x * x).sum())
    return torch.stack(found)


def by_hand(problem: Any, x: Any) -> dict[str, float]:
    w = torch.tensor([float(v) for v in problem.weights], dtype=torch.float64)
    leaf = x.clone().requires_grad_()
    losses = client_losses(problem, leaf)
    slopes = torch.stack([torch.autograd.grad(losses[i], leaf, retain_graph=True)[0] for i in range(len(w))])
    losses = losses.detach()
    mean = w @ slopes
    f = float(w @ losses)
    scores = plain(problem, x, problem.test_inputs)
    right = torch.as_tensor(problem.test_labels)
    return {
        "f": f,
        "gap": f,
        "grad2": float(mean @ mean),
        "B2": float(w @ (slopes * slopes).sum(dim=1)) / float(mean @ mean),
        "spread": float(torch.sqrt(w @ (losses - f) ** 2)),
        "accuracy": float((scores.argmax(dim=1) == right).double().mean()),
        "test_f": float(-torch.log_softmax(scores, dim=1)[torch.arange(len(right)), right].mean()),
    }


def test_metrics_are_those_of_plain_torch(
    problem: Any, task: Any, points: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Together, one by one, and in small chunks."""
    found = looked_at(task, problem, NAMES)(points)
    for s, x in enumerate(points):
        for name, value in by_hand(problem, x).items():
            assert found[name][s] == pytest.approx(value, rel=1e-11), name
    for name in NAMES:
        np.testing.assert_allclose(looked_at(task, problem, (name,))(points)[name], found[name], rtol=1e-12)
    monkeypatch.setitem(BUDGET, "cpu", 6 * 8 * task.network.dim * 2)
    small = looked_at(task, problem, NAMES)
    assert small.passes.models_at_once() == 2
    assert small.passes.rows_at_once(2) < 50
    for name, values in small(points).items():
        np.testing.assert_allclose(values, found[name], rtol=1e-12)


def test_memory_that_ends_makes_smaller_chunks(problem: Any, task: Any, points: Any, monkeypatch: Any) -> None:
    whole = looked_at(task, problem, ("grad2",))(points)
    tries = []
    real = Passes.slopes

    def slopes(self: Passes, group: Any) -> Any:
        tries.append(len(group))
        if len(tries) == 1:
            raise torch.OutOfMemoryError
        return real(self, group)

    monkeypatch.setattr(Passes, "slopes", slopes)
    look = looked_at(task, problem, ("grad2",))
    before = Passes(task).rows_at_once(1)
    np.testing.assert_allclose(look(points)["grad2"], whole["grad2"], rtol=1e-12)
    assert len(tries) >= 2
    assert look.passes.rows_at_once(1) < before


def test_points_that_are_not_finite(problem: Any, task: Any, points: Any) -> None:
    broken = points.clone()
    broken[1, 3] = torch.nan
    found = looked_at(task, problem, ("f", "grad2", "accuracy"))(broken)
    assert found["f"][1] == np.inf
    assert found["grad2"][1] == np.inf
    assert found["accuracy"][1] == 0
    whole = looked_at(task, problem, ("f", "grad2", "accuracy"))(points)
    for name, values in found.items():
        np.testing.assert_allclose(values[[0, 2]], whole[name][[0, 2]], rtol=1e-12)


def test_a_classifier_has_its_certified_metrics() -> None:
    own = build(
        {"kind": "softmax_regression", "data": "digits", "clients": 3, "split": "dirichlet", "alpha": 1, "seed": 1}
    )
    task = task_of(own, DOUBLE)
    points = np.random.default_rng(1).standard_normal((2, own.dim)) / 10
    names = ("gap", "dist2", "grad2", "B2", "f")
    found = looked_at(task, own, names)(torch.as_tensor(points))
    for name in names[:-1]:
        np.testing.assert_array_equal(found[name], own.metric_many(name, points))  # type: ignore[attr-defined]
    least = own.minimum  # type: ignore[attr-defined]
    np.testing.assert_allclose(found["f"] - least.low, found["gap"], rtol=1e-9)


def test_the_surrogate_of_a_method(problem: Any, task: Any, points: Any) -> None:
    clients = clients_of(problem)
    asynchronous = method(ASYNCHRONOUS)
    u = surrogate_weights(asynchronous, clients)
    # with equal weights a client counts as often as it returns
    np.testing.assert_allclose(u, np.array([6, 3, 2]) / 11)
    look = looked_at(task, problem, ("surrogate_f", "f"), lower(asynchronous, clients, 4))
    found = look(points)
    for s, x in enumerate(points):
        losses = client_losses(problem, x).detach().numpy()
        assert found["surrogate_f"][s] == pytest.approx(float(u @ losses), rel=1e-11)
    other = method({"kind": "fedavg_sgd", "E": 2, "eta_l": "1/10"})
    expected = [float(v) for v in small_step_weights(other, clients)]
    np.testing.assert_allclose(surrogate_weights(other, clients), expected)


def test_discrepancies_are_those_of_the_sampled_engine(problem: Any, task: Any) -> None:
    spec = {"kind": "partial_averaging", "tau": 2, "eta": "1/10"}
    lowered = lower(method(spec), clients_of(problem), 4)
    state = np.random.default_rng(2).standard_normal((2, 4, task.network.dim))
    names = ("discrepancy", "discrepancy:0", "discrepancy:1")
    found = looked_at(task, problem, names, lowered)(torch.as_tensor(state))
    for name in names:
        np.testing.assert_allclose(found[name], discrepancy(lowered, name, task.network.dim)(state), rtol=1e-12)
    np.testing.assert_allclose(found["discrepancy"], found["discrepancy:0"] + found["discrepancy:1"], rtol=1e-12)
    with pytest.raises(BadInput, match="there are 2"):
        looked_at(task, problem, ("discrepancy:2",), lowered)


LOCAL = ("least_local_f", "least_local_loss", "f_above_least_local")


def test_losses_of_the_clients_own_models(problem: Any, task: Any) -> None:
    lowered = lower(method({"kind": "periodic_averaging", "tau": 2, "eta": "1/10"}), clients_of(problem), 4)
    state = np.random.default_rng(3).standard_normal((2, 4, task.network.dim)) / 3
    found = looked_at(task, problem, (*LOCAL, "f"), lowered)(torch.as_tensor(state))
    w = np.array([float(v) for v in problem.weights])
    models_of = state.copy()
    models_of[:, 1:] += state[:, :1]  # what clients keep is how far their models are from the point
    for s, models in enumerate(torch.as_tensor(models_of)):
        # row k: what the model of client k (that of row 0: their mean) loses on the data of each client
        table = np.stack([client_losses(problem, x).detach().numpy() for x in models])
        least = min(float(row @ w) for row in table[1:])
        assert found["least_local_f"][s] == pytest.approx(least, rel=1e-11)
        assert found["f_above_least_local"][s] == pytest.approx(float(table[0] @ w) - least, rel=1e-10)
        assert found["least_local_loss"][s] == pytest.approx(min(table[i + 1, i] for i in range(3)), rel=1e-11)
    np.testing.assert_allclose(found["f_above_least_local"], found["f"] - found["least_local_f"], rtol=1e-12)
    alone = looked_at(task, problem, LOCAL[:1], lowered)(torch.as_tensor(state))
    np.testing.assert_array_equal(alone["least_local_f"], found["least_local_f"])


def test_a_model_that_is_not_finite_is_not_the_least(problem: Any, task: Any) -> None:
    lowered = lower(method({"kind": "periodic_averaging", "tau": 2, "eta": "1/10"}), clients_of(problem), 4)
    state = torch.as_tensor(np.random.default_rng(4).standard_normal((1, 4, task.network.dim)) / 3)
    state[0, 1] = 0.0
    state[0, 2:] = torch.nan
    found = looked_at(task, problem, (*LOCAL, "f"), lowered)(state)
    assert found["least_local_f"][0] == pytest.approx(found["f"][0], rel=1e-12)
    assert found["f_above_least_local"][0] == pytest.approx(0, abs=1e-12)
    state[0, 0] = torch.nan
    for name, values in looked_at(task, problem, LOCAL, lowered)(state).items():
        assert values[0] == np.inf, name


@pytest.mark.parametrize("name", [*LOCAL, "discrepancy"])
def test_methods_without_models_of_the_clients(problem: Any, task: Any, name: str) -> None:
    for spec in ({"kind": "fedavg_sgd", "E": 2, "eta_l": "1/10"}, ASYNCHRONOUS):
        with pytest.raises(Unsupported, match=f"'{spec['kind']}' keeps no models at its clients.*'{name}'"):
            looked_at(task, problem, (name,), lower(method(spec), clients_of(problem), 4))


def test_epochs_of_visits_of_one_epoch(problem: Any, task: Any, points: Any) -> None:
    spec = {"kind": "fedshuffle_mvr", "eta_l": "1/10", "a": "1/5", "warm_up": 2}
    lowered = lower(method(spec), clients_of(problem), 4)
    found = looked_at(task, problem, ("epoch_grad2", "f"), lowered)(points)
    assert set(found) == {"epoch_grad2", "f"}
    np.testing.assert_array_equal(found["epoch_grad2"], looked_at(task, problem, ("grad2",))(points)["grad2"])
    everyone = lower(method({"kind": "fedshuffle", "eta_l": "1/10"}), clients_of(problem), 4)
    with pytest.raises(Unsupported, match="for one client a round and epochs that are as many for every client; 'fed"):
        looked_at(task, problem, ("epoch_grad2",), everyone)
    several = looked_at(task, problem, ("epoch_grad2",), lower(method({**spec, "E": 2}), clients_of(problem), 4))
    with pytest.raises(Unsupported, match="about a round of 2 epochs; a point is none"):
        several(points)


def test_what_there_is_not(problem: Any, task: Any) -> None:
    bare = replace(task, test_inputs=None, test_labels=None)
    for name, error, told in (
        ("speed", UnknownName, "engine = 'neural' on .*: metric"),
        ("discrepancy:x", UnknownName, "engine = 'neural' on .*: metric"),
        ("dist2", Unsupported, "minimum"),
        ("accuracy", Unsupported, "held-out"),
        ("test_f", Unsupported, "held-out"),
    ):
        with pytest.raises(error, match=told):
            looked_at(bare, problem, (name,))
