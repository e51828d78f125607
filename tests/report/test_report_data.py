"""What a report says, as data: counts, numbers, the specification that repeats a claim."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from report_tools import SCOPE_OUT, hand_made

from boundcheck.evidence.claim import Claim, RateClaim, run_claim
from boundcheck.evidence.rate import Rate
from boundcheck.evidence.spec import claims_from_text
from boundcheck.report.changes import Entry, changes_between
from boundcheck.report.ci import markdown
from boundcheck.report.data import claim_data, report_data
from boundcheck.report.snippet import claim_toml
from boundcheck.report.words import power_of_ten, pretty, prose, ratio, slug
from boundcheck.verdict import Grade, Outcome

QUADRATIC = {"kind": "quadratics", "clients": [{"A": [[1]], "b": [0]}, {"A": [[1]], "b": [1]}], "start": [1]}


def test_every_outcome_and_grade_is_counted_zeros_included() -> None:
    results = [
        hand_made(Outcome.HOLDS, Grade.EXACT, expect=Outcome.HOLDS),
        hand_made(Outcome.HOLDS, Grade.SUPPORTED),
        hand_made(Outcome.FAILED, None, points=0),
        hand_made(Outcome.UNDECIDED, Grade.SUPPORTED, expect=Outcome.HOLDS, failures=("expected HOLDS",)),
    ]
    counts = report_data(results, "t")["counts"]
    assert counts["outcome"] == {**dict.fromkeys(Outcome, 0), "FAILED": 1, "UNDECIDED": 1, "HOLDS": 2}
    assert counts["grade"] == {"PROVED": 0, "EXACT": 1, "SUPPORTED": 2, "none": 1}
    assert counts["expectation"] == {"met": 1, "missed": 1, "not stated": 2}


@pytest.mark.parametrize(
    ("before", "after", "worse"),
    [
        ("HOLDS", "UNDECIDED", True),
        ("UNDECIDED", "FAILED", True),
        ("VACUOUS", "VIOLATED", True),
        ("UNDECIDED", "HOLDS", False),
        ("VIOLATED", "OUT_OF_SCOPE", False),
    ],
)
def test_what_is_worse_in_a_later_report(before: str, after: str, worse: bool) -> None:
    (change,) = changes_between(*({"c": Entry(Outcome(outcome), None, 1.0)} for outcome in (before, after)))
    assert (change.what, change.worse) == ("outcome", worse)


def test_numbers_that_json_lacks_survive() -> None:
    result = hand_made(Outcome.HOLDS, Grade.SUPPORTED, high=[float("inf"), 2.0, 1.0, 0.5])
    text = json.dumps(report_data([result], "t"), allow_nan=False)
    high = json.loads(text)["claims"][0]["curve"]["metric_high"]
    assert [float(v) for v in high] == [float("inf"), 2.0, 1.0, 0.5]


def test_data_of_a_run_holds_its_points_and_constants_and_no_times() -> None:
    claim = Claim(
        "scgd/theorem_3_3/corrected", QUADRATIC, {"kind": "scgd", "E": 1, "eta": "1/100"}, at={"K": [0, 1, 2]}
    )
    result = run_claim(claim)
    data = claim_data(replace(result, info={**result.info, "seconds": 1.5, "threads": 2}))
    # by hand: one cycle is x -> (99/100)^2 x + 1/100 from x = 1, and the minimiser is 1/2
    x = [Fraction(1)]
    for _ in range(2):
        x.append(Fraction(99, 100) * (Fraction(99, 100) * x[-1]) + Fraction(1, 100))
    for low, high, point in zip(data["curve"]["metric_low"], data["curve"]["metric_high"], x, strict=True):
        assert Fraction(low) <= (point - Fraction(1, 2)) ** 2 <= Fraction(high)
    assert data["curve"]["rounds"] == [0, 2, 4]
    assert data["curve"]["index"] == ["0", "1", "2"]
    assert data["constants"]["sigma2"]["value"] == "1/4"
    assert data["curve"]["trivial"] == [0.25, 0.25, 0.25]
    read = {r["reading"] for r in data["readings"]}
    assert read == {"as_printed_main", "as_printed_appendix", "conservative", "sharp"}
    assert {r["reading"] for r in data["readings"] if not r["same_bound"]} == {"sharp"}
    assert set(data["run"]["info"]).isdisjoint({"seconds", "threads"})
    assert json.dumps(data) == json.dumps(claim_data(result))


def test_assumptions_are_told_apart_by_how_they_are_known() -> None:
    details = {
        "assumptions": {"strong_quasi_convexity": "broken", "smooth_clients": "decided"},
        "violations": {"strong_quasi_convexity": "F is unbounded below."},
    }
    result = hand_made(Outcome.OUT_OF_SCOPE, Grade.EXACT, details={**SCOPE_OUT, **details})
    told = {a["name"]: (a["standing"], a["objection"]) for a in claim_data(result)["statement"]["assumptions"]}
    assert told == {
        "strong_quasi_convexity": ("broken", "F is unbounded below."),
        "smooth_clients": ("decided", None),
        "plain_mean": ("granted", None),
        "finite_gradient_noise": ("granted", None),  # nobody said anything about it
    }


CLAIMS = [
    Claim("scgd/theorem_3_3", QUADRATIC, {"kind": "scgd", "E": 4, "eta": "0.9*largest"}),
    Claim(
        "scgd/theorem_3_3/corrected",
        {"kind": "least_squares", "data": "diabetes", "clients": 20, "split": "random", "seed": 0},
        {"kind": "scgd", "E": 4, "eta": "1/100000"},
        name='quotes " backslash \\ newline \n and ünïcode',
        at={"K": "log:1:1000:5"},
        constants={"mu": "1e-6"},
        engine="sampled",
        arithmetic="float64",
        seeds=64,
        level=0.99,
        expect=Outcome.VIOLATED,
        tightness=(1e-6, 2.5),
        rate=RateClaim("dist2", Fraction(-21, 10), Fraction(-1, 3), Fraction(1, 2)),
    ),
]


@pytest.mark.parametrize("claim", CLAIMS, ids=["plain", "everything"])
def test_the_specification_on_a_page_reads_back_as_the_claim(claim: Claim) -> None:
    assert claims_from_text(claim_toml(claim)) == [claim]


@pytest.mark.parametrize("at", [{"K": [1, 2, 10]}, {"K": np.array([1, 2, 10])}, {"K": (1, 2, 10)}])
def test_grids_of_any_kind_are_written_as_lists(at: dict[str, Any]) -> None:
    (again,) = claims_from_text(claim_toml(replace(CLAIMS[0], at=at)))
    assert again.at == {"K": [1, 2, 10]}


def test_a_float_is_written_with_its_exact_binary_value() -> None:
    claim = replace(CLAIMS[0], method={"kind": "scgd", "E": 1, "eta": 0.1}, constants={"mu": 0.5})
    (again,) = claims_from_text(claim_toml(claim))
    assert Fraction(str(again.method["eta"])) == Fraction(0.1) != Fraction("0.1")
    assert Fraction(str(again.constants["mu"])) == Fraction(1, 2)


def test_pages_of_equal_names_do_not_overwrite_each_other() -> None:
    results = [hand_made(Outcome.HOLDS, Grade.EXACT, name=name) for name in ("Index", "a b", "A-B!", "report", "ÄÖ")]
    pages = [c["page"] for c in report_data(results, "t")["claims"]]
    assert pages == ["index-2.html", "a-b.html", "a-b-2.html", "report-2.html", "claim.html"]


def test_expectations_are_listed_in_words() -> None:
    claim = replace(CLAIMS[1], expect=Outcome.HOLDS)
    rate = Rate(-0.5, -0.6, -0.4, "drift", 5, (1.0, 10.0))
    data = claim_data(replace(hand_made(Outcome.HOLDS, Grade.EXACT), claim=claim, rate=rate))
    assert data["expectation"]["asked"] == [
        "HOLDS",
        "bound over metric at least 1e-06",
        "bound over metric at most 2.5",
        "slope of dist2 from -2.1 to -0.333333",
    ]
    assert data["rate"]["slope"] == -0.5
    assert data["rate"]["asked"] == [-2.1, -1 / 3]


def test_markdown_shows_all_counts_and_cannot_be_broken_by_names() -> None:
    results = [
        hand_made(Outcome.OUT_OF_SCOPE, Grade.EXACT, name="a | b <img src=x>", reason="so | so", details=SCOPE_OUT),
        hand_made(Outcome.HOLDS, Grade.EXACT, expect=Outcome.VIOLATED, failures=("expected VIOLATED, got HOLDS",)),
    ]
    text = markdown(report_data(results, "Title"))
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == 3
    assert all(line.replace("\\|", "").count("|") == 8 for line in rows)
    assert "<img" not in text.replace("\\<", "")
    assert "0 UNDECIDED" in text
    assert "1 missed" in text
    assert "expected VIOLATED, got HOLDS" in text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1.2345e-6, "1.23 × 10⁻⁶"),
        (1e10, "10¹⁰"),
        (-0.0, "0"),
        (-2.5, "−2.5"),
        (float("inf"), "∞"),
        (float("nan"), "not a number"),
        (Fraction(12345), "12\u202f345"),
        (Fraction(10**9), "10⁹"),
        (Fraction(1, 3), "0.333"),
        (Fraction(1, 10**400), "10⁻⁴⁰⁰"),
    ],
)
def test_numbers_for_people(value: Any, shown: str) -> None:
    assert pretty(value) == shown


def test_words() -> None:
    assert ratio(1.0003) == "1 + 0.0003"
    assert ratio(1.0) == "1"
    assert ratio(83.21) == "83.2"
    assert power_of_ten(1e-7) == "10⁻⁷"
    assert power_of_ten(10.0) == "10"
    assert prose("mu**2/(24*L**4) <= (1 + 2*eta)**E at -1, 1e-5") == "mu²/(24·L⁴) ≤ (1 + 2·eta)^E at −1, 1e-5"
    assert slug("../../etc/passwd") == "etc-passwd"
