"""Textbook rounds as a stranger writes them are accepted by name, and what is said of others is true."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import boundcheck as bc
from boundcheck.errors import BadInput, UnknownName
from boundcheck.judge.comparison import compare_implementation
from boundcheck.judge.findings import looks_like
from boundcheck.judge.reference import iterates
from boundcheck.judge.task import Task
from boundcheck.problems.problem import clients_of
from boundcheck.pytest_plugin import Boundcheck

COHORT: dict[str, Any] = {"kind": "uniform", "size": 2}
# weights 2/9, 1/3, 4/9; and clients whose gradients are not linear
PROBLEMS = (None, {"kind": "logistic_regression", "data": "breast_cancer", "clients": 3, "ridge": "1/10"})


def descent(task: Task, x: Any) -> Any:
    """grad F."""
    return sum(c.weight * c.gradient(x) for c in task.clients)


def gradient_descent(task: Task, seed: int, dtype: Any = float) -> Any:
    x, path = task.start, []
    for _ in range(task.rounds):
        x = (x - 0.1 * descent(task, x)).astype(dtype).astype(float)
        path.append(x)
    return path


def look_ahead(task: Task, seed: int) -> Any:
    """Nesterov's method as torch and optax return it."""
    x, v, path = task.start, 0.0, []
    for _ in range(task.rounds):
        g = descent(task, x)
        v = 0.5 * v + g
        x = x - 0.1 * (g + 0.5 * v)
        path.append(x)
    return path


def ends(task: Task, x: Any, steps: list[int]) -> list[Any]:
    found = []
    for client, count in zip(task.clients, steps, strict=True):
        y = x
        for _ in range(count):
            y = y - 0.1 * client.gradient(y)
        found.append(y)
    return found


def fednova(task: Task, seed: int, tau: float) -> Any:
    x, path, steps = task.start, [], [1, 2, 4]
    for _ in range(task.rounds):
        moves = [(x - y) / k for y, k in zip(ends(task, x, steps), steps, strict=True)]
        x = x - tau * sum(w * m for w, m in zip(task.weights, moves, strict=True))
        path.append(x)
    return path


def weighted(task: Task, seed: int, dtype: Any = float) -> Any:
    """FedAvg: two clients a round, two steps each, averaged by their data, uploads in `dtype`."""
    rng, x, path = task.generator(seed), task.start, []
    for _ in range(task.rounds):
        cohort, every = rng.choice(len(task.clients), size=2, replace=False), ends(task, x, [2] * len(task.clients))
        x = np.average([every[i].astype(dtype).astype(float) for i in cohort], axis=0, weights=task.weights[cohort])
        path.append(x)
    return path


@pytest.mark.parametrize("problem", PROBLEMS, ids=["default", "logistic"])
def test_what_the_corpus_of_textbook_methods_leaves_out_is_accepted_by_name(problem: Any) -> None:
    for spec, run in (
        ({"kind": "sync_sgd", "eta": "1/10", "gradient": "full"}, gradient_descent),
        ({"kind": "nesterov", "eta": "1/10", "momentum_g": "1/2"}, look_ahead),
    ):
        found = compare_implementation(spec, run, problem, rounds=5)
        assert found.agrees, found.reason
        assert ("after the look-ahead" in found.reason) == (run is look_ahead)


def test_fedavg_by_data_is_a_kind_and_named_where_another_was_meant() -> None:
    spec = {"kind": "fedavg_weighted", "K": 2, "eta_l": "1/10"}
    assert compare_implementation({**spec, "participation": COHORT}, weighted, rounds=3, seeds=128).agrees
    all_of = compare_implementation({"kind": "fedavg", "E": 1, "eta": "1/10"}, gradient_descent, rounds=9)
    assert "data weights (clients count by their data instead of alike, as the kind 'fedavg_weighted' does)" in (
        all_of.reason
    )


