"""Bounds that are typed, audits, and repairs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from loaded_papers import unloaded_afterwards

import boundcheck as bc
from boundcheck.cli import main
from boundcheck.errors import BadInput, UnknownName
from boundcheck.theory.dimension import ONE
from boundcheck.theory.discovery import statement
from boundcheck.worst_case.repair import edits, repairs
from boundcheck.worst_case.typed import typed

STEP = ["eta <= 1/L"]
KEY = {"L": "clients/L"}


def test_letters_are_constants_of_the_catalogue() -> None:
    found = typed("mean grad2 <= 2*gap_0/(eta*k)", "gradient_descent", STEP, ["bounded_below"], KEY)
    own = found.statement
    assert {s.name: s.key for s in own.symbols} == {
        "gap_0": "start/gap", "eta": "method/eta", "L": "clients/L", "k": "",
    }  # fmt: skip
    assert [a.name for a in own.assumptions] == ["smooth_clients", "bounded_below"]
    assert (own.metric.quantity, own.metric.average, own.metric.index) == ("grad2", "mean", "k")
    assert own.dimension_errors() == []


@pytest.mark.parametrize(("letter", "method"), [("R", "gradient_descent"), ("K", "fedavg"), ("j", "scgd")])
def test_a_usual_letter_counts_the_rounds_where_no_other_symbol_does(letter: str, method: str) -> None:
    """The catalogue has a constant R; beside a letter that is left it keeps that meaning."""
    found = typed(f"gap <= L*dist2_0/{letter}", method, keys=KEY)
    assert (found.index, letter in found.keys) == (letter, False)
    symbol = found.statement.symbol(letter)
    assert (symbol.integer, symbol.index, symbol.key, symbol.dimension) == (True, True, "", ONE)
    assert found.statement.dimension_errors() == []
    beside = typed("gap <= L*dist2_0*R/k", "gradient_descent", keys=KEY)
    assert (beside.index, beside.keys["R"][0]) == ("k", "surrogate/R")


def test_a_parameter_counts_the_rounds_only_where_that_is_said() -> None:
    """FedAvg has a parameter T: which of the two is meant is not decided by the letter."""
    with pytest.raises(BadInput, match=r"T may be the method's parameter or the number of rounds.*--key T=rounds"):
        typed("gap <= L*dist2_0/T", "fedavg", keys=KEY)
    found = typed("gap <= L*dist2_0/T", "fedavg", keys={**KEY, "T": "rounds"})
    assert (found.index, "T" in found.keys, found.statement.symbol("T").key) == ("T", False, "")


@pytest.mark.parametrize(
    ("bound", "more", "error", "says"),
    [
        ("gap < 1/k", {}, BadInput, "is not of the form"),
        ("loss <= 1/k", {}, BadInput, "is no metric; it is one of gap, dist2, grad2"),
        ("gap <= L/k", {"keys": {}}, BadInput, "the symbol L may be any of objective/L, clients/L, samples/L"),
        ("gap <= L/k", {"keys": {"L": "clients/M"}}, UnknownName, "clients/M"),
        ("gap <= L*dist2_0", {}, BadInput, "one symbol must count the rounds"),
        ("gap <= L*zz/(k*yy)", {}, BadInput, "zz, k, yy are left"),
        ("gap <= L*dist2_0/k)", {}, BadInput, "no expression that can be read"),
        ("gap <= __import__('os')/k", {}, BadInput, "one symbol must count the rounds"),
        ("gap <= L*dist2_0/k", {"assume": ["convex"]}, UnknownName, "--assume"),
        ("gap <= L*dist2_0/k", {"conditions": ["eta"]}, BadInput, "has none of <=, >=, <, >"),
        ("gap <= L*dist2_0/k", {"method": "gradient_decent"}, UnknownName, "gradient_descent"),
    ],
)
def test_one_sentence_says_what_is_wrong(bound: str, more: dict[str, Any], error: type[Exception], says: str) -> None:
    given: dict[str, Any] = {"method": "gradient_descent", "conditions": STEP if "L" in bound else [], "keys": KEY}
    if "L" not in bound:
        given["keys"] = {}
    with pytest.raises(error, match=says):
        typed(bound, **{**given, **more})


CONVEX = ["--key", "L=clients/L", "--assume", "convexity"]
STRONGLY = ["--key", "L=samples/L", "--key", "mu=samples/mu"]
BELOW = ["--key", "L=clients/L", "--assume", "bounded_below"]
PROVED, BROKEN, NOT = "PROVED for these sizes", "VIOLATED", "NOT BROKEN"
# A bound, the method, the largest step size times L, what is assumed, and the verdict: five right, five misprinted.
TEXTBOOK = [
    ("gap <= dist2_0/(2*eta*k)", "gradient_descent", 1, CONVEX, PROVED),
    ("gap <= dist2_0/(5*eta*k)", "gradient_descent", 1, CONVEX, BROKEN),  # 4 eta k + 2/L
    ("gap <= dist2_0/(2*eta*k)", "gradient_descent", 2, CONVEX, BROKEN),  # a misprinted condition
    ("dist2 <= (1 - eta*mu)^k*dist2_0", "gradient_descent", 1, STRONGLY, PROVED),
    ("dist2 <= (1 - 2*eta*mu)^k*dist2_0", "gradient_descent", 1, STRONGLY, BROKEN),
    ("gap <= (1 - eta*mu)^k*gap_0", "gradient_descent", 1, STRONGLY, PROVED),
    ("gap <= 2*dist2_0/(eta*(k + 1)^2)", "accelerated_gradient", 1, CONVEX, PROVED),
    ("gap <= dist2_0/(2*eta*(k + 1)^2)", "accelerated_gradient", 1, CONVEX, BROKEN),  # a factor of 4
    ("mean grad2 <= 2*gap_0/(eta*k)", "gradient_descent", 1, BELOW, NOT),  # tight at k = 1
    ("mean grad2 <= gap_0/(eta*k)", "gradient_descent", 1, BELOW, BROKEN),  # a factor of 2
]


def answer(capsys: pytest.CaptureFixture[str], bound: str, method: str, most: int, given: list[str]) -> dict[str, Any]:
    code = main(["try", bound, "--method", method, "--if", f"eta <= {most}/L", *given, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert code == int(found["outcome"] == "VIOLATED")
    assert "HOLDS" not in found["why"]
    return found


@pytest.mark.slow  # three seconds of search for each that is not broken
@pytest.mark.parametrize(("bound", "method", "most", "given", "outcome"), TEXTBOOK)
def test_bounds_of_textbooks(
    bound: str, method: str, most: int, given: list[str], outcome: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answer(capsys, bound, method, most, given)["outcome"] == outcome


@pytest.mark.parametrize("index", [1, 7, 9])
def test_misprinted_bounds_are_broken_without_a_search(index: int, capsys: pytest.CaptureFixture[str]) -> None:
    bound, method, most, given, outcome = TEXTBOOK[index]
    found = answer(capsys, bound, method, most, given)
    assert found["outcome"] == outcome == "VIOLATED"
    assert found["keys"]["L"] == "clients/L"
    assert list(found["parts"]) == ["units", "worst case"]


def test_a_typed_bound_as_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from boundcheck.worst_case.typed import theorem_file

    path = tmp_path / "mine.py"
    found = typed("least gap <= sqrt(dist2_0)*min(1, L)/k^2", "gradient_descent", STEP, ["convexity"], KEY)
    path.write_text(theorem_file(found), encoding="utf-8")
    with unloaded_afterwards():
        assert main(["show", "mine/mine", "--load", str(path), "--json"]) == 0
        shown = json.loads(capsys.readouterr().out)
        assert "sqrt(dist2_0)" in json.dumps(shown)


def test_an_audit_ends_in_time_and_never_says_holds() -> None:
    limits = {"units": 1, "hypotheses": 5, "vacuity": 5, "worst case": 2, "similar": 5}
    found = bc.audit("classics/gradient_descent_convex", limits)
    parts = found.parts
    assert [p.name for p in parts] == ["units", "hypotheses", "vacuity", "worst case", "similar"]
    assert all(p.lines for p in parts)
    assert found.outcome in ("NOT BROKEN", "PROVED for these sizes")
    assert repr(found) == f"<Audit {found.outcome} classics/gradient_descent_convex/sharp: 5 parts>"
    assert set(json.loads(json.dumps(found.to_dict()))["parts"]) == set(limits)
    vacuity = next(p for p in parts if p.name == "vacuity").data
    assert 0 <= vacuity["vacuous"] <= vacuity["in_scope"] <= vacuity["points"]


def test_an_edit_makes_units_agree() -> None:
    """The factor that equation (2) of the paper lacks in the text is among three edits, found by units alone."""
    found = list(edits(statement("scgd/equation_2/as_printed_main")))
    right = statement("scgd/equation_2/as_printed_appendix").bound
    assert right in [r.statement.bound for r in found[:3]]


LEDGER = {
    "scgd/equation_2/as_printed_main": "(4*L**2 - mu**2)**2/(256*L**8) times mu**2",
    "fedshuffle/lemma_c_2/as_printed": "9*E*eta_g*eta_l**3*(G2*(E**2 + P2/3) + sigma2/3) times L",
    "fedshuffle/theorem_5_1_convex/as_printed": "eta_l**2*(90*G2*(E**2 + P2) + 90*sigma2) times L",
    "feddane/theorem_7/as_printed": "L_gamma2_inv_mu2 by L*gamma2_inv_mu2",
}


@pytest.mark.slow  # one to four minutes each
@pytest.mark.parametrize("id", LEDGER)
def test_the_correction_of_the_ledger_is_among_three_repairs(id: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["repair", id, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["repairs"]
    assert LEDGER[id] in [r["change"] for r in found[:3]]


def test_a_repair_stands_before_the_instances_that_break_others() -> None:
    broken = statement("scgd/equation_2/as_printed_main")
    from boundcheck.report.audit import broken_by

    found = repairs(broken, broken_by(broken, 1), lambda s, seconds: None, 1)
    assert found[0].statement.bound == statement("scgd/equation_2/as_printed_appendix").bound
