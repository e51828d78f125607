"""The mistakes of every kind of method: they are carried out, they differ, and each is recognised from its own run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import boundcheck as bc
from boundcheck.errors import BoundcheckError
from boundcheck.judge.comparison import compare_implementation
from boundcheck.judge.instances import telling_problem
from boundcheck.judge.mutants import mutants
from boundcheck.judge.reference import is_random, iterates, sampled_iterates

COHORT: dict[str, Any] = {"kind": "uniform", "size": 2}
METHODS: dict[str, dict[str, Any]] = {
    "scgd": {"kind": "scgd", "E": 3, "eta0": "1/10"},
    "fedavg_sync": {"kind": "fedavg_sync", "K": 3, "eta_l": "1/10", "eta_g": "1/2"},
    "fedavg_async": {"kind": "fedavg_async", "K": 2, "eta_l": "1/20", "times": [1, 2, 3]},
    "fedprox": {"kind": "fedprox", "mu": 1, "E": 2, "eta": "1/10"},
    "fedavg_rr": {"kind": "fedavg_rr", "E": 2, "eta_l": "1/40"},
    "fedshuffle": {"kind": "fedshuffle", "E": 2, "eta_l": "1/10", "participation": COHORT},
    "fednova": {"kind": "fedshuffle_nova", "E": 1, "eta_l": "1/10", "participation": COHORT},
    "md_sampling": {"kind": "md_sampling", "K": 2, "eta_l": "1/10", "m": 2},
    "momentum": {"kind": "fedavgm", "K": 2, "eta_l": "1/10", "momentum_g": "1/2"},
    "scaffold": {"kind": "scaffold", "K": 2, "eta_l": "1/10"},
}
LEAST = {"momentum": 45, "scaffold": 40}


@pytest.mark.parametrize("name", METHODS)
def test_every_mistake_is_recognised_from_its_own_run(name: str) -> None:
    """Played back as an implementation, a mutant of a method without randomness is among those that are named."""
    method = bc.method(METHODS[name])
    problem = telling_problem(method)
    rounds, ran = 6, 0
    right = iterates(method, problem, rounds)
    found = mutants(method, problem)
    assert len({m.name for m in found}) == len(found)
    for k, mutant in enumerate(found):
        try:
            run = iterates(mutant.method, problem, rounds)
        except BoundcheckError:
            continue
        ran += 1
        if is_random(method, problem) or k % 4 or is_random(mutant.method, problem):
            continue
        answer = compare_implementation(method, lambda task, seed, run=run: run, problem, rounds=rounds)
        if answer.agrees:
            np.testing.assert_allclose(run, right, rtol=1e-8)
            assert mutant.name in answer.alike
        else:
            assert mutant.name in answer.mistakes
    assert ran >= 30


@pytest.mark.parametrize("name", ["fedavg_sync", "fedshuffle", "md_sampling"])
def test_expected_iterates_are_means_of_runs(name: str) -> None:
    """Of mutants that the sampled engine carries out, too: 4 of them, 2,000 seeds each, within 5 standard errors."""
    method = bc.method(METHODS[name])
    problem = telling_problem(method)
    tried = 0
    for mutant in mutants(method, problem)[::9]:
        try:
            runs = sampled_iterates(mutant.method, problem, [0, 2], range(2000))[:, 1]
        except BoundcheckError:
            continue
        expected = iterates(mutant.method, problem, 2)[2]
        error = runs.std(axis=0) / np.sqrt(len(runs)) + 1e-9
        assert (np.abs(runs.mean(axis=0) - expected) < 5 * error).all(), mutant.name
        tried += 1
        if tried == 4:
            break
    assert tried == 4
