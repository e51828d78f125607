"""The examples in `boundcheck COMMAND --help`: which commands there are, and the lines that each of them runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from boundcheck.cli.app import whole_command


def commands(command: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The words of every command, such as ("data", "list"), and the command itself."""
    for name, below in (command or whole_command()).commands.items():
        if hasattr(below, "commands"):
            yield from commands(below, (*path, name))
        else:
            yield (*path, name), below


def examples(command: Any) -> list[str]:
    """The lines of the example of a command, with their continuations."""
    found: list[str] = []
    text = str(command.help).partition("Example: ")[2]
    for line in text.splitlines():
        if line.strip().startswith("boundcheck "):
            found.append(line.strip())
        elif line.strip():
            found[-1] += f" {line.strip()}"
    return found
