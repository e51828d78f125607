"""The FedShuffle family in the sampled engine: runs replayed exactly, compared, counted and enumerated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from sampled_simulation import Simulation
from sampled_toys import Toy, random_toy

from boundcheck.engines.simulate import run_sampled
from boundcheck.errors import Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import (
    Average,
    Constant,
    Cyclic,
    EpochRange,
    Epochs,
    Formula,
    Full,
    GradientSteps,
    Importance,
    Independent,
    InverseCycle,
    Momentum,
    OneByWeight,
    ServerMomentum,
    ServerStep,
    StochasticSteps,
    Subsets,
    SumOne,
    Unbiased,
    Uniform,
)
from tests.engines.drawn_plans import plan

PATHS = ("numpy", "numba")
SIZES = (3, 1, 4, 2, 3)
SHARES = tuple(Fraction(k, 20) for k in (6, 1, 7, 2, 4))
STEP = Constant(Fraction(1, 16))
F = Fraction


def weighted(kind: str, d: int = 2, seed: int = 0, sizes: Sequence[int] = SIZES) -> Toy:
    return replace(random_toy(kind, d, sizes, seed), shares=SHARES)


SETS = Subsets(((0, 1), (), (2, 3, 4), (1, 4)), (F(1, 3), F(1, 6), F(1, 4), F(1, 4)))
SOME = Independent((F(1, 2), F(1, 3), F(1), F(1, 5), F(3, 4)))
WORK = Epochs(2, 2)
CASES: dict[str, Method] = {
    "fedshuffle": Method("m", Full(), Epochs(2, 1, divide="size"), STEP, Unbiased(), ServerStep(F(5, 4))),
    "ascending": Method("m", Uniform(3), Epochs(1, 2, divide="size"), STEP, Unbiased(), ServerStep(F(1), True)),
    "independent": Method("m", SOME, Epochs(1, 1, divide="size"), STEP, Unbiased()),
    "importance": Method("m", Importance(F(2)), WORK, InverseCycle(F(1, 8), 2), Unbiased()),
    "one by weight": Method("m", OneByWeight(), Epochs(3, 1, divide="work"), STEP, Unbiased()),
    "sets": Method("m", SETS, WORK, STEP, Unbiased()),
    "average of varying cohorts": Method("m", SETS, GradientSteps(3), STEP),
    "sum one": Method("m", Uniform(3), WORK, STEP, SumOne()),
    "sum one of varying cohorts": Method("m", SOME, WORK, STEP, SumOne(per_share=True)),
    "nova": Method("m", Uniform(2), Epochs((1, 2, 3, 1, 2), 1, divide="largest"), STEP, Unbiased("nova")),
    "least work": Method("m", Uniform(3), Epochs(2, 1, common="min"), STEP, SumOne()),
    "mean work": Method("m", SETS, Epochs(2, 2, common="mean"), STEP, Unbiased()),
    "unfinished": Method(
        "m", Full(), Epochs(2, 1, divide="work", missed=(1, 1, 5, 0, 3)), STEP, Unbiased("unfinished")
    ),
    "nothing finished": Method("m", Full(), Epochs(1, 1, missed=(3, 1, 0, 2, 1)), STEP, Unbiased()),
    "with replacement": Method("m", Uniform(2), Epochs(2, 2, "replacement"), STEP),
    "random epochs": Method("m", Uniform(3), Epochs(EpochRange(2, 5), 2, divide="size"), STEP, Unbiased()),
    "random epochs of all": Method("m", Full(), Epochs(EpochRange(1, 3), 1, "replacement"), STEP, Unbiased()),
    "cyclic by weight": Method("m", Cyclic((2, 0, 4, 1, 3)), WORK, STEP, SumOne()),
}
MVR = Momentum(F(1, 4))
MOMENTA: dict[str, Method] = {
    "mvr": Method("m", OneByWeight(), Epochs(2, 1, divide="size"), STEP, Unbiased(), momentum=MVR),
    "mvr of all": Method("m", Full(), WORK, STEP, Unbiased(), ServerStep(F(3, 2)), Momentum(F(1, 8), start="gradient")),
    "mvr warmed up": Method("m", SOME, WORK, STEP, SumOne(), momentum=Momentum(F(1, 3), start="sampled", warm_up=4)),
    "mvr of full steps": Method("m", SETS, GradientSteps(2), STEP, Unbiased(), momentum=MVR),
    "practical": Method("m", Uniform(2), Epochs(2, 2, divide="size"), STEP, momentum=Momentum(F(1, 10), False)),
    "practical, started": Method(
        "m",
        Full(),
        Epochs(1, 1, missed=(1, 1, 2, 0, 0)),
        STEP,
        Unbiased(),
        momentum=Momentum(F(1, 10), False, "gradient"),
    ),
    "practical of varying": Method("m", SETS, Epochs(EpochRange(1, 2)), STEP, momentum=Momentum(F(1, 2), False)),
}
DRAWN = EpochRange(1, 2)
NOVA, LEAST, MEAN = Epochs(DRAWN, divide="largest"), Epochs(DRAWN, common="min"), Epochs(DRAWN, common="mean")
HEAVY, AHEAD = ServerMomentum(F(1, 3)), ServerMomentum(F(2, 5), nesterov=True)
GROWING = ServerMomentum("(r-1)/(r+2)", nesterov=True)
STEPS = Formula("2/(31 + 7*t)")
MORE: dict[str, Method] = {
    "nova, drawn epochs": Method("m", Full(), NOVA, STEP, Unbiased("nova")),
    "nova of some": Method("m", Uniform(1), replace(NOVA, sampling="replacement"), STEP, Unbiased("nova")),
    "nova, summing to one": Method("m", OneByWeight(), NOVA, STEP, SumOne("data")),
    "nova with momentum": Method("m", Full(), NOVA, STEP, Unbiased("nova"), momentum=Momentum(F(1, 2), False)),
    "nova, server momentum": Method("m", Full(), NOVA, STEP, Unbiased("nova"), server_momentum=AHEAD),
    "least drawn work": Method("m", Uniform(2), replace(LEAST, E=EpochRange(1, 3), batch=2), STEP, SumOne()),
    "mean of drawn work": Method("m", Full(), replace(MEAN, sampling="replacement"), STEP, SumOne()),
    "mean of some": Method("m", Uniform(2), MEAN, STEP, Unbiased()),
    "mean with momentum": Method("m", Full(), MEAN, STEP, SumOne(), momentum=Momentum(F(1, 2))),
    "heavy ball": Method("m", Full(), GradientSteps(1), STEP, SumOne(), server_momentum=HEAVY),
    "ahead": Method("m", Uniform(2), Epochs(1, 2), STEP, SumOne(), ServerStep(F(3, 2)), server_momentum=AHEAD),
    "growing": Method("m", Uniform(1), Epochs(1, 1, divide="size"), STEP, Unbiased(), server_momentum=GROWING),
    "growing, at x": Method("m", Full(), GradientSteps(2), STEP, server_momentum=replace(GROWING, nesterov=False)),
    "fista": Method("m", Uniform(2), GradientSteps(1), STEP, server_momentum=ServerMomentum("fista", nesterov=True)),
    "by round": Method("m", Uniform(2), Epochs(1, 2), Formula("1/(16 + 5*r)"), Unbiased()),
    "by step": Method("m", Uniform(2), GradientSteps(3), STEPS, SumOne()),
    "by step and round": Method("m", Full(), GradientSteps(2), Formula("(r + 2)/(40 + t)"), server_momentum=AHEAD),
    "by drawn step": Method("m", Uniform(1), StochasticSteps(2), STEPS, Unbiased()),
    "by batch of clients alike": Method("m", Full(), Epochs(2, 2), STEPS, Unbiased()),
    "by drawn batch of clients alike": Method("m", Full(), Epochs(1, 2, "replacement", "size"), STEPS),
}
ALL = CASES | MOMENTA | MORE


def sizes_of(name: str) -> Sequence[int]:
    return (3,) * 5 if "alike" in name else SIZES


@pytest.mark.parametrize("kind", ["isotropic", "quadratic", "rows"])
@pytest.mark.parametrize("name", ALL)
def test_runs_follow_the_plan_exactly(kind: str, name: str) -> None:
    method, toy = ALL[name], weighted(kind, sizes=sizes_of(name))
    rounds = 4 if kind == "isotropic" else 3
    for seed in (1, 2**40 + 3):
        dist2 = Simulation(method, toy, seed, rounds).dist2(rounds)
        for path in PATHS:
            curve = run_sampled(method, toy, rounds, range(seed, seed + 1), ("dist2",), [rounds], path=path)  # pyright: ignore
            assert curve.samples["dist2"][0, 0] == pytest.approx(dist2, rel=1e-11), path


def test_cohorts_follow_their_laws() -> None:
    """How often clients and pairs take part, within 5 standard errors over independent rounds."""
    rounds = 2000
    clients = Clients(SHARES, SIZES)
    for participation in (SOME, SETS, OneByWeight(), Importance(F(2)), Uniform(2)):
        method = Method("m", participation, GradientSteps(1), STEP, Unbiased())
        law = participation.drawing(clients)
        assert law is not None
        drawn = plan(method, clients, 11, rounds)
        present = np.zeros((rounds, 5))
        for r in range(rounds):
            present[r, list(drawn.cohort(r))] = 1
        for i, j in product(range(5), repeat=2):
            p = float(law.pair(i, j))
            share = float((present[:, i] * present[:, j]).mean())
            assert abs(share - p) <= 5 * math.sqrt(p * (1 - p) / rounds), (participation, i, j)


def test_random_epochs_and_replacement_follow_their_laws() -> None:
    method = Method("m", Full(), Epochs(EpochRange(2, 5), 2, "replacement"), STEP)
    drawn = plan(method, SIZES, 5, 1500)
    works = np.array([drawn.member(r, 2)[1] for r in range(1500)])
    for k in range(4):
        assert abs(np.mean(works == k) - 1 / 4) < 5 * math.sqrt(3 / 16 / 1500)
    first = np.array([drawn.batches(r, 2)[0] for r in range(1500)])
    assert first.shape == (1500, 2)
    for i, j in product(range(4), repeat=2):  # both samples of the first step, independent
        assert abs(np.mean((first[:, 0] == i) & (first[:, 1] == j)) - 1 / 16) < 5 * math.sqrt(15 / 256 / 1500)
    # the amount of work of a client does not depend on who it is with or on the samples that it draws
    assert {len(drawn.batches(r, 2)) for r in range(30)} == {4, 6, 8, 10}
    other = plan(Method("m", Uniform(3), Epochs(EpochRange(2, 5)), STEP), SIZES, 5, 20)
    for r in range(20):
        if 2 in other.cohort(r):
            assert other.member(r, 2)[1] == works[r]


def test_an_empty_cohort_changes_nothing() -> None:
    nobody = Subsets(((), (0, 1, 2, 3, 4)), (F(1, 2), F(1, 2)))
    toy = weighted("quadratic")
    for aggregation in (Unbiased(), Average(), SumOne()):
        method = Method("m", nobody, Epochs(1, 1), STEP, aggregation)
        drawn = plan(method, Clients(SHARES, SIZES), 0, 12)
        empty = [r for r in range(12) if not drawn.cohort(r)]
        assert 0 < len(empty) < 12
        for path in PATHS:
            values = run_sampled(method, toy, 12, 1, ("dist2",), range(13), path=path).samples["dist2"][0]  # pyright: ignore
            moved = [r for r in range(12) if values[r + 1] != values[r]]
            assert sorted(empty + moved) == list(range(12))


@pytest.mark.parametrize("path", PATHS)
def test_gradients_at_epoch_starts(path: Any) -> None:
    """The mean over the epochs of a round of |grad F|^2, with grad F(x) = A (x - centre) for this toy."""
    toy = weighted("quadratic")
    toy.flat.centred["grad2"] = np.diag([F(3), F(5)]).astype(float)  # pyright: ignore
    method = replace(MOMENTA["mvr"], local=Epochs(3, 1, divide="size"))
    met = Simulation(method, toy, 7, 4).starts
    expected = [sum((y - toy.flat.centre) ** 2 @ [3, 5] for y in starts) / 3 for starts in met]
    curve = run_sampled(method, toy, 3, range(7, 8), ("epoch_grad2", "dist2"), [0, 1, 2, 3], path=path)
    assert curve.samples["epoch_grad2"][0] == pytest.approx(expected, rel=1e-11)
    plainer = run_sampled(method, toy, 3, range(7, 8), ("dist2",), [0, 1, 2, 3], path=path)
    assert np.array_equal(plainer.samples["dist2"], curve.samples["dist2"])
    fedavg = Method("m", Uniform(1), Epochs(2, 2), STEP)  # the specialised kernels walk, the general one looks
    some = run_sampled(fedavg, toy, 3, 4, ("epoch_grad2",), [0, 3], path="numba")
    slow = run_sampled(fedavg, toy, 3, 4, ("epoch_grad2",), [0, 3], path="numpy")
    np.testing.assert_allclose(some.samples["epoch_grad2"], slow.samples["epoch_grad2"], rtol=1e-11)
    for wrong in (CASES["independent"], CASES["sum one"], CASES["random epochs"]):
        with pytest.raises(Unsupported, match="one client a round"):
            run_sampled(wrong, toy, 3, 1, ("epoch_grad2",), path=path)
    for name in ("drift", "momentum_error2"):
        with pytest.raises(Unsupported, match=f"does not measure '{name}'"):
            run_sampled(method, toy, 3, 1, (name,), path=path)


@pytest.mark.parametrize("path", PATHS)
def test_divergence_is_infinite_and_silent(path: Any) -> None:
    for method in (CASES["random epochs"], MOMENTA["mvr"], MOMENTA["practical"]):
        wild = replace(method, schedule=Constant(F(10**6)))
        curve = run_sampled(wild, weighted("rows"), 80, 3, ("dist2", "gap"), [0, 80], path=path)
        assert np.all(np.isposinf(curve.samples["dist2"][:, 1]))
        assert np.all(np.isposinf(curve.samples["gap"][:, 1]))
        assert curve.diverged == 80
