"""A reading that is proved and violated: list, show, check and the report state it first and exit with 1."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from boundcheck.cli import main
from boundcheck.evidence import standing
from boundcheck.evidence.contradictions import contradictions
from boundcheck.evidence.shipped_files import claims_by_id, shipped_witnesses
from boundcheck.proof import records
from boundcheck.proof.records import Record
from boundcheck.theory.discovery import all_ids

WITNESSED = "scgd/theorem_3_3/as_printed_main"  # a witness against it is shipped, and its derivation is REFUTED
CLAIMED = "scgd/example_app_c_scgd/as_printed"  # violated by the claim below, and by shipped ones
SAID = f"CONTRADICTORY EVIDENCE on {CLAIMED}: its derivation is PROVED, but it is VIOLATED"

CLAIMS = """
[[claim]]
name = "the printed cube"
statement = "scgd/example_app_c_scgd/as_printed"
problem = { kind = "scgd_appendix_c", cubic = true }
method = { kind = "scgd", E = 2, eta = "1/10" }
arithmetic = "rational"
expect = "VIOLATED"
"""

Answer = Callable[..., tuple[int, str]]
Plant = Callable[..., None]


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Plant:
    """A function that puts a status on record for a reading, as if the verifier had said so."""
    real, known = records.record, dict[str, Record]()
    for module in (records, standing):
        monkeypatch.setattr(module, "record", lambda id: known.get(id) or real(id))

    def planted(id: str, status: str = "PROVED") -> None:
        failing = {} if status == "PROVED" else {"a step": status}
        known[id] = Record(status, "", {status: 1}, failing, rests=("the transcribed metric 'start'",), lines=3)

    return planted


@pytest.fixture
def answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Answer:
    """Exit code and output of a command; `spec` is a file of claims."""
    monkeypatch.setenv("BOUNDCHECK_STORE", str(tmp_path / "store"))
    (tmp_path / "claims.toml").write_text(CLAIMS)

    def run(*arguments: str | Path) -> tuple[int, str]:
        code = main([str(tmp_path / "claims.toml") if a == "spec" else str(a) for a in arguments])
        return code, capsys.readouterr().out

    return run


def test_nothing_that_is_shipped_contradicts_itself() -> None:
    ids = all_ids()
    assert contradictions(ids) == ()
    # and that is no empty question: some readings have a witness beside a derivation, others claims of both outcomes
    assert set(shipped_witnesses()) & set(ids)
    assert any({"HOLDS", "VIOLATED"} <= set(outcomes) for outcomes in claims_by_id().values())


def test_list_and_show_state_a_witness_against_a_proof_first(plant: Plant, answer: Answer) -> None:
    plant(WITNESSED)
    said = (
        f"CONTRADICTORY EVIDENCE on {WITNESSED}: its derivation is PROVED, but it is VIOLATED in scope by the shipped "
        "witness scgd_theorem_3_3_as_printed_main.json"
    )
    for command in (["list", "--paper", "scgd"], ["show", WITNESSED]):
        code, out = answer(*command)
        assert code == 1
        assert out.startswith(said)
        assert out.count("CONTRADICTORY") == 1
    code, out = answer("show", WITNESSED, "--json")
    (found,) = json.loads(out)["contradictions"]
    assert (code, found["statement"]) == (1, WITNESSED)
    assert found["sentence"].startswith(said)
    assert answer("show", "scgd/theorem_3_3/corrected")[0] == 0


def test_what_is_not_proved_or_holds_contradicts_nothing(plant: Plant) -> None:
    for status, found in (("REFUTED", []), ("ASSUMED", []), ("OPEN", []), ("PROVED", [WITNESSED])):
        plant(WITNESSED, status)
        assert [c.statement for c in contradictions([WITNESSED])] == found
    holding = "scgd/theorem_3_3/conservative"
    assert claims_by_id()[holding] == {"HOLDS": 1}
    plant(holding)
    assert contradictions([holding]) == ()


def test_check_and_the_report_state_a_violated_claim_of_a_proved_reading_first(
    plant: Plant, answer: Answer, tmp_path: Path
) -> None:
    junit, folder = tmp_path / "junit.xml", tmp_path / "report"
    plant(CLAIMED, "ASSUMED")
    assert answer("report", "spec", "-o", folder)[0] == 0  # VIOLATED, as expected
    assert "CONTRADICTORY" not in (folder / "index.html").read_text()
    page = (folder / "the-printed-cube.html").read_text()
    assert "<dt>Derivation</dt><dd>not proved: ASSUMED at a step. Rests on 1 fact transcribed from the metric." in page
    plant(CLAIMED)
    code, out = answer("check", "spec", "--junit", junit)
    assert (code, out.startswith(SAID)) == (1, True)
    assert "the claim 'the printed cube'" in out.splitlines()[0]
    assert "1 of 1 claims met their expectation." in out
    first = ElementTree.parse(junit).getroot()[0][0]
    assert first.get("name") == "contradictory evidence"
    assert "PROVED" in str(first[0].get("message"))
    assert ElementTree.parse(junit).getroot().get("errors") == "1"
    code, out = answer("check", "spec", "--json")
    assert (code, json.loads(out)["contradictions"][0]["statement"]) == (1, CLAIMED)
    code, out = answer("report", "spec", "-o", folder)
    assert (code, out.startswith(SAID)) == (1, True)
    data = json.loads((folder / "report.json").read_bytes())
    assert [c["statement"] for c in data["contradictions"]] == [CLAIMED]
    index = (folder / "index.html").read_text()
    assert index.index("</h1>") < index.index("CONTRADICTORY EVIDENCE") < index.index("<p")
    page = (folder / data["claims"][0]["page"]).read_text()
    assert page.index("CONTRADICTORY EVIDENCE") < page.index("VIOLATED</span>")
    assert (folder / "report.md").read_text().splitlines()[2].startswith("**CONTRADICTORY EVIDENCE on scgd/example")
