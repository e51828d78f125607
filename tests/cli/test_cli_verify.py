"""`boundcheck verify` compares a record, and those that it cites, with the statement of today."""

from __future__ import annotations

from dataclasses import replace

import pytest

from boundcheck.cli import main
from boundcheck.proof import discovery, records

LEMMA, CITING = "fedshuffle/recursion_convex/corrected", "fedshuffle/theorem_5_1_convex/corrected"
DERIVATION = discovery.derivation


def changed(id: str) -> object:
    found = DERIVATION(id)
    if id != LEMMA:
        return found
    other = object.__new__(type(found))
    for name, value in vars(found).items():
        object.__setattr__(other, name, value)
    object.__setattr__(other, "statement", replace(found.statement, bound=3 * found.statement.bound))
    return other


def test_a_record_is_compared_with_the_statement(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", LEMMA]) == 0
    *quoted, verdict = capsys.readouterr().out.splitlines()
    assert all(text.startswith("> ") for text in quoted)
    assert verdict.startswith(f"{LEMMA}: valid, rests on ")
    monkeypatch.setattr(records, "today", records.today.__wrapped__)  # as a new process would
    monkeypatch.setattr(records, "derivation", changed)
    assert main(["verify", LEMMA]) == 1
    assert f"{LEMMA}: invalid not about this statement as it is today" in capsys.readouterr().out
    assert main(["verify", CITING]) == 1
    assert f"invalid it cites {LEMMA}, whose record is not about this statement" in capsys.readouterr().out


def test_a_refutation_says_where_and_at_which_values(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "partial_averaging/remark_4_speedup/as_printed"]) == 0
    *_, verdict = capsys.readouterr().out.splitlines()
    assert ": refuted at step 'conclusion' (m = 8, threshold = 512)" in verdict
    assert "valid" not in verdict
