"""The mean squared gradient at the starts of a round's epochs, against the sampled engine and a loop in eager torch."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from neural_toys import Interrupted, Loop, Saving

from boundcheck.engines.run import run
from boundcheck.engines.simulate import run_sampled
from boundcheck.errors import Unsupported
from boundcheck.methods.build import build as method_of
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Constant, Epochs, StochasticSteps, Uniform
from boundcheck.networks.engine.device import Settings
from boundcheck.networks.engine.run import run_neural
from boundcheck.problems.build import build

torch.set_num_threads(1)

ROUNDS = 4
EXACT = Settings(precision="float64", device="cpu")
SPLIT = {"split": "random", "seed": 1}
# 11 clients of 51 or 52 samples
LINEAR = {**SPLIT, "kind": "logistic_regression", "data": "breast_cancer", "clients": 11, "ridge": "1/10"}
MLP = {"name": "mlp", "hidden": [5]}
NETWORK = {**SPLIT, "kind": "neural", "data": "digits", "model": MLP, "clients": 4, "samples": 60}
STEP = Constant(Fraction(1, 4))
METHODS = {
    "momentum": method_of({"kind": "fedshuffle_mvr", "eta_l": "1/4", "a": "1/5", "warm_up": 2, "E": 2}),
    "whole gradients": method_of({"kind": "fedavg", "size": 1, "E": 3, "eta": "1/4"}),
    "parts of epochs": Method("m", Uniform(1), StochasticSteps(110), STEP),  # two whole ones and some steps
    "less than one": Method("m", Uniform(1), StochasticSteps(2, 16), STEP),
    "missed": Method("m", Uniform(1), Epochs(2, 16, missed=(1,) * 11), STEP),
}


@pytest.mark.parametrize("name", METHODS)
def test_several_epochs_are_those_of_the_sampled_engine(name: str) -> None:
    problem, method = build(LINEAR), METHODS[name]
    grid = [0, 1, ROUNDS]
    names = ("epoch_grad2", "grad2", "gap")
    sampled = run_sampled(method, problem, ROUNDS, 2, names, grid)
    neural = run_neural(method, problem, ROUNDS, range(2), names, grid, EXACT)
    for metric in names:
        np.testing.assert_allclose(neural.samples[metric], sampled.samples[metric], rtol=1e-8, atol=1e-12)
    apart = np.abs(neural.samples["epoch_grad2"] / neural.samples["grad2"] - 1)
    assert apart.max() == 0 if name == "less than one" else apart.min() > 1e-5
    plain = run_neural(method, problem, ROUNDS, range(2), names[1:], grid, EXACT)
    for metric in names[1:]:  # looking into a round does not change it
        np.testing.assert_array_equal(plain.samples[metric], neural.samples[metric])


def test_a_network_is_looked_into_as_a_loop_does() -> None:
    """A perceptron, one client a round, two epochs: eager torch, a step at a time, and its |grad F|^2 by autograd."""
    problem: Any = build(NETWORK)
    method = Method("m", Uniform(1), Epochs(2, 8), STEP)
    found = run_neural(method, problem, ROUNDS, range(3, 4), ("epoch_grad2", "grad2"), None, EXACT)
    loop, x = Loop(problem, method, 3, ROUNDS + 1), problem.start_vector
    for r in range(ROUNDS + 1):
        (client,) = loop.plan.cohort(r)
        batches = list(loop.plan.batches(r, client))
        met, y = [], x
        for t, rows in enumerate(batches):
            if t % (len(batches) // 2) == 0:
                met.append(float((loop.of_all(y) ** 2).sum()))
            y = y - loop.gradient(client, list(rows), y) / 4
        assert len(met) == 2
        assert found.samples["epoch_grad2"][0, r] == pytest.approx(np.mean(met), rel=1e-10)
        assert found.samples["grad2"][0, r] == pytest.approx(met[0], rel=1e-10)
        x = y


def test_a_run_that_was_cut_off_looks_the_same() -> None:
    problem, method = build(LINEAR), METHODS["parts of epochs"]
    whole = run_neural(method, problem, ROUNDS, 2, ("epoch_grad2",), None, EXACT)
    checkpoint: Any = Saving(2)
    with pytest.raises(Interrupted):
        run_neural(method, problem, ROUNDS, 2, ("epoch_grad2",), None, EXACT, checkpoint=checkpoint)
    checkpoint.after = 100
    rest = run_neural(method, problem, ROUNDS, 2, ("epoch_grad2",), None, EXACT, checkpoint=checkpoint)
    np.testing.assert_array_equal(rest.samples["epoch_grad2"], whole.samples["epoch_grad2"])


def test_a_seed_that_diverges_is_infinite() -> None:
    method = Method("m", Uniform(1), Epochs(2, 8), Constant(Fraction(10**200)))
    found = run_neural(method, build(NETWORK), 3, 1, ("epoch_grad2",), None, EXACT)
    assert np.isinf(found.samples["epoch_grad2"][0, 1:]).all()


@pytest.mark.parametrize("engine", ["sampled", "neural"])
def test_cohorts_of_several_clients_have_no_such_mean(engine: str) -> None:
    method = Method("m", Uniform(2), Epochs(2, 8), STEP)
    with pytest.raises(Unsupported, match="'epoch_grad2' is measured in runs for one client a round and epochs"):
        run(method, build(LINEAR), rounds=2, engine=engine, seeds=1, metrics=["epoch_grad2"])
