"""Momentum, weight decay and clipping of clients' steps, held against torch.optim.SGD, one client at a time."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from sampled_toys import random_toy

from boundcheck.engines.curve import Floats
from boundcheck.engines.simulate import run_sampled
from boundcheck.errors import Unsupported
from boundcheck.methods.build import build
from boundcheck.methods.method import Method
from boundcheck.methods.parts import (
    Blocks,
    ClientOptimizer,
    Constant,
    Correction,
    EpochRange,
    Epochs,
    ExactSolve,
    Full,
    GradientSteps,
    HandOver,
    NoStep,
    Pattern,
    Proximal,
    Stale,
    SumOne,
    Unbiased,
    Uniform,
)
from boundcheck.networks.engine import local_step
from boundcheck.networks.engine.device import Settings
from boundcheck.networks.engine.run import NeuralCurve, run_neural
from boundcheck.problems.problem import clients_of
from tests.engines.drawn_plans import plan
from tests.networks.neural_toys import Interrupted, Saving, classifier, perceptron

torch.set_num_threads(1)
F = Fraction
ROUNDS, SEEDS, ETA = 7, range(3, 5), 0.125
HEAVY: dict[str, Any] = {"momentum_l": "9/10"}
CLIP, DECAY = "3/4", "1/20"
SHAPED: dict[str, Any] = {**HEAVY, "clip_l": CLIP, "weight_decay_l": DECAY}
PLAIN: dict[str, Any] = {"momentum_l": 0, "clip_l": "none", "weight_decay_l": 0}
BY_BLOCKS: dict[str, dict[str, Any]] = {
    "periodic": {"kind": "periodic_averaging", "tau": 3, "eta": "1/8", "batch": 2, **HEAVY},
    "handed over": {
        "kind": "partial_averaging", "tau": 2, "eta": "1/8", **HEAVY, "hand_over": {"active": 3, "every": 2}
    },
    "averaged and handed over": {
        "kind": "periodic_averaging", "tau": 2, "eta": "1/8", **HEAVY,
        "hand_over": {"active": 3, "every": 3, "design": 1},
    },
    "clipped": {"kind": "partial_averaging", "tau": 2, "eta": "1/8", "weights": "data", **SHAPED},
}  # fmt: skip
BY_VISITS: dict[str, dict[str, Any]] = {
    "reshuffled": {
        "kind": "fedavg_rr", "eta_l": "1/8", "E": 2, "batch": 2, **HEAVY,
        "participation": {"kind": "uniform", "size": 3},
    },
    "clipped": {"kind": "fedavg_rr", "eta_l": "1/8", "E": 2, "batch": 2, **SHAPED},
    "decaying, no momentum": {"kind": "fedavg_rr", "eta_l": "1/8", "batch": 2, "weight_decay_l": DECAY},
    "clipped whole gradients": {"kind": "fedavg", "eta": "1/8", "E": 3, **SHAPED},
}  # fmt: skip
STEP, OWN = Constant(F(1, 16)), ClientOptimizer(F(9, 10))
FIRM = ClientOptimizer(F(1, 2), F(1, 20), F(1, 2))
TIMES = Pattern(((0, 1), (), (2,), (1, 3, 4)), lead=((3,), (0, 1, 2)))
COMPOSED: dict[str, Method] = {
    "stale": Method("m", TIMES, Epochs(2, 2), STEP, Unbiased(), exchange=Stale(), client_optimizer=OWN),
    "proximal": Method("m", Uniform(3), Proximal(F(1, 2), Epochs(EpochRange(1, 3), 2)), STEP, client_optimizer=OWN),
    "corrected": Method(
        "m", Uniform(3), Proximal(F(1, 2), GradientSteps(3)), STEP, correction=Correction(Full()), client_optimizer=OWN
    ),
    "several steps": Method(
        "m", Full(), Epochs(2, 2), STEP, exchange=Blocks(2, hand_over=HandOver(3, 3, 1)), client_optimizer=OWN
    ),
    "proximal, clipped": Method("m", Uniform(3), Proximal(F(1, 2), Epochs(2, 2)), STEP, client_optimizer=FIRM),
    "normalised, clipped": build(
        {
            "kind": "fedshuffle_nova_rr",
            "eta_l": "1/8",
            "E": [1, 2, 1, 3, 1],
            "participation": {"kind": "uniform", "size": 3},
        }
        | {"clip_l": CLIP, "weight_decay_l": DECAY}
    ),
    "server's momentum, clipped": build(
        {"kind": "fedshuffle_gen", "eta_l": 2, "E": 2, "momentum": {"a": "1/10", "form": "practical"}}
        | {"clip_l": CLIP, "weight_decay_l": DECAY}
    ),
    "stale, clipped": Method("m", TIMES, Epochs(2, 2), STEP, Unbiased(), exchange=Stale(), client_optimizer=FIRM),
    "sums to one": Method("m", Uniform(2), Epochs(2), STEP, SumOne(), client_optimizer=OWN),
}


class Alone:
    """Clients trained by PyTorch's own optimiser, one after the other."""

    def __init__(self, method: Method, seed: int) -> None:
        self.method, self.problem = method, perceptron()
        self.plan = plan(method, clients_of(self.problem), seed, ROUNDS)
        self.inputs = torch.from_numpy(self.problem.inputs).double()
        self.labels = torch.from_numpy(self.problem.labels)
        own, self.norms = method.client_optimizer, list[float]()
        self.clip = None if own is None or own.clip is None else float(own.clip)

    def model(self, at: torch.Tensor) -> tuple[torch.nn.Module, torch.optim.SGD]:
        net = torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.ReLU(), torch.nn.Linear(4, 3)).double()
        torch.nn.utils.vector_to_parameters(at.clone(), net.parameters())
        own = self.method.client_optimizer
        assert own is not None
        momentum, decay = float(own.momentum), float(own.weight_decay)
        return net, torch.optim.SGD(net.parameters(), lr=ETA, momentum=momentum, weight_decay=decay)

    def visit(self, r: int, client: int, net: torch.nn.Module, optimiser: torch.optim.SGD) -> torch.Tensor:
        for rows in self.plan.batches(r, client):
            own = torch.tensor(rows) + self.problem.offsets[client]
            optimiser.zero_grad()
            size = sum((p**2).sum() for p in net.parameters())
            loss = torch.nn.functional.cross_entropy(net(self.inputs[own]), self.labels[own])
            (loss + float(self.problem.ridge) / 2 * size).backward()
            if self.clip is not None:
                norm = torch.cat([p.grad.flatten() for p in net.parameters() if p.grad is not None]).norm()
                self.norms.append(float(norm))
                for p in net.parameters():
                    assert p.grad is not None
                    p.grad *= min(1.0, self.clip / float(norm))
            optimiser.step()
        return flat(net)

    def start(self) -> torch.Tensor:
        return torch.from_numpy(self.problem.start_vector.copy())

    def by_blocks(self) -> Floats:
        """The mean models after each round; a model and its optimiser go to another client together."""
        blocks, start = self.method.exchange, self.start()
        assert isinstance(blocks, Blocks)
        held = [self.model(start) for _ in self.plan.cohort(0)]
        shares = torch.full((len(held),), 1 / len(held), dtype=torch.float64)
        if blocks.weights == "data":
            shares = torch.tensor([float(w) for w in self.problem.weights], dtype=torch.float64)
        points = [start]
        for r in range(ROUNDS):
            cohort = self.plan.cohort(r)
            models = torch.stack([self.visit(r, i, *own) for i, own in zip(cohort, held, strict=True)])
            averaged = list(blocks.pattern(len(start))[r % blocks.tau])
            moved = blocks.hand_over
            if moved is not None and moved.design == 1 and (r + 1) % moved.every == 0:
                averaged = list(range(len(start)))
            models[:, averaged] = shares @ models[:, averaged]
            for (net, _), at in zip(held, models, strict=True):
                torch.nn.utils.vector_to_parameters(at.clone(), net.parameters())  # the optimiser stays
            points.append(shares @ models)
        return torch.stack(points).numpy()

    def by_visits(self) -> Floats:
        """The server's points; every visit has a new optimiser."""
        x = self.start()
        points = [x]
        for r in range(ROUNDS):
            cohort, after = self.plan.cohort(r), x.clone()
            for i, factor in zip(cohort, self.method.factors(cohort, clients_of(self.problem)), strict=True):
                after += float(factor) * (self.visit(r, i, *self.model(x)) - x)
            x = after
            points.append(x)
        return torch.stack(points).numpy()


