"""The examples in `boundcheck COMMAND --help`: which commands there are, and the lines that each of them runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from boundcheck.cli.app import whole_command

CODES = {"falsify": 1, "replay": 1}  # of examples that do not exit with 0
OWN = Path(__file__).parents[1] / "examples" / "own_problem"  # the package of the example of conformance


def commands(command: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The words of every command, such as ("data", "list"), and the command itself."""
    for name, below in (command or whole_command()).commands.items():
        if hasattr(below, "commands"):
            yield from commands(below, (*path, name))
        else:
            yield (*path, name), below


def examples(command: Any) -> list[str]:
    """The commands of the example in the help of a command; the last one is that command."""
    found: list[str] = []
    text = str(command.help).partition("Example: ")[2]
    for line in text.splitlines():
        if line.strip().startswith("boundcheck "):
            found.append(line.strip())
        elif line.strip():
            found[-1] += f" {line.strip()}"
    return found


def expected_code(name: str, example: str) -> int:
    """The exit code of an example of the command `name`."""
    return CODES.get(name, 0) if example.startswith(f"boundcheck {name}") else 0