def test_a_round_of_fednova_by_hand() -> None:
    """On the line, f_i = (x - b_i)^2/2, eta = 1/2, x = 0: y = 1/2 (one step to 1) and 3 (two steps to 4).

    tau_eff = 1/4 + 2*3/4 = 7/4, so that x becomes 7/4 (1/4 * 1/2 + 3/4 * 3/2) = 35/16. A cohort of client 1 alone
    has p = 1 and tau_eff = 2: its coefficient is 1.
    """
    clients = [{"A": [[1]], "b": [1]}, {"A": [[1]], "b": [4]}]
    problem = bc.problem(kind="quadratics", start=[0], weights=["1/4", "3/4"], clients=clients)
    method = bc.method(kind="fednova", eta="1/2", steps=[1, 2])
    assert iterates(method, problem, 1)[1, 0] == float(Fraction(35, 16))
    assert method.aggregation.coefficients((1,), method.context(clients_of(problem))) == [1]


def test_mistakes_of_fednova_and_its_names_of_before() -> None:
    wang = {"kind": "fednova", "eta": "1/10", "steps": [1, 2, 4]}
    scaled = compare_implementation(wang, lambda t, s: fednova(t, s, 1 / float(t.weights @ [1, 0.5, 0.25])), rounds=9)
    assert list(scaled.mistakes) == ["normalised weights that sum to 1"]
    for old in ({"kind": "fednova", "eta_l": "1/8", "E": [1, 2, 1]}, {"kind": "fednova_rr", "eta_l": "1/8"}):
        with pytest.raises(BadInput, match="variant of the FedShuffle paper, with eta_l, is the method 'fedshuffle_n"):
            bc.method(old)
    for wrong, text in (({"E": {"low": 1, "high": 2}}, "divide by"), ({"steps": 2, "E": 1}, "either steps")):
        with pytest.raises(BadInput, match=text):
            bc.method({"kind": "fednova", "eta": "1/8", **wrong})
    with pytest.raises(UnknownName, match="momentum_l"):
        bc.method({"kind": "fednova", "eta": "1/8", "momentum_l": "1/2"})


@pytest.mark.parametrize("tau", [1, 2])
def test_weights_of_kept_models_are_told_apart(tau: int) -> None:
    """Client 0 of three left out, the weights being 2, 3 and 4, by a loop."""
    spec = {"kind": "partial_averaging", "tau": tau, "eta": "1/10", "gradient": "full", "weights": "data"}

    def left_out(task: Task, seed: int) -> Any:
        w = np.array([0, 3 / 7, 4 / 7])
        models, path = [task.start] * 3, []
        for r in range(task.rounds):
            models = [y - 0.1 * c.gradient(y) for y, c in zip(models, task.clients, strict=True)]
            mean = w @ models
            for k in range(2) if tau == 1 else [r % 2]:
                for y in models:
                    y[k] = mean[k]
            path.append(mean)
        return path

    found = compare_implementation(spec, left_out, rounds=6)
    assert list(found.mistakes) == ["client 0 left out, the others scaled up"]
    assert not any("client" in name for name in found.alike)


def test_a_mean_over_the_cohort_is_not_said_to_be_divided_by_the_cohort_by_mistake() -> None:
    names = [m.name for m in bc.mutants({"kind": "fedavg_weighted", "K": 2, "eta_l": "1/10", "participation": COHORT}, {
        "kind": "random_quadratics", "clients": 4, "d": 2, "seed": 1})]  # fmt: skip
    assert "weights divided by n instead of |S|" in names
    assert "weights times n/|S|" in names
    assert not any("divided by |S|" in name for name in names)


