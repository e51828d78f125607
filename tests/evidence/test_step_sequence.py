"""A run whose step sizes are not those of the statement is out of scope."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
import sympy as sp

from boundcheck.engines.curve import Curve
from boundcheck.engines.run import run
from boundcheck.errors import BadInput, UnknownName
from boundcheck.evidence import kind_parameters
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.evidence.compare import compare
from boundcheck.methods.build import build as build_method
from boundcheck.methods.build import kinds
from boundcheck.problems.build import build as build_problem
from boundcheck.theory.dimension import LENGTH2, ONE
from boundcheck.theory.discovery import all_statements, statement
from boundcheck.theory.statement import ITERATION, ROUND, Algorithm, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol, common
from boundcheck.verdict import Outcome

HOLDS, OUT, UNDECIDED = Outcome.HOLDS, Outcome.OUT_OF_SCOPE, Outcome.UNDECIDED
PAIR = {"kind": "random_quadratics", "clients": 3, "d": 2, "seed": 1}
n, eta0, mu = common.n.expr, common.eta0.expr, common.mu.expr
GAMMA = Symbol("gamma", "shift of the step size", ONE, free=True)
gamma = GAMMA.expr


def about(steps: Any, *symbols: Symbol, kind: str = "scgd", name: str = "eta") -> Statement:
    """That the distance is at most ten times the first, for these step sizes."""
    return Statement(
        Source("mine", "1", "here"), "as_printed", "t", (common.dist2_0, common.K, *symbols),
        Metric("dist2", LENGTH2, index="K", rounds=3 * common.K.expr), 10 * common.dist2_0.expr,
        algorithm=Algorithm(kind, (), () if steps is None else ((name, steps),)),
    )  # fmt: skip


def fedavg(eta: object, E: int = 3) -> dict[str, Any]:
    return {"kind": "fedavg", "E": E, "eta": eta}


@cache
def curve_of(method: str, rounds: tuple[int, ...] = (0, 3, 30)) -> Curve:
    return run(build_method(json.loads(method)), build_problem(PAIR), rounds=list(rounds))


CONSTANT, FALLING = {"kind": "scgd", "E": 1, "eta": "1/1000"}, {"kind": "scgd", "E": 1, "eta0": "1/1000"}
CYCLES = about(eta0 / (sp.floor(ROUND / n) + 1), common.eta0, common.n)
BY_STEP = about(2 / (1000 * (gamma + ITERATION)), GAMMA, kind="fedavg")
BY_ROUND = about(2 / (1000 * (gamma + ROUND)), GAMMA, kind="fedavg")
EACH_STEP = about(1 / (1000 * (1 + ITERATION)), kind="fedavg")
SERVER = about(1 / (1 + ROUND), name="eta_g")
OTHER = "the statement is about the step size 2/(1000*gamma + 1000*t) in local step t of the run"

# fmt: off
CASES: list[tuple[Statement, dict[str, Any], dict[str, Any], Outcome, str]] = [
    (about(2 / (mu * (gamma + ROUND)), common.mu, GAMMA), CONSTANT, {"gamma": 100}, OUT,
     "the step size 2/(mu*(gamma + r)) after r rounds, the run has the step size 1/1000 in every"),
    (about(None), CONSTANT, {}, HOLDS, ""),
    (about(None), FALLING, {}, OUT,
        "constant step size, the run has the step size (1/1000)/K in its K-th cycle of 3 rounds"),
    (about(None), {"kind": "scgd", "E": 1, "eta": "2/(1000*(8 + r))"}, {}, OUT,
     "constant step size, the run has the step size 2/(1000*(8+r)) in its round r, counted from 0"),
    (SERVER, CONSTANT, {}, OUT, "about eta_g = 1/(r + 1) after r rounds, the run has 1"),
    (CYCLES, FALLING, {}, HOLDS, ""),
    (CYCLES, CONSTANT, {}, OUT, ""),  # the run has no eta0
    (about(eta0 / (ROUND + 1), common.eta0), FALLING, {}, OUT, ""),
    # --- step sizes that users write, by local steps and by rounds ----------------------------------------------------
    (BY_STEP, fedavg("2/(1000*(8 + t))"), {"gamma": 8}, HOLDS, ""),
    (BY_STEP, fedavg("1/(4000 + 500*t)"), {"gamma": 8}, HOLDS, ""),  # the same number, otherwise put
    (BY_STEP, fedavg({"formula": "b/(m*(g + t))", "b": 2, "m": 1000, "g": 8}), {"gamma": 8}, HOLDS, ""),
    # also a run whose rounds begin with the right step sizes, and one that departs after 60 local steps
    *((BY_STEP, fedavg(eta), {"gamma": 8}, OUT, OTHER) for eta in (
        "2/(1000*(9 + t))", "2/(1000*(8 + r))", "2/(1000*(8 + 3*r))", "1/4000", "2/(1000*(8 + t))*min(1, 60/(t+1))")),
    (BY_ROUND, fedavg("2/(1000*(8 + r))"), {"gamma": 8}, HOLDS, ""),
    (BY_ROUND, fedavg("2/(1000*(8 + t))"), {"gamma": 8}, OUT, ""),
    (BY_ROUND, fedavg("2/(1000*(8 + floor(t/3)))"), {"gamma": 8}, HOLDS, ""),
    # with one local step a round they are the same
    *((by, fedavg(f"2/(1000*(8 + {t}))", 1), {"gamma": 8}, HOLDS, "") for by in (BY_STEP, BY_ROUND) for t in "tr"),
    (EACH_STEP, {"kind": "fedavg", "E": 1, "eta0": "1/1000"}, {}, HOLDS, ""),
    (EACH_STEP, {"kind": "fedavg", "E": 2, "eta0": "1/1000"}, {}, OUT, ""),
]
# fmt: on


@pytest.mark.parametrize("case", CASES, ids=[f"{k} {case[3].value}" for k, case in enumerate(CASES)])
def test_steps_of_a_run_are_those_of_its_statement(case: Any) -> None:
    claimed, method, constants, outcome, words = case
    found = compare(claimed, curve_of(json.dumps(method)), constants)
    assert found.outcome is outcome, found.reason
    assert words in found.reason


def test_beyond_the_rounds_that_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """A square root that is the same formula is recognised; what cannot be decided is not taken as met."""
    monkeypatch.setattr(kind_parameters, "MOST_ROUNDS", 40)
    wanted = about(1 / (1000 * sp.sqrt(ROUND + 1)), kind="fedavg")
    for eta, outcome in (("1/(1000*sqrt(r+1))", HOLDS), ("1/(1000*sqrt(r+2))", OUT)):
        curve = run(build_method(fedavg(eta, 1)), build_problem(PAIR), rounds=[0, 3, 60], arithmetic="float64")
        assert compare(wanted, curve, {}).outcome is outcome
    late = about(eta0 / (sp.floor(ROUND / n) + 1) + 0 * ROUND + sp.sqrt(ROUND**2) - ROUND, common.eta0, common.n)
    for last, outcome in ((30, HOLDS), (60, UNDECIDED)):
        assert compare(late, curve_of(json.dumps(FALLING), (0, last))).outcome is outcome
    # a rational function is settled by as many rounds as it has degrees, and one with a high degree is not
    assert compare(CYCLES, curve_of(json.dumps(FALLING), (0, 60))).outcome is HOLDS


def test_a_curve_of_ones_own_takes_the_sequence_for_granted() -> None:
    bare = replace(curve_of(json.dumps(FALLING)), algorithms=None, parameters=None, step_sizes=None)
    found = compare(about(eta0 / (ROUND + 1), common.eta0), bare)
    assert found.outcome is HOLDS
    assert "that the run is scgd with eta = eta0/(r + 1) after r rounds" in found.reason


def test_what_shipped_statements_say_of_steps() -> None:
    for reading in ("corrected", "as_printed"):
        algorithm = statement(f"scgd/theorem_3_4/{reading}").algorithm
        assert algorithm is not None
        assert algorithm.steps == (("eta", eta0 / (sp.floor(ROUND / n) + 1)),)
    assert {s.algorithm.kind for s in all_statements() if s.algorithm is not None} <= set(kinds())
    assert run_claim(Claim("scgd/theorem_3_3/corrected", PAIR, FALLING)).verdict.outcome is OUT


def test_names_in_a_sequence_are_checked() -> None:
    with pytest.raises(UnknownName, match="the algorithm scgd, parameter 'step' is unknown"):
        about(1 / (1 + ROUND), name="step")
    with pytest.raises(UnknownName, match="symbol 't' is unknown"):  # local steps do not count for the server
        about(1 / (1 + ITERATION), kind="fedavg", name="eta_g")


@dataclass(frozen=True)
class Late:
    """A step size that is constant in the first rounds alone, and says that it is constant."""

    until: int

    def step(self, cycle: int) -> Fraction:
        return Fraction(1, 2) if cycle <= self.until else Fraction(100)

    def is_constant(self) -> bool:
        return True

    def is_exact(self) -> bool:
        return True


def test_answers_of_a_part_are_those_that_were_looked_at() -> None:
    descent = {"kind": "gradient_descent", "eta": "1/2"}
    problem = build_problem({"kind": "quadratics", "start": [1], "clients": [{"A": [[1]]}]})
    method = replace(build_method(descent), schedule=Late(60))
    assert run(method, problem, rounds=[60]).values["dist2"][0] == pytest.approx(0.25**60)
    with pytest.raises(BadInput, match=r"step\(1\) is 1/2, step\(61\) 100"):
        run(method, problem, rounds=[61])
    long = run(replace(method, schedule=Late(10**6)), problem, rounds=[5000])
    assert "schedule Late of a plug-in answers in all 5000 rounds" in long.info["assumed"][0]
    assert "assumed" not in run(build_method(descent), problem, rounds=[5000]).info
