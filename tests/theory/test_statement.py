"""Declarations: what a Statement, a Symbol and an Assumption refuse; dimensions found from the formulas."""

from __future__ import annotations

import dataclasses
import re
from fractions import Fraction

import pytest
import sympy as sp

from boundcheck.errors import BadInput, UnknownName
from boundcheck.theory.assumptions import CLASSES, QUANTITIES, Assumption
from boundcheck.theory.dimension import CURVATURE, FREE, GRADIENT2, LENGTH2, ONE, STEP, VALUE, Dimension
from boundcheck.theory.discovery import all_statements, papers, statement
from boundcheck.theory.scaling import DimensionError, dimension_of
from boundcheck.theory.statement import Algorithm, Condition, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol, common

eta, L, mu, gap = common.eta.expr, common.L.expr, common.mu.expr, common.gap_0.expr


def make(**changes: object) -> Statement:
    fields: dict = {
        "source": Source("A paper", "Theorem 1", "page 1"),
        "reading": "as_printed",
        "title": "test",
        "symbols": (common.L, common.eta, common.gap_0),
        "metric": Metric("gap", VALUE),
        "bound": gap * (1 - eta * L / 2),
        "conditions": (Condition("step size", sp.Le(eta * L, 1)),),
        "name": "theorem_1",
    }
    return Statement(**{**fields, **changes})


def test_a_sound_statement_passes_and_is_frozen() -> None:
    s = make()
    assert s.dimension_errors() == []
    assert hash(s) == hash(make())
    field = "title"
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(s, field, "other")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"conditions": (Condition("c", sp.Ge(sp.Symbol("eta", positive=True), 0)),)}, "already decided"),
        ({"conditions": (Condition("c", sp.Lt(eta, sp.oo)),)}, "already decided"),
        ({"bound": gap * (1 - sp.Symbol("eta", positive=True) * L)}, "assumptions beyond being real"),
        ({"bound": gap * (1 - sp.Symbol("eta") * L)}, "assumptions beyond being real"),
        ({"symbols": (common.L, common.eta, common.gap_0, common.mu)}, "declared but unused: mu"),
        ({"symbols": (common.L, common.eta, common.gap_0, common.L)}, "declared twice"),
        ({"symbols": (common.L, common.gap_0)}, "'eta' is unknown"),
        ({"bound": gap * sp.Symbol("ets", real=True)}, "did you mean 'eta'"),
        ({"reading": "corrected"}, "what it replaces and why"),
        ({"reading": "sharp", "replaces": "x"}, "what it replaces and why"),
        ({"metric": Metric("gap", VALUE, index="K")}, "'K' is unknown"),
        ({"algorithm": Algorithm("gradient_descent", ("eta", "E"))}, "'E' is unknown"),
        ({"bound": 1}, "no SymPy expression"),
    ],
)
def test_unsound_statements_are_refused(changes: dict, message: str) -> None:
    with pytest.raises(BadInput, match=re.escape(message)):
        make(**changes)


def test_symbols_by_name() -> None:
    s = make()
    assert s.symbol("eta") is common.eta
    with pytest.raises(UnknownName, match="did you mean 'eta'"):
        s.symbol("etta")
    with pytest.raises(AttributeError, match="nu"):
        _ = common.nu


@pytest.mark.parametrize(
    ("symbol", "inside", "outside", "words"),
    [
        (common.n, [1, 10**30], [0, -1, Fraction(3, 2)], "integers n >= 1"),
        (common.K, [0, 5], [-1, Fraction(1, 2)], "integers K >= 0"),
        (common.eta, [Fraction(1, 10**9)], [0, -1], "real numbers eta > 0"),
        (common.sigma2, [0, 3], [-1], "real numbers sigma2 >= 0"),
        (common.mu.but(high=Fraction(2)), [2], [0, 3], "real numbers with 0 < mu <= 2"),
        (common.mu.but(low=None, high=Fraction(2), high_open=True), [-5, 1], [2], "real numbers mu < 2"),
        (Symbol("x", "any", ONE), [-5, 0, 5], [], "real numbers"),
    ],
)
def test_domains(symbol: Symbol, inside: list, outside: list, words: str) -> None:
    assert symbol.allowed() == words
    for value in inside:
        assert symbol.check(Fraction(value), "s") == value
    for value in outside:
        with pytest.raises(BadInput, match=f"s: {symbol.name} = "):
            symbol.check(Fraction(value), "s")
    assert symbol.expr.is_positive is None
    assert symbol.expr.is_integer is None


