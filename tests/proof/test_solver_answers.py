"""What the scalar kernel makes of the solvers' answers, with solvers that answer what a test tells them."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp

from boundcheck.proof import scalar
from boundcheck.proof.scalar import consistent, decide
from boundcheck.proof.solvers import Answer
from boundcheck.proof.step import Context, Status

x, y, n, m = sp.symbols("x y n m", real=True)
WHOLE = Context(integers=frozenset({"n", "m"}), seconds=3)
REAL = Context(seconds=3)
# true, and without a certificate that the kernel would find by itself
TRUE = (sp.Ge(x**4 + y**4 + 3, 2 * x * y), {"x": x >= 2})
FALSE = (sp.Ge(x, 5), {"x": x >= 2})


class Solvers:
    """Solvers whose answers are given by a function of (solver, over integers, formula has the negated claim)."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    def __call__(self, solver, text, names, seconds):
        said = self.answer(solver, " Int)" in text, text)
        self.asked.append((solver, " Int)" in text, seconds))
        if isinstance(said, Answer):
            return said
        values = {name: (Fraction(3), True) for name in names} if said == "sat" else {}
        return Answer(said, values, f"{solver} was stopped after {seconds:g} s" if said == "unknown" else "")


@pytest.fixture
def solvers(monkeypatch):
    def use(answer, certificates=False):
        stub = Solvers(answer)
        monkeypatch.setattr(scalar, "ask", stub)
        monkeypatch.setattr(scalar, "_known", {})
        monkeypatch.setattr(scalar, "_consistent", {})
        if not certificates:
            monkeypatch.setattr(scalar, "find_products", lambda *_: None)
        return stub

    return use


def hypotheses_then(negation):
    """The hypotheses can be met (they are fewer assertions than with the negated claim); then `negation` answers."""
    return lambda solver, whole, text: "sat" if text.count("(assert") == 1 else negation(solver, whole)


def test_solvers_that_do_not_know_prove_nothing(solvers):
    stub = solvers(lambda solver, whole, text: "unknown")
    for claim, facts in (TRUE, FALSE):
        found = decide(claim, facts, REAL)
        assert found.status is Status.UNDECIDED
        assert "z3 was stopped after 3 s, cvc5 was stopped after 3 s" in found.note
    assert {seconds for *_, seconds in stub.asked} == {1.0, 3}  # a short try of both before the whole limit


def test_that_the_hypotheses_can_be_met_may_stay_open_and_is_said(solvers):
    solvers(lambda solver, whole, text: "unknown" if text.count("(assert") == 1 else "unsat")
    found = decide(*TRUE, REAL)
    assert found.status is Status.PROVED
    assert "that the hypotheses can be met was not shown (z3 was stopped" in found.note
    assert consistent(TRUE[1], REAL) is None


@pytest.mark.parametrize(
    ("first", "second", "status", "how"),
    [
        ("unsat", "unsat", Status.PROVED, "z3 and cvc5"),
        ("unsat", "unknown", Status.PROVED, "z3"),
        ("unknown", "unsat", Status.PROVED, "cvc5"),
        ("unsat", "sat", Status.UNDECIDED, "no decision"),
        ("unknown", "unknown", Status.UNDECIDED, "no decision"),
        ("unknown", "sat", Status.UNDECIDED, "no decision"),
        ("sat", "unsat", Status.UNDECIDED, "no decision"),
    ],
)
def test_two_solvers_over_the_reals(solvers, first, second, status, how):
    solvers(hypotheses_then(lambda solver, whole: first if solver == "z3" else second))
    found = decide(*TRUE, REAL)
    assert found.status is status
    assert found.how == how
    if (first, second) == ("unsat", "sat"):
        assert "contradict each other" in found.note


def test_a_certificate_needs_no_solver(solvers):
    claim, facts = sp.Ge(x * y, 6), {"x": x >= 2, "y": y >= 3}
    solvers(lambda solver, whole, text: "unknown", certificates=True)
    found = decide(claim, facts, REAL)
    assert found.status is Status.PROVED
    assert found.certificate["kind"] == "products"
    assert decide(sp.Ge(x * y, 7), facts, REAL).status is Status.UNDECIDED


