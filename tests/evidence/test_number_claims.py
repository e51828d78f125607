"""Claims about numbers: both sides are expressions, and are compared exactly without a run."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
import sympy as sp

import boundcheck as bc
from boundcheck.errors import BadInput, BoundcheckError, SpecError
from boundcheck.evidence.claim import Claim, run_claim
from boundcheck.evidence.spec import claims_from_text
from boundcheck.evidence.witness import load_witness, replay, save_witness, stands
from boundcheck.falsify.search import falsify
from boundcheck.theory.dimension import LENGTH, LENGTH2
from boundcheck.theory.free_data import in_free_data
from boundcheck.theory.statement import Belief, Condition, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol
from boundcheck.verdict import Grade, Outcome

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


def verdict(claimed: Statement, **at: object) -> tuple[Outcome, Grade | None]:
    found = run_claim(Claim(claimed, at=at)).verdict
    return found.outcome, found.grade


def test_both_sides_are_compared_exactly() -> None:
    assert verdict(PRODUCT, x=1, y="1/3") == (Outcome.HOLDS, Grade.EXACT)
    assert verdict(PRODUCT, x=1, y=1) == (Outcome.HOLDS, Grade.EXACT)  # equal: no rounding decides
    nearly = replace(PRODUCT, bound=s * (1 - sp.Rational(1, 10**30)))
    assert verdict(nearly, x=1, y=1) == (Outcome.VIOLATED, Grade.EXACT)
    assert verdict(nearly, x=1, y=2) == (Outcome.HOLDS, Grade.EXACT)


def test_equalities_and_lower_bounds() -> None:
    only = replace(
        PRODUCT, metric=replace(PRODUCT.metric, where=()), symbols=PRODUCT.symbols[:2], bound=2 * sp.Abs(x * y)
    )
    equal = replace(only, kind=Kind.EQUALITY)
    assert verdict(equal, x=2, y=3) == (Outcome.HOLDS, Grade.EXACT)
    assert verdict(equal, x=2, y=-3) == (Outcome.VIOLATED, Grade.EXACT)
    above = replace(only, kind=Kind.LOWER_BOUND)
    assert verdict(above, x=2, y=3) == (Outcome.HOLDS, Grade.EXACT)
    assert verdict(above, x=2, y=-3) == (Outcome.VIOLATED, Grade.EXACT)
    irrational = replace(equal, bound=2 * sp.sqrt(x**2 * y**2))
    assert verdict(irrational, x="3/7", y=5) == (Outcome.HOLDS, Grade.EXACT)


def test_conditions_domain_and_trivial_value_are_checked() -> None:
    scoped = replace(PRODUCT, conditions=(Condition("small", s <= 4),))
    assert verdict(scoped, x=1, y=1)[0] is Outcome.HOLDS
    assert verdict(scoped, x=2, y=1) == (Outcome.OUT_OF_SCOPE, Grade.EXACT)
    idle = replace(PRODUCT, trivial=x**2 + y**2)
    assert verdict(idle, x=2, y=1) == (Outcome.VACUOUS, Grade.EXACT)
    open_low = replace(PRODUCT, symbols=(*PRODUCT.symbols[:2], PRODUCT.symbols[2].but(low_open=True)))
    with pytest.raises(BadInput, match="is needed for the statement to make sense"):
        verdict(open_low, x=0, y=0)


def test_bad_input_is_one_sentence() -> None:
    for at, text in (
        ({"x": 1}, "needs a value for y"),
        ({"x": 1, "y": 2, "z": 3}, "z"),
        ({"x": 1, "y": [1, 2]}, "one"),
    ):
        with pytest.raises(BoundcheckError, match=text):
            verdict(PRODUCT, **at)


def test_a_file_gives_the_numbers() -> None:
    text = '[[claim]]\nstatement = "async_fl/equation_97"\nat = {%s}\nexpect = "HOLDS"\n'
    numbers = "L = 1, K = 1, eta_l = '1/144', eta_g = 1, rho = 1, alpha = 1, beta = 1, tau = 0"
    (claim,) = claims_from_text(text % numbers)
    found = run_claim(claim)
    assert found.failures == ()
    assert found.verdict.grade is Grade.EXACT
    with pytest.raises(SpecError, match="needs a value for K"):
        claims_from_text(text % numbers.replace("K = 1, ", ""))
    with pytest.raises(SpecError, match="rho = 0 is outside its domain"):
        claims_from_text(text % numbers.replace("rho = 1", "rho = 0"))


def test_constants_of_a_method_on_a_problem_take_their_place() -> None:
    """Two clients with curvature 1: L, K, the step, alpha, beta, rho and tau are those of the pair, by their keys."""
    problem = {"kind": "quadratics", "clients": [{"A": 1, "b": 0}, {"A": 1, "b": 1}]}
    method = {"kind": "fedavg_sync", "K": 1, "eta_l": "1/200", "eta_g": 1}
    found = run_claim(Claim("async_fl/equation_97", problem, method)).verdict
    assert (found.outcome, found.grade) == (Outcome.HOLDS, Grade.EXACT)
    assert found.witness["metric"][0] == pytest.approx(24 / 200)  # 12 (2 alpha + beta) h L with alpha = 1 and beta = 0
    far = run_claim(Claim("async_fl/equation_97", problem, {**method, "eta_l": 1})).verdict
    assert far.outcome is Outcome.OUT_OF_SCOPE


def test_the_search_finds_replays_and_saves(tmp_path: Path) -> None:
    claimed = bc.statement("async_fl/equation_98/as_printed")
    for seed in (0, 1, 2):
        found = falsify(claimed, budget=30, seed=seed).witness
        assert found is not None
        assert found.problem == found.method == {}
        path = tmp_path / f"{seed}.json"
        save_witness(found, path)
        again = replay(load_witness(path))
        assert stands(again)
        assert "differs" not in again.details


def test_the_search_leaves_what_is_true() -> None:
    for id in ("async_fl/equation_97/corrected", "async_fl/equation_98/sharp"):
        found = falsify(bc.statement(id), max_instances=100_000, budget=60)
        assert found.witness is None
        assert -0.05 < found.best <= 1e-9  # it came close to the edge
    assert falsify(PRODUCT, max_instances=30_000, budget=30).witness is None


def test_declarations_are_checked() -> None:
    with pytest.raises(BadInput, match="no value that is computed from them"):
        replace(PRODUCT, metric=replace(PRODUCT.metric, value=None))
    with pytest.raises(BadInput, match="a bound or an equality"):
        replace(PRODUCT, kind=Kind.FORMULA)
    with pytest.raises(BadInput, match="needs a metric with a value"):
        replace(bc.statement("scgd/theorem_3_3"), kind=Kind.LOWER_BOUND)
    wrong = replace(PRODUCT, metric=replace(PRODUCT.metric, where=(("s", sp.Abs(x) + sp.Abs(y)),)))
    assert any("the data behind s" in error for error in wrong.dimension_errors())
    assert PRODUCT.dimension_errors() == []


def test_the_statement_goes_through_json_and_into_its_data() -> None:
    assert Statement.from_dict(PRODUCT.to_dict()) == PRODUCT
    own = in_free_data(PRODUCT)
    assert [symbol.name for symbol in own.symbols] == ["x", "y"]
    assert own.bound == x**2 + y**2
    assert own.domain == ()  # the domain of s is met by every x and y
