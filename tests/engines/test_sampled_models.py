"""Logistic and softmax models, metrics of many points at once, and clients whose data are made on demand."""

from __future__ import annotations

import math
import threading
import tracemalloc
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sampled_cases import WALKS
from sampled_toys import Model, model

from boundcheck.engines.simulate import run_sampled
from boundcheck.engines.simulate.oracles import ArrayOracle
from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import (
    Constant,
    EpochRange,
    Epochs,
    Full,
    GradientSteps,
    Independent,
    Momentum,
    Pattern,
    Proximal,
    SumOne,
    Unbiased,
    Uniform,
)
from boundcheck.problems.build import build
from boundcheck.problems.population import Population
from boundcheck.problems.problem import Arrays
from tests.engines.drawn_plans import plan

F = Fraction
PATHS = ("numpy", "numba")
STEP = Constant(F(1, 8))


@pytest.mark.parametrize("kind", ["logistic", "softmax"])
@pytest.mark.parametrize("p", [5, 19])
def test_gradients_against_finite_differences(kind: str, p: int) -> None:
    problem = model(kind, p)
    x = np.random.default_rng(1).normal(size=problem.dim)
    slow = ArrayOracle(problem.flat)
    for client in range(4):
        numeric = np.empty(problem.dim)
        for k in range(problem.dim):
            ends = [problem.client_loss(client, x + h * np.eye(problem.dim)[k]) for h in (1e-5, -1e-5)]
            numeric[k] = (ends[0] - ends[1]) / 2e-5
        np.testing.assert_allclose(slow.full(client, x[None])[0], numeric, rtol=0, atol=2e-9)


METHODS = {
    "fedshuffle": Method("m", Uniform(2), Epochs(2, 3, divide="size"), STEP, Unbiased()),
    "full steps": Method("m", Uniform(2), GradientSteps(2), STEP),
    "replacement": Method("m", Independent((F(1, 2),) * 4), Epochs(1, 2, "replacement"), STEP, SumOne()),
    "mvr": Method("m", Full(), Epochs(1, 4), STEP, Unbiased(), momentum=Momentum(F(1, 4), True, "gradient")),
    "practical": Method("m", Uniform(3), Epochs(1, 4), STEP, momentum=Momentum(F(1, 4), False, "sampled", 3)),
    **{name: replace(own, schedule=STEP) for name, own in WALKS.items()},
    "weights of clients": replace(
        WALKS["weights of clients"],
        participation=Independent((F(1), F(1, 2), F(1, 3), F(1, 2))),
        local=Proximal((F(1), F(0), F(1, 2), F(2)), Epochs(EpochRange(1, 3), 1, "replacement", divide="size")),
    ),
    "pipelined pattern": replace(WALKS["pipelined pattern"], participation=Pattern(((0, 2), (1, 3)), ((1,),))),
}


@pytest.mark.parametrize("kind", ["logistic", "softmax"])
@pytest.mark.parametrize("name", list(METHODS))
def test_paths_agree(kind: str, name: str) -> None:
    """Softmax with 12 classes: five at a time and two left over; a client with more samples than a tile."""
    problem, method = model(kind, 9, (4, 70, 1, 6), 12), METHODS[name]
    slow, fast = (run_sampled(method, problem, 3, 3, ("loss",), [0, 2, 3], path=k) for k in PATHS)  # pyright: ignore
    assert fast.info["path"] == "numba"
    np.testing.assert_allclose(fast.samples["loss"], slow.samples["loss"], rtol=1e-11)
    again = run_sampled(method, problem, 3, 3, ("loss",), [2, 3], path="numba", block=1, threads=2)
    assert np.array_equal(again.samples["loss"], fast.samples["loss"][:, 1:])


