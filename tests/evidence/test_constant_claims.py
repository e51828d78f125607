"""Claims about constants: formulas of FedShuffle against values by hand, hypotheses, and constants known in part."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
from claim_mutations import Claims

from boundcheck.certified.constant import Constant, Known
from boundcheck.errors import BadInput, SpecError
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.evidence.constant_claims import constant_of
from boundcheck.evidence.shipped_files import shipped_claims
from boundcheck.evidence.spec import claims_from_text
from boundcheck.evidence.witness import Witness, replay
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.setting import Setting, setting
from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Kind, Statement
from boundcheck.verdict import Grade, Outcome

F = Fraction
EXAMPLES = Path(__file__).parents[2] / "examples"
CLAIMS = Claims(EXAMPLES / "fedshuffle_constants.toml")
UNIFORM = {"kind": "fedshuffle", "eta_l": "1/10", "participation": {"kind": "uniform", "size": 2}}
P36 = {"kind": "fedshuffle_36"}

# by hand, with the weights 1/6, 1/3, 1/2: (1/2) * (3/2) * (1/2); 1/2 - 1/6; 1 - 1/6; pairs of 1, 2 and 3 samples
BY_HAND = {
    "M of two of three clients": F(3, 8),
    "M is 0 if all clients take part": F(0),
    "M of a single client is 0": F(0),
    "M of importance sampling, two clients expected": F(1, 3),
    "M of importance sampling as printed, one client expected": F(5, 6),
    "The smallest M of two clients": F(3, 10),  # of 9/10 and 1/10: (1/4)/(3/4) * 9/10 = (3/4)/(1/4) * 1/10
    "The smallest M of two clients of one weight, as printed": F(1, 2),
    "Sum-One weight of a client of weight 1/2 beside 1/4 and 1/4": (F(2, 3) + F(2, 3)) / 3,
    "Sum-One weight of client 1": (F(1, 3) + F(1, 4)) / 3,
    "Sum-One weight of client 2": (F(2, 3) + F(2, 5)) / 3,
    "Sum-One weight of client 3": (F(3, 4) + F(3, 5)) / 3,
}


@pytest.mark.parametrize("name", [claim["name"] for claim in CLAIMS.written()])
def test_the_shipped_claims_are_met_exactly(name: str) -> None:
    found = run_claim(CLAIMS[name])
    assert found.failures == ()
    assert found.verdict.grade is Grade.EXACT
    if name in BY_HAND:
        assert found.rounds == (0,)
        assert found.metric_low[0] <= BY_HAND[name] <= found.metric_high[0]
        assert float(found.metric_high[0]) == pytest.approx(float(BY_HAND[name]), rel=1e-15, abs=0)


def test_every_claim_that_holds_has_a_number_by_hand() -> None:
    assert set(BY_HAND) == {name for name, claim in CLAIMS.items() if claim.expect is Outcome.HOLDS}


@pytest.mark.parametrize("name", BY_HAND)
def test_another_formula_is_noticed(name: str) -> None:
    claim = CLAIMS[name]
    claimed = statement(claim.statement)
    changed = replace(claimed, bound=claimed.bound + sp.Rational(1, 10**15))
    found = run_claim(replace(claim, statement=changed)).verdict
    assert found.outcome is Outcome.VIOLATED
    assert found.grade is Grade.EXACT


def test_the_other_reading_stands_beside_and_a_violation_is_a_witness() -> None:
    claim = CLAIMS["M of importance sampling as printed, two clients expected"]
    found = run_claim(claim)
    assert [(r.id.rpartition("/")[2], r.bound) for r in found.readings] == [("corrected", (pytest.approx(1 / 3),))]
    assert found.verdict.witness["metric"] == pytest.approx([1 / 3, 1 / 3])
    assert found.verdict.witness["bound"] == pytest.approx([5 / 12, 5 / 12])
    witness = Witness(claim.statement, claim.problem, claim.method, {}, found.verdict, {})
    assert replay(witness).outcome is Outcome.VIOLATED


def test_a_reading_that_does_not_speak_of_one_client_is_left_out() -> None:
    assert run_claim(CLAIMS["M of a single client is 0"]).readings == ()


@pytest.mark.parametrize(
    ("id", "method", "words"),
    [
        ("section_5_full_participation", {"participation": "one_by_weight"}, "not drawn uniformly"),
        (
            "section_5_full_participation",
            {"participation": {"kind": "independent", "probabilities": ["1/2", "1/2", 1]}},
            "not drawn uniformly",
        ),
        ("section_5_importance", {}, "not drawn independently"),
        (
            "section_5_importance",
            {"participation": {"kind": "independent", "probabilities": ["1/2", "1/2", "1/2"]}},
            "not proportional to their weights",
        ),
        ("section_4_2_sum_one/as_printed_client_2", {"kind": "fedshuffle_sum_one"}, "two clients drawn uniformly"),
        ("section_4_2_sum_one/general", {}, "two clients drawn uniformly"),
        ("section_4_2_sum_one/general", {"participation": {"kind": "uniform", "size": 2}}, "is not Sum-One"),
        ("section_5_importance_optimal", {"participation": {"kind": "importance", "b": 1}}, "not two of total"),
    ],
)
def test_another_participation_is_out_of_scope(id: str, method: dict[str, Any], words: str) -> None:
    spec = {"kind": "fedshuffle", "eta_l": "1/10", **method}
    verdict = run_claim(Claim(f"fedshuffle/{id}", P36, spec)).verdict
    assert verdict.outcome is Outcome.OUT_OF_SCOPE
    assert words in verdict.reason


@pytest.mark.parametrize(
    ("participation", "words"),
    [
        ({"kind": "uniform", "size": 1}, "not drawn independently"),
        ({"kind": "independent", "probabilities": ["3/4", "3/4"]}, "not one in the mean"),
        ({"kind": "independent", "probabilities": ["2/3", "1/3"]}, "M is smaller at other probabilities"),
    ],
)
def test_other_probabilities_have_not_the_smallest_m(participation: dict[str, Any], words: str) -> None:
    claim = CLAIMS["The smallest M of two clients"]
    verdict = run_claim(replace(claim, method={**claim.method, "participation": participation})).verdict
    assert verdict.outcome is Outcome.OUT_OF_SCOPE
    assert words in verdict.reason


def test_weights_other_than_the_examples() -> None:
    spec = {"kind": "fedshuffle_sum_one", "eta_l": "1/10", "participation": {"kind": "uniform", "size": 2}}
    one = {"components": [{"A": [[1]], "b": [0]}]}
    problem = {"kind": "quadratics", "start": [1], "clients": [one, one, one]}
    verdict = run_claim(Claim("fedshuffle/section_4_2_sum_one/as_printed_client_1", problem, spec)).verdict
    assert verdict.outcome is Outcome.OUT_OF_SCOPE
    assert "1/6, 1/3 and 1/2" in verdict.reason


# --- constants known in part -----------------------------------------------------------------------------------


def about(id: str = "fedshuffle/section_5_full_participation", **changes: Any) -> Statement:
    return replace(statement(id), **changes)


def known_as(monkeypatch: pytest.MonkeyPatch, constant: Constant) -> None:
    original = setting.pair_makers
    makers = lambda m, p: {**original(m, p), "participation/M": lambda: constant}  # noqa: E731
    monkeypatch.setattr(setting, "pair_makers", makers)


@pytest.mark.parametrize(
    ("value", "known", "side", "outcome", "grade"),
    [
        ("3/8", Known.EXACT, "exact", Outcome.HOLDS, Grade.EXACT),
        ("3/8", Known.ESTIMATED, "exact", Outcome.HOLDS, Grade.SUPPORTED),
        ("3/8", Known.CERTIFIED, "upper", Outcome.UNDECIDED, Grade.SUPPORTED),
        ("37/100", Known.CERTIFIED, "upper", Outcome.VIOLATED, Grade.EXACT),
        ("38/100", Known.CERTIFIED, "upper", Outcome.UNDECIDED, Grade.SUPPORTED),
        ("37/100", Known.CERTIFIED, "lower", Outcome.UNDECIDED, Grade.SUPPORTED),
        ("38/100", Known.CERTIFIED, "lower", Outcome.VIOLATED, Grade.EXACT),
        ("37/100", Known.ESTIMATED, "upper", Outcome.VIOLATED, Grade.SUPPORTED),
        ("38/100", Known.ESTIMATED, "upper", Outcome.UNDECIDED, Grade.SUPPORTED),
        ("37/100", Known.ESTIMATED, "lower", Outcome.UNDECIDED, Grade.SUPPORTED),
        ("38/100", Known.ESTIMATED, "lower", Outcome.VIOLATED, Grade.SUPPORTED),
    ],
)
def test_what_one_side_decides(
    monkeypatch: pytest.MonkeyPatch, value: str, known: Known, side: str, outcome: Outcome, grade: Grade
) -> None:
    """The formula is 3/8: it cannot be M where M is at most 37/100, and may be where M is at most 38/100."""
    known_as(monkeypatch, Constant(F(value), known, side, "made up"))
    verdict = run_claim(Claim("fedshuffle/section_5_full_participation", P36, UNIFORM)).verdict
    assert (verdict.outcome, verdict.grade) == (outcome, grade)


# --- names, and mistakes ---------------------------------------------------------------------------------------


def test_names() -> None:
    assert constant_of(about()) == "participation/M"
    assert constant_of(statement("fedshuffle/section_4_2_sum_one/as_printed_client_3")) == "clients/what_3"
    assert constant_of(statement("fedshuffle/remark_e_2")) is None
    assert constant_of(statement("scgd/theorem_3_3")) is None
    method, problem = build_method(UNIFORM), build_problem(P36)
    pair = Setting(method, problem)
    value = {key: pair.constant(f"clients/{key}").value for key in ("w_min", "w_max", "w_1", "w_2", "w_3")}
    assert value == {"w_min": F(1, 6), "w_max": F(1, 2), "w_1": F(1, 6), "w_2": F(1, 3), "w_3": F(1, 2)}
    assert pair.constant("participation/b").value == 2
    assert sum(pair.constant(f"clients/what_{i}").value for i in (1, 2, 3)) == 1
    assert not pair.has("clients/what_4")
    assert not {"w_min", "w_1", "what_1"} & set(pair.reported())


def test_a_constant_that_the_method_has_not() -> None:
    with pytest.raises(BadInput, match="Mu"):
        about(metric=replace(about().metric, quantity="constant:Mu"))
    cyclic = {"kind": "scgd", "E": 1, "eta": "1/10"}  # its rounds are not alike, so that it has no M
    bare = replace(about(assumptions=()), symbols=(), bound=sp.S.One, domain=())
    with pytest.raises(BadInput, match="is about the constant participation/M, which this method has not"):
        run_claim(Claim(bare, P36, cyclic))
    found = run_claim(Claim("fedshuffle/section_5_full_participation", P36, cyclic)).verdict
    assert found.outcome is Outcome.OUT_OF_SCOPE  # its cohorts are not drawn, so that it has no expected size b either
    assert "assumption uniform_participation fails" in found.reason


def test_mistakes_in_a_file() -> None:
    parts = "[[claim]]", 'statement = "{}"', 'problem = {{ kind = "fedshuffle_36" }}', "{}"
    claim = "\n".join([*parts, 'method = {{ kind = "fedshuffle", eta_l = 1 }}'])
    with pytest.raises(SpecError, match="is a formula, not a claim about a run"):
        claims_from_text(claim.format("async_fl/equation_108/as_printed", ""))
    with pytest.raises(SpecError, match="has no index; leave out 'R'"):
        claims_from_text(claim.format("fedshuffle/section_5_importance", "at = { R = [1] }"))
    with pytest.raises(SpecError, match="the constant w_min = 1/5 contradicts the problem, where w_min is 1/6"):
        claims_from_text(claim.format("fedshuffle/section_5_importance", 'constants = { w_min = "1/5" }'))
    assert len(claims_from_text(claim.format("fedshuffle/section_5_importance", ""))) == 1


def test_shipped_claims_are_counted_by_what_they_expect() -> None:
    found = shipped_claims()
    for name in ("scgd", "fedshuffle", "fedshuffle_constants"):
        for claim in Claims(EXAMPLES / f"{name}.toml").written():
            assert found[claim["statement"]][claim["expect"]] >= 1
    assert found["fedshuffle/section_5_importance/as_printed"] == {"HOLDS": 1, "VIOLATED": 1}
    assert found["fedshuffle/section_5_full_participation/corrected"] == {"HOLDS": 2, "OUT_OF_SCOPE": 1}


def test_statements_about_constants_are_equalities() -> None:
    for id in (
        "section_5_importance",
        "section_5_importance_optimal",
        "section_5_full_participation",
        "section_4_2_sum_one/general",
        "section_4_2_sum_one/as_printed_client_1",
    ):
        claimed = statement(f"fedshuffle/{id}")
        assert claimed.kind is Kind.EQUALITY
        assert claimed.latex().count("{") == claimed.latex().count("}")
        assert "constant" not in claimed.latex()
