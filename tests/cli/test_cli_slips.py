"""`boundcheck list --slips`: printed readings that are false or whose printed proof breaks, and at which step."""

from __future__ import annotations

from cli_tools import Run


def test_the_steps_are_those_that_a_fresh_check_refutes(boundcheck_cli: Run) -> None:
    rows = boundcheck_cli("list", "--slips", "--paper", "scgd", "--json").json["statements"]
    found = {row["id"]: row["refuted_at"] for row in rows}
    fresh = boundcheck_cli("derive", "scgd/lemma_3_1/as_printed_appendix", "--json").json
    refuted = [step["name"] for step in fresh["steps"] if step["status"] == "REFUTED"]
    assert found["scgd/lemma_3_1/as_printed_appendix"] == refuted != []


def test_they_are_the_printed_readings_that_are_false_or_break(boundcheck_cli: Run) -> None:
    every = boundcheck_cli("list", "--json").json["statements"]
    rows = boundcheck_cli("list", "--slips", "--json").json["statements"]
    printed = [row for row in every if row["reading"].startswith("as_printed")]
    assert rows == [row for row in printed if row["belief"] == "false" or row["refuted_at"]]
    assert {"fedshuffle/lemma_d_5/as_printed", "async_fl/theorem_1/as_printed"} <= {row["id"] for row in rows}
    # where another reading is encoded, a false one says what that replaces
    paths = {row["id"].rpartition("/")[0] for row in every if not row["reading"].startswith("as_printed")}
    assert all((row["correction"] is not None) == (row["id"].rpartition("/")[0] in paths) for row in rows)


def test_the_table_has_a_line_for_each(boundcheck_cli: Run) -> None:
    rows = boundcheck_cli("list", "--slips", "--paper", "fedshuffle", "--json").json["statements"]
    lines = boundcheck_cli("list", "--slips", "--paper", "fedshuffle").out.splitlines()
    assert [text.split()[0] for text in lines[1 : 1 + len(rows)]] == [row["id"] for row in rows]
    assert lines[-1] == f"{len(rows)} readings, {sum(bool(row['refuted_at']) for row in rows)} with a refuted step."
    assert any("rounding" in text for text in lines if text.startswith("fedshuffle/lemma_c_2/as_printed"))
