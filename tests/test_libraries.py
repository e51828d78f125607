"""The static part of `make libraries`, which runs without these libraries: pairs, findings, reproductions, the page."""

from __future__ import annotations

import ast
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from loaded_papers import unloaded_afterwards

import boundcheck as bc
from boundcheck.judge.task import task_of

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "libraries.md").read_text(encoding="utf-8")
REPRODUCTIONS = ROOT / "examples" / "libraries" / "reproductions"
MOST_LINES = 10


@pytest.fixture(scope="module")
def libraries() -> Any:
    sys.path.insert(0, str(ROOT / "examples"))
    try:
        import_module("libraries.pairs")
    finally:
        sys.path.pop(0)
    return sys.modules["libraries"]


@pytest.fixture(scope="module")
def findings(libraries: Any) -> list[dict[str, Any]]:
    return libraries.table("findings")["finding"]


@pytest.fixture(scope="module")
def pairs(libraries: Any) -> Any:
    with unloaded_afterwards():
        yield libraries.pairs.pairs()


def code_of(path: Path) -> list[str]:
    """The lines that are neither blank nor a comment."""
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def test_every_finding_is_complete(findings: list[dict[str, Any]], pairs: Any) -> None:
    known = {(pair.library, pair.algorithm) for pair in pairs}
    for finding in findings:
        assert finding["verdict"] in ("defect", "documented choice", "precision"), finding["title"]
        for name in ("title", "file", "quote", "text", "fix", "script"):
            assert finding[name].strip(), (finding["title"], name)
        assert finding.get("upstream", "not known").startswith(("not known", "[", "introduced by [")), finding["title"]
        for algorithm, part in finding.get("pairs", []):
            assert (finding["library"], algorithm) in known
            assert part in ("full", "partial", "cohorts")
    assert len({finding["title"] for finding in findings}) == len(findings)


def test_every_finding_has_a_short_reproduction(findings: list[dict[str, Any]]) -> None:
    used = {finding["script"] for finding in findings}
    assert used == {path.stem for path in REPRODUCTIONS.glob("*.py")}
    for name in sorted(used):
        code = code_of(REPRODUCTIONS / f"{name}.py")
        ast.parse((REPRODUCTIONS / f"{name}.py").read_text(encoding="utf-8"))
        assert len(code) <= MOST_LINES, name
        assert sum("print(" in line and "expected" in line for line in code) >= 1, name


def test_the_page_has_the_findings_of_the_list(findings: list[dict[str, Any]]) -> None:
    printed = dict(re.findall(r"^### (.+)\n\n\*\*(.+?)\.\*\*", PAGE, re.M))
    assert printed == {finding["title"]: finding["verdict"].capitalize() for finding in findings}
    for finding in findings:
        code = (REPRODUCTIONS / f"{finding['script']}.py").read_text(encoding="utf-8").rstrip()
        assert f"{code}\n```\n\n```\nexpected " in PAGE, finding["title"]
        assert re.search(rf"`{re.escape(finding['file'])}`, line \d+: `{re.escape(finding['quote'])}`", PAGE)
        assert finding["text"].strip() in PAGE
        assert finding["fix"].strip() in PAGE


def test_the_table_of_the_page_explains_each_difference(findings: list[dict[str, Any]], pairs: Any) -> None:
    explained = {(f["library"], *key) for f in findings for key in f.get("pairs", [])}
    for pair in pairs:
        (row,) = re.findall(rf"^\| {re.escape(pair.library)} \| {re.escape(pair.algorithm)} \| `.*$", PAGE, re.M)
        cells = [cell.strip() for cell in row.split("|")]
        assert cells[3] == f"`{pair.method['kind']}`"
        for part, cell in (("full", cells[4]), ("partial", cells[6])):
            assert (cell == "**differs**") == ((pair.library, pair.algorithm, part) in explained), row


def test_every_method_and_problem_of_a_pair_builds(libraries: Any, pairs: Any) -> None:
    matrix = libraries.table("matrix")["library"]
    assert {pair.library for pair in pairs} == set(matrix)
    for pair in pairs:
        assert pair.tolerance in libraries.pairs.TOLERANCES
        problem = bc.problem(libraries.pairs.problem(pair.problem))
        for participation in ({}, {"participation": {"kind": "uniform", "size": 2}}):
            assert task_of(bc.method({**pair.method, **participation}), problem, 2).rounds == 2
    for library, row in matrix.items():
        assert (library, row["law"]) in {(pair.library, pair.algorithm) for pair in pairs}


def test_every_version_is_pinned(libraries: Any) -> None:
    text = (ROOT / "examples" / "libraries" / "requirements.lock").read_text(encoding="utf-8")
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)$", text, re.M))
    assert all("://" not in line for line in text.splitlines())
    for row in libraries.table("matrix")["library"].values():
        assert row["package"] in pinned
        assert set(row["needs"]) <= set(pinned)
        assert f"(`{row['package']}`) | {pinned[row['package']]} |" in PAGE


def test_a_stand_in_takes_the_place_of_what_is_not_installed(libraries: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    names = libraries.table("matrix")["stand_ins"]
    monkeypatch.setattr(libraries, "table", lambda name: {"stand_ins": [*names, "no_such_package"]})
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    before = set(sys.modules)
    with pytest.raises(ImportError):
        import_module("no_such_package")
    libraries.stand_in()
    assert isinstance(import_module("no_such_package.inner").Thing, type)
    with pytest.raises(ImportError):
        import_module("not_listed")
    for name in set(sys.modules) - before:
        del sys.modules[name]
