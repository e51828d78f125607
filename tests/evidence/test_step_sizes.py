"""Step sizes that are left to the statement: the largest that it allows, those that it prescribes, and their scope."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.evidence.open_step_sizes import resolve_steps
from boundcheck.problems.build import build as build_problem
from boundcheck.theory.choices import ROUNDED, check_choices, choice_relations, prescribed
from boundcheck.theory.dimension import LENGTH2, ONE
from boundcheck.theory.discovery import statement
from boundcheck.theory.scope import decide_scope, holds
from boundcheck.theory.statement import Algorithm, Condition, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol, common
from boundcheck.verdict import Grade, Outcome

L, D, eta, K = (getattr(common, name).expr for name in ("L", "dist2_0", "eta", "K"))
LINE = {"kind": "quadratics", "clients": [{"A": 2, "b": 0}], "start": [1]}
DIABETES = {"kind": "least_squares", "data": "diabetes", "clients": 20, "split": "sorted"}
PAIR = {"kind": "quadratics", "clients": [{"A": [[1]], "b": [1]}, {"A": [[2]], "b": [-1]}], "start": [3]}
GD, SCGD = {"kind": "gradient_descent"}, {"kind": "scgd", "E": 2, "eta": "largest"}

TUNED = Statement(
    source=Source("none", "1", "these tests"),
    reading="as_printed",
    title="a tuned step",
    symbols=(common.L, common.dist2_0, common.eta, common.K),
    metric=Metric("dist2", LENGTH2, index="K", rounds=K),
    bound=D,
    algorithm=Algorithm("gradient_descent", ("eta",)),
    choices=(("eta", 1 / (sp.sqrt(2) * L)),),
    name="tuned",
)
RATIONAL = replace(TUNED, choices=(("eta", 1 / (3 * L)),))
LIMITED = replace(TUNED, choices=(), conditions=(Condition("step", eta * L * sp.sqrt(2) <= 1),))
ALLOWED = replace(TUNED, choices=(), conditions=(Condition("step", eta * L <= 1),))


def of(result: Any) -> tuple[Outcome, Grade | None]:
    return result.verdict.outcome, result.verdict.grade


def outcome(step: str, claimed: Statement = TUNED, at: Any = (0, 1, 2)) -> Any:
    return run_claim(Claim(claimed, LINE, {**GD, "eta": step}, at={"K": list(at)}))


def resolved(step: str, claimed: Statement) -> Fraction:
    return Fraction(resolve_steps({**GD, "eta": step}, claimed, build_problem(LINE))["eta"])


# --- the largest ----------------------------------------------------------------------------------------------------


def test_the_largest_step_is_in_scope_and_a_hair_more_is_not() -> None:
    claimed, problem = statement("scgd/theorem_3_3"), build_problem(DIABETES)
    step = Fraction(resolve_steps(SCGD, claimed, problem)["eta"])
    values = {k: c.value for k, c in problem.constants().items() if k in ("mu", "L", "n")}
    assert claimed.scope(**values, E=2, eta=step).in_scope is True
    assert claimed.scope(**values, E=2, eta=step * (1 + Fraction(1, 10**9))).in_scope is False
    part = Fraction(resolve_steps({**SCGD, "eta": "9/10 * largest"}, claimed, problem)["eta"])
    assert 0 <= Fraction(9, 10) * step - part < step / 10**12
    assert resolve_steps({**SCGD, "eta": "1/7"}, claimed, problem)["eta"] == "1/7"


def test_largest_uses_the_given_constants() -> None:
    theorem, problem = statement("scgd/theorem_3_3/corrected"), build_problem(PAIR)
    free, given = (Fraction(resolve_steps(SCGD, theorem, problem, c)["eta"]) for c in ({}, {"mu": "1/2"}))
    assert free != given
    for step, inside in ((given, True), (given * Fraction(101, 100), False)):
        assert theorem.scope(mu="1/2", L=2, n=2, E=2, eta=step).in_scope is inside


@pytest.mark.parametrize(
    ("factor", "inside"),
    [("1.0000000000000000001", False), ("1.0000000000009", False), ("1", True), ("0.99999999999999999", True)],
)
def test_a_factor_is_exact(factor: str, inside: bool) -> None:
    step = 2 * resolved(f"{factor}*largest", LIMITED)  # L = 2
    assert (2 * step**2 <= 1) is inside  # eta L <= 1/sqrt(2)
    assert abs(2 * step**2 - 1) < Fraction(1, 10**11)
    assert decide_scope(LIMITED, {"L": 2, "eta": step / 2}).in_scope is inside


def test_a_factor_of_a_rational_step_is_not_rounded_into_scope() -> None:
    """The allowed eta L are (0, 1] and [2, 3]: 0.33333333333334 * 3 is above 1 by 2e-14, and is lost by 13 digits."""
    gap = Condition("gap", sp.Ge((eta * L - 1) * (eta * L - 2), 0))
    two = replace(TUNED, choices=(), conditions=(Condition("step", eta * L <= 3), gap))
    assert resolved("0.33333333333334*largest", two) == 3 * Fraction("0.33333333333334") / 2


def test_the_largest_of_one_of_several_parameters_with_roots_in_the_condition() -> None:
    """et = E eta_g eta <= 1/(4 L beta), beta = 1 + (1 + sqrt(P2)) sqrt(B2) + M B2 = 1 + 3 * 3 + 9/2."""
    P2, B2, M, E, g = sp.symbols("P2 B2 M E eta_g", real=True)
    beta = 1 + (1 + sp.sqrt(P2)) * sp.sqrt(B2) + M * B2
    plain = [Symbol(s.name, "a number", ONE, low=Fraction(0)) for s in (P2, B2, M)]
    claimed = replace(
        TUNED,
        symbols=(*TUNED.symbols, *plain, common.E, Symbol("eta_g", "server step", ONE, low=Fraction(0), low_open=True)),
        conditions=(Condition("step", sp.Le(E * g * eta, 1 / (4 * L * beta))), Condition("server", sp.Ge(g, 1))),
        choices=(),
    )
    values = {"L": 2, "P2": 4, "B2": 9, "M": "1/2"}
    assert claimed.largest("eta", **values, E=3, eta_g=2) == Fraction(2, 29) / (4 * 2 * 3 * 2)
    assert claimed.largest("E", **values, eta="1/1000", eta_g=2) == 4  # 1/(116 * 0.002) = 4.31
    assert claimed.largest("eta_g", **values, E=1, eta="1/1000") == Fraction(2000, 232)
    irrational = claimed.largest("eta", **{**values, "B2": 8}, E=3, eta_g=2)
    assert float(irrational) == pytest.approx(1 / (8 * 6 * (1 + 3 * 8**0.5 + 4)), rel=1e-12)
    assert claimed.scope(**{**values, "B2": 8}, E=3, eta_g=2, eta=irrational).in_scope is True


# --- prescribed -----------------------------------------------------------------------------------------------------


def test_a_tuned_step_is_rounded_down_by_less_than_1e_13() -> None:
    found = resolved("tuned", TUNED)
    assert (1 - Fraction(1, 10**13)) ** 2 < 8 * found**2 < 1  # 1/(2 sqrt(2)): (2 sqrt(2) eta)^2 = 8 eta^2
    assert resolved("tuned", RATIONAL) == Fraction(1, 6)
    with pytest.raises(BadInput, match="prescribes no eta"):
        resolved("tuned", ALLOWED)


def test_a_prescribed_step_and_no_other_is_in_scope() -> None:
    tuned = outcome("tuned")
    assert of(tuned) == (Outcome.HOLDS, Grade.SUPPORTED)
    assert "rounded down" in tuned.verdict.details["rounded_choices"]["eta"]
    other = outcome("1/3")
    assert of(other) == (Outcome.OUT_OF_SCOPE, Grade.EXACT)
    assert "the statement prescribes eta = 0.3535533906, and eta is 1/3" in other.verdict.reason
    exact = outcome("1/6", RATIONAL)
    assert of(exact) == (Outcome.HOLDS, Grade.EXACT)
    assert "rounded_choices" not in exact.verdict.details
    for share, held in ((1 - Fraction(1, 10**30), False), (Fraction(1), True), (1 + Fraction(1, 10**30), False)):
        found = outcome(str(Fraction(1, 6) * share), RATIONAL)
        assert of(found) == (Outcome.HOLDS if held else Outcome.OUT_OF_SCOPE, Grade.EXACT)


def test_a_step_that_the_number_of_rounds_prescribes() -> None:
    claimed = replace(TUNED, choices=(("eta", 1 / (L * (K + 1))),))
    found = outcome("tuned", claimed, [3])
    assert (found.method["eta"], found.verdict.outcome) == ("1/8", Outcome.HOLDS)
    with pytest.raises(BadInput, match="the tuned eta needs a value for K"):
        outcome("tuned", claimed, [3, 4])
    wrong = outcome("1/8", claimed, [3, 4])
    assert wrong.verdict.outcome is Outcome.OUT_OF_SCOPE
    assert "eta = 1/10," in wrong.verdict.reason
    assert "at K = 4" in wrong.verdict.reason


def test_the_scope_shows_choices() -> None:
    at = {"L": 2, "eta": "1/4"}
    missed = TUNED.scope(**at)
    row = missed.conditions[-1]
    assert (row.name, row.holds, missed.in_scope) == ("choice of eta", False, False)
    assert row.slack[0] == pytest.approx(0.25 - 1 / 8**0.5)
    assert row.relative == pytest.approx(0.5**0.5 - 1)
    assert row.note == "The statement prescribes eta = 0.3535533906, and eta is 1/4."
    near = prescribed(TUNED, "eta", {"L": Fraction(2)})
    met = TUNED.scope(L=2, eta=near)
    assert met.in_scope is True
    assert "rounded down" in met.conditions[-1].note
    assert TUNED.scope(L=2).conditions == ()
    assert [c.exact for c in check_choices(TUNED, {"L": Fraction(2), "eta": near})] == [False]
    assert TUNED.evaluate(**at, dist2_0=1, K=1).in_scope is False
    mask = TUNED.evaluate(L=2, dist2_0=1, K=1, eta=["1/4", near, near * (1 + Fraction(1, 10**11))]).in_scope
    assert list(mask) == [False, True, False]
    assert r"\eta = \frac{\sqrt{2}}{2 L}" in TUNED.latex()


def test_a_value_is_rounded_down_by_at_most_a_relative_1e_12() -> None:
    claimed = replace(TUNED, choices=(("eta", 1 / (4 * sp.sqrt(L))),))  # L = 4, so that the value is rational
    exact, tiny = Fraction(1, 8), Fraction(1, 10**30)
    edge = exact * (1 - Fraction(1, 10**12))
    assert Fraction(1, 10**12) == ROUNDED
    for step, met in (
        (exact, True), (exact + tiny, False), (exact - tiny, True), (edge, True), (edge - tiny, False),
        (exact / 2, False),
    ):  # fmt: skip
        values = {"L": Fraction(4), "eta": step}
        (choice,) = check_choices(claimed, values)
        assert (choice.met, choice.exact, choice.near) == (met, step == exact, exact)
        assert claimed.scope(**values).in_scope is met
        assert all(holds(relation, values) for relation in choice_relations(claimed, ["L", "eta"])) is met


# --- conditions on the index ----------------------------------------------------------------------------------------


def test_a_statement_about_many_rounds_says_nothing_of_few() -> None:
    """x_K = (3/4)^K; the bound is broken at K = 0 and 1, but only K >= 1/(eta L) = 4 is spoken of."""
    claimed = replace(ALLOWED, conditions=(*ALLOWED.conditions, Condition("many", K * eta * L >= 1)), bound=D / 4)
    found = outcome("1/8", claimed, [0, 1, 3, 4, 6])
    assert of(found) == (Outcome.HOLDS, Grade.EXACT)
    assert (found.index, found.verdict.points) == ((4, 6), 2)
    row = found.verdict.details["scope"]["conditions"][-1]
    assert (row["name"], row["holds"], row["exact"]) == ("many", True, "0")
    assert row["note"] == "Holds at K = 4, 6; fails at K = 0, 1, 3."
    early = outcome("1/8", claimed, [0, 1, 3])
    assert of(early) == (Outcome.OUT_OF_SCOPE, Grade.EXACT)
    assert "no compared K meets condition 'many'" in early.verdict.reason
    # the largest step is limited by the other condition; at one value of the index it must allow it
    assert outcome("largest", claimed, [0, 1, 3, 4, 6]).method["eta"] == "1/2"
    with pytest.raises(BadInput, match="needs a value for K"):
        claimed.scope(L=2, eta="1/8")
