"""Derivations: what a step may use, how findings depend on each other, and how derivations are found."""

from __future__ import annotations

import textwrap
from fractions import Fraction
from types import SimpleNamespace

import pytest
import sympy as sp

from boundcheck.errors import BadInput, UnknownName
from boundcheck.proof import discovery
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide, Imported
from boundcheck.proof.step import Fact, Status, Step, weakest
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.statement import Kind
from boundcheck.theory.symbols import common

L, eta, dist2_0, gap = (sp.Symbol(n, real=True) for n in ["L", "eta", "dist2_0", "gap"])


def toy(limit=1, factor=1):
    """gap <= factor * L * dist2_0 under eta L <= limit."""
    return SimpleNamespace(
        id="toy/lemma_1/corrected",
        symbols=(common.L, common.eta, common.dist2_0),
        domain=(),
        conditions=(SimpleNamespace(name="step size", relation=sp.Le(eta * L, limit), meaning="small steps"),),
        bound=factor * L * dist2_0,
        kind=Kind.UPPER_BOUND,
        assumptions=(Assumption("smoothness", "by hand"),),
        algorithm=None,
        metric=SimpleNamespace(expectation="none: a toy"),
    )


def facts(statement, *more):
    descent = Fact("descent", sp.Le(gap, eta * L**2 * dist2_0), "assumption", "by hand", "smoothness")
    return (*scope_facts(statement), descent, *more)


LAST = Step(
    "end", sp.Le(gap, L * dist2_0), ("descent", "rate", "domain L", "domain eta"), Combine(), "both put together"
)
RATE = Step("rate", sp.Le(eta * L**2, L), ("condition step size", "domain L"), Decide(), "the step condition")


def build(statement=None, given=None, steps=(RATE, LAST), **more):
    statement = statement or toy()
    more = {"conclusion": "end", "target": gap, "quantities": frozenset({"dist2_0"})} | more
    return Derivation(statement, given or facts(statement), steps, **more)


def test_a_small_derivation_is_proved():
    found = build().examine()
    assert found.status is Status.PROVED
    assert found.bound_matches
    assert found.conditions == ("condition step size",)


def test_a_wider_condition_is_refuted_and_what_follows_depends_on_it():
    found = build(toy(limit=sp.Integer(2))).examine()
    assert found.status is Status.REFUTED
    witness = {k: Fraction(v) for k, v in found.result("rate").finding.witness.items()}
    assert 1 < witness["eta"] * witness["L"] <= 2
    assert found.result("end").status is Status.PROVED
    assert found.result("end").depends_on == ("rate",)


def test_the_conclusion_must_be_the_statements_bound():
    found = build(toy(factor=sp.Rational(1, 2))).examine()
    assert not found.bound_matches
    assert found.status is Status.UNDECIDED
    assert all(r.status is Status.PROVED for r in found.results)
    assert not build(target=sp.Symbol("gap_1", real=True)).examine().bound_matches


def test_a_cited_result_makes_the_derivation_assumed():
    cited = Step("rate", RATE.claim, (), Imported("a textbook, Theorem 1"), "cited")
    found = build(steps=(cited, LAST)).examine()
    assert found.status is Status.ASSUMED
    assert found.result("end").depends_on == ("rate",)
    assert any("is not used" in remark for remark in found.remarks)


def test_a_vacuous_step_is_not_proved():
    given = facts(toy(), Fact("wrong", sp.Le(gap**2 + 1, -dist2_0), "assumption", "impossible", "smoothness"))
    step = Step("end", LAST.claim, ("wrong",), Combine(), "from an impossible assumption")
    found = build(given=given, steps=(step,)).examine()
    assert found.status is found.result("end").status is Status.VACUOUS


def test_steps_use_facts_and_earlier_steps_only():
    with pytest.raises(UnknownName, match="rate"):
        build(steps=(LAST, RATE))
    with pytest.raises(BadInput, match="used twice"):
        build(steps=(RATE, RATE, LAST))
    with pytest.raises(UnknownName, match="conclusion"):
        build(conclusion="ende")
    with pytest.raises(UnknownName, match="step"):
        build().examine().result("rates")


SMUGGLED = [
    (Fact("condition tight", sp.Le(eta * L, sp.Rational(1, 2)), "condition", ""), "not a condition of the statement"),
    (
        Fact("tight", sp.Le(eta * L, sp.Rational(1, 2)), "assumption", "", "smoothness"),
        "restricts the statement's own symbols",
    ),
    (Fact("eta", sp.Eq(eta, 1 / L), "definition", ""), "already in use"),
    (Fact("q", sp.Le(sp.Symbol("q", real=True), 1), "definition", ""), "not a definition"),
    (Fact("descent", sp.Le(gap, 0), "assumption", "", "smoothness"), "share a name"),
    (Fact("q", sp.Ge(L * eta, 0), "range", ""), "index on the left"),
    (Fact("q", sp.Le(gap, 0), "guess", ""), "kind"),
]


