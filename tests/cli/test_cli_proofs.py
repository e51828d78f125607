"""derive, verify, falsify, replay: exit codes, files and data. Their text is in the documentation."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_tools import WITNESS, Run

import boundcheck as bc
from boundcheck.falsify import all_readings
from boundcheck.proof import discovery, records

ONE = "partial_averaging/one_minus_a"
LEMMA, CITING = "fedshuffle/recursion_convex/corrected", "fedshuffle/theorem_5_1_convex/corrected"
DERIVATION = discovery.derivation


def test_derive_finds_the_step_that_does_not_follow(boundcheck_cli: Run) -> None:
    found = boundcheck_cli("derive", f"{ONE}/as_printed")
    lines = found.out.splitlines()
    (refuted,) = [k for k, line in enumerate(lines) if line.endswith("conclusion: REFUTED")]
    assert found.code == 1
    assert lines[refuted + 1 : refuted + 5] == [
        "   claim    inverse <= 2/3",
        "   because  rounded (scalar inequality)",
        "   from     before rounding, 1/2, inverse, condition A not negative, condition A small, domain beta2",
        "   witness  A = 0, beta2 = 1, inverse = 1",
    ]
    assert lines[-1].startswith(f"{ONE}/as_printed: REFUTED (refuted at step 'conclusion'")
    assert boundcheck_cli("derive", f"{ONE}/as_printed", "--step", "conclusion").code == 1
    refused = boundcheck_cli("derive", f"{ONE}/as_printed", "--latex")
    assert (refused.code, refused.out, "REFUTED at conclusion" in refused.err) == (2, "", True)


def test_derive_proves_the_corrected_reading_and_shows_a_step(boundcheck_cli: Run) -> None:
    whole = boundcheck_cli("derive", f"{ONE}/corrected", "--json")
    assert (whole.code, whole.json["status"], whole.json["verdict"]) == (0, "PROVED", "valid")
    assert {s["status"] for s in whole.json["steps"]} == {"PROVED"}
    found = boundcheck_cli("derive", f"{ONE}/corrected", "--step", "1/2")
    assert found.code == 0
    assert "claim    1/(2*beta2) <= 1/2" in found.out
    data = boundcheck_cli("derive", f"{ONE}/corrected", "--step", "1/2", "--json").json
    assert (data["name"], data["status"], data["rule"]) == ("1/2", "PROVED", "sum")
    assert "domain beta2" in data["uses"]
    latex = boundcheck_cli("derive", f"{ONE}/corrected", "--latex").out
    assert latex.count(r"\item[(") == 9  # four facts and five steps
    assert r"\item[(4)] $\frac{1}{2 \beta^2} \leq \frac{1}{2}$" in latex


def changed(id: str) -> Any:
    found = DERIVATION(id)
    if id != LEMMA:
        return found
    other = object.__new__(type(found))
    for name, value in vars(found).items():
        object.__setattr__(other, name, value)
    object.__setattr__(other, "statement", replace(found.statement, bound=3 * found.statement.bound))
    return other


def test_a_record_is_compared_with_the_statement(boundcheck_cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    found = boundcheck_cli("verify", LEMMA)
    *quoted, verdict = found.out.splitlines()
    assert found.code == 0
    assert all(text.startswith("> ") for text in quoted)
    assert verdict.startswith(f"{LEMMA}: valid, rests on ")
    monkeypatch.setattr(records, "today", records.today.__wrapped__)  # as a new process would
    monkeypatch.setattr(records, "derivation", changed)
    for id, why in (
        (LEMMA, f"{LEMMA}: invalid not about this statement as it is today"),
        (CITING, f"invalid it cites {LEMMA}, whose record is not about this statement"),
    ):
        other = boundcheck_cli("verify", id)
        assert (other.code, why in other.out) == (1, True)


def test_a_refutation_says_where_and_at_which_values(boundcheck_cli: Run) -> None:
    found = boundcheck_cli("verify", "partial_averaging/remark_4_speedup/as_printed")
    assert found.code == 0
    verdict = found.out.splitlines()[-1]
    assert ": refuted at step 'conclusion' (m = 8, threshold = 512)" in verdict
    assert "valid" not in verdict


def test_a_witness_stands_or_no_longer_stands(boundcheck_cli: Run, tmp_path: Path) -> None:
    data = json.loads(WITNESS.read_text())
    path = tmp_path / "witness.json"
    for bound, code in (("1", 1), ("1/1000000", 0)):  # times the step size
        path.write_text(json.dumps(data | {"method": data["method"] | {"eta": times(data["method"]["eta"], bound)}}))
        found = boundcheck_cli("replay", path, "--json")
        assert (found.code, found.json["stands"]) == (code, bool(code))
    assert "The witness no longer stands." in boundcheck_cli("replay", path).out
    none = boundcheck_cli("falsify", "scgd/theorem_3_3/corrected", "--instances", "20", "--json")
    assert (none.code, none.json["witness"], none.json["instances"] > 0) == (0, None, True)
    assert none.json["best"] <= 1


def times(step: str, factor: str) -> str:
    from boundcheck.core.numbers import format_exact, parse_number

    return format_exact(parse_number(step) * parse_number(factor))


def test_falsify_all_keeps_what_it_has_searched(
    boundcheck_cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One reading that nothing breaks, one that falls at once, one out of reach; the second call searches nothing."""
    believed = {s.best_id for s in all_readings.believed()}
    assert {"scgd/theorem_3_3/corrected", "async_fl/theorem_3/corrected"} <= believed
    assert "scgd/theorem_3_3/as_printed_main" not in believed
    ids = ("async_fl/lemma_1_jensen/corrected", "async_fl/lemma_1_jensen/as_printed", "fedshuffle/lemma_d_1/corrected")
    monkeypatch.setattr(all_readings, "believed", lambda: [bc.statement(id) for id in ids])
    path = tmp_path / "searched.json"
    command = ("falsify", "--all", "--budget", "0.1s", "--seed", "1", "-o", path)
    found = boundcheck_cli(*command)
    assert found.code == 1
    assert "2 readings believed true searched, 0.1 s each, seed 1:" in found.out
    assert "1 broken. 1 others are out of the search's reach." in found.out
    witness = tmp_path / "witness-async_fl-lemma_1_jensen-as_printed-seed1.json"
    assert boundcheck_cli("replay", witness, "--json").json["stands"] is True
    kept = json.loads(path.read_text())["searches"]
    assert [(entry["statement"], entry["witness"] is None) for entry in kept] == [(ids[0], True), (ids[1], False)]
    before = path.read_bytes()
    again = boundcheck_cli(*command, "--json").json
    assert again["instances"] == sum(entry["instances"] for entry in kept)
    assert (again["readings"], again["out_of_reach"], list(again["broken"])) == (2, 1, [ids[1]])
    assert path.read_bytes() == before
    other = boundcheck_cli("falsify", "--all", "--budget", "0.2s", "--seed", "1", "-o", path)
    assert (other.code, "is of another seed or budget" in other.err) == (2, True)
    path.write_text('{"schema": 1}')
    broken = boundcheck_cli(*command)
    assert (broken.code, "is no file of boundcheck falsify --all" in broken.err) == (2, True)
