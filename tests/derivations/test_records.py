"""Records are believed only as far as their digests reach: what they say, and all that the outcome depends on."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from record_tools import Shelf, forget, shelf

from boundcheck.cli import main
from boundcheck.errors import BadInput
from boundcheck.proof import records, sources
from boundcheck.proof.discovery import citations, derivation, derived_readings
from boundcheck.proof.records import DERIVED, NOT_CHECKED, record, recorded, seal, write_record
from boundcheck.report.words import derivation_words

__all__ = ["shelf"]  # the fixture

LEMMA, THEOREM, OTHER = "scgd/lemma_3_1/corrected", "scgd/theorem_3_3/corrected", "classics/sgd_convex/sharp"
REFUTED = "scgd/lemma_3_1/as_printed_main"


def status(id: str) -> str:
    found = record(id)
    assert found is not None
    return found.status


def test_the_copy_is_believed(shelf: Shelf) -> None:
    assert [status(id) for id in (LEMMA, THEOREM, OTHER, REFUTED)] == ["PROVED", "PROVED", "PROVED", "REFUTED"]
    assert citations(THEOREM) == (LEMMA,) == record(THEOREM).cites


def without_digest(entry: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in entry.items() if k != "digest"}


EDITS = {
    "status": "PROVED",
    "counts": {"PROVED": 43, "ASSUMED": 0, "UNDECIDED": 0, "REFUTED": 0},
    "failing": {},
    "transcribed": {},
    "cites": [OTHER],
    "digest": "0" * 64,
    "more": 1,
}


@pytest.mark.parametrize("member", EDITS)
def test_an_edited_record_is_not_believed(shelf: Shelf, member: str) -> None:
    entry = shelf.entry(REFUTED)
    assert entry.get(member) != EDITS[member]
    shelf.alter(REFUTED, {**entry, member: EDITS[member]})
    assert status(REFUTED) == NOT_CHECKED
    shelf.alter(REFUTED, {k: v for k, v in entry.items() if k != member})
    assert status(REFUTED) == ("REFUTED" if member == "more" else NOT_CHECKED)


def test_the_record_of_another_reading_is_not_believed(shelf: Shelf) -> None:
    shelf.alter(REFUTED, shelf.entry(LEMMA))
    assert status(REFUTED) == NOT_CHECKED
    assert status(LEMMA) == "PROVED"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"schema": 2, "readings": []}', '{"schema": 2, "readings": {"a": 1}}']
)
def test_a_file_that_is_no_record(shelf: Shelf, text: str) -> None:
    (shelf.path / "scgd" / "lemma_3_1.json").write_text(text)
    assert recorded("scgd", "lemma_3_1") == {}
    assert derivation_words(LEMMA) == "not checked: it has no record of a check"


def test_list_and_show_believe_no_edited_record(shelf: Shelf, capsys: pytest.CaptureFixture[str]) -> None:
    main(["list", "--paper", "scgd", "--json"])
    before = json.loads(capsys.readouterr().out)["counts"]["with a proved derivation"]
    shelf.alter(REFUTED, {**shelf.entry(REFUTED), "status": "PROVED", "failing": {}})
    shelf.edit("scgd/theorem_3_3.py", "READINGS = (", "LIMIT = 3\nREADINGS = (")
    assert main(["list", "--paper", "scgd", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    rows = {r["id"]: r for r in found["statements"]}
    assert rows[REFUTED]["derivation"] == rows[THEOREM]["derivation"] == "not checked"
    assert rows[THEOREM]["transcribed"] == {}
    assert rows[LEMMA]["derivation"] == "PROVED"
    assert found["counts"]["with a proved derivation"] == before - 3  # the readings of Theorem 3.3
    main(["show", THEOREM])
    shown = capsys.readouterr().out
    assert "evidence: derivation not checked;" in shown
    assert "derivation: not checked: its record does not fit the statement, the derivation and the checker" in shown
    assert "PROVED" not in shown


def test_comments_white_space_and_docstrings_leave_a_record_valid(shelf: Shelf) -> None:
    file = shelf.path / "scgd" / "lemma_3_1.py"
    text = file.read_text()
    file.write_text(text.replace('"""The proof of', '"""A proof of').replace("\n\n\ndef ", "\n\n\n\n# here\ndef "))
    assert file.read_text() != text
    forget()
    assert (status(LEMMA), status(THEOREM)) == ("PROVED", "PROVED")


def test_a_changed_derivation_and_what_cites_it_are_not_checked(shelf: Shelf) -> None:
    shelf.edit("scgd/lemma_3_1.py", "noise = 2 * L**2 * s**3", "noise = 3 * L**2 * s**3")
    assert [status(id) for id in (LEMMA, THEOREM, OTHER)] == [NOT_CHECKED, NOT_CHECKED, "PROVED"]


@pytest.mark.parametrize("part", ["kernel_digest", "derivation_digest", "statement_digest"])
def test_each_part_is_in_the_digest(shelf: Shelf, monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    monkeypatch.setattr(records, part, lambda *names: "another" if names in ((), ("scgd/lemma_3_1",)) else "the same")
    shelf.alter(OTHER, {**shelf.entry(OTHER), "digest": seal(OTHER, without_digest(shelf.entry(OTHER)))})
    expected = {LEMMA: NOT_CHECKED, THEOREM: NOT_CHECKED, OTHER: "PROVED"}  # the theorem cites the lemma
    assert {id: status(id) for id in expected} == expected


def test_the_digest_of_the_checker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = sources.kernel_digest()
    copy = tmp_path / "proof"
    shutil.copytree(sources.KERNEL, copy, ignore=shutil.ignore_patterns("__pycache__"))
    file = copy / "rules" / "base.py"
    text = file.read_text()

    def digest(changed: str) -> str:
        file.write_text(changed)
        forget()
        return sources.kernel_digest()

    monkeypatch.setattr(sources, "KERNEL", copy)
    assert digest(text) == digest(text.replace('"""What every', '"""All that every') + "\n# the end\n") == ours
    assert digest(text.replace("Status.PROVED", "Status.REFUTED", 1)) != ours
    file.unlink()
    forget()
    assert sources.kernel_digest() != ours
    forget()


def test_the_digest_of_a_statement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "scgd/lemma_3_1"
    ours = sources.statement_digest(name)
    copy = tmp_path / "boundcheck"
    for part in ("papers/scgd", "theory"):
        shutil.copytree(sources.PACKAGE / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(sources, "PACKAGE", copy)

    def digest(file: str, old: str, new: str) -> str:
        text = (copy / file).read_text()
        assert old in text
        (copy / file).write_text(text.replace(old, new))
        forget()
        found = sources.statement_digest(name)
        (copy / file).write_text(text)
        return found

    assert digest("papers/scgd/lemma_3_1.py", "\n\n", "\n\n\n# more\n") == ours
    assert digest("papers/scgd/lemma_3_1.py", "theorem = ", "other = ") != ours
    assert digest("papers/scgd/definitions.py", "sp.", "sympy.") != ours
    assert digest("theory/symbols.py", "common", "shared") != ours
    assert digest("theory/evaluation.py", "def ", "async def ") == ours  # it evaluates bounds, and states none
    with pytest.raises(BadInput, match="has no source file"):
        sources.statement_digest("scgd/lemma_9_9")
    forget()


ENTRY = """
import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.identity import Decide
from boundcheck.proof.step import Fact, Step

