"""Prescribed step sizes, the statement's own names for constants, constants of the start, and decided hypotheses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp

from boundcheck.certified.constant import Constant, Known
from boundcheck.errors import BadInput
from boundcheck.evidence import resolve as resolve_module
from boundcheck.evidence.assumptions import check_assumption
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.evidence.open_step_sizes import resolve_steps
from boundcheck.problems.build import build as build_problem
from boundcheck.problems.quadratics import Quadratics
from boundcheck.setting import Setting
from boundcheck.theory.assumptions import (
    gradient_dissimilarity,
    hessian_similarity,
    smooth_samples,
    strongly_convex_samples,
)
from boundcheck.theory.choices import ROUNDED, check_choices, choice_relations, prescribed
from boundcheck.theory.dimension import GRADIENT2, LENGTH2, ONE
from boundcheck.theory.scope import holds
from boundcheck.theory.statement import Algorithm, Condition, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol, common
from boundcheck.verdict import Grade, Outcome

L, D, eta, K = (getattr(common, name).expr for name in ("L", "dist2_0", "eta", "K"))
LINE = {"kind": "quadratics", "clients": [{"A": 2, "b": 0}], "start": [1]}
GD = {"kind": "gradient_descent"}

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


def of(result: Any) -> tuple[Outcome, Grade | None]:
    return result.verdict.outcome, result.verdict.grade


def test_a_tuned_step_is_rounded_down_by_less_than_1e_13() -> None:
    problem = build_problem(LINE)
    found = Fraction(resolve_steps({**GD, "eta": "tuned"}, TUNED, problem)["eta"])
    # 1/(2 sqrt(2)): (2 sqrt(2) eta)^2 = 8 eta^2
    assert (1 - Fraction(1, 10**13)) ** 2 < 8 * found**2 < 1
    rational = replace(TUNED, choices=(("eta", 1 / (3 * L)),))
    assert resolve_steps({**GD, "eta": "tuned"}, rational, problem)["eta"] == "1/6"
    with pytest.raises(BadInput, match="prescribes no eta"):
        resolve_steps(
            {**GD, "eta": "tuned"}, replace(TUNED, choices=(), conditions=(Condition("c", eta * L < 1),)), problem
        )


def test_a_prescribed_step_and_no_other_is_in_scope() -> None:
    def outcome(step: str, claimed: Statement = TUNED) -> Any:
        return run_claim(replace(Claim("tuned", LINE, {**GD, "eta": step}, at={"K": [0, 1, 2]}), statement=claimed))

    tuned = outcome("tuned")
    assert of(tuned) == (Outcome.HOLDS, Grade.SUPPORTED)
    assert "rounded down" in tuned.verdict.details["rounded_choices"]["eta"]
    other = outcome("1/3")
    assert of(other) == (Outcome.OUT_OF_SCOPE, Grade.EXACT)
    assert "the statement prescribes eta = 0.3535533906, and eta is 1/3" in other.verdict.reason
    rational = replace(TUNED, choices=(("eta", 1 / (3 * L)),))
    exact = outcome("1/6", rational)
    assert of(exact) == (Outcome.HOLDS, Grade.EXACT)
    assert "rounded_choices" not in exact.verdict.details
    for share, held in ((1 - Fraction(1, 10**30), False), (Fraction(1), True), (1 + Fraction(1, 10**30), False)):
        found = outcome(str(Fraction(1, 6) * share), rational)
        assert of(found) == (Outcome.HOLDS if held else Outcome.OUT_OF_SCOPE, Grade.EXACT)


def test_a_step_that_the_number_of_rounds_prescribes() -> None:
    claimed = replace(TUNED, choices=(("eta", 1 / (L * (K + 1))),))
    claim = Claim("tuned", LINE, {**GD, "eta": "tuned"}, at={"K": [3]})
    found = run_claim(replace(claim, statement=claimed))
    assert (found.method["eta"], found.verdict.outcome) == ("1/8", Outcome.HOLDS)
    with pytest.raises(BadInput, match="the tuned eta needs a value for K"):
        run_claim(replace(claim, at={"K": [3, 4]}, statement=claimed))
    wrong = run_claim(replace(claim, method={**GD, "eta": "1/8"}, at={"K": [3, 4]}, statement=claimed))
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
    exact = Fraction(1, 8)
    tiny = Fraction(1, 10**30)
    edge = exact * (1 - ROUNDED)
    for eta, met in (
        (exact, True),
        (exact + tiny, False),
        (exact - tiny, True),
        (edge, True),
        (edge - tiny, False),
        (exact / 2, False),
    ):
        (choice,) = check_choices(claimed, {"L": Fraction(4), "eta": eta})
        assert (choice.met, choice.exact, choice.near) == (met, eta == exact, exact)
        assert claimed.scope(L=4, eta=eta).in_scope is met
        lower, higher = choice_relations(claimed, ["L", "eta"])
        assert (holds(lower, {"L": Fraction(4), "eta": eta}) and holds(higher, {"L": Fraction(4), "eta": eta})) is met
    assert Fraction(1, 10**12) == ROUNDED


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
    edge = 1 / (8 * 6 * (1 + 3 * 8**0.5 + 4))
    assert float(irrational) == pytest.approx(edge, rel=1e-12)
    assert claimed.scope(**{**values, "B2": 8}, E=3, eta_g=2, eta=irrational).in_scope is True


# --- names of constants -----------------------------------------------------------------------------------

NAMED = replace(
    TUNED,
    symbols=(common.L.but(key="clients/sigma2", dimension=ONE), common.dist2_0, common.eta, common.K),
    choices=(),
    conditions=(Condition("step", sp.Le(eta * L, 1)),),
)
PAIR = {"kind": "quadratics", "clients": [{"A": 2, "b": 3}, {"A": 2, "b": -3}], "start": [1]}


def test_a_statement_may_call_a_constant_by_another_name() -> None:
    """Here L stands for what problems call sigma2, which is 9, and not for their L, which is 2."""
    claim = Claim("named", PAIR, {**GD, "eta": "largest"}, at={"K": [0, 1]})
    found = run_claim(replace(claim, statement=NAMED))
    assert found.method["eta"] == "1/9"
    assert found.verdict.details["constants"]["L"]["value"] == "9"
    weaker = run_claim(replace(claim, constants={"L": 9}, statement=NAMED))
    assert weaker.method["eta"] == "1/9"
    with pytest.raises(BadInput, match="L = 8 contradicts the problem, where L is 9"):
        run_claim(replace(claim, constants={"L": 8}, statement=NAMED))


def test_constants_that_only_the_start_gives() -> None:
    """grad F = 2x = 2 at 1; the clients' gradients there are -1 and 5."""
    keys = {"g0": "start/grad2", "client_grad2_0": "start/client_grad2"}
    ours = [Symbol(n, "at the start", GRADIENT2, low=Fraction(0), key=key) for n, key in keys.items()]
    claimed = replace(
        TUNED,
        symbols=(*ours, common.eta, common.K),
        bound=ours[0].expr + ours[1].expr,
        choices=(),
        conditions=(Condition("step", eta * ours[0].expr < 100),),
    )
    found = run_claim(replace(Claim("start", PAIR, {**GD, "eta": "1/10"}, at={"K": [0, 1]}), statement=claimed))
    assert {n: found.verdict.details["constants"][n]["value"] for n in ("g0", "client_grad2_0")} == {
        "g0": "4",
        "client_grad2_0": "13",
    }


