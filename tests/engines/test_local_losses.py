"""The losses of the models that clients keep, against a loop in eager torch and between the engines."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from boundcheck.engines.run import run
from boundcheck.engines.simulate import run_sampled
from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.methods.build import build as method_of
from boundcheck.networks.engine.device import Settings
from boundcheck.networks.engine.run import run_neural
from boundcheck.problems.build import build
from boundcheck.problems.least_squares import LeastSquares
from boundcheck.problems.problem import clients_of
from tests.engines.drawn_plans import plan
from tests.networks.neural_toys import Interrupted, Saving

torch.set_num_threads(1)

ROUNDS, CLIENTS, SEED = 7, 4, 3
NAMES = ("least_local_f", "least_local_loss", "f_above_least_local")
NETWORK = {
    "kind": "neural",
    "data": "digits",
    "model": {"name": "mlp", "hidden": [5]},
    "clients": CLIENTS,
    "split": "dirichlet",
    "alpha": 1,
    "seed": 1,
    "samples": 60,
    "ridge": "1/100",
}
SOFTMAX = {"kind": "softmax_regression", "data": "digits", "clients": 3, "split": "random", "seed": 1, "ridge": "1/100"}
EXACT = Settings(precision="float64", device="cpu")


class Loop:
    """One seed of averaging on a perceptron: eager torch, one client and one step at a time."""

    def __init__(self, problem: Any) -> None:
        self.problem = problem
        self.inputs = torch.from_numpy(problem.inputs).double().flatten(1)
        self.labels = torch.from_numpy(problem.labels)
        self.net = torch.nn.Sequential(torch.nn.Linear(64, 5), torch.nn.ReLU(), torch.nn.Linear(5, 10)).double()

    def loss(self, client: int, x: Any, rows: Any = None) -> Any:
        """f_client at x, or its mean over some of the client's samples; a tensor that knows its gradient."""
        torch.nn.utils.vector_to_parameters(torch.from_numpy(x), self.net.parameters())
        low, size = self.problem.offsets[client], self.problem.sizes[client]
        own = low + torch.tensor(list(range(size) if rows is None else rows))
        squares = sum((p * p).sum() for p in self.net.parameters())
        lost = torch.nn.functional.cross_entropy(self.net(self.inputs[own]), self.labels[own])
        return lost + float(self.problem.ridge) / 2 * squares

    def step(self, client: int, x: Any, rows: Any, eta: float) -> Any:
        """One step of gradient descent."""
        slopes = torch.autograd.grad(self.loss(client, x, rows), list(self.net.parameters()))
        return x - eta * torch.cat([g.ravel() for g in slopes]).numpy()


