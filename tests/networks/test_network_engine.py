"""The neural engine carries out what the sampled engine does, and what a plain loop over clients does."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from neural_toys import Interrupted, Loop, Saving, classifier, perceptron, spoil

from boundcheck.engines.curve import Floats
from boundcheck.engines.simulate.lowering import lower
from boundcheck.engines.simulate.oracles import ArrayOracle
from boundcheck.engines.simulate.rows import Rows
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.build import build
from boundcheck.methods.method import Method
from boundcheck.methods.parts import (
    Average,
    Blocks,
    Constant,
    Correction,
    EpochRange,
    Epochs,
    Full,
    GradientSteps,
    HandOver,
    Independent,
    InverseCycle,
    Momentum,
    Pattern,
    Proximal,
    ServerStep,
    Stale,
    StochasticSteps,
    SumOne,
    Unbiased,
    Uniform,
    WithReplacement,
)
from boundcheck.networks.engine import losses
from boundcheck.networks.engine.device import Settings
from boundcheck.networks.engine.run import NeuralCurve, run_neural
from boundcheck.networks.own_module import own_module
from boundcheck.problems.problem import Problem, clients_of

torch.set_num_threads(1)
F = Fraction
ROUNDS = 5
SEEDS = (3, 2**40 + 1)
EXACT = Settings(precision="float64")
STEP = Constant(F(1, 4))
WORK = Epochs(2, 2)
SOME = Independent((F(1, 2), F(1, 3), F(3, 4), F(1, 5), F(3, 4)))
TIMES = Pattern(((0, 1), (), (2,), (1, 3, 4)), lead=((3,), (0, 1, 2)))
TWO, IMPORTANCE = {"kind": "uniform", "size": 2}, {"kind": "importance", "b": 2}
MVR = {"kind": "fedshuffle_mvr", "eta_l": "1/8", "a": "1/3"}
NAMED: dict[str, dict[str, Any]] = {
    "fedavg": {"kind": "fedavg", "E": 3, "size": 2, "eta": "1/4"},
    "fedavg, reshuffled": {"kind": "fedavg_rr", "eta_l": "1/4", "E": 2, "batch": 2, "participation": TWO},
    "fedavg_min": {"kind": "fedavg_min", "eta_l": "1/4", "E": 2, "participation": {"kind": "uniform", "size": 3}},
    "fednova, reshuffled": {"kind": "fedshuffle_nova_rr", "eta_l": "1/4", "participation": IMPORTANCE},
    "fedshuffle": {"kind": "fedshuffle", "eta_l": "1/2", "E": 2, "eta_g": "3/2", "participation": TWO},
    "fedshuffle_mvr": {**MVR, "start": "gradient"},
    "fedshuffle_mvr, warmed": {**MVR, "warm_up": 4},
    "global momentum": {"kind": "fedavg_rr", "eta_l": "1/4", "E": 2, "batch": 2, "momentum": "1/10"},
    "fedprox": {"kind": "fedprox", "mu": "1/2", "E": 3, "eta": "1/4", "participation": TWO},
    "fedavg_async": {"kind": "fedavg_async", "K": 2, "eta_l": "1/4", "times": [1, 2, 3, 2, 1]},
    "fedfix": {"kind": "fedfix", "K": 2, "eta_l": "1/4", "times": [1, 2, 3, 2, 1], "dt": 1, "sampling": "replacement"},
    "partial": {"kind": "partial_averaging", "tau": 3, "eta": "1/2"},
    "scaffold": {"kind": "scaffold", "eta_l": "1/8", "E": 2, "participation": TWO},
    "scaffold, gradients": {"kind": "scaffold_option_1", "eta_l": "1/8", "E": 2, "participation": TWO},
    "clients with momentum": {"kind": "fedavg", "E": 3, "eta": "1/4", "momentum_l": "1/2", "weight_decay_l": "1/9"},
    "clipped": {"kind": "fedavg_rr", "eta_l": "1/4", "E": 2, "batch": 2, "clip_l": "1/20", "participation": TWO},
    "nesterov": {"kind": "nesterov", "eta": "1/4", "momentum_g": "1/2"},
    "steps by iteration": {"kind": "fedavg", "E": 3, "eta": "1/(4*(1 + t))"},
}
COMPOSED: dict[str, Method] = {
    "random epochs": Method("m", Uniform(3), Epochs(EpochRange(1, 3), 2), STEP, SumOne()),
    "missed steps": Method("m", Full(), Epochs(2, missed=(0, 1, 8, 2, 3)), InverseCycle(F(1, 2)), Unbiased()),
    "practical momentum": Method("m", SOME, WORK, STEP, Unbiased(), momentum=Momentum(F(1, 3), False)),
    "own gradients": Method("m", WithReplacement(3), Proximal(F(1, 2), WORK), STEP, correction=Correction(Uniform(2))),
    "same gradients": Method("m", Uniform(3), GradientSteps(3), STEP, correction=Correction(decay="inverse")),
    "gradients by weight": Method(
        "m", WithReplacement(4), WORK, STEP, correction=Correction(None, "geometric", F(1, 2), weights="data")
    ),
    "pipelined": Method("m", Uniform(2), Proximal(F(1), GradientSteps(2)), STEP, correction=Correction(pipelined=True)),
    "stale": Method("m", TIMES, WORK, STEP, Unbiased(), ServerStep(F(3, 2)), exchange=Stale()),
    "stale, random": Method("m", SOME, WORK, STEP, SumOne(), exchange=Stale()),
    "stale, drawn again": Method(
        "m", WithReplacement(4), Epochs(1, 2, "replacement"), STEP, Average(), exchange=Stale()
    ),
    "batches above most clients": Method("m", Full(), StochasticSteps(2, 4), STEP, exchange=Blocks(3)),
    "blocks in order": Method("m", Full(), WORK, STEP, exchange=Blocks(4, order=(2, 0, 3, 1), weights="data")),
    "given blocks": Method(
        "m", Full(), WORK, STEP, exchange=Blocks(2, (tuple(range(1, 15, 2)), tuple(range(0, 15, 2))))
    ),
    "averaged hand-over": Method("m", Full(), WORK, STEP, exchange=Blocks(2, hand_over=HandOver(3, 3, 1))),
    "hand-over": Method("m", Full(), WORK, STEP, exchange=Blocks(2, "whole", hand_over=HandOver(3, 2))),
}
METHODS = {name: build(spec) for name, spec in NAMED.items()} | COMPOSED


def trained(method: Method, problem: Problem, seeds: range = range(2), **how: Any) -> NeuralCurve:
    """A run with its points at every round."""
    settings = how.pop("settings", EXACT)
    names = how.pop("metrics", ("grad2",))
    return run_neural(method, problem, how.pop("rounds", ROUNDS), seeds, names, None, settings, keep_points=True, **how)


def points_of(curve: NeuralCurve) -> Floats:
    assert curve.points is not None
    return curve.points


def by_reference(method: Method, problem: Any, seeds: range, rounds: int = ROUNDS) -> Floats:
    """The server's points (S, rounds + 1, dim) by the NumPy path of the sampled engine."""
    oracle, chosen = ArrayOracle(problem.arrays()), np.array(seeds, dtype=np.uint64)
    rows = Rows(lower(method, clients_of(problem), rounds), oracle, problem.weights)
    state = rows.begin(oracle, chosen, np.zeros(problem.dim))
    points = np.empty((len(chosen), rounds + 1, problem.dim))
    rows.advance(chosen, state, 0, np.arange(rounds + 1), points)
    return points