def test_the_objective_of_a_surrogate_is_asked_of_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    claimed = replace(
        TUNED, choices=(), conditions=(Condition("step", eta * L <= 1),), metric=replace(TUNED.metric, surrogate=True)
    )
    other = build_problem({**PAIR, "start": [5]})
    monkeypatch.setattr(Setting, "following", lambda self: Setting(self.method, other))
    found = run_claim(replace(Claim("s", LINE, {**GD, "eta": "1/10"}, at={"K": [0, 1]}), statement=claimed))
    assert found.verdict.details["constants"]["dist2_0"]["value"] == "25"


# --- decided hypotheses -----------------------------------------------------------------------------------


class Deciding(Quadratics):
    """Clients x^2 (1 -+ 1/2) by hand: sum of w_i |f_i'|^2 = (1 + 1/4) (2x)^2/... is B2 = 5/4 exactly, with G2 = 0."""

    def decides(self, assumption: str, constants: Mapping[str, Fraction]) -> bool | None:
        if assumption == "gradient_dissimilarity":
            return constants["B2"] >= Fraction(5, 4) and constants["G2"] >= 0
        return None


UNEVEN = {"kind": "quadratics", "clients": [{"A": 3}, {"A": 1}], "start": [1]}
SAME = build_problem(UNEVEN)
assert isinstance(SAME, Quadratics)
DECIDING = Deciding(SAME.name, SAME.spec, SAME.components, SAME.reduction, SAME.weights, SAME.start)


def test_a_problem_decides_for_given_constants() -> None:
    for B2, outcome in (("5/4", Outcome.HOLDS), ("6/5", Outcome.VIOLATED)):
        found = check_assumption(gradient_dissimilarity, DECIDING, {"G2": 0, "B2": B2})
        assert (found.outcome, found.grade) == (outcome, Grade.EXACT)
        assert f"B2 = {B2}" in found.reason
        # the same by trying points, where the problem does not decide
        unknown = replace(gradient_dissimilarity, name="mine")
        tried = check_assumption(unknown, SAME, {"G2": 0, "B2": B2})
        assert tried.outcome is outcome
        assert tried.grade is (Grade.EXACT if outcome is Outcome.VIOLATED else Grade.SUPPORTED)


