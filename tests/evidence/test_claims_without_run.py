"""Claims about constants of a method on a problem and about numbers: compared exactly, without a run."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
from claim_mutations import Claims

from boundcheck.certified.constant import Constant, Known
from boundcheck.errors import BadInput, BoundcheckError
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.evidence.constant_claims import constant_of
from boundcheck.evidence.shipped_files import shipped_claims
from boundcheck.evidence.spec import claims_from_text
from boundcheck.evidence.witness import Witness, load_witness, replay, save_witness, stands
from boundcheck.falsify.search import falsify
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.setting import Setting, setting
from boundcheck.theory.dimension import LENGTH, LENGTH2
from boundcheck.theory.discovery import statement
from boundcheck.theory.free_data import in_free_data
from boundcheck.theory.statement import Belief, Condition, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol
from boundcheck.verdict import Grade, Outcome

F = Fraction
EXAMPLES = Path(__file__).parents[2] / "examples"
CLAIMS = Claims(EXAMPLES / "fedshuffle_constants.toml")
PAIRS = {"participation": {"kind": "uniform", "size": 2}}
UNIFORM = {"kind": "fedshuffle", "eta_l": "1/10", **PAIRS}
P36 = {"kind": "fedshuffle_36"}
SAME = {"kind": "quadratics", "start": [1], "clients": [{"components": [{"A": [[1]], "b": [0]}]}] * 3}
FULL = "fedshuffle/section_5_full_participation"

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


@pytest.mark.parametrize("name", BY_HAND)
def test_shipped_claims_have_the_numbers_by_hand_and_no_other(name: str) -> None:
    """That all of them are met is a test of the examples."""
    found = run_claim(CLAIMS[name])
    assert (found.verdict.grade, found.rounds) == (Grade.EXACT, (0,))
    assert found.metric_low[0] <= BY_HAND[name] <= found.metric_high[0]
    assert float(found.metric_high[0]) == pytest.approx(float(BY_HAND[name]), rel=1e-15, abs=0)
    claimed = statement(CLAIMS[name].statement)
    changed = replace(claimed, bound=claimed.bound + sp.Rational(1, 10**15))
    missed = run_claim(replace(CLAIMS[name], statement=changed)).verdict
    assert (missed.outcome, missed.grade) == (Outcome.VIOLATED, Grade.EXACT)


def test_every_claim_that_holds_has_a_number_by_hand_and_is_counted() -> None:
    assert set(BY_HAND) == {name for name, claim in CLAIMS.items() if claim.expect is Outcome.HOLDS}
    found = shipped_claims()
    for name in ("scgd", "fedshuffle", "fedshuffle_constants"):
        for claim in Claims(EXAMPLES / f"{name}.toml").written():
            assert found[claim["statement"]][claim["expect"]] >= 1
    assert found["fedshuffle/section_5_importance/as_printed"] == {"HOLDS": 1, "VIOLATED": 1}
    assert found[f"{FULL}/corrected"] == {"HOLDS": 2, "OUT_OF_SCOPE": 1}


def test_the_other_reading_stands_beside_and_a_violation_is_a_witness() -> None:
    claim = CLAIMS["M of importance sampling as printed, two clients expected"]
    found = run_claim(claim)
    assert [(r.id.rpartition("/")[2], r.bound) for r in found.readings] == [("corrected", (pytest.approx(1 / 3),))]
    assert found.verdict.witness["metric"] == pytest.approx([1 / 3, 1 / 3])
    assert found.verdict.witness["bound"] == pytest.approx([5 / 12, 5 / 12])
    witness = Witness(claim.statement, claim.problem, claim.method, {}, found.verdict, {})
    assert replay(witness).outcome is Outcome.VIOLATED
    assert run_claim(CLAIMS["M of a single client is 0"]).readings == ()  # none of them speaks of one client


def drawn(kind: str = "independent", **how: Any) -> dict[str, Any]:
    return {"participation": {"kind": kind, **how}}


@pytest.mark.parametrize(
    ("id", "problem", "method", "words"),
    [
        ("section_5_full_participation", P36, {"participation": "one_by_weight"}, "not drawn uniformly"),
        ("section_5_full_participation", P36, drawn(probabilities=["1/2", "1/2", 1]), "not drawn uniformly"),
        ("section_5_importance", P36, {}, "not drawn independently"),
        ("section_5_importance", P36, drawn(probabilities=["1/2"] * 3), "not proportional to their weights"),
        ("section_4_2_sum_one/as_printed_client_2", P36, {"kind": "fedshuffle_sum_one"}, "two clients drawn uniformly"),
        ("section_4_2_sum_one/as_printed_client_1", SAME, {"kind": "fedshuffle_sum_one", **PAIRS}, "1/6, 1/3 and 1/2"),
        ("section_4_2_sum_one/general", P36, {}, "two clients drawn uniformly"),
        ("section_4_2_sum_one/general", P36, PAIRS, "is not Sum-One"),
        ("section_5_importance_optimal", P36, drawn("importance", b=1), "not two of total"),
        ("section_5_importance_optimal", None, drawn("uniform", size=1), "not drawn independently"),
        ("section_5_importance_optimal", None, drawn(probabilities=["3/4", "3/4"]), "not one in the mean"),
        ("section_5_importance_optimal", None, drawn(probabilities=["2/3", "1/3"]),
         "M is smaller at other probabilities"),
    ],
)  # fmt: skip
def test_another_participation_is_out_of_scope(id: str, problem: Any, method: dict[str, Any], words: str) -> None:
    own = CLAIMS["The smallest M of two clients"].problem if problem is None else problem
    spec = {"kind": "fedshuffle", "eta_l": "1/10", **method}
    verdict = run_claim(Claim(f"fedshuffle/{id}", own, spec)).verdict
    assert verdict.outcome is Outcome.OUT_OF_SCOPE
    assert words in verdict.reason


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
        ("38/100", Known.ESTIMATED, "lower", Outcome.VIOLATED, Grade.SUPPORTED),
    ],
)
def test_what_one_side_decides(
    monkeypatch: pytest.MonkeyPatch, value: str, known: Known, side: Any, outcome: Outcome, grade: Grade
) -> None:
    """The formula is 3/8: it cannot be M where M is at most 37/100, and may be where M is at most 38/100."""
    original = setting.pair_makers
    constant = Constant(F(value), known, side, "made up")
    makers = lambda m, p: {**original(m, p), "participation/M": lambda: constant}  # noqa: E731
    monkeypatch.setattr(setting, "pair_makers", makers)
    verdict = run_claim(Claim(FULL, P36, UNIFORM)).verdict
    assert (verdict.outcome, verdict.grade) == (outcome, grade)


def test_names_of_constants() -> None:
    assert constant_of(statement(FULL)) == "participation/M"
    assert constant_of(statement("fedshuffle/section_4_2_sum_one/as_printed_client_3")) == "clients/what_3"
    assert constant_of(statement("fedshuffle/remark_e_2")) is constant_of(statement("scgd/theorem_3_3")) is None
    pair = Setting(build_method(UNIFORM), build_problem(P36))
    value = {key: pair.constant(f"clients/{key}").value for key in ("w_min", "w_max", "w_1", "w_2", "w_3")}
    assert value == {"w_min": F(1, 6), "w_max": F(1, 2), "w_1": F(1, 6), "w_2": F(1, 3), "w_3": F(1, 2)}
    assert pair.constant("participation/b").value == 2
    assert sum(pair.constant(f"clients/what_{i}").value for i in (1, 2, 3)) == 1
    assert not pair.has("clients/what_4")
    assert not {"w_min", "w_1", "what_1"} & set(pair.reported())


def test_a_constant_that_the_method_has_not() -> None:
    about = statement(FULL)
    with pytest.raises(BadInput, match="Mu"):
        replace(about, metric=replace(about.metric, quantity="constant:Mu"))
    cyclic = {"kind": "scgd", "E": 1, "eta": "1/10"}  # its rounds are not alike, so that it has no M
    bare = replace(about, assumptions=(), symbols=(), bound=sp.S.One, domain=())
    with pytest.raises(BadInput, match="is about the constant participation/M, which this method has not"):
        run_claim(Claim(bare, P36, cyclic))
    found = run_claim(Claim(FULL, P36, cyclic)).verdict
    assert found.outcome is Outcome.OUT_OF_SCOPE  # its cohorts are not drawn, so that it has no expected size b either
    assert "assumption uniform_participation fails" in found.reason


# --- numbers --------------------------------------------------------------------------------------------------------

x, y, s = sp.symbols("x y s", real=True)
PRODUCT = Statement(
    Source("A paper", "Lemma 1", "Section 1"),
    "as_printed",
    "Twice a product is at most the sum of the squares",
    (Symbol("x", "x", LENGTH), Symbol("y", "y", LENGTH), Symbol("s", "x^2 + y^2", LENGTH2, low=Fraction(0))),
    Metric("none", LENGTH2, value=2 * x * y, where=(("s", x**2 + y**2),)),
    s,
    belief=Belief.TRUE,
    name="product",
)
NEARLY = replace(PRODUCT, bound=s * (1 - sp.Rational(1, 10**30)))
ONLY = replace(PRODUCT, metric=replace(PRODUCT.metric, where=()), symbols=PRODUCT.symbols[:2], bound=2 * sp.Abs(x * y))
EQUAL, ABOVE = replace(ONLY, kind=Kind.EQUALITY), replace(ONLY, kind=Kind.LOWER_BOUND)
ROOTS = replace(EQUAL, bound=2 * sp.sqrt(x**2 * y**2))
SMALL = replace(PRODUCT, conditions=(Condition("small", s <= 4),))
IDLE = replace(PRODUCT, trivial=x**2 + y**2)


@pytest.mark.parametrize(
    ("claimed", "at", "outcome"),
    [
        (PRODUCT, (1, "1/3"), Outcome.HOLDS),
        (PRODUCT, (1, 1), Outcome.HOLDS),  # equal: no rounding decides
        (NEARLY, (1, 1), Outcome.VIOLATED),
        (NEARLY, (1, 2), Outcome.HOLDS),
        (EQUAL, (2, 3), Outcome.HOLDS),
        (EQUAL, (2, -3), Outcome.VIOLATED),
        (ABOVE, (2, 3), Outcome.HOLDS),
        (ABOVE, (2, -3), Outcome.VIOLATED),
        (ROOTS, ("3/7", 5), Outcome.HOLDS),
        (SMALL, (1, 1), Outcome.HOLDS),
        (SMALL, (2, 1), Outcome.OUT_OF_SCOPE),
        (IDLE, (2, 1), Outcome.VACUOUS),
    ],
)
def test_both_sides_are_compared_exactly(claimed: Statement, at: tuple[Any, Any], outcome: Outcome) -> None:
    found = run_claim(Claim(claimed, at=dict(zip("xy", at, strict=True)))).verdict
    assert (found.outcome, found.grade) == (outcome, Grade.EXACT)


def test_numbers_of_a_claim_are_checked() -> None:
    open_low = replace(PRODUCT, symbols=(*PRODUCT.symbols[:2], PRODUCT.symbols[2].but(low_open=True)))
    for claimed, at, text in (
        (open_low, {"x": 0, "y": 0}, "is needed for the statement to make sense"),
        (PRODUCT, {"x": 1}, "needs a value for y"),
        (PRODUCT, {"x": 1, "y": 2, "z": 3}, "z"),
        (PRODUCT, {"x": 1, "y": [1, 2]}, "one"),
    ):
        with pytest.raises(BoundcheckError, match=text):
            run_claim(Claim(claimed, at=at))


def test_numbers_of_a_file_and_those_of_a_method_on_a_problem() -> None:
    """Two clients with curvature 1: L, K, the step, alpha, beta, rho and tau are those of the pair, by their keys."""
    numbers = "L = 1, K = 1, eta_l = '1/144', eta_g = 1, rho = 1, alpha = 1, beta = 1, tau = 0"
    text = f'[[claim]]\nstatement = "async_fl/equation_97"\nat = {{{numbers}}}\nexpect = "HOLDS"\n'
    found = run_claim(claims_from_text(text)[0])
    assert (found.failures, found.verdict.grade) == ((), Grade.EXACT)
    problem = {"kind": "quadratics", "clients": [{"A": 1, "b": 0}, {"A": 1, "b": 1}]}
    method = {"kind": "fedavg_sync", "K": 1, "eta_l": "1/200", "eta_g": 1}
    pair = run_claim(Claim("async_fl/equation_97", problem, method)).verdict
    assert (pair.outcome, pair.grade) == (Outcome.HOLDS, Grade.EXACT)
    assert pair.witness["metric"][0] == pytest.approx(24 / 200)  # 12 (2 alpha + beta) h L with alpha = 1 and beta = 0
    far = run_claim(Claim("async_fl/equation_97", problem, {**method, "eta_l": 1})).verdict
    assert far.outcome is Outcome.OUT_OF_SCOPE


def test_the_search_finds_what_is_false_and_leaves_what_is_true(tmp_path: Path) -> None:
    found = falsify(statement("async_fl/equation_98/as_printed"), budget=30, seed=1).witness
    assert found is not None
    assert found.problem == found.method == {}
    save_witness(found, tmp_path / "found.json")
    again = replay(load_witness(tmp_path / "found.json"))
    assert stands(again)
    assert "differs" not in again.details
    for claimed in ("async_fl/equation_97/corrected", "async_fl/equation_98/sharp"):
        searched = falsify(statement(claimed), max_instances=100_000, budget=60)
        assert searched.witness is None
        assert -0.05 < searched.best <= 1e-9  # it came close to the edge
    assert falsify(PRODUCT, max_instances=10_000, budget=30).witness is None


def test_declarations_are_checked() -> None:
    with pytest.raises(BadInput, match="no value that is computed from them"):
        replace(PRODUCT, metric=replace(PRODUCT.metric, value=None))
    with pytest.raises(BadInput, match="a bound or an equality"):
        replace(PRODUCT, kind=Kind.FORMULA)
    with pytest.raises(BadInput, match="needs a metric with a value"):
        replace(statement("scgd/theorem_3_3"), kind=Kind.LOWER_BOUND)
    wrong = replace(PRODUCT, metric=replace(PRODUCT.metric, where=(("s", sp.Abs(x) + sp.Abs(y)),)))
    assert any("the data behind s" in error for error in wrong.dimension_errors())
    assert PRODUCT.dimension_errors() == []
    assert Statement.from_dict(PRODUCT.to_dict()) == PRODUCT
    own = in_free_data(PRODUCT)
    assert [symbol.name for symbol in own.symbols] == ["x", "y"]
    assert (own.bound, own.domain) == (x**2 + y**2, ())  # the domain of s is met by every x and y
