"""Faults found by use: too many claims, hidden characters, absent data, a full disk, progress, completion."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from cli_tools import Run

from boundcheck.cli.output import progress
from boundcheck.errors import escaped
from boundcheck.evidence import spec as specifications

HOLDS = """
[[claim]]
name = "held"
statement = "scgd/theorem_3_3"
problem = { kind = "scgd_appendix_c" }
method = { kind = "scgd", E = 1, eta = "1/10000" }
at = { K = "lin:0:2:3" }
expect = "HOLDS"
"""
ABSENT = HOLDS.replace('"held"', '"away"').replace(
    '{ kind = "scgd_appendix_c" }', '{ kind = "logistic_regression", data = "mnist", clients = 5, ridge = "1/10" }'
)
Write = Callable[..., Path]


def test_too_many_claims_are_refused_before_any_is_read(
    boundcheck_cli: Run, spec: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = spec(*["[[claim]]\nstatement = 'a'"] * 10_001)
    monkeypatch.setattr(specifications, "prepare", lambda *_: pytest.fail("a claim was looked at"))
    monkeypatch.setattr(specifications, "validate", lambda *_: pytest.fail("a claim was validated"))
    for command in ("check", "compare", "report"):
        found = boundcheck_cli(command, path)
        assert found.code == 2
        assert "the file has 10001 [[claim]]; at most 10000 are allowed" in found.err


@pytest.mark.parametrize("number", [0x202E, 0x2066, 0x200F, 0x200B, 0xFEFF, 0x7, 0xE0041])
def test_hidden_characters_are_refused_by_number(boundcheck_cli: Run, spec: Write, number: int) -> None:
    found = boundcheck_cli("check", spec(HOLDS.replace("held", f"he\\U{number:08x}ld")))
    assert found.code == 2
    assert f":3: the text has the hidden character U+{number:04X}; remove it." in found.err
    assert f"he<U+{number:04X}>ld" == escaped(f"he{chr(number)}ld")


def test_hidden_characters_in_a_title_and_a_message(boundcheck_cli: Run, spec: Write) -> None:
    assert "U+202E" in boundcheck_cli("report", spec(HOLDS), "--title", "a\u202eb").err
    found = boundcheck_cli("show", "scgd/\u202etheorem")
    assert "\u202e" not in found.err
    assert "<U+202E>" in found.err


def test_data_that_are_not_here_end_no_check(boundcheck_cli: Run, spec: Write, tmp_path: Path) -> None:
    path = spec(HOLDS, ABSENT)
    found = boundcheck_cli("check", path, "--no-store", "--junit", tmp_path / "junit.xml")
    assert found.code == 3
    assert "NOT RUN away: " in found.out
    assert "boundcheck data fetch mnist" in found.out
    assert "1 of 2 claims met their expectation." in found.out
    assert 'skipped="1"' in (tmp_path / "junit.xml").read_text()
    data = boundcheck_cli("check", path, "--no-store", "--json").json
    assert [n["claim"] for n in data["not_run"]] == ["away"]
    assert data["expectations"] == {"met": 1, "missed": 0, "bad input": 0, "not run": 1}


def test_progress_never_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    from rich.progress import Progress

    shown: list[float] = []
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(Progress, "update", lambda self, task, completed: shown.append(completed))
    with progress("work", 3) as show:
        for done in (0.5, 1.5, 0.2, 2.0):
            show(done)
    assert shown == [0.5, 1.5, 1.5, 2.0]


def test_constants_of_many_claims_say_where_they_are(
    boundcheck_cli: Run, spec: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    from contextlib import contextmanager

    from boundcheck.cli import constants

    titles: list[str] = []

    @contextmanager
    def noted(title: str, total: float = 1.0) -> Generator[Callable[[float], None]]:
        titles.append(title)
        yield lambda done: None

    monkeypatch.setattr(constants, "progress", noted)
    assert boundcheck_cli("constants", spec(HOLDS, HOLDS.replace("held", "again")), "--quick").code == 0
    assert titles[0].endswith("claims.toml: reading")
    assert titles[1] == "claim 1 of 2, held: the data"
    assert titles[-1].startswith("claim 2 of 2, again: ")


def test_a_shell_completes_ids(boundcheck_cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from boundcheck.cli.options import matching_ids

    script = boundcheck_cli("completion", "bash").out
    assert "_BOUNDCHECK_COMPLETE=complete_bash" in script
    assert "did you mean 'bash'" in boundcheck_cli("completion", "bsh").err
    assert matching_ids("scgd/theorem_3") == ["scgd/theorem_3_3", "scgd/theorem_3_4"]
    assert "scgd/theorem_3_3/corrected" in matching_ids("scgd/theorem_3_3/")