@pytest.mark.parametrize("path", PATHS)
def test_one_visit_by_hand(path: Any) -> None:
    """Two clients with one sample each, a = 2 and y = 1, -1: x <- x + eta w 2/(1 + e^{2x}) etc., ridge 1/2."""
    flat = model("logistic", 1, (1, 1), ridge=0.5).flat
    flat.b[:], flat.target[:] = 2.0, [1.0, -1.0]
    problem = Model(flat, metrics=("loss",))
    method = Method("m", Full(), Epochs(1, 1), Constant(F(1, 2)), Unbiased())
    x0 = -0.25
    steps = [x0 - 0.5 * (-2 / (1 + math.exp(2 * x0)) + x0 / 2), x0 - 0.5 * (2 / (1 + math.exp(-2 * x0)) + x0 / 2)]
    measured = run_sampled(method, problem, 1, 1, ("loss",), [1], path=path).values["loss"][0]
    x1 = sum(steps) / 2
    assert measured == pytest.approx(2 * math.log1p(math.exp(-2 * abs(x1))), rel=1e-14)


def test_metrics_of_many_points_are_asked_for_in_blocks_of_one_size() -> None:
    problem = model("logistic", 19, (30, 40))
    method = Method("m", Full(), Epochs(1, 10), STEP)
    whole = run_sampled(method, problem, 20, 7, ("loss",), range(21), threads=1)  # pyright: ignore
    assert set(problem.asked) == {16}
    assert len(problem.asked) == -(-7 * 21 // 16)
    for block, threads in ((1, 1), (3, 2)):
        other = run_sampled(method, problem, 20, 7, ("loss",), [2, 5, 20], block=block, threads=threads)
        assert np.array_equal(other.samples["loss"], whole.samples["loss"][:, [2, 5, 20]])
    wild = run_sampled(Method("m", Full(), Epochs(1, 10), Constant(F(10**300))), problem, 9, 2, ("loss",), [0, 9])
    assert np.all(np.isfinite(wild.samples["loss"][:, 0]))
    assert np.all(np.isposinf(wild.samples["loss"][:, 1]))


def test_a_client_with_many_samples() -> None:
    """More words than the generator makes at once, and a last epoch that is cut short."""
    problem = model("logistic", 3, (2600, 3, 40))
    for work in (Epochs(2, 7, missed=(5, 0, 2)), Epochs(2, 7, "replacement")):
        method = Method("m", Full(), work, STEP, Unbiased())
        slow, fast = (run_sampled(method, problem, 2, 2, ("loss",), [1, 2], path=k) for k in PATHS)  # pyright: ignore
        np.testing.assert_allclose(fast.samples["loss"], slow.samples["loss"], rtol=1e-10)


@dataclass(frozen=True, repr=False)
class Watched(Population):
    """A population that notes whose data were made."""

    seen: list[int] = field(default_factory=list)
    lock: Any = field(default_factory=threading.Lock)

    def client_arrays(self, client: int) -> Arrays:
        with self.lock:
            self.seen.append(client)
        return super().client_arrays(client)


@dataclass(frozen=True, repr=False)
class Kept(Population):
    """The same with flat arrays of all clients."""

    def arrays(self) -> Arrays:
        from boundcheck.engines.simulate.data import joined_arrays  # pyright: ignore

        return joined_arrays([self.client_arrays(i) for i in range(self.clients)])


@pytest.mark.parametrize("name", ["isotropic", "logistic"])
def test_data_made_on_demand_change_nothing(name: str) -> None:
    given = (name, 60, 6, 9, F(1, 64) if name == "logistic" else F(0), 3)
    lazy, eager = Watched(*given), Kept(*given)
    for work in (Epochs(1, 4, divide="size"), GradientSteps(2)):
        for aggregation in (Unbiased(), SumOne()):
            method = Method("m", Uniform(4), work, STEP, aggregation)
            curves = [run_sampled(method, p, 8, 3, ("dist2",), [1, 8], path=path)
                      for p, path in ((lazy, "auto"), (eager, "numba"), (lazy, "numpy"))]  # fmt: skip
            assert curves[0].info["path"] == "numba"
            assert np.array_equal(curves[0].samples["dist2"], curves[1].samples["dist2"])
            np.testing.assert_allclose(curves[2].samples["dist2"], curves[0].samples["dist2"], rtol=1e-11)
    blocks = run_sampled(method, lazy, 8, 3, ("dist2",), [1, 8], block=1, threads=2)
    assert np.array_equal(blocks.samples["dist2"], curves[0].samples["dist2"])


def test_only_clients_that_take_part_are_made() -> None:
    lazy = Watched("isotropic", 2**24, 4, 3, F(0), 0)
    method = Method("m", Uniform(5), Epochs(1, 2), STEP)
    run_sampled(method, Watched("isotropic", 10, 4, 3, F(0), 0), 6, 1, ("dist2",), [6])  # compiles
    tracemalloc.start()
    run_sampled(method, lazy, 6, 1, ("dist2",), [6])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**23  # less than a byte for each of 2^24 clients
    cohorts = plan(method, Clients(lazy.weights, lazy.sizes), 0, 6).cohorts
    assert set(lazy.seen) == set(cohorts.reshape(-1).tolist())
    assert len(lazy.seen) <= 30
    started = Method("m", Uniform(5), Epochs(1, 2), STEP, momentum=Momentum(F(1, 2), True, "gradient"))
    with pytest.raises(Unsupported, match="start it from zero"):
        run_sampled(started, lazy, 6, 1, ("dist2",))


@pytest.mark.parametrize("name", ["isotropic", "logistic"])
def test_a_population_is_solved_by_zero(name: str) -> None:
    problem: Any = build({"kind": "population", "clients": 6, "model": name, "samples": 4, "dim": 3, "seed": 5})
    assert build(problem.spec) == problem
    zero, at = np.zeros(3), np.array([0.5, -1.0, 2.0])
    pulls = np.array([problem.gradient(i, zero) for i in range(6)])
    assert np.abs(pulls).min(axis=1).min() > 1e-3  # each client pulls elsewhere
    assert np.abs(pulls[::2] + pulls[1::2]).max() < 1e-15
    assert len(np.unique(np.abs(pulls))) > 6
    for i in range(6):
        np.testing.assert_allclose(ArrayOracle(problem.client_arrays(i)).full(0, at[None])[0], problem.gradient(i, at))
    exact = np.array([F(1, 2), F(-1), F(2)], dtype=object)
    assert problem.metric("dist2", exact) == F(21, 4)
    if name == "isotropic":
        assert sum(problem.gradient(i, exact) for i in range(6)).tolist() == [3, -6, 12]
        assert problem.metric("gap", exact) == F(21, 8)
    curve = run_sampled(Method("m", Full(), GradientSteps(1), STEP), problem, 400, 1, ("dist2",), [0, 400])
    assert curve.values["dist2"][0] == 3
    assert curve.values["dist2"][1] < (1e-20 if name == "isotropic" else 0.1)


def test_impossible_populations_are_named() -> None:
    for wrong in ({"clients": 7}, {"clients": 4, "samples": 3}, {"clients": 4, "model": "logistic", "ridge": 0}):
        with pytest.raises(BadInput):
            build({"kind": "population", **wrong})
    with pytest.raises(UnknownName, match="isotropc"):
        build({"kind": "population", "clients": 4, "model": "isotropc"})
    with pytest.raises(BadInput, match="client 4 does not exist"):
        Population("isotropic", 4, 2, 2, F(0), 0).client_arrays(4)


def test_sizes_that_contradict_the_samples_are_named() -> None:
    class Wrong(Model):
        @property
        def sizes(self) -> list[int]:
            return [1, 2, 3, 4]

    with pytest.raises(BadInput, match="other numbers of samples"):
        run_sampled(METHODS["fedshuffle"], Wrong(model("logistic").flat), 1, 1, ("loss",))