READINGS = ("as_printed",)
alpha, m = sp.symbols("alpha m", real=True)
PAIRS = Fact("pairs", sp.Eq(m * alpha, m - 1), "metric", "m (m - 1) pairs of different draws out of m^2")
STEP = Step("conclusion", sp.Eq(alpha, 1 - 1 / m), ("pairs", "domain m"), Decide(), "divided by m")


def derivation(statement):
    return Derivation(statement, (*scope_facts(statement), PAIRS), (STEP,), conclusion="conclusion", target=alpha)
"""


def test_an_entry_of_a_table_has_a_derivation_of_its_own(shelf: Shelf) -> None:
    name = "async_fl/table_2_md_alpha"
    (shelf.path / f"{name}.py").write_text(ENTRY)
    forget()
    assert derived_readings("async_fl", "table_2_md_alpha") == ("as_printed",)
    assert derived_readings("async_fl", "table_2_md_beta") == ()
    assert derivation(name).check().status == "PROVED"
    shelf.plant(f"{name}/as_printed")
    assert status(f"{name}/as_printed") == DERIVED
    assert sources.statement_digest(name) == sources.statement_digest("async_fl/table_2_md_beta")
    assert sources.statement_digest(name) != sources.statement_digest("async_fl/lemma_1")


def test_the_kept_digests_are_those_of_the_files(shelf: Shelf) -> None:
    kept = json.loads((shelf.path / "sources.json").read_bytes())["sources"]
    assert len(kept) > 100
    roots = {"derivations": shelf.path.parent, "kinds": sources.KINDS.parent}
    for label, content in kept.items():
        found = sources._read(roots.get(label.partition("/")[0], sources.PACKAGE) / label).to_dict()
        if found["sha256"] == content["sha256"]:
            assert found == content, label


def test_kept_digests_of_other_bytes_are_not_used(shelf: Shelf) -> None:
    (shelf.path / "sources.json").unlink()
    forget()
    without = [record(id) for id in (LEMMA, THEOREM, REFUTED)]
    assert [r.status for r in without if r is not None] == ["PROVED", "PROVED", "REFUTED"]
    (shelf.path / "sources.json").write_text('{"schema": 1, "sources": {"proof/step.py": 1}}')
    forget()
    assert status(LEMMA) == "PROVED"


def test_reading_records_loads_no_checker() -> None:
    script = (
        "import sys; from boundcheck.proof.records import record; print(record('scgd/lemma_3_1/corrected').status)\n"
        "heavy = ('z3', 'cvc5', 'scipy', 'clarabel', 'cvxpy', 'numpy', 'boundcheck.proof.derivation')\n"
        "print([m for m in heavy if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["PROVED", "[]"]


def test_what_a_derivation_cites_is_all_that_its_check_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    from boundcheck.proof import cited, discovery, lemma

    opened: set[str] = set()

    def noting(id: str) -> object:
        found = derivation(id)
        opened.add(found.statement.id)
        return found

    for module in (cited, lemma, discovery):
        monkeypatch.setattr(module, "derivation", noting)
    cited._reports.clear()
    name = "fedshuffle/lemma_c_1/raw"
    noting(name).check()  # type: ignore[attr-defined]
    assert opened - {name} == set(citations(name)) != set()
    built = "feddane/theorem_3/sharp"  # another derivation is taken and its steps are used
    assert citations(built) == ("feddane/theorem_5/sharp",)


# PROVED comes from the verifier

CITED_PROOF, OWN_PROOF = "scgd/lemma_3_1.corrected.proof.json", "scgd/theorem_3_3.corrected.proof.json"


@pytest.mark.parametrize("name", [OWN_PROOF, CITED_PROOF])
def test_a_proof_record_that_is_gone_or_another_one_proves_nothing(shelf: Shelf, name: str) -> None:
    file = shelf.path / name
    content = file.read_bytes()
    for change in (file.unlink, lambda: file.write_bytes(content + b" "), lambda: file.write_bytes(b"{}")):
        change()
        found = record(THEOREM)
        assert found is not None
        assert (found.status, found.proved, found.derived) == (DERIVED, False, True)
        assert "as it was when it was verified" in found.reason or "as they were when it was verified" in found.reason
        assert derivation_words(THEOREM).startswith(f"DERIVED, 12 steps, not verified ({found.reason}); rests on ")
    file.write_bytes(content)
    assert status(THEOREM) == "PROVED"


def test_another_verifier_has_accepted_nothing(shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "boundcheck_verify.py"
    monkeypatch.setattr(records, "VERIFIER", other)
    assert status(LEMMA) == DERIVED
    other.write_bytes((sources.PACKAGE / "verify" / "boundcheck_verify.py").read_bytes())
    assert status(LEMMA) == "PROVED"
    other.write_text("print('valid')")
    assert status(LEMMA) == DERIVED


def test_nobody_writes_into_a_record_that_its_proof_is_verified(shelf: Shelf) -> None:
    kept = shelf.entry(LEMMA)["verified"]
    shelf.plant(REFUTED)
    assert status(REFUTED) == DERIVED
    shelf.alter(REFUTED, {**shelf.entry(REFUTED), "verified": kept})  # as a text editor would
    assert status(REFUTED) == NOT_CHECKED
    entry = {**without_digest(shelf.entry(REFUTED)), "verified": kept}  # sealed, with the proof of another reading
    shelf.alter(REFUTED, {**entry, "digest": seal(REFUTED, entry)})
    assert status(REFUTED) == DERIVED


def test_verify_keeps_what_the_verifier_says_of_a_proof_of_the_same_facts(
    shelf: Shelf, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = shelf.entry(LEMMA)
    write_record(
        "scgd", "lemma_3_1", {"corrected": {k: v for k, v in without_digest(entry).items() if k != "verified"}}
    )
    assert status(LEMMA) == DERIVED
    assert main(["verify", LEMMA]) == 0
    assert status(LEMMA) == DERIVED
    assert main(["verify", LEMMA, "--record"]) == 0
    assert (status(LEMMA), shelf.entry(LEMMA)) == ("PROVED", entry)
    (shelf.path / CITED_PROOF).write_bytes((shelf.path / CITED_PROOF.replace("corrected", "sharp")).read_bytes())
    assert main(["verify", LEMMA, "--record"]) == 1  # a valid record, of another reading
    capsys.readouterr()
    assert status(LEMMA) == DERIVED


def test_derive_says_what_is_verified(shelf: Shelf, capsys: pytest.CaptureFixture[str]) -> None:
    id = "fedshuffle/lemma_b_1/sharp"
    assert main(["derive", id]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith(f"{id}: PROVED, verified, rests on 6 things (")
    (shelf.path / "fedshuffle" / "lemma_b_1.sharp.proof.json").unlink()
    assert main(["derive", id]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith(f"{id}: DERIVED, not verified: ")
    assert main(["derive", id, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == DERIVED


# statuses other than PROVED


@pytest.mark.parametrize("given", ["ASSUMED", "VACUOUS", "UNDECIDED", "PARTLY"])
def test_no_other_status_counts_as_proved(shelf: Shelf, given: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["list", "--paper", "scgd", "--json"])
    before = json.loads(capsys.readouterr().out)["counts"]["with a proved derivation"]
    shelf.plant(LEMMA, given, {"E0.1": given})
    found = record(LEMMA)
    assert found is not None
    assert not found.proved
    assert derivation_words(LEMMA).startswith(f"not proved: {given} at E0.1; rests on 1 transcribed fact (metric: 1)")
    assert main(["list", "--paper", "scgd", "--json"]) == 0
    after = json.loads(capsys.readouterr().out)
    assert after["counts"]["with a proved derivation"] == before - 1
    assert main(["show", LEMMA]) == 0
    assert f"evidence: derivation {given}, not proved (1 {given} step)" in capsys.readouterr().out


ASSUMING = """
import sympy as sp