INTEGERS = (sp.Ge((n - 2) * (n - 3), 0), {"n": n >= 1})  # true of integers only


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [
        ("unsat", "unsat", Status.PROVED),
        ("unsat", "unknown", Status.PROVED),
        ("unknown", "unsat", Status.UNDECIDED),
        ("unknown", "unknown", Status.UNDECIDED),
        ("unsat", "sat", Status.UNDECIDED),
        ("sat", "sat", Status.UNDECIDED),
        ("sat", "unsat", Status.UNDECIDED),
    ],
)
def test_two_solvers_over_the_integers(solvers, first, second, status):
    """The negated claim has a solution over the reals; only that z3 finds none over the integers proves it."""
    real = Answer("sat", {"x0": (Fraction(5, 2), True)})

    def answer(solver, whole):
        return (first if solver == "z3" else second) if whole else real

    stub = solvers(hypotheses_then(answer))
    found = decide(*INTEGERS, WHOLE)
    assert found.status is status
    assert ("over the integers" in found.how) is (status is Status.PROVED)
    assert any(whole for _, whole, _ in stub.asked)
    if (first, second) == ("unsat", "sat"):
        assert "contradict each other" in found.note


def test_the_same_with_real_solvers():
    assert decide(*INTEGERS, WHOLE).status is Status.PROVED
    assert decide(*INTEGERS, REAL).status is Status.REFUTED
    wrong = decide(sp.Ge((n - 2) * (n - 4), 0), {"n": n >= 1}, WHOLE)
    assert wrong.status is Status.REFUTED
    assert wrong.witness == {"n": "3"}
    # Fermat's cubes: true, and beyond what the solvers can do
    cubes = sp.Ne(n**3 + m**3, sp.Symbol("k", real=True) ** 3)
    setting = Context(integers=frozenset({"n", "m", "k"}), seconds=0.3)
    facts = {"n": n >= 1, "m": m >= 1, "k": sp.Symbol("k", real=True) >= 1}
    assert decide(cubes, facts, setting).status is Status.UNDECIDED


def half_then(integers):
    """The hypotheses have a solution over the reals with n = 1/2; over the integers `integers` answers."""
    real = Answer("sat", {"x0": (Fraction(1, 2), True)})
    return lambda solver, whole, text: integers(solver) if whole else real


@pytest.mark.parametrize(
    ("first", "second", "met"),
    [("unsat", "sat", False), ("sat", "unsat", True), ("unknown", "unsat", False), ("unknown", "sat", True),
     ("unknown", "unknown", None)],
)  # fmt: skip
def test_whether_integers_meet_the_hypotheses(solvers, first, second, met):
    stub = solvers(half_then(lambda solver: first if solver == "z3" else second))
    assert consistent({"n": n >= 1}, WHOLE) is met
    assert max(seconds for _, whole, seconds in stub.asked if whole) <= 1.0  # only a short try


def test_a_model_that_breaks_a_hypothesis_refutes_nothing(solvers):
    """What a solver calls a solution is checked in exact arithmetic on the original relations."""
    for value in (Fraction(1), Fraction(6), Fraction(11, 2)):
        wrong = Answer("sat", {"x0": (value, True)})
        solvers(hypotheses_then(lambda solver, whole, wrong=wrong: wrong))
        assert decide(*FALSE, REAL).status is Status.UNDECIDED
    right = Answer("sat", {"x0": (Fraction(7, 2), True)})
    solvers(hypotheses_then(lambda solver, whole: right))
    assert decide(*FALSE, REAL).status is Status.REFUTED


def test_an_unsatisfiable_hypothesis_is_vacuous_by_either_solver(solvers):
    for name in ("z3", "cvc5"):
        solvers(lambda solver, whole, text, name=name: "unsat" if solver == name else "unknown")
        assert decide(*FALSE, REAL).status is Status.VACUOUS
        assert consistent(FALSE[1], REAL) is False
