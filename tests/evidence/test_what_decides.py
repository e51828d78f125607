"""What a verdict may rest on: the claimed reading, exact numbers, answers that were looked at, and no rounding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
from compare_tools import HALVING, curve
from loaded_papers import TEXT, unloaded_afterwards

from boundcheck.core.numbers import format_apart
from boundcheck.engines.curve import Arithmetic
from boundcheck.engines.run import run
from boundcheck.errors import BadInput
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.evidence.claim_result import ClaimResult
from boundcheck.evidence.compare import compare
from boundcheck.evidence.open_step_sizes import resolve_steps
from boundcheck.evidence.spec import claims_from_text
from boundcheck.judge.against_bound import check_against_bound
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.loading import load_paper
from boundcheck.theory.scope import decide_scope
from boundcheck.theory.statement import Condition, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import common
from boundcheck.verdict import Grade, Outcome

L, D, eta, k = (getattr(common, name).expr for name in ("L", "dist2_0", "eta", "k"))
LINE = {"kind": "quadratics", "start": [1], "clients": [{"A": [[1]]}]}
GD = {"kind": "gradient_descent", "eta": "1/2"}
SHARP = "classics/gradient_descent_strongly_convex/sharp"


def test_another_reading_without_a_value_is_a_remark(tmp_path: Path) -> None:
    """At eta L = 3/2, (1 - eta L)^(2k) dist2_0 is the run itself; sqrt(1 - eta L) is no real number."""
    text = TEXT.replace('("gap", VALUE', '("dist2", LENGTH2').replace("import VALUE", "import LENGTH2")
    text = text.replace('    conditions=(Condition("step size", eta * L <= 1),),\n', "")
    text = text.replace("(FORMULA) / 2", "(1 - eta * L) ** (2 * k) * dist2_0")
    text = text.replace("FORMULA", "sqrt(1 - eta * L) ** k * dist2_0")
    (tmp_path / "two.py").write_text(f"from sympy import sqrt\n{text}")
    with unloaded_afterwards():
        load_paper(tmp_path / "two.py")
        claim = Claim("two/two/half", LINE, {**GD, "eta": "3/2"}, at={"k": [1, 5]}, arithmetic="rational")
        found = run_claim(claim)
    assert (found.verdict.outcome, found.verdict.grade) == (Outcome.HOLDS, Grade.EXACT)
    (other,) = found.readings
    assert ("root of a negative number" in other.remark, other.in_scope) == (True, None)
    assert all(math.isnan(v) for v in other.bound)
    assert ClaimResult.from_dict(found.to_dict()).readings[0].remark == other.remark


STEP = Statement(
    source=Source("none", "1", "these tests"),
    reading="as_printed",
    title="an irrational largest step",
    symbols=(common.L, common.dist2_0, common.eta, common.k),
    metric=Metric("dist2", LENGTH2, index="k", rounds=k),
    bound=D,
    conditions=(Condition("step", eta * L * sp.sqrt(2) <= 1),),
    name="step",
)


@pytest.mark.parametrize(
    ("factor", "inside"),
    [("1.0000000000000000001", False), ("1.0000000000009", False), ("1", True), ("0.99999999999999999", True)],
)
def test_a_factor_is_exact(factor: str, inside: bool) -> None:
    step = Fraction(resolve_steps({**GD, "eta": f"{factor}*largest"}, STEP, build_problem(LINE))["eta"])
    assert (2 * step**2 <= 1) is inside  # eta <= 1/sqrt(2)
    assert abs(2 * step**2 - 1) < Fraction(1, 10**11)
    assert decide_scope(STEP, {"L": 1, "eta": step}).in_scope is inside


def test_a_factor_of_a_rational_step_is_not_rounded_into_scope() -> None:
    """The allowed steps are (0, 1] and [2, 3]: 0.33333333333334 * 3 is above 1 by 2e-14, and is lost by 13 digits."""
    gap = Condition("gap", sp.Ge((eta * L - 1) * (eta * L - 2), 0))
    two = replace(STEP, conditions=(Condition("step", eta * L <= 3), gap))
    step = Fraction(resolve_steps({**GD, "eta": "0.33333333333334*largest"}, two, build_problem(LINE))["eta"])
    assert step == 3 * Fraction("0.33333333333334")


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
    problem = build_problem(LINE)
    method = replace(build_method(GD), schedule=Late(60))
    assert run(method, problem, rounds=[60]).values["dist2"][0] == pytest.approx(0.25**60)
    with pytest.raises(BadInput, match=r"step\(1\) is 1/2, step\(61\) 100"):
        run(method, problem, rounds=[61])
    long = run(replace(method, schedule=Late(10**6)), problem, rounds=[5000])
    assert "schedule Late of a plug-in answers in all 5000 rounds" in long.info["assumed"][0]
    assert "assumed" not in run(build_method(GD), problem, rounds=[5000]).info


def test_rounding_of_doubles_decides_nothing() -> None:
    """(1/2)^K is 4e-55 at K = 181, and doubles end at the square of their last digit."""
    tail = compare(HALVING, curve([0.2, 1.2e-32], Arithmetic.FLOAT64, rounds=[2, 362]))
    assert tail.outcome is Outcome.HOLDS
    assert "1 more, where both are below" in tail.reason
    alone = compare(HALVING, curve([1.2e-32], Arithmetic.FLOAT64, rounds=[362]))
    assert (alone.outcome, "rounding in doubles decides nothing" in alone.reason) == (Outcome.UNDECIDED, True)
    seen = compare(HALVING, curve([1.0, 1e-20], Arithmetic.FLOAT64, rounds=[0, 362]))
    assert (seen.outcome, seen.witness["round"]) == (Outcome.VIOLATED, 362)
    ball = compare(HALVING, curve([1.0, 1.2e-32], rounds=[0, 362]))
    assert (ball.outcome, ball.grade) == (Outcome.VIOLATED, Grade.EXACT)


def test_a_gap_rounded_below_zero_has_no_tightness() -> None:
    claimed = replace(HALVING, metric=replace(HALVING.metric, quantity="gap"))
    made = curve([1.0, 0.25, -1.1e-16], Arithmetic.FLOAT64)
    made = replace(made, values={"gap": made.values["dist2"]}, start={"gap": Fraction(1)})
    found = compare(claimed, made)
    assert found.outcome is Outcome.HOLDS
    assert found.tightness is not None
    assert found.tightness.ratio_min == 2  # (1/2) / (1/4)


def test_gradient_descent_in_doubles_far_from_the_origin(tmp_path: Path) -> None:
    """Doubles near 10^6 are 10^-10 apart, so that a distance to the minimiser of 10^-16 is rounding."""
    problem = {"kind": "quadratics", "start": [1000001], "clients": [{"A": [[1]], "b": [1000000]}]}
    rows = [(r, 0.25**r * (0.9 if r else 1) if r < 30 else 1.2e-21) for r in range(101)]
    (tmp_path / "gd.csv").write_text("round,dist2\n" + "".join(f"{r},{v!r}\n" for r, v in rows))
    source = {"file": str(tmp_path / "gd.csv"), "deterministic": True}
    for at, outcome in (([1, 5, 100], Outcome.HOLDS), ([100], Outcome.UNDECIDED)):
        found = run_claim(Claim(SHARP, problem, GD, at={"k": at}, curve=source))
        assert found.verdict.outcome is outcome, found.verdict.reason


def test_conditions_on_the_index_are_decided_at_the_compared_points() -> None:
    claimed = replace(STEP, conditions=(*STEP.conditions, Condition("rounds", sp.Ge(k, 3 * L))))
    found = run_claim(Claim(claimed, LINE, GD, at={"k": [1, 3, 7]}))
    row = found.verdict.details["scope"]["conditions"][-1]
    assert (row["name"], row["holds"], row["exact"]) == ("rounds", True, "0")
    assert row["note"] == "Holds at k = 3, 7; fails at k = 1."
    assert found.verdict.points == 2


def test_an_index_outside_its_range_is_bad_input() -> None:
    later = replace(STEP, metric=replace(STEP.metric, rounds=k - 2))
    with pytest.raises(BadInput, match=r"k = 1 is outside the range of the index: its number of rounds, k - 2, is -1"):
        later.evaluate(L=1, eta="1/2", dist2_0=1, k=1)
    assert later.evaluate(L=1, eta="1/2", dist2_0=1, k=2).value == 1


def test_sentences_agree_with_their_verdicts() -> None:
    assert format_apart(1 + Fraction(2, 10**75), Fraction(1)) == ["1 + 2e-75", "1"]
    equation = replace(HALVING, conditions=(Condition("size", sp.Eq(common.mu.expr, sp.Rational(1, 3))),))
    assert "is missed by 0.167" in compare(equation, curve([1, 0.1])).reason
    unequal = replace(HALVING, conditions=(Condition("size", sp.Ne(common.mu.expr, sp.Rational(1, 2))),))
    assert "is missed, since both sides are equal" in compare(unequal, curve([1, 0.1])).reason
    tiny = curve([1, Fraction(1, 10**500)], Arithmetic.RATIONAL, rounds=[0, 4000])  # 2^-2000 is about 8.7e-603
    assert "metric is 1e-500, above the bound 8.70981e-603" in compare(HALVING, tiny).reason


def test_touching_balls_are_not_equal() -> None:
    equal = replace(HALVING, kind=Kind.EQUALITY, trivial=None)
    above = math.nextafter(0.5, 1)
    touching = compare(equal, curve([1, 0.5], low=[1, 0.5], high=[1, above]))
    assert touching.outcome is Outcome.UNDECIDED


def test_an_impossible_step_is_refused_before_an_implementation_runs() -> None:
    def never(task: Any, seed: int) -> Sequence[np.ndarray]:
        raise AssertionError("it ran")

    claim = Claim(SHARP, LINE, {**GD, "eta": "5"}, at={"k": [1, 5]}, expect=Outcome.HOLDS)
    found = check_against_bound(claim, never, seeds=2000)
    assert found.verdict.outcome is Outcome.OUT_OF_SCOPE
    assert "is missed by" in found.verdict.reason
    sampled = run_claim(replace(claim, engine="sampled", seeds=10**9, expect=None))
    assert (sampled.verdict.outcome, sampled.index) == (Outcome.OUT_OF_SCOPE, ())


def test_a_claim_without_a_constant_stops_no_other() -> None:
    head = """[[claim]]
    statement = "scgd/theorem_3_3/corrected"
    problem = { kind = %s }
    method = { kind = "scgd", E = 1, eta = "1/20" }
    at = { K = [1, 5] }
    """
    lacking = head % '"huber", L = 1, R = 2, k = 10'
    with pytest.raises(BadInput, match="no value for mu"):
        claims_from_text(lacking)
    first, second = claims_from_text(lacking + head % '"quadratics", start = [1], clients = [{ A = 1 }]')
    assert "There is no mu" in run_claim(first).verdict.reason  # the Huber function is not strongly convex
    assert run_claim(second).verdict.outcome is Outcome.HOLDS