def flat(net: torch.nn.Module) -> torch.Tensor:
    return torch.nn.utils.parameters_to_vector(net.parameters()).detach().clone()


def trained(method: Method, problem: Any = None, seeds: range = SEEDS, **more: Any) -> NeuralCurve:
    settings = Settings(precision="float64", **more.pop("settings", {}))
    own = perceptron() if problem is None else problem
    return run_neural(method, own, ROUNDS, seeds, ["f"], None, settings, keep_points=True, **more)


def points_of(curve: NeuralCurve) -> Floats:
    assert curve.points is not None
    return curve.points


@pytest.mark.parametrize("name", [*BY_BLOCKS, *BY_VISITS])
def test_it_is_that_of_torch(name: str) -> None:
    for spec, of in ((BY_BLOCKS, Alone.by_blocks), (BY_VISITS, Alone.by_visits)):
        if name not in spec:
            continue
        method = build(spec[name])
        alone = [Alone(method, seed) for seed in SEEDS]
        wanted = np.stack([of(one) for one in alone])
        if "clip_l" in spec[name]:  # some gradients are shortened, and some are not
            norms = [norm for one in alone for norm in one.norms]
            assert min(norms) < float(F(CLIP)) < max(norms)
        found = points_of(trained(method))
        assert np.abs(found - wanted).max() <= 1e-10
        plain = points_of(trained(build({**spec[name], **PLAIN})))
        assert np.abs(found - plain).max() > 1e-3