@pytest.mark.parametrize("kind", ["periodic_averaging", "partial_averaging"])
def test_losses_along_a_run_are_those_of_a_loop(kind: str) -> None:
    problem: Any = build(NETWORK)
    method = method_of({"kind": kind, "tau": 3, "batch": 8, "eta": "1/4"})
    curve = run_neural(method, problem, ROUNDS, range(SEED, SEED + 2), (*NAMES, "f"), None, EXACT)
    drawn = plan(method, clients_of(problem), SEED, ROUNDS)
    loop, models = Loop(problem), np.tile(problem.start_vector, (CLIENTS, 1))
    cuts = [0, problem.dim // 3, 2 * problem.dim // 3, problem.dim]
    weights = np.array([float(w) for w in problem.weights])
    assert len(set(weights)) > 1
    for r in range(ROUNDS):
        for i in range(CLIENTS):
            for rows in drawn.batches(r, i):
                models[i] = loop.step(i, models[i], rows, 1 / 4)
        returned = models.copy()
        if kind == "periodic_averaging":
            own = slice(0, problem.dim if r % 3 == 2 else 0)
        else:
            own = slice(cuts[r % 3], cuts[r % 3 + 1])
        models[:, own] = models[:, own].mean(axis=0)
        at = (models.mean(axis=0), *returned)
        losses = np.array([[loop.loss(i, y).item() for i in range(CLIENTS)] for y in at])
        of_all = losses @ weights
        expected = {
            "least_local_f": of_all[1:].min(),
            "least_local_loss": min(losses[1 + i, i] for i in range(CLIENTS)),
            "f_above_least_local": of_all[0] - of_all[1:].min(),
        }
        for name, value in expected.items():
            assert abs(curve.samples[name][0, r + 1] - value) < 1e-10, name
    apart = np.abs(curve.samples["f_above_least_local"])
    assert apart[:, 0] == pytest.approx(0, abs=1e-14)
    assert apart[:, 1:].min() > 1e-4  # also where all are averaged
    few = run_neural(method, problem, ROUNDS, range(SEED, SEED + 1), NAMES, [3, ROUNDS], EXACT)
    for name in NAMES:
        np.testing.assert_allclose(few.samples[name][0], curve.samples[name][0, [3, ROUNDS]], rtol=1e-9, atol=1e-12)


def test_a_run_that_was_cut_off_measures_the_same() -> None:
    problem = build(NETWORK)
    method = method_of({"kind": "periodic_averaging", "tau": 2, "batch": 8, "eta": "1/4"})
    whole = run_neural(method, problem, ROUNDS, 2, NAMES, None, EXACT)
    checkpoint: Any = Saving(2)
    with pytest.raises(Interrupted):
        run_neural(method, problem, ROUNDS, 2, NAMES, None, EXACT, checkpoint=checkpoint)
    checkpoint.after = 100
    rest = run_neural(method, problem, ROUNDS, 2, NAMES, None, EXACT, checkpoint=checkpoint)
    for name in NAMES:
        np.testing.assert_array_equal(rest.samples[name], whole.samples[name])


@pytest.mark.parametrize("path", ["numpy", "numba"])
def test_the_sampled_engine_measures_the_same(path: Any) -> None:
    problem = build(SOFTMAX)
    method = method_of({"kind": "partial_averaging", "tau": 3, "batch": 8, "eta": "1/2"})
    names = (*NAMES, "gap", "discrepancy")
    sampled = run_sampled(method, problem, ROUNDS, 2, names, range(ROUNDS + 1), path=path)
    neural = run_neural(method, problem, ROUNDS, 2, names, None, EXACT)
    for name in names:
        np.testing.assert_allclose(sampled.samples[name], neural.samples[name], rtol=1e-8, atol=1e-10)
    assert np.abs(sampled.samples["f_above_least_local"]).max() > 1e-3
    assert np.abs(sampled.samples["least_local_loss"] - sampled.samples["least_local_f"])[:, 1:].min() > 1e-4
    alone = run_sampled(method, problem, ROUNDS, range(1, 2), NAMES, [ROUNDS], path=path)
    for name in NAMES:
        assert alone.samples[name][0, 0] == sampled.samples[name][1, -1]


@pytest.mark.parametrize(("loss", "factor", "mean"), [("half_mean", "1/2", True), ("sum", "1", False)])
def test_losses_of_local_models_on_least_squares(loss: str, factor: str, mean: bool) -> None:
    """In exact fractions: two workers, periodic averaging, whole gradients."""
    rows = (((1, -2), (0, 1), (2, -1)), ((1, -1), (3, 1)))
    targets = ((1, -2, 3), (3, 1))
    weights, start, eta = (Fraction(1, 3), Fraction(2, 3)), (Fraction(1), Fraction(-1)), Fraction(1, 32)
    of = tuple(tuple(tuple(Fraction(v) for v in row) for row in client) for client in rows)
    to = tuple(tuple(Fraction(v) for v in client) for client in targets)
    problem = LeastSquares("made", {}, of, to, loss, start, Fraction(0), weights)
    method = method_of({"kind": "periodic_averaging", "tau": 3, "eta": str(eta), "weights": "data", "gradient": "full"})
    found = run_sampled(method, problem, 6, 1, NAMES, range(7))

    def scale(i: int) -> Fraction:
        return Fraction(factor) / (len(of[i]) if mean else 1)

    def apart(i: int, x: Sequence[Fraction]) -> list[Fraction]:
        return [a * x[0] + b * x[1] - y for (a, b), y in zip(of[i], to[i], strict=True)]

    def loss_at(i: int, x: Sequence[Fraction]) -> Fraction:
        return scale(i) * sum((e * e for e in apart(i, x)), Fraction(0))

    def step(i: int, x: Sequence[Fraction]) -> tuple[Fraction, ...]:
        errors = apart(i, x)
        slope = [2 * scale(i) * sum(e * row[k] for e, row in zip(errors, of[i], strict=True)) for k in range(2)]
        return tuple(v - eta * g for v, g in zip(x, slope, strict=True))

    models: list[tuple[Fraction, ...]] = [start, start]
    for r in range(7):
        table = [[loss_at(k, z) for k in range(2)] for z in models]
        least = min(sum((w * v for w, v in zip(weights, row, strict=True)), Fraction(0)) for row in table)
        assert found.samples["least_local_f"][0, r] == pytest.approx(float(least), rel=1e-12)
        assert found.samples["least_local_loss"][0, r] == pytest.approx(float(min(table[0][0], table[1][1])), rel=1e-12)
        if r and r % 3 == 0:
            centre = tuple(sum((w * z[k] for w, z in zip(weights, models, strict=True)), Fraction(0)) for k in range(2))
            models = [centre, centre]
        models = [step(i, z) for i, z in enumerate(models)]


def test_losses_that_are_known_up_to_a_constant_have_no_value() -> None:
    problem = build({"kind": "random_quadratics", "clients": 3, "d": 4, "seed": 1})
    method = method_of({"kind": "periodic_averaging", "tau": 2, "eta": "1/4"})
    for name in NAMES[:2]:
        told = f"'{name}' is a loss, .* quadratics up to a constant of .*'f_above_least_local'.*'gap'"
        with pytest.raises(Unsupported, match=told):
            run(method, problem, rounds=2, engine="sampled", seeds=1, metrics=[name])


def test_models_apart_on_a_quadratic() -> None:
    problem = build({"kind": "random_quadratics", "clients": 3, "d": 4, "seed": 1})
    method = method_of({"kind": "periodic_averaging", "tau": 4, "eta": "1/4"})
    found = run(method, problem, rounds=range(9), engine="sampled", seeds=1, metrics=["f_above_least_local"])
    models = np.array([[float(v) for v in problem.start]] * 3)
    for r in range(9):
        above = problem.metric("gap", models.mean(axis=0)) - min(problem.metric("gap", z) for z in models)
        if r == 0 or r % 4:  # at the end of a period the models before the averaging are looked at
            assert found.samples["f_above_least_local"][0, r] == pytest.approx(float(above), rel=1e-9, abs=1e-13)
        models = models - np.array([problem.gradient(i, z) for i, z in enumerate(models)], dtype=float) / 4
        if r % 4 == 3:
            last = problem.metric("gap", models.mean(axis=0)) - min(problem.metric("gap", z) for z in models)
            assert found.samples["f_above_least_local"][0, r + 1] == pytest.approx(float(last), rel=1e-9)
            models[:] = models.mean(axis=0)
    assert np.abs(found.samples["f_above_least_local"][0, 1:]).min() > 1e-6


@pytest.mark.parametrize("name", NAMES)
def test_who_does_not_have_them_says_so(name: str) -> None:
    problem, quadratic = build(SOFTMAX), build({"kind": "pure_noise", "clients": 3, "d": 4, "s": 2})
    plain = method_of({"kind": "fedavg_sgd", "E": 1, "eta_l": "1/10"})
    partial = method_of({"kind": "partial_averaging", "tau": 2, "eta": "1/10"})
    with pytest.raises(Unsupported, match=f"'fedavg_sgd' keeps no models at its clients.*'{name}'"):
        run(plain, problem, rounds=2, engine="neural", seeds=1, metrics=[name])
    with pytest.raises(Unsupported, match=f"'fedavg_sgd' keeps no models at its clients.*'{name}'"):
        run(plain, problem, rounds=2, engine="sampled", seeds=1, metrics=[name])
    with pytest.raises(UnknownName, match=r"in the exact engine \(engine = 'sampled' has one\)"):
        run(partial, quadratic, rounds=2, metrics=[name])
    with pytest.raises(BadInput):
        run(partial, problem, rounds=2, engine="neural", seeds=1, metrics=["discrepancy:2"])