@pytest.mark.parametrize("name", list(METHODS))
def test_runs_are_those_of_the_sampled_engine(name: str) -> None:
    method, problem, seeds = METHODS[name], classifier(), range(3, 5)
    expected = by_reference(method, problem, seeds)
    assert np.abs(expected[:, -1]).max() > 1e-3
    found = points_of(trained(method, problem, seeds))
    assert np.abs(found - expected).max() < 1e-12
    few = points_of(trained(method, problem, seeds, settings=Settings(precision="float64", lanes=2)))
    assert np.abs(few - expected).max() < 1e-12
    if name == "fedshuffle":
        other = classifier("logistic")
        assert np.abs(points_of(trained(method, other)) - by_reference(method, other, range(2))).max() < 1e-12


# --- a network, against a loop over clients -------------------------------------------------------------------


def test_fedavg_of_a_network_is_that_of_a_loop() -> None:
    problem, method = perceptron(), Method("m", Uniform(3), WORK, STEP)
    loop, x = Loop(problem, method, 5, ROUNDS), problem.start_vector
    found = points_of(trained(method, problem, range(5, 7)))[0]
    for r in range(ROUNDS):
        assert np.abs(found[r] - x).max() < 1e-10
        x = np.mean([loop.local(r, i, x) for i in loop.plan.cohort(r)], axis=0)
    assert np.abs(found[-1] - x).max() < 1e-10
    assert np.abs(x - problem.start_vector).max() > 0.1


