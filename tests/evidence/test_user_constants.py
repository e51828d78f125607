"""Given constants against the run, and decisions that rest on rounded constants or steps."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import pytest
import sympy as sp

from boundcheck.certified.constant import Constant, Known
from boundcheck.engines.run import run
from boundcheck.errors import BadInput, SpecError
from boundcheck.evidence.assumptions import check_assumption, covers
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.evidence.compare import compare
from boundcheck.evidence.open_step_sizes import resolve_steps
from boundcheck.evidence.spec import claims_from_text
from boundcheck.evidence.witness import load_witness, replay, save_witness, stands
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.setting.user_constants import is_library, within_rounding
from boundcheck.theory.assumptions import Assumption, convexity, instance, smooth_clients
from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Condition, Kind
from boundcheck.verdict import Grade, Outcome, Verdict

THEOREM = "scgd/theorem_3_3/corrected"
SHIPPED = Path(__file__).parents[2] / "examples" / "witnesses" / "scgd_theorem_3_3_as_printed_main.json"
# mu = 3/2, L = 2, sigma2 = 1, dist2_0 = 9
PAIR = {"kind": "quadratics", "clients": [{"A": [[1]], "b": [1]}, {"A": [[2]], "b": [-1]}], "start": [3]}
SCGD = {"kind": "scgd", "E": 2, "eta": "1/1000"}


def claimed(constants: dict[str, Any], **more: Any) -> Verdict:
    claim = replace(Claim(THEOREM, PAIR, SCGD, at={"K": [0, 1, 5]}), constants=constants, **more)
    return run_claim(claim).verdict


@pytest.mark.parametrize(
    ("constants", "said"),
    [
        ({"dist2_0": "1/100"}, "dist2_0 = 1/100 contradicts the problem, where dist2_0 is 9"),
        ({"dist2_0": 10}, "dist2_0 = 10 contradicts the problem, where dist2_0 is 9"),
        ({"n": 1}, "n = 1 contradicts the problem, where n is 2"),
        ({"E": 1}, "E = 1 contradicts the method, where E is 2"),
        ({"eta": "1e-7"}, "eta = 1/10000000 contradicts the method, where eta is 1/1000"),
        ({"K": 3}, "K is the index of the statement"),
    ],
)
def test_a_constant_that_contradicts_the_run_is_refused(constants: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        claimed(constants)


def test_a_repeated_or_weaker_constant_is_taken() -> None:
    for constants in ({"dist2_0": 9, "n": 2, "E": 2, "eta": "1/1000"}, {"mu": "7/5"}, {"sigma2": 2}):
        found = claimed(constants)
        assert (found.outcome, found.grade) == (Outcome.HOLDS, Grade.EXACT)
    stronger = claimed({"mu": "8/5"})
    assert "strong_quasi_convexity fails" in stronger.reason
    assert stronger.outcome is Outcome.OUT_OF_SCOPE


def test_a_certified_bound_may_be_weakened_and_then_supports() -> None:
    curve = run(build_method(SCGD), build_problem(PAIR), rounds=[2, 10])
    bound = Constant(Fraction(9), Known.CERTIFIED, "upper", "by hand")
    curve = replace(curve, constants={**curve.constants, "start/dist2": bound})
    theorem = statement(THEOREM)
    assert compare(theorem, curve, {"dist2_0": 10}).grade is Grade.SUPPORTED
    with pytest.raises(BadInput, match="where dist2_0 is at most 9"):
        compare(theorem, curve, {"dist2_0": 8})


def test_parameters_come_from_the_method() -> None:
    horizon = run_claim(Claim("scgd/choice_of_e/corrected", PAIR, SCGD, constants={"ell": 1, "T": 9}))
    assert horizon.verdict.outcome is Outcome.OUT_OF_SCOPE  # its step is not ell*log(T)/T
    falling = run_claim(Claim("scgd/theorem_3_4/corrected", PAIR, SCGD, at={"K": [10]}, constants={"eta0": "1/2"}))
    assert falling.verdict.outcome is Outcome.OUT_OF_SCOPE  # its run has no eta0/K


def test_the_start_of_an_example_is_the_one_that_runs() -> None:
    example = Claim("scgd/example_app_c_fedavg/corrected", {"kind": "scgd_appendix_c"}, {**SCGD, "kind": "fedavg"})
    example = replace(example, at={"K": [0, 1]}, arithmetic="rational")
    assert run_claim(replace(example, constants={"x_0": 1})).verdict.outcome is Outcome.HOLDS
    with pytest.raises(BadInput, match="x_0 = 2 contradicts the problem, where x_0 is 1"):
        run_claim(replace(example, constants={"x_0": 2}))


def test_largest_uses_the_given_constants() -> None:
    theorem, problem = statement(THEOREM), build_problem(PAIR)
    free, given = (
        Fraction(resolve_steps({**SCGD, "eta": "largest"}, theorem, problem, c)["eta"]) for c in ({}, {"mu": "1/2"})
    )
    assert free != given
    for step, inside in ((given, True), (given * Fraction(101, 100), False)):
        assert theorem.scope(mu="1/2", L=2, n=2, E=2, eta=step).in_scope is inside


def test_an_equality_with_a_rounded_constant_supports_or_is_undecided() -> None:
    example = statement("scgd/example_app_c_fedavg/corrected")
    curve = run(
        build_method({**SCGD, "kind": "fedavg"}),
        build_problem({"kind": "scgd_appendix_c"}),
        rounds=[0, 1, 2],
        arithmetic="rational",
    )
    assert (example.kind, compare(example, curve).grade) == (Kind.EQUALITY, Grade.EXACT)

    def rounded(share: str) -> Verdict:
        x_0 = Constant(1 + Fraction(share), Known.CERTIFIED, "upper", "by hand")
        return compare(example, replace(curve, constants={**curve.constants, "start/x": x_0}))

    assert rounded("1e-12").outcome is Outcome.UNDECIDED
    assert "certification of x_0" in rounded("1e-12").reason
    assert (rounded("1e-6").outcome, rounded("1e-6").grade) == (Outcome.VIOLATED, Grade.SUPPORTED)


def test_a_condition_missed_by_the_rounding_of_a_constant_is_undecided() -> None:
    theorem = statement(THEOREM)
    curve = run(build_method(SCGD), build_problem(PAIR), rounds=[2, 10])
    mu = sp.Symbol("mu", real=True)

    def demanding(least: Fraction) -> Verdict:
        wanted = replace(
            theorem, conditions=(Condition("steep", mu >= sp.Rational(least.numerator, least.denominator)),)
        )
        below = Constant(Fraction(3, 2), Known.CERTIFIED, "lower", "by hand")
        return compare(wanted, replace(curve, constants={**curve.constants, "objective/mu": below}))

    near = demanding(Fraction(3, 2) + Fraction(1, 10**12))
    assert (near.outcome, "certification of mu" in near.reason) == (Outcome.UNDECIDED, True)
    far = demanding(Fraction(2))
    assert (far.outcome, far.grade) == (Outcome.OUT_OF_SCOPE, Grade.SUPPORTED)


@pytest.mark.parametrize("magnitude", [Fraction(1, 1000), Fraction(3), Fraction(5000)])
@pytest.mark.parametrize(("side", "inwards"), [("lower", 1), ("upper", -1)])
def test_rounding_is_as_wide_as_a_certificate_says_at_every_magnitude(
    magnitude: Fraction, side: Literal["lower", "upper"], inwards: int
) -> None:
    bound = Constant(magnitude, Known.CERTIFIED, side, "by hand")
    width = magnitude * 2 / 10**12  # relative 2e-12, of `certified.certify`
    exact = {"n": Constant(Fraction(7), Known.EXACT, "exact", "by hand")}
    corners = list(within_rounding({"mu": bound, **exact}, ["mu", "n", "unknown"]))
    assert corners == [{"mu": magnitude, "n": 7}, {"mu": magnitude + inwards * width, "n": 7}]
    negative = Constant(-magnitude, Known.CERTIFIED, side, "by hand")
    assert list(within_rounding({"mu": negative}, ["mu"]))[1] == {"mu": -magnitude + inwards * width}

    theorem = statement(THEOREM)
    curve = run(build_method(SCGD), build_problem(PAIR), rounds=[2, 10])
    sigma2 = sp.Symbol("sigma2", real=True)
    for share, outcome in (("99/100", Outcome.UNDECIDED), ("101/100", Outcome.OUT_OF_SCOPE)):
        edge = magnitude + inwards * width * Fraction(share)
        at_edge = sp.Rational(edge.numerator, edge.denominator)
        relation = sigma2 >= at_edge if side == "lower" else sigma2 <= at_edge
        wanted = replace(theorem, conditions=(Condition("edge", relation),))
        assert (
            compare(wanted, replace(curve, constants={**curve.constants, "clients/sigma2": bound})).outcome is outcome
        )


def test_a_name_alone_is_no_assumption() -> None:
    bounded = Assumption("convexity", "every point is near", sp.Le(sp.Symbol("dist2", real=True), 1))
    wordy = Assumption("smooth_clients", "something else", None)
    assert [is_library(a) for a in (convexity, smooth_clients, instance("huber"), bounded, wordy)] == [1, 1, 1, 0, 0]
    assert not covers(wordy, {}, {})
    assert check_assumption(bounded, build_problem(PAIR)).outcome is Outcome.VIOLATED
    assert check_assumption(wordy, build_problem(PAIR)).outcome is Outcome.UNDECIDED
    claim = Claim(THEOREM, PAIR, SCGD, at={"K": [1]})
    for assumption, outcome in ((bounded, Outcome.OUT_OF_SCOPE), (wordy, Outcome.HOLDS)):
        found = run_claim(replace(claim, statement=replace(statement(THEOREM), assumptions=(assumption,)))).verdict
        assert found.outcome is outcome
        assert found.details["assumptions"] == {assumption.name: "broken" if assumption is bounded else "granted"}
    assert found.grade is Grade.SUPPORTED


def test_a_rounded_step_supports_only() -> None:
    method = {"kind": "scgd", "E": 1, "ell": 1, "T": 10_000}
    assert not build_method(method).schedule.is_exact()
    found = run_claim(Claim("scgd/choice_of_e/corrected", PAIR, method)).verdict
    assert (found.outcome, found.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    assert "rounded down" in found.details["rounded_steps"]


def test_the_start_alone_decides_nothing() -> None:
    found = claimed({}, at={"K": [0]})
    assert (found.outcome, "compare at later values of K" in found.reason) == (Outcome.UNDECIDED, True)
    one = claimed({}, at={"K": [1]})
    assert "at the one compared point; closest at K = 1, where bound/metric is 1." in one.reason


def test_a_replay_says_what_the_file_records_otherwise(tmp_path: Path) -> None:
    shipped = load_witness(SHIPPED)
    assert stands(replay(shipped))
    numbers = shipped.verdict.witness
    edited = {**numbers, "metric": [5, 5], "constants": {**numbers["constants"], "mu": "1/2"}}
    found = replay(replace(shipped, verdict=replace(shipped.verdict, witness=edited)))
    assert [d.split(" is ")[0] for d in found.details["differs"]] == ["constants mu", "metric"]
    assert "metric is [5, 5], now [1.592" in found.reason
    assert not stands(replace(found, grade=Grade.SUPPORTED))
    with pytest.raises(BadInput, match="is a folder"):
        save_witness(shipped, tmp_path)
    assert not any(tmp_path.iterdir())


TEXT = """[[claim]]
statement = "scgd/theorem_3_3"
problem = { kind = "scgd_appendix_c" }
method = { kind = "scgd", E = 2, eta = "1e-3" }
"""


@pytest.mark.parametrize(
    ("more", "line", "said"),
    [
        ("constants = { K = 3 }", 5, "K is the index"),
        ("constants = { mu = 3, L = 1 }", 5, "needs mu <= L"),
        ("constants = { E = 3 }", 5, "contradicts the method"),
        ("at = { K = [1e15] }", 5, "between 0 and 10^15"),
    ],
)
def test_contradictions_are_found_before_anything_runs(more: str, line: int, said: str) -> None:
    with pytest.raises(SpecError) as caught:
        claims_from_text(TEXT + more)
    assert [(at, said in text) for at, text in caught.value.problems] == [(line, True)]


def test_unnamed_claims_are_told_apart() -> None:
    labels = [c.label() for c in claims_from_text(TEXT + TEXT)]
    assert labels == [f"claim {k}: scgd/theorem_3_3 on scgd_appendix_c scgd" for k in (1, 2)]
    with pytest.raises(SpecError, match="claim 2 has no expect"):
        claims_from_text(TEXT + TEXT, need_expect=True)
    with pytest.raises(SpecError, match=r"the file has no \[\[claim\]\]"):
        claims_from_text("")