from boundcheck.proof.derivation import Derivation
from boundcheck.proof.identity import Imported
from boundcheck.proof.step import Step

READINGS = ("corrected",)


def derivation(statement):
    dist2_1 = sp.Symbol("dist2_1", real=True)
    step = Step("all", sp.Le(dist2_1, statement.bound), (), Imported("a textbook"), "cited")
    return Derivation(statement, (), (step,), "all", dist2_1)
"""


def test_an_assumed_derivation_is_not_proved_anywhere(shelf: Shelf, capsys: pytest.CaptureFixture[str]) -> None:
    (shelf.path / "scgd" / "lemma_3_1.py").write_text(ASSUMING)
    forget()
    assert main(["derive", LEMMA, "--record"]) == 3
    said = capsys.readouterr().out
    assert said.endswith(f"{LEMMA}: ASSUMED\n")
    assert "rests on 0 transcribed facts and 1 name of terms, taken over as written:" in said
    assert derivation_words(LEMMA).startswith("not proved: ASSUMED at all; rests on 0 transcribed facts")


# writing


def test_all_derivations_are_checked_anew_and_sealed(shelf: Shelf, capsys: pytest.CaptureFixture[str]) -> None:
    for file in shelf.path.glob("*/*"):
        if file.name.split(".")[0] not in ("lemma_b_1", "one_minus_a"):
            file.unlink()
    (id, as_printed) = ("fedshuffle/lemma_b_1/sharp", "partial_averaging/one_minus_a/as_printed")
    shelf.edit("fedshuffle/lemma_b_1.py", "READINGS = (", "LIMIT = 3\nREADINGS = (")
    (shelf.path / "sources.json").unlink()
    entry = shelf.entry(as_printed)
    shelf.alter(as_printed, {**entry, "status": "PROVED", "failing": {}})
    forget()
    assert (status(id), status(as_printed)) == (NOT_CHECKED, NOT_CHECKED)
    assert main(["derive", "--all", "--workers", "1"]) == 1  # one is recorded as proved and is not
    assert f"{as_printed}  PROVED    REFUTED" in capsys.readouterr().out
    assert (status(id), status(as_printed)) == (NOT_CHECKED, NOT_CHECKED)  # nothing was written
    assert main(["derive", "--all", "--record", "--workers", "1", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["changed"] == [{"id": as_printed, "recorded": "PROVED", "found": "REFUTED"}]
    forget()
    assert (status(id), status(as_printed)) == ("PROVED", "REFUTED")
    assert shelf.entry(as_printed) == entry
    kept = json.loads((shelf.path / "sources.json").read_bytes())["sources"]
    assert {n for n in kept if n.startswith("derivations/")} == {
        "derivations/fedshuffle/lemma_b_1.py", "derivations/partial_averaging/one_minus_a.py"
    }  # fmt: skip
    assert "proof/step.py" in kept
    assert main(["derive", "--all", "--workers", "1"]) == 0


def test_records_of_readings_that_are_gone_are_removed(shelf: Shelf) -> None:
    shelf.edit("classics/sgd_convex.py", '("sharp", "as_printed")', '("as_printed",)')
    write_record("classics", "sgd_convex", {})
    assert set(recorded("classics", "sgd_convex")) == {"as_printed"}


def test_derive_takes_an_id_or_all(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["derive"], ["derive", LEMMA, "--all"]):
        assert main(arguments) == 2
        assert "derive takes either the id of a statement or --all" in capsys.readouterr().err