@pytest.mark.parametrize(
    "name", [*(f"{k}, blocks" for k in BY_BLOCKS), *(f"{k}, visits" for k in BY_VISITS), *COMPOSED]
)
def test_the_engines_agree(name: str) -> None:
    kind, _, of = name.rpartition(", ")
    method = COMPOSED[name] if name in COMPOSED else build((BY_BLOCKS if of == "blocks" else BY_VISITS)[kind])
    problem, grid = classifier(), range(ROUNDS + 1)
    names = ("gap", "grad2", "discrepancy") if isinstance(method.exchange, Blocks) else ("gap", "grad2")
    one, other = (
        run_sampled(method, problem, ROUNDS, SEEDS, names, grid, path=path)  # pyright: ignore
        for path in ("numpy", "auto")
    )
    neural = run_neural(method, problem, ROUNDS, SEEDS, names, None, Settings(precision="float64"))
    for metric in names:
        np.testing.assert_allclose(other.samples[metric], one.samples[metric], rtol=1e-11, atol=1e-28)
        np.testing.assert_allclose(neural.samples[metric], one.samples[metric], rtol=1e-9, atol=1e-25)
    again = run_sampled(replace(method, client_optimizer=None), problem, ROUNDS, SEEDS, ("gap",), grid)
    assert np.abs(again.samples["gap"] - one.samples["gap"]).max() > 1e-4


@pytest.mark.parametrize("name", ["periodic", "handed over"])
def test_lanes_and_seeds_change_nothing(name: str) -> None:
    method = build(BY_BLOCKS[name])
    whole = points_of(trained(method))
    assert np.abs(points_of(trained(method, settings={"lanes": 2})) - whole).max() < 1e-13
    alone = [points_of(trained(method, seeds=range(s, s + 1)))[0] for s in SEEDS]
    assert np.abs(np.stack(alone) - whole).max() < 1e-13


@pytest.mark.parametrize("name", ["clipped", "averaged and handed over"])
def test_a_run_that_is_cut_off_goes_on(name: str) -> None:
    method = build(BY_BLOCKS[name])
    whole = points_of(trained(method))
    checkpoint = Saving(2)
    for _ in itertools.repeat(None, ROUNDS):
        try:
            found = trained(method, checkpoint=checkpoint)
        except Interrupted:
            checkpoint.after = 2
            continue
        assert np.array_equal(points_of(found), whole)
        break
    else:
        pytest.fail("the run never ended")
    assert checkpoint.kept is not None
    assert np.abs(checkpoint.kept["state"][:, 1:]).max() > 0  # the buffers


def test_a_chunk_that_does_not_fit_is_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A buffer that a failed chunk has changed is not kept."""
    method = COMPOSED["several steps"]
    whole = points_of(trained(method))
    original, calls = local_step.LocalStep.gradients, itertools.count()

    def short(self: Any, task: Any, parameters: Any, rows: Any, mask: Any) -> Any:
        found = original(self, task, parameters, rows, mask)
        if len(parameters) > 4 and next(calls) > 0:
            raise MemoryError
        return found

    monkeypatch.setattr(local_step.LocalStep, "gradients", short)
    curve = trained(method)
    assert curve.info["notices"]
    assert np.abs(points_of(curve) - whole).max() < 1e-13


def test_exact_solves_have_none() -> None:
    method = Method("m", Full(), ExactSolve(F(1)), NoStep(), client_optimizer=OWN)
    problem: Any = random_toy("rows", 3, (2, 2), 2)
    with pytest.raises(Unsupported, match="exact solves have no steps that could have momentum_l = 9/10"):
        run_sampled(method, problem, 1, 1)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_a_weight_decay_beyond_the_precision_diverges(precision: str) -> None:
    spec = {"kind": "fedavg_rr", "eta_l": "1/8", "weight_decay_l": "1e300"}
    curve = run_neural(build(spec), perceptron(), 3, 2, ["f"], None, Settings(precision=precision))
    assert np.isfinite(curve.samples["f"][:, 0]).all()
    assert np.isinf(curve.samples["f"][:, -1]).all()
