"""Frozen rows, carried out as plainly as can be: every cohort and sample one by one, in fractions."""

from __future__ import annotations

import pytest

from tests.engines.brute import Quadratics
from tests.engines.outcomes import expected
from tests.oracle import options

# A row for each sort of method, and after how many rounds its outcomes are too many.
ROWS = {
    "scaffold: batch: 1": 2,
    "fedshuffle_mvr": 3,
    "fedprox: E: null, eta: null, solver: {E: 1, eta: 1/8, sampling: replacement}": 1,
    "composed: eta: 2/(16 + t)": 2,
    "fedavg_min: E: {high: 2, low: 1}, participation: {kind: uniform, size: 2}": 1,
    "scaffold_option_1: weights: data": 2,
    "saga": 3,
    "svrg": 3,
    "svrg_random": 3,
    "svrg_average": 3,
    "feddane": 1,
    "feddane: decay: inverse": 2,
    "feddane: pipelined: true": 3,
    "fedavg_async: times: {kind: exponential, rates: [1, 2, 1/2]}": 3,
    "partial_averaging: hand_over: {active: 2, design: 2, every: 1}": 2,
    "fedavgm: nesterov: true": 2,
    "fedavg_sgd: momentum: {a: 1/4, form: practical}": 2,
    "fedshuffle_nova_rr: E: {high: 2, low: 1}": 1,
}


# of very many outcomes
ONCE = ("feddane: decay: inverse", "fedavg_sgd: momentum: {a: 1/4, form: practical}")
CASES = [(row, where) for row in ROWS for where in options.PROBLEMS if where == "samples" or row not in ONCE]


@pytest.mark.parametrize(("row", "where"), CASES)
def test_frozen_values_are_those_of_all_outcomes(row: str, where: str) -> None:
    frozen = options.rows()[row]
    method, problem = options.method_of(frozen["spec"], where), options.problem_of(frozen["spec"]["kind"], where)
    found = expected(method, Quadratics(problem), ("grad2",), ROWS[row])["grad2"]
    for r, value in enumerate(found):
        assert frozen[f"{where} grad2"].split()[r] in (str(value), options.digest_of(str(value))), r
