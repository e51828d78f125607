"""A run whose step sizes are not those of the statement is out of scope."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

from boundcheck.engines.run import run
from boundcheck.errors import UnknownName
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

PAIR = {"kind": "random_quadratics", "clients": 3, "d": 2, "seed": 1}
CONSTANT = {"kind": "scgd", "E": 1, "eta": "1/1000"}
FALLING = {"kind": "scgd", "E": 1, "eta0": "1/1000"}
n, eta0, mu = common.n.expr, common.eta0.expr, common.mu.expr
GAMMA = Symbol("gamma", "shift of the step size", ONE, free=True)
gamma = GAMMA.expr


def about(steps: object, *symbols: Symbol) -> Statement:
    """That the distance is at most ten times the first, for these step sizes."""
    return Statement(
        Source("mine", "1", "here"), "as_printed", "t", (common.dist2_0, common.K, *symbols),
        Metric("dist2", LENGTH2, index="K", rounds=3 * common.K.expr), 10 * common.dist2_0.expr,
        algorithm=Algorithm("scgd", (), () if steps is None else (("eta", steps),)),
    )  # fmt: skip


def verdict_of(claimed: Statement, method: dict[str, object], **constants: object):
    curve = run(build_method(method), build_problem(PAIR), rounds=[0, 3, 30, 300])
    return compare(claimed, curve, constants)


def test_a_falling_step_refuses_a_constant_one() -> None:
    wanted = about(2 / (mu * (gamma + ROUND)), common.mu, GAMMA)
    found = verdict_of(wanted, CONSTANT, gamma=100)
    assert found.outcome is Outcome.OUT_OF_SCOPE
    assert "the step size 2/(mu*(gamma + r)) after r rounds, the run has the step size 1/1000 in every" in found.reason


def test_a_constant_step_refuses_a_falling_one() -> None:
    found = verdict_of(about(None), FALLING)
    assert found.outcome is Outcome.OUT_OF_SCOPE
    assert "constant step size, the run has the step size (1/1000)/K in its K-th cycle of 3 rounds" in found.reason
    assert verdict_of(about(None), CONSTANT).outcome is Outcome.HOLDS
    claim = Claim("scgd/theorem_3_3/corrected", PAIR, FALLING)
    assert run_claim(claim).verdict.outcome is Outcome.OUT_OF_SCOPE


def test_a_falling_server_step_refuses_the_constant_one_of_all_methods() -> None:
    algorithm = Algorithm("scgd", (), (("eta_g", 1 / (1 + ROUND)),))
    found = verdict_of(replace(about(None), algorithm=algorithm), CONSTANT)
    assert found.outcome is Outcome.OUT_OF_SCOPE
    assert "about eta_g = 1/(r + 1) after r rounds, the run has 1" in found.reason
    with pytest.raises(UnknownName, match="the algorithm scgd, parameter 'step' is unknown"):
        replace(about(None), algorithm=replace(algorithm, steps=(("step", 1 / (1 + ROUND)),)))


def test_the_same_sequence_is_in_scope_and_another_is_not() -> None:
    cycles = about(eta0 / (sp.floor(ROUND / n) + 1), common.eta0, common.n)
    assert verdict_of(cycles, FALLING).outcome is Outcome.HOLDS
    each = about(eta0 / (ROUND + 1), common.eta0)
    assert verdict_of(each, FALLING).outcome is Outcome.OUT_OF_SCOPE
    assert verdict_of(cycles, CONSTANT).outcome is Outcome.OUT_OF_SCOPE  # the run has no eta0


def test_a_sequence_that_cannot_be_decided_is_not_taken_as_met() -> None:
    root = about(eta0 / (sp.floor(ROUND / n) + 1) + 0 * ROUND + sp.sqrt(ROUND**2) - ROUND, common.eta0, common.n)
    curve = run(build_method(FALLING), build_problem(PAIR), rounds=[0, 30_000])
    assert compare(root, curve).outcome is Outcome.UNDECIDED


def test_a_curve_of_ones_own_takes_the_sequence_for_granted() -> None:
    curve = run(build_method(FALLING), build_problem(PAIR), rounds=[0, 3])
    bare = replace(curve, algorithms=None, parameters=None, step_sizes=None)
    found = compare(about(eta0 / (ROUND + 1), common.eta0), bare)
    assert found.outcome is Outcome.HOLDS
    assert "that the run is scgd with eta = eta0/(r + 1) after r rounds" in found.reason


@pytest.mark.parametrize("reading", ["corrected", "as_printed"])
def test_the_falling_step_of_scgd_is_stated(reading: str) -> None:
    algorithm = statement(f"scgd/theorem_3_4/{reading}").algorithm
    assert algorithm is not None
    assert algorithm.steps == (("eta", eta0 / (sp.floor(ROUND / n) + 1)),)


def test_every_statement_names_a_method_that_exists() -> None:
    assert {s.algorithm.kind for s in all_statements() if s.algorithm is not None} <= set(kinds())


# --- step sizes that users write ----------------------------------------------------------------------------------


def with_kind(steps: object, *symbols: Symbol, name: str = "eta") -> Statement:
    """The same claim about FedAvg."""
    found = about(steps, *symbols)
    return replace(found, algorithm=Algorithm("fedavg", (), ((name, steps),)))


def fedavg(eta: object, E: int = 3) -> dict[str, object]:
    return {"kind": "fedavg", "E": E, "eta": eta}


def outcome_of(claimed: Statement, method: dict[str, object], **constants: object) -> tuple[Outcome, str]:
    curve = run(build_method(method), build_problem(PAIR), rounds=[0, 3, 30, 300])
    found = compare(claimed, curve, {"n": 3, **constants} if any(s.name == "n" for s in claimed.symbols) else constants)
    return found.outcome, found.reason


BY_STEP = 2 / (1000 * (gamma + ITERATION))
BY_ROUND = 2 / (1000 * (gamma + ROUND))


def test_a_statement_by_local_steps_takes_the_run_that_has_them() -> None:
    wanted = with_kind(BY_STEP, GAMMA)
    assert outcome_of(wanted, fedavg("2/(1000*(8 + t))"), gamma=8)[0] is Outcome.HOLDS
    assert outcome_of(wanted, fedavg("1/(4000 + 500*t)"), gamma=8)[0] is Outcome.HOLDS  # the same number, otherwise put
    assert (
        outcome_of(wanted, fedavg({"formula": "b/(m*(g + t))", "b": 2, "m": 1000, "g": 8}), gamma=8)[0] is Outcome.HOLDS
    )


@pytest.mark.parametrize(
    "eta",
    ["2/(1000*(9 + t))", "2/(1000*(8 + r))", "2/(1000*(8 + 3*r))", "1/4000", "2/(1000*(8 + t))*min(1, 800/(t+1))"],
)
def test_a_statement_by_local_steps_refuses_other_runs(eta: str) -> None:
    """Also the run whose rounds begin with the right step sizes, and one that departs after 800 local steps."""
    outcome, reason = outcome_of(with_kind(BY_STEP, GAMMA), fedavg(eta), gamma=8)
    assert outcome is Outcome.OUT_OF_SCOPE
    assert "the statement is about the step size 1/(500*(gamma + t)) in local step t of the run" in reason.replace(
        "2/(1000*gamma + 1000*t)", "1/(500*(gamma + t))"
    )


def test_a_statement_by_rounds_refuses_steps_that_change_within_them() -> None:
    wanted = with_kind(BY_ROUND, GAMMA)
    assert outcome_of(wanted, fedavg("2/(1000*(8 + r))"), gamma=8)[0] is Outcome.HOLDS
    assert outcome_of(wanted, fedavg("2/(1000*(8 + t))"), gamma=8)[0] is Outcome.OUT_OF_SCOPE
    assert outcome_of(wanted, fedavg("2/(1000*(8 + floor(t/3)))"), gamma=8)[0] is Outcome.HOLDS
    outcome, reason = outcome_of(about(None), {"kind": "scgd", "E": 1, "eta": "2/(1000*(8 + r))"})
    assert outcome is Outcome.OUT_OF_SCOPE
    assert "constant step size, the run has the step size 2/(1000*(8+r)) in its round r, counted from 0" in reason


def test_with_one_local_step_rounds_and_local_steps_are_the_same() -> None:
    for claimed in (BY_STEP, BY_ROUND):
        for eta in ("2/(1000*(8 + t))", "2/(1000*(8 + r))"):
            assert outcome_of(with_kind(claimed, GAMMA), fedavg(eta, 1), gamma=8)[0] is Outcome.HOLDS
    falling = with_kind(1 / (1000 * (1 + ITERATION)))
    assert outcome_of(falling, {"kind": "fedavg", "E": 1, "eta0": "1/1000"})[0] is Outcome.HOLDS
    assert outcome_of(falling, {"kind": "fedavg", "E": 2, "eta0": "1/1000"})[0] is Outcome.OUT_OF_SCOPE


def test_a_square_root_is_recognised_beyond_the_rounds_that_are_compared() -> None:
    wanted = with_kind(1 / (1000 * sp.sqrt(ROUND + 1)))
    problem = build_problem({"kind": "quadratics", "clients": [{"A": 1, "b": 0}], "start": [1]})
    for eta, outcome in (("1/(1000*sqrt(r+1))", Outcome.HOLDS), ("1/(1000*sqrt(r+2))", Outcome.OUT_OF_SCOPE)):
        curve = run(build_method(fedavg(eta, 1)), problem, rounds=[0, 3, 6000], arithmetic="float64")
        assert compare(wanted, curve, {}).outcome is outcome


def test_local_steps_do_not_count_for_the_server() -> None:
    with pytest.raises(UnknownName, match="symbol 't' is unknown"):
        with_kind(1 / (1 + ITERATION), name="eta_g")
