"""Only what the verifier accepted counts, as long as record, verifier, citations and statement are the same."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from record_tools import Shelf, shelf

from boundcheck.cli import main
from boundcheck.errors import BadInput
from boundcheck.evidence.standing import derivation_words
from boundcheck.proof import derive, discovery, records
from boundcheck.proof.discovery import citations, shipped_readings
from boundcheck.proof.find import write
from boundcheck.proof.records import ACCEPTED, NOT_CHECKED, record
from boundcheck.proof.step import Status
from tests.oracle.frozen import load

__all__ = ["shelf"]  # the fixture

LEMMA, THEOREM, OTHER = "scgd/lemma_3_1/corrected", "scgd/theorem_3_3/corrected", "classics/sgd_convex/sharp"
REFUTED = "scgd/lemma_3_1/as_printed_main"


def status(id: str) -> str:
    found = record(id)
    assert found is not None
    return found.status


def test_every_derivation_has_a_record_that_was_accepted() -> None:
    found = {id: status(id) for id in shipped_readings()}
    assert set(found) == set(load("steps"))
    refuted = {id for id, steps in load("steps").items() if "REFUTED" in steps.values() or "OPEN" in steps.values()}
    assert {id for id, one in found.items() if one == "REFUTED"} == refuted
    assert {id for id, one in found.items() if one == "PROVED"} == set(found) - refuted
    assert (len(found), len(refuted)) == (171, 34)


def test_a_record_names_what_it_cites(shelf: Shelf) -> None:
    assert [status(id) for id in (LEMMA, THEOREM, OTHER, REFUTED)] == ["PROVED", "PROVED", "PROVED", "REFUTED"]
    assert record(THEOREM).cites == (LEMMA,) == citations(THEOREM)


def test_a_record_that_is_edited_after_it_was_accepted_counts_for_nothing(shelf: Shelf) -> None:
    data = shelf.read(LEMMA)
    for member, value in {"lines": data["lines"][:-1], "kind": "refutation", "point": None, "steps": []}.items():
        shelf.write(LEMMA, {**data, member: value})
        assert (status(LEMMA), status(THEOREM), status(OTHER)) == (NOT_CHECKED, NOT_CHECKED, "PROVED")
    refuted = shelf.read(REFUTED)
    for member, value in {"status": "PROVED", "failing": {}, "rests": ["nothing"], "verifier": "0" * 64}.items():
        shelf.write(REFUTED, {**refuted, ACCEPTED: {**refuted[ACCEPTED], member: value}})
        assert status(REFUTED) == NOT_CHECKED
    shelf.write(REFUTED, {k: x for k, x in refuted.items() if k != ACCEPTED})
    assert record(REFUTED).reason == "the verifier has not accepted its record"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"accepted": []}', '{"accepted": {"verifier": 1}}'])
def test_a_file_that_is_no_record(shelf: Shelf, text: str) -> None:
    (shelf.path / "scgd" / "lemma_3_1.corrected.proof.json").write_text(text)
    assert status(LEMMA) == NOT_CHECKED
    assert derivation_words(LEMMA).startswith("not checked: ")


def test_a_changed_derivation_and_what_cites_it_are_not_checked(shelf: Shelf) -> None:
    shelf.edit("scgd/lemma_3_1.py", "READINGS = (", "READINGS = (  # the same\n    ")
    assert [status(id) for id in (LEMMA, THEOREM)] == ["PROVED", "PROVED"]  # it says the same
    data = shelf.read(LEMMA)
    fact = {**data["facts"][-1], "claim": "L >= 0"}
    shelf.write(LEMMA, {**data, "facts": [*data["facts"][:-1], fact]})
    assert [status(id) for id in (LEMMA, THEOREM, OTHER)] == [NOT_CHECKED, NOT_CHECKED, "PROVED"]


def test_a_changed_statement_is_not_checked(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    built = discovery.derivation(LEMMA)
    tripled = replace(built.statement, bound=3 * built.statement.bound)
    other = object.__new__(type(built))
    for name, value in {**vars(built), "statement": tripled}.items():
        object.__setattr__(other, name, value)
    monkeypatch.setattr(records, "derivation", lambda id: other if id == LEMMA else discovery.derivation(id))
    records.today.cache_clear()
    assert [status(id) for id in (LEMMA, THEOREM, OTHER)] == [NOT_CHECKED, NOT_CHECKED, "PROVED"]


def test_another_verifier_makes_everything_not_checked(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    other = tmp_path / "verifier.py"
    other.write_bytes(records.VERIFIER.read_bytes() + b"\n")
    monkeypatch.setattr(records, "VERIFIER", other)
    assert [status(id) for id in (LEMMA, OTHER, REFUTED)] == [NOT_CHECKED] * 3


def test_a_finder_that_lies_proves_nothing(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """The finder claims a certificate for each step and for the statement, and that the verifier has accepted it."""

    def lie(proof: Any, folder: Any) -> write.Outcome:
        data = json.loads(records.record_file(discovery.folder(), OTHER).read_bytes())
        lines = [{**line, "by": {"rule": "sum"}} for line in data["lines"]]
        lines[-1] = {**lines[-1], "claim": data["statement"]["claim"]}
        return write.Outcome({**data, "lines": lines})

    monkeypatch.setattr(derive, "write_record", lie)
    found = derive.derive(OTHER, keep=True)
    assert found.status is not Status.PROVED
    assert found.verdict.startswith("invalid at step ")
    assert status(OTHER) == NOT_CHECKED


def test_derive_says_what_is_proved_and_what_it_rests_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", OTHER]) == 0
    shown = capsys.readouterr().out
    assert f"{OTHER}: PROVED, verified, rests on " in shown
    assert main(["derive", OTHER, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["status"], data["verdict"]) == ("PROVED", "valid")
    assert data["rests_on"]


def test_derive_all_finds_only_what_is_not_accepted(shelf: Shelf, capsys: pytest.CaptureFixture[str]) -> None:
    data = shelf.read(OTHER)
    shelf.write(OTHER, {k: x for k, x in data.items() if k != ACCEPTED})
    assert main(["derive", "--all", "--record", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["found"], found["counts"]) == (1, {"PROVED": 137, "REFUTED": 34})
    assert found["changed"] == [{"id": OTHER, "recorded": NOT_CHECKED, "found": "PROVED"}]
    assert status(OTHER) == "PROVED"


def test_a_derivation_of_another_package_has_no_record_here() -> None:
    with pytest.raises(BadInput, match="has no derivation"):
        derive.derive("classics/chung_lemma", keep=True)


def test_a_step_that_cites_what_is_refuted_says_so() -> None:
    reading = "scgd/lemma_3_1/as_printed_main"
    words = f"REFUTED at lemma, which cites {reading}. `boundcheck derive {reading}` shows its refuted steps."
    assert derivation_words("scgd/theorem_3_3/as_printed_main") == f"not proved: {words}"


def test_what_a_proof_rests_on_is_counted_by_weight() -> None:
    words = derivation_words(THEOREM)
    found = record(THEOREM)
    assert words.startswith(f"PROVED, {found.lines} lines, verified. Rests on ")
    assert words.endswith("1 other result (proved).") or "1 other result (proved)" in words