def test_equation_2_is_found_inconsistent_without_being_told() -> None:
    """The main text's C, and Theorem 3.4's printed b without sigma2; nothing else in the report."""
    flagged = {s.id: s.dimension_errors() for s in all_statements("scgd") if s.dimension_errors()}
    assert set(flagged) == {
        "scgd/equation_2/as_printed_main",
        "scgd/lemma_3_1/as_printed_main",
        "scgd/theorem_3_3/as_printed_main",
        "scgd/theorem_3_4/as_printed",
    }
    (text,) = flagged["scgd/theorem_3_3/as_printed_main"]
    assert "[f]^-2 [x]^4" in text
    assert "[f]^-4 [x]^8" in text
    assert flagged["scgd/theorem_3_4/as_printed"] == ["the bound: the sides are [f]^-2 [x]^4 and [x]^2."]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"bound": gap * (1 - eta * L**2 / 2)}, "the bound"),
        ({"bound": gap * eta * L + eta - eta}, ""),
        ({"bound": gap * eta}, "the sides"),
        ({"conditions": (Condition("step size", sp.Le(eta, 1)), Condition("c", sp.Le(L * eta, 1)))}, "'step size'"),
        ({"trivial": gap * L}, "the trivial value"),
        ({"domain": (sp.Le(eta, L),)}, "the domain"),
        ({"bound": gap * sp.exp(-L) * eta * L}, "dimensionless argument"),
        ({"bound": gap * L**eta * eta * L}, "dimensionless argument"),
        ({"bound": gap * (L * eta) ** (L * eta)}, ""),
        ({"bound": sp.sqrt(gap**2 + gap * gap * (L * eta) ** 2)}, ""),
        ({"bound": sp.Min(gap, gap * L)}, "beside it"),
        ({"bound": gap * sp.log(L)}, "dimensionless argument"),
        ({"bound": gap * sp.Abs(L * eta) + gap * sp.floor(L * eta) * sp.E ** (L * eta)}, ""),
    ],
)
def test_dimension_errors(changes: dict, words: str) -> None:
    errors = make(**changes).dimension_errors()
    if words:
        assert len(errors) == 1
        assert words in errors[0]
    else:
        assert errors == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"metric": Metric("dist2", VALUE)}, "dist2 is [x]^2, but is declared [f]"),
        ({"metric": Metric("gap", VALUE, scale=L), "bound": gap * eta * L}, "gap times L is [f]^2 [x]^-2"),
        ({"metric": Metric("gap", GRADIENT2, scale=L), "bound": gap * L**2 * eta}, ""),
        ({"metric": Metric("gap", VALUE, scale=eta * L)}, ""),
        ({"metric": Metric("gap", VALUE, scale=eta + L)}, "the metric's scale: "),
        ({"metric": Metric("gap", VALUE, rounds=eta)}, "rounds: the sides are [f]^-1 [x]^2 and dimensionless"),
        ({"metric": Metric("gap", VALUE, rounds=2 * eta * L)}, ""),
        ({"metric": Metric("my_own_quantity", VALUE, measured=True)}, ""),
        ({"symbols": (common.L, common.eta, common.gap_0.but(dimension=LENGTH2))}, "symbol gap_0: it is declared"),
    ],
)
def test_metrics_and_shared_names_have_their_own_dimensions(changes: dict, words: str) -> None:
    errors = make(**changes).dimension_errors()
    assert any(words in e for e in errors) if words else errors == []


def test_squared_distances_cannot_bound_a_gap() -> None:
    """Every side is [x]^2, and yet the claim does not scale."""
    lengths = {"symbols": (common.L, common.eta, common.dist2_0), "metric": Metric("gap", LENGTH2)}
    (text,) = make(**lengths, bound=common.dist2_0.expr * (1 - eta * L / 2)).dimension_errors()
    assert text == "the metric: gap is [f], but is declared [x]^2."


def test_a_numeric_example_declares_that_it_has_no_dimension() -> None:
    s = make(bound=gap * eta, metric=Metric("x", None))
    assert s.dimension_errors() == []


def test_dimension_arithmetic() -> None:
    table = {"f": VALUE, "L": CURVATURE, "x2": LENGTH2, "u": FREE, "g2": GRADIENT2, "eta": STEP}
    f, x2, g2 = sp.symbols("f x2 g2", real=True)
    assert dimension_of(f / x2, table) == CURVATURE
    assert dimension_of(sp.sqrt(g2 * x2), table) == VALUE
    assert dimension_of(g2 / f**2 * x2, table) == ONE
    assert dimension_of(sp.Integer(0), table) is None
    assert dimension_of(f * 0 + sp.pi, table) == ONE
    assert str(VALUE / LENGTH2) == "[f] [x]^-2"
    assert str(FREE.power(Fraction(1, 2))) == "[u]^(1/2)"
    assert str(Dimension()) == "dimensionless"
    with pytest.raises(DimensionError, match="no dimension rule"):
        dimension_of(sp.sin(f), table)


def test_assumptions_carry_an_open_inequality_in_declared_quantities() -> None:
    names = {"mu", "L", "sigma2", "G2", "B2", "delta", "B"} | set(QUANTITIES)
    names |= {"Lmax", "beta2", "kappa2"}
    for assumption in CLASSES.values():
        assert assumption.meaning.endswith(".")
        free = set() if assumption.inequality is None else assumption.inequality.free_symbols
        assert {s.name for s in free} <= names
        assert bool(free) is (assumption.inequality is not None)
    assert sum(a.inequality is None for a in CLASSES.values()) == 37  # a method and a problem alone decide these
    with pytest.raises(BadInput, match="already decided"):
        Assumption("finite", "A number is finite.", sp.Lt(eta, sp.oo))


@pytest.mark.parametrize("paper", sorted(papers()))
def test_every_statement_is_declared_in_full(paper: str) -> None:
    for s in all_statements(paper):
        assert all((s.source.paper, s.source.number, s.source.where, s.title)), s.id
        assert all(symbol.meaning and symbol.name.isascii() for symbol in s.symbols), s.id
        assert s.id == f"{paper}/{s.name}/{s.reading}"
        assert statement(s.id) == s
        assert repr(s).startswith("<Statement ")
