"""The sampled engine: hand computations, its plan replayed in exact fractions, and what its rows depend on."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sampled_toys import equation_36, make_toy, random_toy

from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.simulate import concatenate, run_sampled
from boundcheck.errors import BadInput, UnknownName, Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import (
    Constant,
    Cyclic,
    Epochs,
    Full,
    GradientSteps,
    InverseCycle,
    LogHorizon,
    PerClient,
    ServerStep,
    Uniform,
)

PATHS = ("numpy", "numba")


# SCGD, appendix C: f1 = f2 = -x^2, f3 = 3x^2
APPENDIX_C = make_toy("isotropic", (1, 1, 1), [[[-2]], [[-2]], [[6]]], [[0]] * 3, [1])
HALF = Fraction(1, 2)


def scgd(eta: Fraction, E: int) -> Method:
    return Method("scgd", Cyclic(), GradientSteps(E), Constant(eta))


def fedavg(eta: Fraction, E: int) -> Method:
    return Method("fedavg", Full(), GradientSteps(E), Constant(eta))


@pytest.mark.parametrize("path", PATHS)
def test_appendix_c_of_scgd(path: Any) -> None:
    averaged = run_sampled(fedavg(Fraction(1, 10), 2), APPENDIX_C, 100, 2, ("x",), [0, 1, 100], path=path)
    assert averaged.samples["x"][:, 1] == pytest.approx(76 / 75, rel=1e-13)
    assert averaged.values["x"][2] == pytest.approx(3.76039, abs=5e-6)
    cycle = run_sampled(scgd(Fraction(1, 10), 2), APPENDIX_C, 3, 1, ("x", "dist2"), path=path)
    assert cycle.rounds.tolist() == [0, 1, 2, 3]
    assert cycle.values["x"] == pytest.approx([1, 1.44, 2.0736, 0.331776], rel=1e-13)
    assert cycle.values["dist2"][3] == pytest.approx(0.331776**2, rel=1e-13)
    assert cycle.arithmetic is Arithmetic.SAMPLED
    assert not cycle.expectation


@pytest.mark.parametrize("path", PATHS)
def test_schedules_by_hand(path: Any) -> None:
    one = make_toy("isotropic", (1,), [[[1]]], [[0]], [1])  # x^2 / 2 from 1: each step multiplies by 1 - eta

    def final(schedule: Any, rounds: int) -> float:
        method = Method("gd", Full(), GradientSteps(1), schedule)
        return float(run_sampled(method, one, rounds, 1, ("x",), [rounds], path=path).values["x"][0])

    assert final(InverseCycle(HALF), 4) == pytest.approx(1 / 2 * 3 / 4 * 5 / 6 * 7 / 8, rel=1e-14)
    assert final(InverseCycle(HALF, rounds_per_cycle=3), 4) == pytest.approx((1 / 2) ** 3 * 3 / 4, rel=1e-14)
    assert final(LogHorizon(Fraction(1), 10), 2) == pytest.approx((1 - math.log(10) / 10) ** 2, rel=1e-11)
    damped = Method("gd", Full(), GradientSteps(1), Constant(HALF), server=ServerStep(Fraction(3, 2)))
    assert run_sampled(damped, one, 1, 1, ("x",), path=path).values["x"][1] == 1 - 1.5 * 0.5
    # two clients share a cycle of SCGD, so the second visit has the same step as the first
    pair = make_toy("isotropic", (1, 1), [[[1]], [[1]]], [[0], [0]], [1])
    cyclic = Method("scgd", Cyclic((1, 0)), GradientSteps(1), InverseCycle(HALF))
    values = run_sampled(cyclic, pair, 4, 1, ("x",), path=path).values["x"]
    assert values == pytest.approx([1, 1 / 2, 1 / 4, 3 / 16, 9 / 64], rel=1e-14)


SMALL = Constant(Fraction(1, 512))
SCHEDULES = (Constant(Fraction(1, 8)), InverseCycle(HALF, 2), InverseCycle(HALF), LogHorizon(Fraction(1, 4), 9))


@pytest.mark.parametrize(
    ("kind", "d", "participation", "work", "schedule"),
    [
        ("isotropic", 65, Uniform(2), Epochs(1, 1), SMALL),
        ("quadratic", 17, Full(), Epochs(1, 2), SCHEDULES[2]),
        ("quadratic", 33, Uniform(2), Epochs(1, 2), SMALL),
        ("rows", 65, Full(), Epochs(1, 1), SMALL),
        ("rows", 3, Uniform(2), GradientSteps(4), SCHEDULES[3]),
    ],
)
def test_paths_agree(kind: str, d: int, participation: Any, work: Any, schedule: Any) -> None:
    toy = random_toy(kind, d, (5, 1, 2, 9, 4, 3, 8), seed=d)
    method = Method("m", participation, work, schedule)
    slow, fast = (run_sampled(method, toy, 30, 7, ("dist2", "gap"), [0, 1, 2, 17, 30], path=p) for p in PATHS)
    assert slow.info["path"] == "numpy"
    assert fast.info["path"] == "numba"
    for name in ("dist2", "gap"):
        assert np.all(np.isfinite(slow.samples[name]))
        np.testing.assert_allclose(fast.samples[name], slow.samples[name], rtol=1e-12, atol=0)
    assert (len(np.unique(fast.samples["dist2"][:, -1])) > 1) == method.is_random(Clients.alike(7))


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("kind", "d", "participation"),
    [("isotropic", 6, Uniform(2)), ("quadratic", 33, Uniform(2))],
)
def test_rows_depend_on_their_seed_alone(path: Any, kind: str, d: int, participation: Any) -> None:
    toy = random_toy(kind, d, (3, 1, 4, 2, 3))
    method = Method("m", participation, Epochs(1, 2), SCHEDULES[1])
    grid = [0, 3, 4, 11, 12]
    whole = run_sampled(method, toy, 12, 12, ("dist2", "gap"), grid, path=path, threads=1)
    for block, threads in ((1, 1), (5, 2), (12, 1), (2, 3)):
        other = run_sampled(method, toy, 12, 12, ("gap", "dist2"), grid, path=path, block=block, threads=threads)
        for name in whole.samples:
            assert np.array_equal(other.samples[name], whole.samples[name])
            assert np.array_equal(other.values[name], whole.values[name])
    parts = [run_sampled(method, toy, 12, s, ("dist2", "gap"), grid, path=path) for s in (range(5), range(5, 12))]
    joined = concatenate(parts)
    assert joined.info["seeds"] == {"start": 0, "step": 1, "count": 12}
    for name in whole.samples:
        assert np.array_equal(joined.samples[name], whole.samples[name])
        assert np.array_equal(joined.values[name], whole.values[name])
    some = run_sampled(method, toy, 11, range(11, 2, -4), ("gap",), [4, 11], path=path)
    assert np.array_equal(some.samples["gap"], whole.samples["gap"][[11, 7, 3]][:, [2, 3]])


@pytest.mark.parametrize("path", PATHS)
def test_stationary_gap_of_fedavg_with_reshuffling(path: Any) -> None:
    """FedAvgRR on (36) at eta = 1/8 stays at E gap = 53753/7892652 + 1.3202e-4 (squared bias plus variance)."""
    shares = PerClient((Fraction(1, 6), Fraction(1, 3), Fraction(1, 2)))
    weighted = Method("fedavg_rr", Full(), Epochs(1, 1), Constant(Fraction(1, 8)), aggregation=shares)
    seeds = 200 if path == "numpy" else 5000
    # the map contracts by at least 7/8 a round, so that 150 rounds leave 2e-9 of the start
    gaps = run_sampled(weighted, equation_36(), 150, seeds, ("gap",), [150], path=path).samples["gap"][:, 0]
    error = float(gaps.std(ddof=1)) / seeds**0.5
    assert 0 < error < 2e-4
    assert abs(float(gaps.mean()) - (53753 / 7892652 + 1.3202e-4)) < 5 * error + 1e-8


@dataclass(frozen=True)
class Cubic:
    """f_1 = x^4 / 4 and f_2 = x^2 / 2: a problem known by its gradients only."""

    name: str = "cubic"
    dim: int = 1
    clients: int = 2
    weights: tuple[Fraction, ...] = (HALF, HALF)
    start: tuple[Fraction, ...] = (Fraction(1),)
    metrics: tuple[str, ...] = ("x",)

    def gradient(self, client: int, x: Any) -> Any:
        return x**3 if client == 0 else x

    def metric(self, name: str, x: Any) -> Any:
        return x[0]


def test_a_problem_known_by_its_gradients() -> None:
    curve = run_sampled(scgd(HALF, 2), Cubic(), 2, 3, ("x",))
    # client 0: 1 -> 1/2 -> 7/16; client 1: halves twice
    assert curve.samples["x"].tolist() == [[1, 7 / 16, 7 / 64]] * 3
    random = Method("m", Uniform(1), GradientSteps(1), Constant(HALF))
    drawn = run_sampled(random, Cubic(), 1, 8, ("x",))
    assert drawn.samples["x"].tolist() == [[1, 0.5]] * 8  # both gradients are 1 at the start
    epochs = Method("m", Full(), Epochs(), Constant(HALF))
    with pytest.raises(Unsupported, match="'cubic' has no samples"):
        run_sampled(epochs, Cubic(), 1, 1, ("x",))
    with pytest.raises(Unsupported, match="no flat arrays"):
        run_sampled(random, Cubic(), 1, 1, ("x",), path="numba")


@pytest.mark.parametrize("path", PATHS)
def test_progress_and_stopping(path: Any) -> None:
    method = Method("m", Uniform(2), Epochs(1, 1), Constant(Fraction(1, 8)))
    seen: list[tuple[int, int]] = []
    caller = threading.get_ident()

    def note(done: int, total: int) -> None:
        assert threading.get_ident() == caller
        seen.append((done, total))

    whole = run_sampled(method, equation_36(), 50, 6, grid=[0, 10, 50], path=path, block=2, on_progress=note)
    assert seen[-1] == (300, 300)
    assert whole.info["complete"]
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)

    asked = iter([False, True, True])
    long = 10**5 if path == "numba" else 10**4
    cut = run_sampled(
        method, equation_36(), long, 4, grid=[0, 10, long], path=path, block=1, threads=1,
        should_stop=lambda: next(asked, True),
    )  # fmt: skip
    assert not cut.info["complete"]
    count = cut.info["seeds"]["count"]
    assert count < 4
    assert cut.samples["dist2"].shape == (count, 3)
    assert np.array_equal(cut.samples["dist2"][:, :2], whole.samples["dist2"][:count, :2])


def test_a_fault_in_a_thread_reaches_the_caller() -> None:
    class Broken(Cubic):
        def gradient(self, client: int, x: Any) -> Any:
            raise ArithmeticError("from the oracle")

    with pytest.raises(BadInput, match="gradient raises ArithmeticError: from the oracle"):
        run_sampled(scgd(HALF, 1), Broken(), 2, 2, ("x",))


WRONG: list[dict[str, Any]] = [
    *({"rounds": -1}, {"rounds": 2**32, "grid": [2**32]}, {"seeds": 0}, {"seeds": range(-1, 3)}, {"grid": [0, 6]}),
    *({"grid": [3, 2]}, {"grid": [-1, 2]}, {"threads": 0}, {"block": 0}, {"metrics": ()}, {"memory_limit": 10}),
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_bad_arguments_are_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        run_sampled(fedavg(HALF, 1), equation_36(), **{"rounds": 5, "seeds": 2, **wrong})


def test_unknown_names_and_the_least_runs() -> None:
    toy, method = equation_36(), fedavg(HALF, 1)
    with pytest.raises(UnknownName, match="'dist' is unknown; did you mean 'dist2'"):
        run_sampled(method, toy, 5, 1, ("dist",))
    with pytest.raises(UnknownName, match="'numbs' is unknown; did you mean 'numba'"):
        run_sampled(method, toy, 5, 1, path="numbs")  # pyright: ignore[reportArgumentType]
    assert run_sampled(method, toy, 0, 2).values["dist2"].tolist() == [pytest.approx(1 / 6)]
    assert run_sampled(method, toy, 1000, 1).rounds[[0, 1, -1]].tolist() == [0, 1, 1000]
    with pytest.raises(BadInput, match="start at 0 where 2 should follow"):
        concatenate([run_sampled(method, toy, 3, 2), run_sampled(method, toy, 3, 2)])
