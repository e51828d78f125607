"""Only what the verifier accepted counts, as long as record, verifier, citations and statement are the same."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
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
REFUTED, INHERITED = "scgd/lemma_3_1/as_printed_main", "scgd/theorem_3_3/as_printed_main"
REFUTED_105 = "async_fl/equation_105/as_printed"


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


def test_a_record_names_what_it_cites_and_what_is_refuted() -> None:
    assert record(THEOREM).cites == (LEMMA,) == citations(THEOREM)
    words = f"REFUTED at lemma, which cites {REFUTED}. `boundcheck derive {REFUTED}` shows its refuted steps."
    assert derivation_words(INHERITED) == f"not proved: {words}"
    words = derivation_words(THEOREM)
    assert words.startswith(f"PROVED, {record(THEOREM).lines} lines, verified. Rests on ")
    assert "1 other result (proved)" in words


def test_a_record_that_is_edited_after_it_was_accepted_counts_for_nothing(shelf: Shelf) -> None:
    data = shelf.read(LEMMA)
    fact = {**data["facts"][-1], "claim": "L >= 0"}
    for member, value in {"lines": data["lines"][:-1], "kind": "refutation", "point": None, "steps": [],
                          "facts": [*data["facts"][:-1], fact]}.items():  # fmt: skip
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


def test_a_derivation_in_other_words_is_the_same(shelf: Shelf) -> None:
    shelf.edit("scgd/lemma_3_1.py", "READINGS = (", "READINGS = (  # the same\n    ")
    assert [status(id) for id in (LEMMA, THEOREM)] == ["PROVED", "PROVED"]


def test_a_changed_statement_is_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    built = discovery.derivation(LEMMA)
    tripled = replace(built.statement, bound=3 * built.statement.bound)
    other = object.__new__(type(built))
    for name, value in {**vars(built), "statement": tripled}.items():
        object.__setattr__(other, name, value)
    monkeypatch.setattr(records, "derivation", lambda id: other if id == LEMMA else discovery.derivation(id))
    for cached in ("today", "stamp"):
        monkeypatch.setattr(records, cached, getattr(records, cached).__wrapped__)
    assert [status(id) for id in (LEMMA, THEOREM, OTHER)] == [NOT_CHECKED, NOT_CHECKED, "PROVED"]
    verdict = records.compared([LEMMA])[LEMMA]["verdict"]
    assert verdict == "invalid not about this statement as it is today"


def test_another_verifier_makes_everything_not_checked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = tmp_path / "verifier.py"
    other.write_bytes(records.VERIFIER.read_bytes() + b"\n")
    monkeypatch.setattr(records, "VERIFIER", other)
    assert [status(id) for id in (LEMMA, OTHER, REFUTED)] == [NOT_CHECKED] * 3


def test_a_finder_that_lies_proves_nothing(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """The finder claims a certificate for each step and for the statement, and that the verifier has accepted it."""

    def lie(proof: Any, folder: Any) -> write.Outcome:
        data = shelf.read(OTHER)
        lines = [{**line, "by": {"rule": "sum"}} for line in data["lines"]]
        lines[-1] = {**lines[-1], "claim": data["statement"]["claim"]}
        return write.Outcome({**data, "lines": lines})

    monkeypatch.setattr(derive, "write_record", lie)
    found = derive.derive(OTHER, keep=True)
    assert found.status is not Status.PROVED
    assert found.verdict.startswith("invalid at step ")
    assert status(OTHER) == NOT_CHECKED


def test_derive_all_finds_only_what_is_not_accepted(shelf: Shelf, capsys: pytest.CaptureFixture[str]) -> None:
    """And says what is proved, and what it rests on."""
    quick = "classics/sgd_nonconvex/sharp"
    data = shelf.read(quick)
    shelf.write(quick, {k: x for k, x in data.items() if k != ACCEPTED})
    assert main(["derive", "--all", "--record", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["found"] == 1
    assert found["changed"] == [{"id": quick, "recorded": NOT_CHECKED, "found": "PROVED"}]
    assert found["counts"] == {one: [*map(status, shipped_readings())].count(one) for one in ("PROVED", "REFUTED")}
    assert status(quick) == "PROVED"
    assert main(["derive", quick]) == 0
    assert f"{quick}: PROVED, verified, rests on " in capsys.readouterr().out


def test_a_step_that_cites_a_refuted_reading_is_refuted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One status, in the lines of the steps, in the counts and at the end."""
    monkeypatch.setattr(derive, "derive", lambda id, keep: derive.recorded(id))
    assert main(["derive", INHERITED]) == 1
    shown = capsys.readouterr().out
    assert "lemma: REFUTED\n" in shown
    assert f"it cites {REFUTED}, which is refuted" in shown
    assert "11 PROVED, 1 REFUTED\n" in shown
    assert "OPEN" not in shown
    assert main(["derive", INHERITED, "--step", "lemma"]) == 1
    capsys.readouterr()
    assert main(["derive", INHERITED, "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert (data["status"], data["counts"]["REFUTED"], data["counts"]["OPEN"]) == ("REFUTED", 1, 0)


def test_a_derivation_of_another_package_has_no_record_here() -> None:
    with pytest.raises(BadInput, match="has no derivation"):
        derive.derive("classics/chung_lemma", keep=True)


FOUND_ANEW = """
import sys
from pathlib import Path
from boundcheck.proof import derive, discovery, records
place = Path(sys.argv[1])
for module in (derive, discovery, records):
    module.folder = lambda: place
for id in sys.argv[2:]:
    derive.derive(id, keep=True)
    print(records.record_file(place, id).read_text())
"""


@pytest.mark.parametrize("ids", [
    ("classics/gradient_descent_nonconvex/sharp", "scgd/lemma_3_1/sharp", REFUTED_105),
    pytest.param(("fedshuffle/lemma_d_5/as_printed",), marks=pytest.mark.slow),  # 20 s; one that did depend on them
])  # fmt: skip
def test_a_record_that_is_found_anew_does_not_depend_on_hashes(ids: tuple[str, ...], tmp_path: Path) -> None:
    """Two processes that order sets of names otherwise write the same bytes."""
    runs: list[Any] = []
    for seed in "12":
        for paper in {id.split("/")[0] for id in ids}:
            shutil.copytree(discovery.folder() / paper, tmp_path / seed / paper)
        command = [sys.executable, "-c", FOUND_ANEW, str(tmp_path / seed), *ids]
        own = {**os.environ, "PYTHONHASHSEED": seed}
        runs.append(subprocess.Popen(command, stdout=subprocess.PIPE, env=own))
    first, second = (run.communicate()[0] for run in runs)
    assert [run.returncode for run in runs] == [0, 0]
    assert first.count(b'"accepted"') == len(ids)
    assert first == second
