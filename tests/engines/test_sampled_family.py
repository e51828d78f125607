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
from sampled_cases import (
    ALL,
    BLOCKS,
    CASES,
    MOMENTA,
    PATHS,
    SETS,
    SHARES,
    SIZES,
    SOLVES,
    SOME,
    STALES,
    STEP,
    WALKS,
    weighted,
)
from sampled_simulation import Simulation
from sampled_toys import DIM

from boundcheck.engines.simulate import run_sampled
from boundcheck.errors import Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import (
    Average,
    Constant,
    EpochRange,
    Epochs,
    Full,
    GradientSteps,
    Importance,
    OneByWeight,
    Subsets,
    SumOne,
    Unbiased,
    Uniform,
)
from tests.engines.drawn_plans import plan

F = Fraction


def sizes_of(name: str) -> Sequence[int]:
    return (3,) * 5 if "alike" in name else SIZES


@pytest.mark.parametrize("kind", DIM)
@pytest.mark.parametrize("name", ALL)
def test_runs_follow_the_plan_exactly(kind: str, name: str) -> None:
    method, rounds = ALL[name], 9 if name in STALES or name in BLOCKS else 7 if name in WALKS else 4
    toy = weighted(kind, 5 if name in BLOCKS else DIM[kind], sizes=sizes_of(name))
    for seed in (1, 2**40 + 3):
        known = Simulation(method, toy, seed, rounds)
        dist2 = [known.dist2(t) for t in range(rounds + 1)]
        for path in ("numpy", "auto") if name in SOLVES else PATHS:
            curve = run_sampled(method, toy, rounds, range(seed, seed + 1), grid=range(rounds + 1), path=path)  # pyright: ignore
            np.testing.assert_allclose(curve.samples["dist2"][0], dist2, rtol=1e-11, err_msg=path)


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
    toy = weighted("quadratic", 2)
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
    toy = weighted("quadratic", 2)
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
        curve = run_sampled(wild, weighted("rows"), 80, 3, ("dist2", "gap"), [0, 1, 80], path=path)
        assert np.all(np.isfinite(curve.samples["gap"][:, :2]))
        assert np.all(np.isposinf(curve.samples["dist2"][:, 2]))
        assert np.all(np.isposinf(curve.samples["gap"][:, 2]))
        assert curve.diverged == 80
