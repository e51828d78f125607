"""The shipped table of worst cases and its place in the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from boundcheck.cli import main
from boundcheck.report.pages import environment, worst_cases
from boundcheck.theory.discovery import statement
from boundcheck.worst_case.table import changed, of_table, row, shipped, text_of

QUICK = (
    "classics/gradient_descent_convex/as_printed",
    "feddane/theorem_3/sharp",
    "partial_averaging/theorem_1/corrected",
)


def by_id() -> dict[str, Any]:
    return {own["statement"]: own for own in shipped()["rows"]}


def same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert {k: v for k, v in one.items() if k != "sizes"} == {k: v for k, v in other.items() if k != "sizes"}
    assert [s["at"] for s in one["sizes"]] == [s["at"] for s in other["sizes"]]
    for mine, own in zip(one["sizes"], other["sizes"], strict=True):
        for a, b in zip(mine["looseness"], own["looseness"], strict=True):
            assert (a is None) == (b is None)
            assert a is None or a == pytest.approx(b, rel=1e-3)


def test_the_shipped_table_is_that_of_today() -> None:
    """Where this fails, the command that the file names makes it anew."""
    assert list(changed(shipped())) == []


def test_every_row_says_how_loose_or_why_not() -> None:
    for own in shipped()["rows"]:
        assert bool(own["sizes"]) != bool(own["why"]), own["statement"]
        for size in own["sizes"]:
            low, high = size["looseness"]
            assert size["outcome"] != "VIOLATED", own["statement"]
            assert low is None or high is None or low <= high * (1 + 1e-5)
            assert low is not None or size["why"] or size["outcome"] == "OUT_OF_SCOPE", own["statement"]


def test_a_size_out_of_scope_says_nothing_on_the_page() -> None:
    tuned = "fedshuffle/theorem_5_1_strongly_convex_tuned/corrected"
    assert {s["outcome"] for s in by_id()[tuned]["sizes"]} == {"OUT_OF_SCOPE"}
    (shown,) = (own for own in worst_cases({"fedshuffle"})["rows"] if own["id"] == tuned)
    assert (shown["sizes"], shown["ends"], shown["why"]) == (0, [], "a condition fails at every small size")


@pytest.mark.parametrize("id", QUICK)
def test_a_row_is_computed_again(id: str) -> None:
    same(row(statement(id)), by_id()[id])


@pytest.mark.slow  # about a minute
def test_all_rows_are_computed_again() -> None:
    known = by_id()
    for own in of_table():
        same(row(own), known[own.best_id])


def test_a_row_is_reproduced_by_its_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["worst-case", QUICK[0], "-o", str(tmp_path / "t.json")]) == 2  # which needs --all
    capsys.readouterr()
    own = by_id()[QUICK[0]]["sizes"][0]
    main(["worst-case", QUICK[0], *own["at"].split(), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["outcome"] == own["outcome"]
    assert found["ratio"] == pytest.approx(own["looseness"], rel=1e-5)


def test_a_table_of_other_code_or_statements_says_so() -> None:
    data = json.loads(text_of(shipped()))
    data["code"] = "0" * 64
    data["rows"][0]["digest"] = "0" * 64
    del data["rows"][1]
    assert list(changed(data)) == ["the code", *sorted(r["statement"] for r in shipped()["rows"][:2])]


def test_the_block_of_the_overview_page_names_reasons_and_changes() -> None:
    shown = worst_cases({"feddane", "async_fl"})
    assert {r["id"].partition("/")[0] for r in shown["rows"]} == {"feddane", "async_fl"}
    assert next(r["ends"] for r in shown["rows"] if r["id"] == QUICK[1])[0][0].startswith("1.0")
    assert not shown["other_code"]
    shown["rows"][0]["changed"] = True
    page = environment().get_template("worst.html.j2").render(worst=shown, page_of=lambda id: "there.html")
    assert page.count("has changed since") == 1
    assert "a worst case has no" in page  # of asynchronous averaging
    assert '<a href="there.html"><code>feddane/theorem_3/sharp</code></a>' in page
    assert "The code of worst cases has changed" not in page
    assert "The code of worst cases has changed" in environment().get_template("worst.html.j2").render(
        worst={**shown, "other_code": True}, page_of=lambda id: ""
    )
