"""Bounds that are typed, audits, and repairs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import boundcheck as bc
from boundcheck.cli import main
from boundcheck.errors import BadInput, UnknownName
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


@pytest.mark.slow  # four seconds of search for each
@pytest.mark.parametrize(
    ("bound", "method", "assume", "outcome"),
    [
        ("gap <= dist2_0/(2*eta*k)", "gradient_descent", ["convexity"], "PROVED for these sizes"),
        ("gap <= L*dist2_0/(2*k)", "gradient_descent", ["convexity"], "VIOLATED"),  # small steps
        ("gap <= dist2_0/(5*eta*k)", "gradient_descent", ["convexity"], "VIOLATED"),  # 4 eta k + 2/L
        ("mean grad2 <= 2*gap_0/(eta*k)", "gradient_descent", ["bounded_below"], "NOT BROKEN"),  # tight at k = 1
        ("grad2 <= gap_0/(eta*k)", "gradient_descent", ["bounded_below"], "VIOLATED"),  # the last one, not the mean
    ],
)
def test_bounds_of_textbooks(
    bound: str, method: str, assume: list[str], outcome: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [part for name in assume for part in ("--assume", name)]
    code = main(["try", bound, "--method", method, "--if", "eta <= 1/L", "--key", "L=clients/L", *given, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["outcome"] == outcome
    assert found["keys"]["L"] == "clients/L"
    assert code == int(outcome == "VIOLATED")


def test_a_typed_bound_as_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from boundcheck.worst_case.typed import theorem_file

    path = tmp_path / "mine.py"
    found = typed("least gap <= sqrt(dist2_0)*min(1, L)/k^2", "gradient_descent", STEP, ["convexity"], KEY)
    path.write_text(theorem_file(found), encoding="utf-8")
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


def test_a_repair_stands_before_the_instances_that_break_others() -> None:
    broken = statement("scgd/equation_2/as_printed_main")
    from boundcheck.report.audit import broken_by

    found = repairs(broken, broken_by(broken, 1), lambda s, seconds: None, 1)
    assert found[0].statement.bound == statement("scgd/equation_2/as_printed_appendix").bound
