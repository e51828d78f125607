"""The words of an answer: precedence, grades, JSON."""

from __future__ import annotations

import json
import math

import pytest

from boundcheck.verdict import Grade, Outcome, Tightness, Verdict, count_by, plain


def test_precedence_and_grades() -> None:
    names = ["FAILED", "OUT_OF_SCOPE", "VIOLATED", "VACUOUS", "UNDECIDED", "HOLDS"]
    assert [o.value for o in sorted(Outcome, key=lambda o: o.rank)] == names
    assert [g.value for g in sorted(Grade, key=lambda g: g.rank)] == ["PROVED", "EXACT", "SUPPORTED"]
    assert Grade.PROVED.at_most(Grade.SUPPORTED) is Grade.SUPPORTED
    assert Grade.SUPPORTED.at_most(Grade.EXACT) is Grade.SUPPORTED
    assert Grade.EXACT.at_most(Grade.PROVED) is Grade.EXACT


def test_a_verdict_is_no_truth_value() -> None:
    with pytest.raises(TypeError, match="not a truth value"):
        bool(Verdict("s", Outcome.HOLDS, Grade.EXACT, ""))


@pytest.mark.parametrize(
    "verdict",
    [
        Verdict("s", Outcome.FAILED, None, "the run was lost"),
        Verdict(
            "s", Outcome.HOLDS, Grade.EXACT, "", {"round": 3}, Tightness(1.5, 2.0, 0.1), 7, {"a": [1, {"b": None}]}
        ),
        Verdict("s", Outcome.VIOLATED, Grade.SUPPORTED, "", {"metric": ["inf", 1.0]}, Tightness(0.0, math.inf), 1),
    ],
)
def test_json_round_trip(verdict: Verdict) -> None:
    text = json.dumps(verdict.to_dict(), allow_nan=False)
    assert Verdict.from_dict(json.loads(text)) == verdict


def test_what_json_lacks_becomes_text() -> None:
    odd = Verdict(
        "s", Outcome.VIOLATED, None, "", {"m": (math.inf, -math.inf)}, Tightness(math.nan, 1.0), 1, {"x": math.nan}
    )
    data = json.loads(json.dumps(odd.to_dict(), allow_nan=False))
    assert data["witness"] == {"m": ["inf", "-inf"]}
    assert data["details"] == {"x": "nan"}
    tight = Verdict.from_dict(data).tightness
    assert tight is not None
    assert math.isnan(tight.ratio_min)
    assert plain({1: [True, 2, "x", None, 0.5]}) == {"1": [True, 2, "x", None, 0.5]}


def test_counts_show_the_zeros() -> None:
    counts = count_by([Verdict("s", Outcome.HOLDS, Grade.EXACT, ""), Verdict("s", Outcome.FAILED, None, "")])
    assert counts["outcome"] == {
        "FAILED": 1,
        "OUT_OF_SCOPE": 0,
        "VIOLATED": 0,
        "VACUOUS": 0,
        "UNDECIDED": 0,
        "HOLDS": 1,
    }
    assert counts["grade"] == {"PROVED": 0, "EXACT": 1, "SUPPORTED": 0, "none": 1}


def test_html_is_escaped() -> None:
    shown = Verdict("s", Outcome.HOLDS, Grade.EXACT, "a < b & c")._repr_html_()
    assert "a &lt; b &amp; c" in shown
