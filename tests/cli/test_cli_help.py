"""The help of every command: short, narrow, and with an example that runs as it is printed."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest
from cli_tools import Run
from help_examples import OWN, commands, examples, expected_code
from plugin_tools import forget, install

import boundcheck as bc

ROOT = Path(__file__).parents[2]

SLOW = {"audit", "derive", "falsify", "record", "repair", "try", "tune"}  # commands whose examples take more than some seconds
COMMANDS = {" ".join(path): command for path, command in commands()}


def test_every_command_of_the_interface_is_there() -> None:
    names = "list show cite evaluate scope constants tune run compare check report diff verify derive falsify replay"
    names += " sweep plot power identify conformance schedule record completion clean worst-case audit try repair"
    assert set(COMMANDS) == {*names.split(), "data list", "data fetch", "new paper", "new statement", "new method"}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_is_short_and_narrow(boundcheck_cli: Run, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    found = boundcheck_cli(*name.split(), "--help")
    lines = found.out.splitlines()
    assert found.code == 0
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert f"Example: boundcheck {name if name not in ('plot', 'diff', 'new statement') else ''}" in found.out
    assert ("--json" in found.out) == (name not in ("cite", "completion"))
    assert examples(COMMANDS[name])[-1].startswith(f"boundcheck {name}")
    (summary,) = {line for line in boundcheck_cli(*name.split()[:-1], "--help").out.splitlines()
                  if line.startswith(f"  {name.split()[-1]} ")}  # fmt: skip
    assert not summary.endswith("...")  # the first sentence of the help fits the list of commands


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in COMMANDS]
)
def test_the_example_runs(
    boundcheck_cli: Run, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.chdir(folder)
    if name == "conformance":  # of a package that the reader has installed
        points = tomllib.loads((OWN / "pyproject.toml").read_text())["project"]["entry-points"]
        own = {group.removeprefix("boundcheck."): names for group, names in points.items()}
        install(monkeypatch, tmp_path / "site", "own_problem", (OWN / "own_problem.py").read_text(), own)
        request.addfinalizer(forget)
    for example in examples(COMMANDS[name]):
        found = boundcheck_cli(*shlex.split(example)[1:])
        assert found.code == expected_code(name, example), found.err
        assert found.err == ""
        assert found.out.strip()


def test_the_reference_says_of_each_command_and_name_what_becomes_of_it() -> None:
    page = (ROOT / "docs" / "reference" / "cli.md").read_text().partition("## What 0.2 changes")[2]
    named = set(re.findall(r"`([^`]+)`", page))
    assert set(COMMANDS) - {"data list", "data fetch"} | {"data", "rerun FILE --row ROW"} <= named
    assert {*bc.__all__, *bc._OLD} - {"__version__"} <= named | {"judge", "load"}  # pyright: ignore[reportPrivateUsage]