@pytest.mark.parametrize("partition", ["layer", "channel"])
def test_partial_averaging_of_a_network_is_that_of_a_loop(partition: str) -> None:
    problem = perceptron()
    method = Method("m", Full(), WORK, STEP, exchange=Blocks(2, partition))
    # the hidden layer has 4 units of 5 inputs each, the last layer 3 units of 4
    blocks = {
        "layer": [list(range(24)), list(range(24, 39))],
        "channel": [
            [*range(10), 20, 21, *range(24, 28), 36],
            [*range(10, 20), 22, 23, *range(28, 36), 37, 38],
        ],
    }[partition]
    loop = Loop(problem, method, 2, ROUNDS)
    models = np.tile(problem.start_vector, (5, 1))
    curve = trained(method, problem, range(2, 3), metrics=("discrepancy", "discrepancy:1"))
    found = points_of(curve)[0]
    for r in range(ROUNDS):
        models = np.array([loop.local(r, i, models[i]) for i in range(5)])
        models[:, blocks[r % 2]] = models[:, blocks[r % 2]].mean(axis=0)
        mean = models.mean(axis=0)
        assert np.abs(found[r + 1] - mean).max() < 1e-10
        apart = ((models - mean) ** 2).mean(axis=0)
        assert curve.samples["discrepancy"][0, r + 1] == pytest.approx(apart.sum(), rel=1e-9)
        assert curve.samples["discrepancy:1"][0, r + 1] == pytest.approx(apart[blocks[1]].sum(), rel=1e-9, abs=1e-25)


def test_a_module_of_ones_own_is_trained_as_the_same_network() -> None:
    given, method = perceptron(), METHODS["own gradients"]
    net = torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.ReLU(), torch.nn.Linear(4, 3)).double()
    torch.nn.utils.vector_to_parameters(torch.from_numpy(given.start_vector), net.parameters())
    own = own_module(
        net, inputs=given.inputs, labels=given.labels, sizes=given.sizes, weights=given.weights, ridge=given.ridge
    )
    assert np.abs(points_of(trained(method, own)) - points_of(trained(method, given))).max() < 1e-12
    blocks = Method("m", Full(), WORK, STEP, exchange=Blocks(2, "layer"))
    assert np.abs(points_of(trained(blocks, own)) - points_of(trained(blocks, given))).max() < 1e-12


# --- divergence, memory, padding ------------------------------------------------------------------------------


def test_a_seed_that_diverges_leaves_the_others_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    method, problem = METHODS["fedavg, reshuffled"], perceptron()
    plainly = trained(method, problem, range(4), metrics=("f", "grad2"))
    calls = spoil(monkeypatch, 5, 1, torch.nan)
    curve = trained(method, problem, range(4), metrics=("f", "grad2"))
    lost = np.flatnonzero(np.isinf(curve.samples["f"]).any(axis=1))
    assert len(lost) == 1
    row = curve.samples["f"][lost[0]]
    begun = int(np.argmax(np.isinf(row)))
    assert 0 < begun <= 2
    assert np.isinf(row[begun:]).all()
    assert np.isinf(curve.samples["grad2"][lost[0], begun:]).all()
    kept = [s for s in range(4) if s != lost[0]]
    np.testing.assert_allclose(curve.samples["f"][kept], plainly.samples["f"][kept], rtol=1e-12)
    assert curve.diverged == begun
    assert calls[-1] < max(calls)  # its lanes are not computed any more


def test_too_large_steps_are_recorded_as_divergence() -> None:
    method = Method("m", Full(), GradientSteps(2), Constant(F(10**30)))
    curve = run_neural(method, classifier(), 20, 1, ("grad2", "dist2"), None, Settings())
    assert np.isinf(curve.samples["dist2"][0, -1])
    assert np.isfinite(curve.samples["dist2"][0, 0])


