"""Clients that keep models between rounds, and cohorts known in advance, in the sampled engine."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sampled_cases import BLOCKS, PATHS, SHARES, SIZES, STALES, STEP, WORK, weighted
from sampled_simulation import Simulation

from boundcheck.core import streams
from boundcheck.engines.simulate import run_sampled
from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.clients import Clients
from boundcheck.methods.method import Method
from boundcheck.methods.parts import (
    Blocks,
    Correction,
    Full,
    HandOver,
    Momentum,
    ServerStep,
    Stale,
    Uniform,
)
from tests.engines.drawn_plans import plan

F = Fraction
ROUNDS = 9


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", list(BLOCKS))
def test_discrepancies_are_those_of_the_models(name: str, path: Any) -> None:
    method, problem = BLOCKS[name], weighted(d=5)
    blocks = method.exchange
    assert isinstance(blocks, Blocks)
    parts = blocks.blocks(5)
    names = ("dist2", "discrepancy", *(f"discrepancy:{j}" for j in range(len(parts))))
    curve = run_sampled(method, problem, ROUNDS, range(3, 4), names, range(ROUNDS + 1), path=path)
    known = Simulation(method, problem, 3, ROUNDS)
    moved = blocks.hand_over is None and blocks.weights == "data"
    for t in range(ROUNDS + 1):
        models, u = known.models[t], known.points[t]
        weights = np.array([float(w) for w in SHARES]) if moved else np.full(len(models), 1 / len(models))
        apart = weights @ (models - u) ** 2
        assert curve.samples["discrepancy"][0, t] == pytest.approx(apart.sum(), rel=1e-11, abs=1e-28)
        for j, own in enumerate(parts):
            assert curve.samples[f"discrepancy:{j}"][0, t] == pytest.approx(
                apart[list(own)].sum(), rel=1e-11, abs=1e-28
            )
    assert max(curve.samples["discrepancy"][0]) > 1e-3
    plainer = run_sampled(method, problem, ROUNDS, range(3, 4), ("dist2",), [2, ROUNDS], path=path)
    assert np.array_equal(plainer.samples["dist2"][0], curve.samples["dist2"][0, [2, ROUNDS]])


def test_models_are_handed_to_fresh_clients() -> None:
    clients = Clients(SHARES, SIZES)
    drawn = plan(BLOCKS["hand-over"], clients, 5, 400)
    holders = [drawn.cohort(t) for t in range(400)]
    assert all(len(set(h)) == 3 for h in holders)
    assert all(holders[t] == holders[t - t % 4] for t in range(400))
    for t in (0, 8, 396):
        expected = streams.shuffle([5], streams.HAND_OVER, t, 0, 5, 3)[0]
        assert holders[t] == tuple(expected)
    every = np.array(holders[::4])
    assert np.abs(np.bincount(every.ravel(), minlength=5) / 100 - 3 / 5).max() < 5 * (0.24 / 100) ** 0.5
    assert np.abs(np.bincount(every[:, 0], minlength=5) / 100 - 1 / 5).max() < 5 * (0.16 / 100) ** 0.5


def test_what_does_not_go_together_is_named() -> None:
    problem = weighted(d=5)
    blocks = Method("m", Full(), WORK, STEP, exchange=Blocks(2))
    wrongs = {
        "all take part": replace(blocks, participation=Uniform(2)),
        "no server whose step": replace(blocks, server=ServerStep(F(2))),
        "equal weights": replace(blocks, exchange=Blocks(2, weights="data", hand_over=HandOver(2, 1))),
        "momentum does not go with models": replace(blocks, momentum=Momentum(F(1, 2))),
        "correction does not go with": replace(blocks, exchange=Stale(), correction=Correction()),
    }
    for message, method in wrongs.items():
        with pytest.raises(Unsupported, match=message):
            run_sampled(method, problem, 2, 1)
    with pytest.raises(BadInput, match="6 clients cannot hold"):
        run_sampled(replace(blocks, exchange=Blocks(2, hand_over=HandOver(6, 1))), problem, 2, 1)
    with pytest.raises(BadInput, match="models that 5 clients keep need 240 bytes"):
        run_sampled(STALES["random"], problem, 2, 1, grid=[2], memory_limit=200)
    with pytest.raises(BadInput, match="there are 2, from 0 on"):
        run_sampled(blocks, problem, 2, 1, ("discrepancy:2",))
    with pytest.raises(Unsupported, match="keeps no models"):
        run_sampled(STALES["random"], problem, 2, 1, ("discrepancy",))