@pytest.mark.parametrize(("fact", "message"), SMUGGLED, ids=[m for _, m in SMUGGLED])
def test_no_assumption_is_smuggled_in(fact, message):
    with pytest.raises(BadInput, match=message):
        build(given=facts(toy(), fact))


def test_an_index_is_restricted_by_its_range_only():
    m, q = sp.Symbol("m", real=True), sp.Symbol("q", real=True)
    index = Fact("index m", sp.And(m >= 0, m <= 9), "index", "")
    with pytest.raises(BadInput, match="restricts an index"):
        build(given=facts(toy(), index, Fact("late", m >= 3, "assumption", "", "smoothness")))
    with pytest.raises(BadInput, match="by an index"):
        build(given=facts(toy(), index, Fact("q", sp.Eq(q, m * L), "definition", "")))
    with pytest.raises(BadInput, match="already in use"):
        build(given=facts(toy(), index, Fact("m", sp.Eq(m, 2 * L), "definition", "")))


def test_weakest():
    assert weakest([]) is Status.PROVED
    assert weakest([Status.PROVED, Status.UNDECIDED, Status.ASSUMED]) is Status.UNDECIDED
    assert weakest([Status.UNDECIDED, Status.REFUTED]) is Status.REFUTED


# discovery


def test_unknown_statements_and_readings():
    with pytest.raises(UnknownName, match="lemma_3_1"):
        discovery.derivation("scgd/lema_3_1/corrected")
    with pytest.raises(UnknownName):
        discovery.derivation("scgd/lemma_3_1/corected")


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    monkeypatch.setattr(discovery, "folder", lambda: tmp_path)
    discovery._module.cache_clear()
    yield tmp_path
    discovery._module.cache_clear()


def write(folder, text):
    (folder / "scgd").mkdir(exist_ok=True)
    (folder / "scgd" / "lemma_3_1.py").write_text(textwrap.dedent(text), encoding="utf-8")


def test_a_statement_without_derivation(shelf):
    with pytest.raises(BadInput, match=r"has no derivation; one would be the file derivations/scgd/lemma_3_1\.py"):
        discovery.derivation("scgd/lemma_3_1/corrected")
    assert discovery.derived_readings("scgd", "lemma_3_1") == ()


def test_a_reading_without_derivation(shelf):
    write(shelf, "READINGS = ('conservative',)\ndef derivation(statement):\n    return None\n")
    with pytest.raises(BadInput, match="for the readings conservative"):
        discovery.derivation("scgd/lemma_3_1/corrected")
    with pytest.raises(BadInput, match="NoneType instead of a Derivation"):
        discovery.derivation("scgd/lemma_3_1/conservative")


def test_a_file_without_the_convention(shelf):
    write(shelf, "x = 1\n")
    with pytest.raises(BadInput, match="must export READINGS"):
        discovery.derivation("scgd/lemma_3_1/corrected")


def test_readings_that_are_written_out_are_read_and_others_are_found_by_loading(shelf):
    rest = "def derivation(statement):\n    return None\n"
    write(shelf, "READINGS = ('corrected',)\nraise RuntimeError('carried out')\n")
    assert discovery.derived_readings("scgd", "lemma_3_1") == ("corrected",)
    (shelf / "scgd" / "lemma_3_1.py").rename(shelf / "scgd" / "theorem_3_3.py")  # a path is read once
    with pytest.raises(RuntimeError, match="carried out"):
        discovery.derivation("scgd/theorem_3_3/corrected")
    write(shelf, "READINGS = tuple(['as_' + 'printed'])\n" + rest)
    discovery._written.cache_clear()
    assert discovery.derived_readings("scgd", "lemma_3_1") == ("as_printed",)
    write(shelf, "READINGS = ['corrected']\n" + rest)
    discovery._module.cache_clear()
    discovery._written.cache_clear()
    with pytest.raises(BadInput, match="a tuple of names"):
        discovery.derived_readings("scgd", "lemma_3_1")


def test_derivations_of_other_packages(shelf, tmp_path, monkeypatch):
    package = tmp_path / "other_proofs"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "lemma_3_1.py").write_text(
        "READINGS = ('corrected',)\ndef derivation(s):\n    return s\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    point = SimpleNamespace(name="scgd", value="other_proofs")
    monkeypatch.setattr(discovery, "entry_points", lambda group, name: [point] if name == "scgd" else [])
    assert discovery.derived_readings("scgd", "lemma_3_1") == ("corrected",)
    with pytest.raises(BadInput, match="Statement instead of a Derivation"):
        discovery.derivation("scgd/lemma_3_1/corrected")
    point.value = "proofs_that_are_not_there"
    discovery._module.cache_clear()
    with pytest.raises(BadInput, match="proofs_that_are_not_there"):
        discovery.derived_readings("scgd", "lemma_3_1")