def _limited(monkeypatch: pytest.MonkeyPatch, most: int, error: BaseException) -> None:
    original = losses.gradients

    def gradients(task: Any, parameters: Any, rows: Any, mask: Any) -> Any:
        if len(parameters) > most:
            raise error
        return original(task, parameters, rows, mask)

    monkeypatch.setattr(losses, "gradients", gradients)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("fedavg, reshuffled", torch.OutOfMemoryError("CUDA out of memory.")),
        ("practical momentum", RuntimeError("DefaultCPUAllocator: can't allocate memory")),
        ("own gradients", RuntimeError("GET was unable to find an engine to execute this computation")),
        ("stale", RuntimeError("cuDNN error: CUDNN_STATUS_NOT_SUPPORTED. This error may appear if ...")),
        ("hand-over", MemoryError()),
    ],
)
def test_the_end_of_the_memory_makes_smaller_chunks(
    name: str, error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    method, problem = METHODS[name], classifier()
    whole = points_of(trained(method, problem, range(3)))
    _limited(monkeypatch, 2, error)
    curve = trained(method, problem, range(3))
    assert curve.info["lanes"] <= 2
    assert curve.info["notices"]
    assert all("visits at once" in notice for notice in curve.info["notices"])
    assert np.abs(points_of(curve) - whole).max() < 1e-12


@pytest.mark.parametrize(
    ("error", "told", "said"),
    [
        (MemoryError(), Unsupported, "does not hold a single visit"),
        (
            RuntimeError("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED\nmore"),
            Unsupported,
            r"refuses .cuDNN error: CUDNN_STATUS_EXECUTION_FAILED. a single visit",
        ),
        (RuntimeError("shapes do not match"), RuntimeError, "shapes"),  # is not taken for the end of the memory
    ],
)
def test_a_visit_that_does_not_fit_or_is_refused_is_told_in_a_sentence(
    error: BaseException, told: type[Exception], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _limited(monkeypatch, 0, error)
    with pytest.raises(told, match=said):
        trained(METHODS["fedavg"], classifier())


def test_models_and_points_that_cannot_fit_are_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boundcheck.networks.engine.run.MEMORY", 8 * 2 * 6 * 16)
    trained(METHODS["fedavg"], classifier())
    with pytest.raises(BadInput, match="above the limit"):
        trained(METHODS["fedavg"], classifier(), range(3))
    monkeypatch.setattr("boundcheck.networks.engine.memory._memory", lambda _: 2000)
    with pytest.raises(Unsupported, match="6 vectors of 15 numbers for each of 2 seeds"):
        trained(METHODS["stale"], classifier())


def test_little_is_wasted_on_clients_of_very_different_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = (1, 2, 40, 3, 300, 5)
    problem = classifier(sizes=sizes)
    method = Method("m", Full(), Epochs(2, 64), STEP)
    original, widths = losses.gradients, list[tuple[int, int]]()

    def counted(task: Any, parameters: Any, rows: Any, mask: Any) -> Any:
        widths.append((rows.numel(), rows.numel() if mask is None else int(mask.sum())))
        return original(task, parameters, rows, mask)

    monkeypatch.setattr(losses, "gradients", counted)
    trained(method, problem, range(2), rounds=1)
    computed, used = (sum(column) for column in zip(*widths, strict=True))
    assert used == 2 * 2 * sum(sizes)  # seeds, epochs
    assert used >= 0.75 * computed
    widths.clear()
    curve = trained(replace(method, local=GradientSteps(1)), problem, range(2), rounds=1)
    computed, used = (sum(column) for column in zip(*widths, strict=True))
    assert used == sum(sizes)  # run once, since nothing is random
    assert used >= 0.75 * computed
    expected = by_reference(replace(method, local=GradientSteps(1)), problem, range(2), 1)
    assert np.abs(points_of(curve) - expected).max() < 1e-12


def test_runs_repeat_and_leave_torch_as_it_was() -> None:
    method, problem = METHODS["own gradients"], perceptron()
    before = (torch.get_num_threads(), torch.get_deterministic_debug_mode(), torch.backends.cudnn.benchmark)
    runs = [points_of(trained(method, problem, range(3), settings=Settings(threads=1))) for _ in range(2)]
    assert np.array_equal(runs[0], runs[1])
    assert before == (torch.get_num_threads(), torch.get_deterministic_debug_mode(), torch.backends.cudnn.benchmark)
    alone = points_of(trained(method, problem, range(2, 3)))
    assert np.abs(alone[0] - points_of(trained(method, problem, range(3)))[2]).max() < 1e-13


@pytest.mark.parametrize(
    "name", ["practical momentum", "pipelined", "stale", "hand-over", "fedshuffle_mvr, warmed", "clipped"]
)
def test_an_interrupted_run_goes_on_to_the_same_bits(name: str) -> None:
    method, problem = METHODS[name], classifier()
    settings = Settings(lanes=3)
    undisturbed = trained(method, problem, range(3), settings=settings)
    checkpoint, parts = Saving(2), 0
    while True:
        try:
            resumed = trained(method, problem, range(3), settings=settings, checkpoint=checkpoint)
            break
        except Interrupted:
            checkpoint.after = 2
            parts += 1
    assert parts == 2
    assert np.array_equal(points_of(resumed), points_of(undisturbed))
    assert np.array_equal(resumed.samples["grad2"], undisturbed.samples["grad2"])
    assert {**resumed.info, "seconds": 0} == {**undisturbed.info, "seconds": 0}


def test_a_method_without_randomness_is_run_once() -> None:
    method = Method("m", Full(), GradientSteps(1), STEP)
    curve = trained(method, classifier(), range(4))
    assert not curve.expectation
    assert curve.samples["grad2"].shape == (4, ROUNDS + 1)
    assert (curve.samples["grad2"] == curve.samples["grad2"][0]).all()


@pytest.mark.parametrize("precision", ["float32", "bf16"])
def test_other_precisions_are_near(precision: str) -> None:
    method, problem = METHODS["fedavg, reshuffled"], perceptron()
    exact = points_of(trained(method, problem))
    near = points_of(trained(method, problem, settings=Settings(precision=precision)))
    error = np.abs(near - exact).max()
    least, most = {"float32": (1e-9, 1e-5), "bf16": (1e-5, 2e-2)}[precision]
    assert least < error < most  # below the least, another precision would have been taken
