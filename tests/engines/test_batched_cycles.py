"""The search's batched cycle map against the exact engine, one instance at a time."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from boundcheck.engines.batched_cycles import cycle_map, doublings
from boundcheck.engines.run import run
from boundcheck.errors import Unsupported
from boundcheck.methods.build import build
from boundcheck.problems.quadratics import from_matrices


def instances(count: int, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    A = random.standard_normal((count, n, 2, 2))
    A = A @ A.transpose(0, 1, 3, 2) + 0.1 * np.eye(2)
    A[:, 0] -= 0.2 * np.eye(2)
    return (
        A,
        random.standard_normal((count, n, 2)),
        random.standard_normal((count, 2)),
        random.uniform(0.01, 0.05, count),
    )


@pytest.mark.parametrize(
    "spec",
    [
        {"kind": "scgd", "E": 3},
        {"kind": "scgd", "E": 1, "order": [2, 0, 1]},
        {"kind": "fedavg", "E": 2},
        {"kind": "gradient_descent"},
    ],
)
def test_against_the_exact_engine(spec: dict[str, Any]) -> None:
    A, b, start, eta = instances(4, 3)
    method = build({**spec, "eta": 1})
    H, per_cycle = cycle_map(method, A, b, eta)
    points = dict(doublings(H, start, 8))
    assert list(points) == [1, 2, 4, 8]
    for k in range(4):
        problem = from_matrices(A[k].tolist(), b[k].tolist(), start=start[k].tolist())
        exact = run(
            build({**spec, "eta": Fraction(eta[k])}),
            problem,
            rounds=[K * per_cycle for K in points],
            arithmetic="rational",
            metrics=["dist2"],
        )
        measured = [problem.metric("dist2", points[K][k]) for K in points]
        np.testing.assert_allclose(measured, exact.values["dist2"], rtol=1e-9)


def test_one_step_by_hand() -> None:
    """x = (1, 0), two clients with f_i = a_i |x|^2/2 - b_i'x: x <- x - eta (a_i x - b_i), one after the other."""
    A = np.array([[[[2.0, 0], [0, 2.0]], [[4.0, 0], [0, 4.0]]]])
    b = np.array([[[1.0, 0.0], [0.0, 1.0]]])
    H, rounds = cycle_map(build({"kind": "scgd", "E": 1, "eta": 1}), A, b, np.array([0.25]))
    assert rounds == 2
    # client 0: (1, 0) - (2 - 1, 0)/4 = (3/4, 0); client 1: (3/4, 0) - (3, -1)/4 = (0, 1/4)
    ((K, x),) = doublings(H, np.array([[1.0, 0.0]]), 1)
    assert K == 1
    np.testing.assert_array_equal(x, [[0.0, 0.25]])


def test_divergence_overflows_quietly() -> None:
    A, b, start, _ = instances(2, 2)
    H, _ = cycle_map(build({"kind": "scgd", "E": 5, "eta": 1}), A, b, np.array([1e60, 1e60]))
    for _, x in doublings(H, start, 64):
        assert x.shape == (2, 2)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"kind": "fedavg", "E": 1, "eta": 1, "size": 1}, "'fedavg': it is random."),
        ({"kind": "fedavg_reshuffled", "eta": 1}, "it is random, takes local steps without full gradients."),
        ({"kind": "scgd", "E": 1, "eta0": 1}, "'scgd': it changes its step size."),
    ],
)
def test_what_it_cannot_carry_is_refused(spec: dict[str, Any], words: str) -> None:
    A, b, _, eta = instances(1, 3)
    with pytest.raises(Unsupported, match=words):
        cycle_map(build(spec), A, b, eta)
