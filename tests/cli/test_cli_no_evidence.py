"""`boundcheck list --no-evidence`: the readings that nothing bears out, and the exit code."""

from __future__ import annotations

import pytest
from cli_tools import Run

from boundcheck.evidence import shipped_files


def test_it_lists_what_the_full_list_counts(boundcheck_cli: Run) -> None:
    rows = boundcheck_cli("list", "--paper", "classics", "--json").json
    lacking = [r["id"] for r in rows["statements"] if r["belief"] != "open" and not r["borne_out_by"]]
    assert rows["counts"]["believed true or false without evidence"] == len(lacking)
    found = boundcheck_cli("list", "--paper", "classics", "--no-evidence", "--json")
    assert (found.json, found.code) == (lacking, 1 if lacking else 0)
    shown = boundcheck_cli("list", "--paper", "classics", "--no-evidence")
    assert [line.partition(":")[0] for line in shown.out.splitlines()] == lacking


def test_nothing_is_printed_where_all_have_evidence(boundcheck_cli: Run) -> None:
    found = boundcheck_cli("list", "--reading", "as_printed_client_3", "--no-evidence")
    assert (found.out, found.code) == ("", 0)
    assert boundcheck_cli("list", "--reading", "as_printed_client_3", "--no-evidence", "--json").json == []


def test_without_claims_and_witnesses_more_readings_lack_evidence(
    boundcheck_cli: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipped_files, "shipped_witnesses", dict)
    monkeypatch.setattr(shipped_files, "claims_by_id", dict)
    found = boundcheck_cli("list", "--reading", "as_printed_client_3", "--no-evidence")
    assert found.code == 1
    assert found.out.splitlines() == ["fedshuffle/section_4_2_sum_one/as_printed_client_3: believed true"]