def test_a_claim_rests_on_what_the_problem_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    G2, B2 = (
        Symbol(n, "dissimilarity", d, low=Fraction(0), key=f"clients/{n}") for n, d in (("G2", GRADIENT2), ("B2", ONE))
    )
    claimed = replace(
        TUNED,
        symbols=(common.dist2_0, common.eta, common.K, G2, B2),
        bound=D * (1 + B2.expr) + G2.expr * eta**2,
        choices=(),
        assumptions=(gradient_dissimilarity,),
    )
    monkeypatch.setattr(resolve_module, "build_problem", lambda spec: DECIDING)
    claim = Claim("d", UNEVEN, {**GD, "eta": "1/10"}, at={"K": [0, 1]}, constants={"G2": 0, "B2": "5/4"})
    found = run_claim(replace(claim, statement=claimed))
    assert of(found) == (Outcome.HOLDS, Grade.EXACT)
    assert found.verdict.details["assumptions"] == {"gradient_dissimilarity": "decided"}
    broken = run_claim(replace(claim, constants={"G2": 0, "B2": 1}, statement=claimed))
    assert of(broken) == (Outcome.OUT_OF_SCOPE, Grade.EXACT)


SAMPLES = build_problem(
    {"kind": "quadratics", "clients": [{"components": [{"A": 4}, {"A": 2, "b": 1}]}, {"A": 1}], "start": [1]}
)


def test_hypotheses_about_every_sample() -> None:
    """Curvatures of the samples 4, 2 and 1; of the clients 3 and 1, of F 2."""
    own = {"L": Constant(Fraction(4), Known.EXACT, "exact", "by hand")}
    assert own["L"].value == 4
    for value, outcome in ((4, Outcome.HOLDS), ("399/100", Outcome.VIOLATED)):
        assert check_assumption(smooth_samples, SAMPLES, {"L": value}).outcome is outcome
    for value, outcome in ((1, Outcome.HOLDS), ("101/100", Outcome.VIOLATED)):
        assert check_assumption(strongly_convex_samples, SAMPLES, {"mu": value}).outcome is outcome
    for value, outcome in ((1, Outcome.HOLDS), ("99/100", Outcome.VIOLATED)):
        assert check_assumption(hessian_similarity, SAMPLES, {"delta": value}).outcome is outcome
    broken = check_assumption(smooth_samples, SAMPLES, {"L": 3})
    assert (broken.grade, broken.witness["client"], broken.witness["sample"]) == (Grade.EXACT, 0, 0)


def test_samples_of_a_flat_layout_are_tried_in_double_precision() -> None:
    """Least squares on the diabetes data, f_ij = (a_j'x - y_j)^2/2: L is the largest |a_j|^2."""
    problem: Any = build_problem({"kind": "least_squares", "data": "diabetes", "clients": 20})
    top = max(sum(v * v for v in row) for client in problem.rows for row in client)
    held = replace(smooth_samples, name="mine")
    assert check_assumption(held, problem, {"L": top}).outcome is Outcome.HOLDS
    missed = check_assumption(held, problem, {"L": top * Fraction(1, 100)})
    assert (missed.outcome, missed.grade) == (Outcome.VIOLATED, Grade.SUPPORTED)


# --- conditions on the index ------------------------------------------------------------------------------


def test_a_statement_about_many_rounds_says_nothing_of_few() -> None:
    """x_K = (3/4)^K; the bound is broken at K = 0 and 1, but only K >= 1/(eta L) = 4 is spoken of."""
    claimed = replace(
        TUNED,
        choices=(),
        conditions=(Condition("step", eta * L <= 1), Condition("many rounds", K * eta * L >= 1)),
        bound=D / 4,
    )
    claim = Claim("late", LINE, {**GD, "eta": "1/8"}, at={"K": [0, 1, 3, 4, 6]})
    found = run_claim(replace(claim, statement=claimed))
    assert of(found) == (Outcome.HOLDS, Grade.EXACT)
    assert found.index == (4, 6)
    early = run_claim(replace(claim, at={"K": [0, 1, 3]}, statement=claimed))
    assert of(early) == (Outcome.OUT_OF_SCOPE, Grade.EXACT)
    assert "no compared K meets condition 'many rounds'" in early.verdict.reason
    # the largest step is limited by the other condition; at one value of the index it must allow it
    assert run_claim(replace(claim, method={**GD, "eta": "largest"}, statement=claimed)).method["eta"] == "1/2"
    with pytest.raises(BadInput, match="needs a value for K"):
        claimed.scope(L=2, eta="1/8")