def test_single_and_half_precision() -> None:
    plain = {"kind": "gradient_descent", "eta": "1/10"}
    drawn = {"kind": "fedavg_weighted", "K": 2, "eta_l": "1/10", "participation": COHORT}
    for spec, run, rounds in ((plain, gradient_descent, 20), (drawn, weighted, 3)):

        def compared(dtype: Any, spec: Any = spec, run: Any = run, rounds: int = rounds, **how: Any) -> bc.Agreement:
            """Iterates in this precision, returned as doubles."""
            return compare_implementation(spec, lambda t, s: run(t, s, dtype), rounds=rounds, seeds=256, **how)

        single = compared(np.float32)
        assert not single.agrees
        (allowed,) = re.findall(r"tolerance = (\S+) accepts them", single.reason)
        assert 1e-8 < float(allowed) < 1e-4
        assert compared(np.float32, tolerance=1.01 * float(allowed)).agrees
        half = compared(np.float16)
        assert not half.agrees
        assert not half.mistakes
        assert "are below" not in half.reason


@pytest.mark.parametrize(
    ("cast", "words"),
    [
        (lambda x: np.asarray(x) + 0j, "ndarray of complex128 is no array of real numbers"),
        (lambda x: [[str(v) for v in row] for row in x], "list of <U.* is no array of real numbers"),
        (lambda x: np.asarray(x, dtype=np.longdouble) + np.longdouble(2) ** -60, "no number in double precision"),
        (lambda x: [[Fraction(1, 3)] * 2 for _ in x], "1/3 of them is no number in double precision"),
    ],
)
def test_iterates_that_are_cast_with_loss_are_refused(cast: Any, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        compare_implementation(
            {"kind": "gradient_descent", "eta": "1/10"}, lambda t, s: cast(gradient_descent(t, s)), rounds=3
        )


def test_a_curve_of_all_clients_drawn_uniformly(boundcheck: Boundcheck) -> None:
    """A cohort of all n clients is full participation; a smaller one is out of this scope, and no error."""
    clients = [{"A": [[2, 0], [0, 1]], "b": [1, 0]}, {"A": [[1, 0], [0, 2]], "b": [0, 1]}]
    asked: dict[str, Any] = {
        "problem": {"kind": "quadratics", "start": [30, -20], "clients": clients},
        "run": lambda task, seed: [*gradient_descent(task, seed)],
        "rounds": [100, 200],
    }
    method = {"kind": "fedavg", "E": 1, "eta": "1/10"}
    found = boundcheck.assert_curve("classics/local_gd_convex/sharp", method={**method, "size": 2}, **asked)
    assert found.power is not None
    with pytest.raises(AssertionError, match="the statement is about fedavg, the run is fedavg_weighted"):
        boundcheck.assert_curve("classics/local_gd_convex/sharp", method={**method, "size": 1}, **asked)


def test_a_mistake_that_is_merely_not_refuted_is_compatible() -> None:
    """One of two far clients a round: 256 seeds do not tell means 1 % apart, but their laws do."""
    clients = [{"A": [[1]], "b": [10]}, {"A": [[1]], "b": [-1]}]
    problem = {"kind": "quadratics", "start": ["1/3"], "clients": clients}
    method = {"kind": "fedavg_weighted", "K": 2, "eta_l": "1/10", "participation": {"kind": "uniform", "size": 1}}
    mistake = "models averaged with weights that sum to 101/100"

    def ending_with(change: Callable[[Any], Any]) -> Any:
        def path_of(task: Task, seed: int) -> Any:
            rng, x, path = task.generator(seed), task.start, list[Any]()
            for _ in range(task.rounds):
                x = change(ends(task, x, [2, 2])[rng.integers(2)])
                path.append(x)
            return path

        return compare_implementation(method, path_of, problem, rounds=1, seeds=256)

    half = ending_with(lambda y: y.astype(np.float16).astype(float))  # uploads in half precision
    assert not half.agrees
    assert not half.mistakes
    assert not half.compatible
    scaled = ending_with(lambda y: 1.01 * y)
    assert list(scaled.mistakes) == [mistake]
    words = looks_like({}, 7, {mistake: ""})
    assert words == (
        f"None of the 7 known mistakes is shown to explain it; it is compatible with {mistake}, as it is with the "
        "method's means."
    )
