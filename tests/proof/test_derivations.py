"""Derivations: what becomes of their steps and of their conclusion, and how derivations are found."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from fractions import Fraction
from math import prod
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp
from judged import judged

from boundcheck.errors import BadInput, UnknownName
from boundcheck.proof import discovery
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.methods import Combine, Decide, Imported
from boundcheck.proof.step import Fact, Status, Step
from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Condition

L, E, n, eta, sigma2, dist2_0, dist2_1 = sp.symbols("L E n eta sigma2 dist2_0 dist2_1", real=True)
LEMMA = statement("scgd/lemma_3_1/corrected")
SIZE = E * n * eta
RATE = Step("rate", sp.Le(SIZE * L**2, L), ("condition step size", "domain L"), Decide(), "the step condition")
BY = Combine({"descent": 1, "rate": dist2_0})
LAST = Step("end", sp.Le(dist2_1, L * dist2_0 + sigma2), ("descent", "rate", "domain dist2_0"), BY, "together")


def build(limit: Any = 1, factor: Any = 1, steps: tuple[Step, ...] = (RATE, LAST), **more: Any) -> Derivation:
    """dist2_1 <= factor * L * dist2_0 + sigma2 under n E eta L <= limit."""
    small = Condition("step size", sp.Le(SIZE * L, limit))
    about = replace(LEMMA, bound=factor * L * dist2_0 + sigma2, conditions=(small,))
    descent = Fact("descent", sp.Le(dist2_1, SIZE * L**2 * dist2_0 + sigma2), "assumption", "by hand", "plain_mean")
    more = {"conclusion": "end", "target": dist2_1, "quantities": frozenset({"dist2_0"})} | more
    return Derivation(about, (*scope_facts(about), descent), steps, **more)


def test_a_small_derivation_is_proved():
    found = judged(build())
    assert (found.status, found.verdict) == (Status.PROVED, "valid")
    assert "the transcribed assumption 'descent'" in found.row["rests"]


def test_a_wider_condition_is_refuted_at_values_that_meet_it():
    found = judged(build(limit=2), 0.5)
    assert found.status is found.step("rate") is Status.REFUTED
    assert found.step("end") is Status.PROVED
    values = dict(pair.split(" = ") for pair in found.verdict.partition("(")[2].rstrip(")").split(", "))
    assert 1 < prod(Fraction(values[name]) for name in ("eta", "L", "n", "E")) <= 2


def test_the_conclusion_is_the_bound_of_the_statement():
    found = judged(build(factor=sp.Rational(1, 2)), 0.5)
    assert found.status is Status.OPEN
    assert [found.step(name) for name in ("rate", "end")] == [Status.PROVED] * 2
    assert "at step 'statement': it has no certificate" in found.verdict


def test_a_step_that_is_taken_is_assumed_and_named():
    taken = Step("rate", RATE.claim, (), Imported("a textbook, Theorem 1"), "cited")
    found = judged(build(steps=(taken, LAST)))
    assert found.step("rate") is Status.ASSUMED
    assert "the cited result 'a textbook, Theorem 1'" in found.row["rests"]


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
