"""What CI services read of `boundcheck check`: SARIF and annotations."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from cli_tools import ABSENT, FALSE, FEDAVG, OUT, Run

from boundcheck.evidence.shipped_files import example, names_of_claims
from boundcheck.report.ci import Finding, workflow_commands

Write = Callable[..., Path]
# What sarif-schema-2.1.0.json requires: definition -> required members, and (member, definition of it or of its items).
REQUIRED: Mapping[str, tuple[set[str], Mapping[str, str]]] = {
    "log": ({"version", "runs"}, {"runs": "run"}),
    "run": ({"tool"}, {"tool": "tool", "results": "result", "invocations": "invocation"}),
    "tool": ({"driver"}, {"driver": "toolComponent"}),
    "toolComponent": ({"name"}, {"rules": "reportingDescriptor"}),
    "reportingDescriptor": ({"id"}, {"shortDescription": "message"}),
    "invocation": ({"executionSuccessful"}, {"toolExecutionNotifications": "notification"}),
    "notification": ({"message"}, {"message": "message"}),
    "result": ({"message"}, {"message": "message", "locations": "location"}),
    "message": ({"text"}, {}),
    "location": (set(), {"physicalLocation": "physicalLocation"}),
    "physicalLocation": ({"artifactLocation"}, {"artifactLocation": "artifactLocation", "region": "region"}),
    "artifactLocation": ({"uri"}, {}),
    "region": ({"startLine"}, {}),
}


def conforms(value: Any, kind: str = "log") -> None:
    """Fails where a required member is missing or a list has the wrong shape."""
    required, inner = REQUIRED[kind]
    assert isinstance(value, dict), kind
    assert required <= set(value), f"{kind} lacks {required - set(value)}"
    for member, of in inner.items():
        found = value.get(member, [])
        for one in found if isinstance(found, list) else [found]:
            conforms(one, of)


def run_of(path: Path) -> Any:
    log = json.loads(path.read_text(encoding="utf-8"))
    conforms(log)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all((rules[r["ruleIndex"]], "error") == (r["ruleId"], r["level"]) for r in run["results"])
    return run


def line_of(file: Path, text: str) -> int:
    return file.read_text().split("\n").index(text)  # [[claim]] stands in the line before, counted from 1


def test_a_missed_claim_is_a_result_at_its_line(
    boundcheck_cli: Run, spec: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    file, out = spec("# first", OUT, FALSE, name="my claims.toml"), tmp_path / "out.sarif"
    line = line_of(file, 'name = "false"')
    met = boundcheck_cli("check", spec(FEDAVG, name="met.toml"), "--sarif", out, "--annotate", "--no-store")
    assert (met.code, run_of(out)["results"], "::" in met.err) == (0, [], False)
    found = boundcheck_cli("check", file, spec(FEDAVG), "--sarif", out, "--annotate", "--no-store", "--json")
    assert (found.code, found.json["expectations"]["missed"]) == (1, 1)  # stdout is JSON alone
    (result,) = run_of(out)["results"]
    assert result["ruleId"] == "missed-expectation"
    assert result["message"]["text"].startswith("false: expected HOLDS, got VIOLATED")
    where = result["locations"][0]["physicalLocation"]
    assert where == {"artifactLocation": {"uri": "my%20claims.toml"}, "region": {"startLine": line}}
    said = "title=missed-expectation::false: expected HOLDS, got VIOLATED"
    (annotation,) = (text for text in found.err.splitlines() if text.startswith("::"))
    assert annotation.startswith(f"::error file=my claims.toml,line={line},{said}")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path.parent))
    again = boundcheck_cli("check", file, "--annotate", "--no-store")
    assert f"::error file={tmp_path.name}/my claims.toml,line={line}," in again.err


def test_mistakes_of_a_file_are_annotated_too(boundcheck_cli: Run, spec: Write) -> None:
    file = spec(FEDAVG.replace("corrected", "corected"), FEDAVG.replace('expect = "HOLDS"', ""))
    found = boundcheck_cli("check", file, "--annotate")
    lines = [text for text in found.err.splitlines() if text.startswith("::error ")]
    assert (found.code, [text.partition("line=")[2].partition(",")[0] for text in lines]) == (2, ["4", "12"])
    assert "::error" not in boundcheck_cli("check", file).err


def test_a_claim_that_cannot_be_run_here_is_a_notification(boundcheck_cli: Run, spec: Write, tmp_path: Path) -> None:
    file = spec(ABSENT, FALSE)
    boundcheck_cli("check", file, "--sarif", tmp_path / "out.sarif", "--no-store")
    run = run_of(tmp_path / "out.sarif")
    (result,) = run["results"]
    assert result["message"]["text"].startswith("false:")
    line = result["locations"][0]["physicalLocation"]["region"]["startLine"]
    assert line == line_of(file, 'name = "false"')
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"].startswith("away was not run: ")


def test_annotations_escape_what_would_end_them() -> None:
    (text,) = workflow_commands([Finding("bad-input", "100 %\nof x: y, z", "/nowhere/a,b:c%.toml", 0)])
    assert text == "::error file=/nowhere/a%2Cb%3Ac%25.toml,title=bad-input::100 %25%0Aof x: y, z"


def test_shipped_claims_have_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the pages print of shipped claims works where no repository is: the names of their files."""
    monkeypatch.chdir(tmp_path)
    assert names_of_claims("scgd/example_app_c_fedavg/corrected") == ["scgd"]
    assert example("scgd").is_file()
    assert str(example("nothing")) == "nothing"
    (tmp_path / "scgd").write_text("mine")
    assert str(example("scgd")) == "scgd"
