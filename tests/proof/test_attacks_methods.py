"""Attempts to have a step proved by a method that nobody has checked."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import sympy as sp
from attack_tools import LEMMA, attempt, dist2_1, mu, relation, step, u, v, y, z

from boundcheck.errors import BadInput
from boundcheck.proof.cited import Cited
from boundcheck.proof.discovery import derivation
from boundcheck.proof.identity import Decide
from boundcheck.proof.kernel import of_the_kernel
from boundcheck.proof.rules import Jensen, Rule, Supposing
from boundcheck.proof.step import Context, Finding, Status

FALSE = relation(sp.Le, dist2_1, LEMMA.bound)


@dataclass(frozen=True)
class Says(Rule):
    """A rule whose instance is whatever is claimed, and which has nothing to show."""

    label: str = "it is so"

    def instance(self, facts):
        return FALSE

    def obligations(self, facts) -> Iterator:
        yield from ()


@dataclass(frozen=True)
class Shows(Says):
    """The same with an obligation that is true and has nothing to do with the claim."""

    def obligations(self, facts) -> Iterator:
        yield sp.Ge(y**2, 0, evaluate=False), {}

    @property
    def theorem(self):
        return "a theorem"


@dataclass(frozen=True)
class Oracle:
    status: object = Status.PROVED
    label: str = "an oracle"

    def check(self, claim, facts, setting):
        return Finding(self.status, self.label, claim=str(claim))


@dataclass(frozen=True)
class Mine(Decide):
    def check(self, claim, facts, setting):
        return Finding(Status.PROVED, "scalar inequality", claim=str(claim))


@dataclass(frozen=True)
class Around(Supposing):
    """A class of its own around a method of the checker."""


def spoofed():
    """A class that calls itself `boundcheck.proof.identity.Decide`."""
    made = dataclass(frozen=True)(type("Decide", (Mine,), {}))
    made.__module__, made.__qualname__ = Decide.__module__, Decide.__qualname__
    return made()


def altered():
    """An instance of a class of the checker with a method of its own."""
    method = Decide()
    object.__setattr__(method, "check", Oracle().check)
    return method


METHODS = {
    "a rule without obligations": Says(),
    "a rule with another obligation": Shows(),
    "an oracle": Oracle(),
    "an oracle that says it in words": Oracle("PROVED"),
    "a subclass": Mine(),
    "a borrowed name": spoofed(),
    "an altered instance": altered(),
}


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_what_nobody_has_checked_is_assumed(method):
    report = attempt((), [step("x", FALSE, ("domain mu",), method)]).examine(5)
    assert report.bound_matches
    assert report.results[0].status is Status.ASSUMED
    assert report.status is Status.ASSUMED
    assert report.counts["PROVED"] == 0
    assert "not one of the checker's own" in report.results[0].finding.note
    assert any(f"the method '{method.label}' is sound" in x.claim for x in report.trusted)
    assert report.summary()["failing"] == {"x": "ASSUMED"}


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_nor_inside_another_method(method):
    claim = sp.Implies(sp.Ge(y, 1), FALSE)
    steps = [step("x", claim, ("domain mu",), Supposing(method))]
    found = attempt((), steps).check_step("x", 5)
    assert found.status is Status.ASSUMED
    outside = attempt((), [step("x", claim, ("domain mu",), Around(Supposing(Decide())))])
    assert not of_the_kernel(outside.steps[0].by)


def test_a_rule_says_so_itself():
    for rule in (Says(), Shows()):
        assert rule.check(FALSE, {"mu": mu > 0}, Context()).status is Status.ASSUMED
    jensen = Jensen((sp.Rational(1, 3), sp.Rational(2, 3)), (u, v))
    assert jensen.check(jensen.instance({}), {}, Context()).status is Status.PROVED


def test_a_rule_of_the_checker_that_shows_nothing_names_its_theorem(monkeypatch):
    """With its obligations taken away a rule of the checker proves nothing."""
    jensen = Jensen((sp.Rational(1, 3), sp.Rational(2, 3)), (u, v))
    monkeypatch.setattr(Jensen, "obligations", lambda self, facts: iter(()))
    assert jensen.check(jensen.instance({}), {}, Context()).status is Status.ASSUMED


@pytest.mark.parametrize("status", [Status.REFUTED, "REFUTED", Status.UNDECIDED, "VACUOUS", "ASSUMED"])
def test_another_method_refutes_nothing(status):
    found = attempt((), [step("x", FALSE, (), Oracle(status))]).check_step("x", 5)
    assert found.status is (Status.UNDECIDED if status == Status.REFUTED else Status(status))
    assert isinstance(found.status, Status)


@pytest.mark.parametrize("status", ["TRUE", None, 0, True])
def test_what_is_no_status_is_an_error(status):
    with pytest.raises(BadInput, match="gives no Finding"):
        attempt((), [step("x", FALSE, (), Oracle(status))]).examine(5)


def test_what_is_no_method_is_an_error():
    for by in (None, "Decide", 5, Decide, sp.Integer(1)):
        with pytest.raises(BadInput, match="which is no method"):
            attempt((), [step("x", FALSE, (), by)])


def test_a_claim_without_a_value_is_not_even_assumed():
    claim = relation(sp.Ge, 1 / z, 0)
    assert attempt((), [step("x", claim, (), Oracle())]).check_step("x", 5).status is Status.UNDECIDED


def test_a_statement_that_is_cited_is_as_weak(monkeypatch):
    """Theorem 3.3 of SCGD from a Lemma 3.1 that an oracle has proved."""
    proof = derivation("scgd/theorem_3_3/corrected")
    lemma = attempt((), [step("x", FALSE, (), Oracle())])
    monkeypatch.setattr("boundcheck.proof.cited.derivation", lambda _: lemma)
    assert isinstance(next(s.by for s in proof.steps if s.name == "lemma"), Cited)
    report = proof.examine(5)
    assert report.result("lemma").status is Status.ASSUMED
    assert report.status is Status.ASSUMED


def test_a_class_that_is_not_loaded_from_the_checkers_folder(monkeypatch):
    assert of_the_kernel(Decide())
    module = type(sys)("boundcheck.proof.more")
    made = dataclass(frozen=True)(
        type("Mine", (), {"label": "mine", "check": Oracle.check, "__module__": module.__name__})
    )
    module.Mine = made
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert not of_the_kernel(made())
