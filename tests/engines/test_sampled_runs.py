"""The sampled engine: runs against ones written out from their plan, laws of what is drawn, what is refused."""

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
    WORK,
    Doubles,
    weighted,
)
from sampled_toys import DIM

from boundcheck.core import streams
from boundcheck.engines.simulate import run_sampled
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.clients import Clients
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
    Importance,
    Momentum,
    OneByWeight,
    ServerStep,
    Stale,
    Subsets,
    SumOne,
    Unbiased,
    Uniform,
)
from tests.engines.brute import Run
from tests.engines.drawn_plans import plan
from tests.engines.outcomes import followed, of_state

F = Fraction


def sizes_of(name: str) -> Sequence[int]:
    return (3,) * 5 if "alike" in name else SIZES


@pytest.mark.parametrize("kind", DIM)
@pytest.mark.parametrize("name", ALL)
def test_runs_follow_the_plan_exactly(kind: str, name: str) -> None:
    """Points, and the discrepancies of models that clients keep."""
    method, rounds = ALL[name], 9 if name in STALES or name in BLOCKS else 7 if name in WALKS else 4
    toy = weighted(kind, 5 if name in BLOCKS else DIM[kind], sizes=sizes_of(name))
    metrics, known = ["dist2"], Run(method, Doubles(toy))
    if isinstance(method.exchange, Blocks):
        metrics += ["discrepancy", *(f"discrepancy:{j}" for j in range(len(method.exchange.blocks(5))))]
    seed = 2**40 + 3
    states = [r.state for r in followed(method, Doubles(toy), seed, rounds)]
    for path in ("numpy", "auto") if name in SOLVES else PATHS:
        curve = run_sampled(method, toy, rounds, range(seed, seed + 1), metrics, range(rounds + 1), path=path)  # pyright: ignore
        for metric in metrics:
            expected = [of_state(known, metric, state) for state in states]
            np.testing.assert_allclose(curve.samples[metric][0], expected, rtol=1e-11, atol=1e-28, err_msg=path)
    if len(metrics) > 1:
        assert max(curve.samples["discrepancy"][0]) > 1e-3
        plainer = run_sampled(method, toy, rounds, range(seed, seed + 1), ("dist2",), [2, rounds], path=path)  # pyright: ignore
        assert np.array_equal(plainer.samples["dist2"][0], curve.samples["dist2"][0, [2, rounds]])


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


def test_models_are_handed_to_fresh_clients() -> None:
    drawn = plan(BLOCKS["hand-over"], Clients(SHARES, SIZES), 5, 400)
    holders = [drawn.cohort(t) for t in range(400)]
    assert all(len(set(h)) == 3 for h in holders)
    assert all(holders[t] == holders[t - t % 4] for t in range(400))
    for t in (0, 8, 396):
        assert holders[t] == tuple(streams.shuffle([5], streams.HAND_OVER, t, 0, 5, 3)[0])
    every = np.array(holders[::4])
    assert np.abs(np.bincount(every.ravel(), minlength=5) / 100 - 3 / 5).max() < 5 * (0.24 / 100) ** 0.5
    assert np.abs(np.bincount(every[:, 0], minlength=5) / 100 - 1 / 5).max() < 5 * (0.16 / 100) ** 0.5


@pytest.mark.parametrize("aggregation", [Unbiased(), Average(), SumOne()])
def test_an_empty_cohort_changes_nothing(aggregation: Any) -> None:
    nobody = Subsets(((), (0, 1, 2, 3, 4)), (F(1, 2), F(1, 2)))
    method = Method("m", nobody, Epochs(1, 1), STEP, aggregation)
    drawn = plan(method, Clients(SHARES, SIZES), 0, 12)
    empty = [r for r in range(12) if not drawn.cohort(r)]
    assert 0 < len(empty) < 12
    for path in PATHS:
        run = run_sampled(method, weighted("quadratic", 2), 12, 1, ("dist2",), range(13), path=path)  # pyright: ignore
        values = run.samples["dist2"][0]
        assert [r for r in range(12) if values[r + 1] == values[r]] == empty


@pytest.mark.parametrize("path", PATHS)
def test_gradients_at_epoch_starts(path: Any) -> None:
    """The mean over the epochs of a round of |grad F|^2, with grad F(x) = A (x - centre) for this toy."""
    toy = weighted("quadratic", 2)
    toy.flat.centred["grad2"] = np.diag([F(3), F(5)]).astype(float)  # pyright: ignore
    method = replace(MOMENTA["mvr"], local=Epochs(3, 1, divide="size"))
    expected: list[Any] = []
    for played in followed(method, Doubles(toy), 7, 3):
        (own,) = played.visits
        starts = own.points[:-1][:: SIZES[own.client]]
        expected.append(sum((y - toy.flat.centre) ** 2 @ [3, 5] for y in starts) / 3)
    curve = run_sampled(method, toy, 3, range(7, 8), ("epoch_grad2", "dist2"), [0, 1, 2, 3], path=path)
    assert curve.samples["epoch_grad2"][0] == pytest.approx(expected, rel=1e-11)
    plainer = run_sampled(method, toy, 3, range(7, 8), ("dist2",), [0, 1, 2, 3], path=path)
    assert np.array_equal(plainer.samples["dist2"], curve.samples["dist2"])
    fedavg = Method("m", Uniform(1), Epochs(2, 2), STEP)
    some, slow = (run_sampled(fedavg, toy, 3, 4, ("epoch_grad2",), [0, 3], path=p) for p in ("numba", "numpy"))
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
        assert np.all(np.isposinf([curve.samples[name][:, 2] for name in ("dist2", "gap")]))
        assert curve.diverged == 80


MODELS = Method("m", Full(), WORK, STEP, exchange=Blocks(2))
REFUSED: list[tuple[Method, dict[str, Any], type[Exception], str]] = [
    (replace(MODELS, participation=Uniform(2)), {}, Unsupported, "all take part"),
    (replace(MODELS, server=ServerStep(F(2))), {}, Unsupported, "no server whose step"),
    (replace(MODELS, exchange=Blocks(2, weights="data", hand_over=HandOver(2, 1))), {}, Unsupported, "equal weights"),
    (replace(MODELS, momentum=Momentum(F(1, 2))), {}, Unsupported, "momentum does not go with models"),
    (replace(MODELS, exchange=Stale(), correction=Correction()), {}, Unsupported, "correction does not go with"),
    (replace(MODELS, exchange=Blocks(2, hand_over=HandOver(6, 1))), {}, BadInput, "6 clients cannot hold"),
    (STALES["random"], {"grid": [2], "memory_limit": 200}, BadInput, "models that 5 clients keep need 240 bytes"),
    (MODELS, {"metrics": ("discrepancy:2",)}, BadInput, "there are 2, from 0 on"),
    (STALES["random"], {"metrics": ("discrepancy",)}, Unsupported, "keeps no models"),
]


@pytest.mark.parametrize(("method", "more", "error", "said"), REFUSED, ids=[row[3] for row in REFUSED])
def test_what_does_not_go_together(method: Method, more: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        run_sampled(method, weighted(d=5), 2, 1, **more)
