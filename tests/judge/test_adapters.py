"""Trainers of others on a task, by the adapters: examples/adapters, each at most 15 lines."""

from __future__ import annotations

import ast
import logging
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundcheck.judge.comparison import compare_implementation

EXAMPLES = Path(__file__).parents[2] / "examples" / "adapters"
PAGE = EXAMPLES.parents[1] / "docs" / "how-to" / "adapters.md"
# example -> what it imports beside NumPy and scipy, its method, and the tolerance where the solver is not exact
CASES: dict[str, tuple[str, dict[str, Any], float | None]] = {
    "torch_loop": ("torch", {"kind": "fedavg_sync", "K": 3, "eta_l": "1/10"}, None),
    "optax_loop": ("optax", {"kind": "heavy_ball", "eta": "1/10", "momentum_g": "1/2"}, None),
    "scipy_solver": ("scipy", {"kind": "fedprox", "mu": "1/2", "solver": "exact"}, 1e-6),
    "flwr_strategy": ("flwr", {"kind": "fedavg_sync", "K": 2, "eta_l": "1/10"}, None),
}


def test_every_example_is_a_case_of_at_most_15_lines_and_stands_on_the_page() -> None:
    assert {p.stem for p in EXAMPLES.glob("*.py")} == set(CASES)
    for name in CASES:
        text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
        (run,) = (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
        assert run.end_lineno is not None
        assert f'title="{name}.py"\n{text}```' in PAGE.read_text(encoding="utf-8")
        assert run.end_lineno - run.lineno + 1 <= 15


@pytest.mark.parametrize("name", CASES)
def test_example(name: str) -> None:
    package, method, tolerance = CASES[name]
    pytest.importorskip(package, reason=f"examples/adapters/{name}.py needs {package}, which is not installed")
    logging.getLogger("flwr").setLevel(logging.ERROR)
    run = runpy.run_path(str(EXAMPLES / f"{name}.py"))["run"]
    found = compare_implementation(method, run, tolerance=tolerance, rounds=60)
    assert found.agrees, found
    assert ("The numbers are in single precision" in found.reason) == (name in ("torch_loop", "optax_loop"))
    wrong = compare_implementation(method, lambda t, s: np.asarray(run(t, s))[:, ::-1], tolerance=tolerance, rounds=60)
    assert not wrong.agrees


def test_batches_and_orders() -> None:
    torch = pytest.importorskip("torch")
    from boundcheck.adapters import jax, numpy
    from boundcheck.adapters.torch import Point, loader, loss_of
    from boundcheck.judge.instances import telling_problem
    from boundcheck.judge.task import task_of
    from boundcheck.methods.build import build

    method = build({"kind": "gradient_descent", "eta": "1/10"})
    task = task_of(method, telling_problem(method), 1)
    client = task.clients[2]  # of 4 samples
    batches = [target.tolist() for _, target in loader(client, 3)]
    assert batches == [[[2, 0], [2, 1], [2, 2]], [[2, 3]]]
    orders = [[int(s) for _, t in loader(client, 1, shuffle=True, seed=seed) for s in t[:, 1]] for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert all(sorted(order) == [0, 1, 2, 3] for order in orders)
    assert [b.tolist() for b in jax.batches(client, 3)] == [[0, 1, 2], [3]]
    model = Point(task, torch.float64)
    loss_of(task)(model(None), torch.tensor([[2, 1], [2, 3]])).backward()
    assert model.x.grad is not None
    np.testing.assert_allclose(model.x.grad.numpy(), client.gradient(task.start, [1, 3]), rtol=1e-14)
    by_hand = task.start
    for samples in ([0, 1, 2], [3]):
        by_hand = by_hand - 0.1 * client.gradient(by_hand, samples)
    np.testing.assert_allclose(numpy.sgd(client, task.start, 0.1, batch_size=3), by_hand, rtol=1e-14)
    whole = numpy.Objective(task, mu=2.0, centre=np.array([1.0, 0.0]))
    h = 1e-6 * np.eye(2)
    slopes = [(whole(task.start + e) - whole(task.start - e)) / 2e-6 for e in h]
    np.testing.assert_allclose(whole.gradient(task.start), slopes, rtol=1e-7)
