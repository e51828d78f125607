"""--load: every command takes it, worker processes get it, witnesses and stored runs know the file's bytes.

Listing, showing, evaluating and checking a loaded statement are in the documentation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from cli_tools import Run
from help_examples import commands
from loaded_papers import METHOD, PROBLEM, THEOREM, unloaded_afterwards

import boundcheck as bc
from boundcheck.evidence.claim import run_claim
from boundcheck.evidence.witness import load_witness, save_witness, witness_of
from boundcheck.pytest_plugin import Boundcheck
from boundcheck.report.data import report_data
from boundcheck.report.pages import claim_page, index_page
from boundcheck.theory.loading import unload

CLAIM = """
[[claim]]
name = "tight"
statement = "tight/tight/as_printed"
problem = { kind = "huber", L = 3, R = 2, k = 10 }
method = { kind = "gradient_descent", eta = "1/3" }
at = { k = [10] }
arithmetic = "rational"
expect = "HOLDS"
"""
BREAKS = CLAIM.replace('"tight"', '"half"').replace("as_printed", "half").replace("HOLDS", "VIOLATED")
METHODS = sorted((Path(__file__).parents[2] / "examples" / "methods").glob("*.toml"))


@pytest.fixture
def tight(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "tight.py"
    path.write_text(THEOREM)
    with unloaded_afterwards():
        yield path


def test_every_command_has_the_option() -> None:
    found = dict(commands())
    assert len(found) > 20
    for command in found.values():
        (option,) = (p for p in command.params if p.name == "load")
        assert "boundcheck RUNS it" in option.help


@pytest.mark.parametrize("claims", METHODS, ids=lambda path: path.stem)
def test_the_claims_beside_a_file_of_the_examples_meet_their_expectations(boundcheck_cli: Run, claims: Path) -> None:
    with unloaded_afterwards():
        found = boundcheck_cli("check", claims, "--load", claims.with_suffix(".py"), "--json")
    assert found.code == 0
    assert len(found.json["claims"]) >= 2


def test_what_a_file_prints_is_not_the_answer(boundcheck_cli: Run, tight: Path) -> None:
    tight.write_text(THEOREM + "print('hello')\n")
    found = boundcheck_cli("--load", tight, "list", "--paper", "tight", "--json")
    assert [s["id"] for s in found.json["statements"]] == ["tight/tight/as_printed", "tight/tight/half"]
    assert found.err == "hello\n"
    tight.write_text("theorem = (")
    bad = boundcheck_cli("list", "--load", tight)
    assert (bad.code, bad.out) == (2, "")
    assert re.fullmatch(r"boundcheck: \S*tight\.py cannot be loaded: .*never closed\.\n", bad.err)


def test_claims_and_reports_of_a_loaded_statement(
    boundcheck_cli: Run, spec: Callable[..., Path], tight: Path, tmp_path: Path
) -> None:
    made = boundcheck_cli("report", spec(CLAIM, BREAKS), "-o", tmp_path / "report", "--load", tight)
    assert made.code == 0, made.err
    data = json.loads((tmp_path / "report" / "report.json").read_text())
    assert [c["verdict"]["outcome"] for c in data["claims"]] == ["HOLDS", "VIOLATED"]
    assert boundcheck_cli("check", spec(CLAIM.replace("tight/tight", "absent/x")), "--load", tight).code == 2


def test_stored_runs_are_those_of_these_bytes(boundcheck_cli: Run, spec: Callable[..., Path], tight: Path) -> None:
    def runs() -> int:
        assert boundcheck_cli("check", spec(CLAIM), "--load", tight).code == 0
        return boundcheck_cli("clean", "--json").json["store"]["files"]

    once = runs()
    assert runs() == once > 0  # recalled
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
    assert (changed.code, "the digest of the loaded file is " in changed.out) == (1, True)
    unload("tight")
    without = boundcheck_cli("replay", out)
    assert without.code == 2
    assert without.err.endswith("of a file that was loaded; give --load tight.py.\n")


def test_an_unregistered_statement_in_witness_report_and_fixture(
    boundcheck_cli: Run, tight: Path, tmp_path: Path, boundcheck: Boundcheck
) -> None:
    own, half = (replace(s, id="", name="mine") for s in bc.load(tight))
    unload("tight")
    claim, out = bc.Claim(half, PROBLEM, METHOD, at={"k": [10]}), tmp_path / "witness.json"
    result = run_claim(claim)
    save_witness(witness_of(claim, result.verdict, {"by": "hand"}), out)
    assert load_witness(out).claim().statement == half  # which it carries
    assert boundcheck_cli("replay", out).code == 1
    data = report_data([result], title="own")
    assert data["claims"][0]["statement"]["id"] == "mine/half"
    assert "mine/half" in index_page(data)
    assert "VIOLATED" in claim_page(data, data["claims"][0])
    boundcheck.assert_holds(own, problem=PROBLEM, method=METHOD, rounds=[10], arithmetic="rational")
    with pytest.raises(AssertionError, match=r"mine/half on huber.*VIOLATED"):
        boundcheck.assert_holds(half, problem=PROBLEM, method=METHOD, rounds=[10])
