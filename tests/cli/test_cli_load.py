"""--load: every command takes it, worker processes get it, witnesses and stored runs know the file's bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from cli_tools import Run
from loaded_papers import METHOD, PROBLEM, THEOREM, unloaded_afterwards

import boundcheck as bc
from boundcheck.cli.app import whole_command
from boundcheck.evidence.claim import run_claim
from boundcheck.evidence.witness import load_witness, save_witness, witness_of
from boundcheck.theory.loading import unload

CLAIM = """
[[claim]]
name = "NAME"
statement = "tight/tight/READING"
problem = { kind = "huber", L = 3, R = 2, k = 10 }
method = { kind = "gradient_descent", eta = "1/3" }
at = { k = [10] }
arithmetic = "rational"
expect = "OUTCOME"
"""
HOLDS = CLAIM.replace("NAME", "tight").replace("READING", "as_printed").replace("OUTCOME", "HOLDS")
BREAKS = CLAIM.replace("NAME", "half").replace("READING", "half").replace("OUTCOME", "VIOLATED")


@pytest.fixture(autouse=True)
def own_papers() -> Iterator[None]:
    with unloaded_afterwards():
        yield


@pytest.fixture
def tight(tmp_path: Path) -> Path:
    path = tmp_path / "tight.py"
    path.write_text(THEOREM)
    return path


def test_every_command_has_the_option() -> None:
    waiting = [whole_command()]
    count = 0
    while waiting:
        command = waiting.pop()
        waiting += getattr(command, "commands", {}).values()
        (option,) = (p for p in command.params if p.name == "load")
        assert "boundcheck RUNS it" in option.help
        count += 1
    assert count > 20


METHODS = sorted((Path(__file__).parents[2] / "examples" / "methods").glob("*.toml"))


@pytest.mark.parametrize("claims", METHODS, ids=lambda path: path.stem)
def test_the_claims_beside_a_file_of_the_examples_meet_their_expectations(boundcheck_cli: Run, claims: Path) -> None:
    found = boundcheck_cli("check", claims, "--load", claims.with_suffix(".py"), "--json")
    assert found.code == 0
    assert len(found.json["claims"]) >= 2


def test_a_loaded_statement_is_listed_shown_and_evaluated(boundcheck_cli: Run, tight: Path) -> None:
    listed = boundcheck_cli("list", "--paper", "tight", "--load", tight, "--json").json
    assert [s["id"] for s in listed["statements"]] == ["tight/tight/as_printed", "tight/tight/half"]
    shown = boundcheck_cli("--load", tight, "show", "tight/tight")
    assert "tight/tight/as_printed" in shown.out
    known = [
        part
        for name, value in (("L", 3), ("eta", "1/3"), ("dist2_0", 4), ("k", 10))
        for part in ("--set", f"{name}={value}")
    ]
    found = boundcheck_cli("evaluate", "tight/tight", *known, "--load", tight, "--json")
    assert found.json["exact"] == "2/7"


def test_what_a_file_prints_is_not_the_answer(boundcheck_cli: Run, tight: Path) -> None:
    tight.write_text(THEOREM + "print('hello')\n")
    found = boundcheck_cli("list", "--paper", "tight", "--load", tight, "--json")
    assert (len(found.json["statements"]), found.err) == (2, "hello\n")


def test_a_bad_file_is_a_sentence_and_exit_code_2(boundcheck_cli: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("theorem = (")
    found = boundcheck_cli("list", "--load", tmp_path / "bad.py")
    assert (found.code, found.out) == (2, "")
    assert re.fullmatch(r"boundcheck: \S*bad\.py cannot be loaded: .*never closed\.\n", found.err)


def test_claims_and_reports_of_a_loaded_statement(
    boundcheck_cli: Run, spec: Callable[..., Path], tight: Path, tmp_path: Path
) -> None:
    made = boundcheck_cli("report", spec(HOLDS, BREAKS), "-o", tmp_path / "report", "--load", tight)
    assert made.code == 0, made.err
    data = json.loads((tmp_path / "report" / "report.json").read_text())
    assert [c["verdict"]["outcome"] for c in data["claims"]] == ["HOLDS", "VIOLATED"]
    unknown = boundcheck_cli("check", spec(HOLDS.replace("tight/tight", "absent/x")), "--load", tight)
    assert unknown.code == 2


def test_stored_runs_are_those_of_these_bytes(boundcheck_cli: Run, spec: Callable[..., Path], tight: Path) -> None:
    def runs() -> int:
        assert boundcheck_cli("check", spec(HOLDS), "--load", tight).code == 0
        return boundcheck_cli("clean", "--json").json["store"]["files"]

    once = runs()
    assert once > 0
    assert runs() == once  # recalled
    tight.write_text(THEOREM + "# a remark\n")
    assert runs() == 2 * once


def test_a_witness_knows_its_file(boundcheck_cli: Run, tight: Path, tmp_path: Path) -> None:
    bc.load(tight)
    claim = bc.Claim("tight/tight/half", PROBLEM, METHOD, at={"k": [10]})
    out = tmp_path / "witness.json"
    save_witness(witness_of(claim, run_claim(claim).verdict, {"by": "hand"}), out)
    assert "definition" not in json.loads(out.read_text())
    again = boundcheck_cli("replay", out, "--load", tight)
    assert (again.code, "The file records something else" in again.out) == (1, False)
    tight.write_text(THEOREM + "# a remark\n")
    changed = boundcheck_cli("replay", out, "--load", tight)
    assert changed.code == 1
    assert "the digest of the loaded file is " in changed.out
    unload("tight")
    without = boundcheck_cli("replay", out)
    assert without.code == 2
    assert without.err.endswith("of a file that was loaded; give --load tight.py.\n")


def test_a_witness_against_an_unregistered_statement_carries_it(
    boundcheck_cli: Run, tight: Path, tmp_path: Path
) -> None:
    own = replace(bc.load(tight)[1], id="", name="mine")
    unload("tight")
    claim = bc.Claim(own, PROBLEM, METHOD, at={"k": [10]})
    out = tmp_path / "witness.json"
    save_witness(witness_of(claim, run_claim(claim).verdict, {"by": "hand"}), out)
    assert load_witness(out).claim().statement == own
    assert boundcheck_cli("replay", out).code == 1


def test_the_report_of_an_unregistered_statement(tight: Path) -> None:
    from boundcheck.report.data import report_data
    from boundcheck.report.pages import claim_page, index_page

    half = replace(bc.load(tight)[1], id="", name="mine")
    data = report_data([run_claim(bc.Claim(half, PROBLEM, METHOD, at={"k": [10]}))], title="own")
    assert data["claims"][0]["statement"]["id"] == "mine/half"
    assert "mine/half" in index_page(data)
    assert "VIOLATED" in claim_page(data, data["claims"][0])


def test_the_fixture_takes_an_object(tight: Path, boundcheck: object) -> None:
    from boundcheck.pytest_plugin import Boundcheck

    assert isinstance(boundcheck, Boundcheck)
    (own, half) = bc.load(tight)
    own = replace(own, id="", name="mine")
    boundcheck.assert_holds(own, problem=PROBLEM, method=METHOD, rounds=[10], arithmetic="rational")
    with pytest.raises(AssertionError, match=r"mine/half on huber.*VIOLATED"):
        boundcheck.assert_holds(replace(half, id="", name="mine"), problem=PROBLEM, method=METHOD, rounds=[10])
