"""Runs a page of the documentation: its files are written, its commands are run in order, its output is compared.

A fenced block with `title="NAME"` is a file. A block `console` holds commands after `$ ` and what they print; a line
`...` stands for any lines, and `…` within a line for any text. A command with `# exit code N` behind it must
return N.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Step:
    """A file to write (name and text), or a command with what it prints and the code that it returns."""

    file: str
    text: str
    command: str = ""
    code: int = 0


def steps_of(page: str) -> Iterator[Step]:
    """The files and commands of a page, in their order."""
    for language, title, body in BLOCK.findall(page):
        if title:
            yield Step(title, body)
        elif language == "console":
            for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                command, _, code = command.partition("  # exit code ")
                yield Step("", output, command.strip(), int(code or 0))


def follow(page: Path, folder: Path, skip: Callable[[str], bool], path: str = "") -> int:
    """Does what a page says in `folder` and returns how many commands it ran.

    skip: commands that are left out, such as those that install. path: where programs are looked for first.
    """
    surroundings = {
        **os.environ,
        "PATH": f"{path}:{os.environ['PATH']}" if path else os.environ["PATH"],
        "COLUMNS": "120",
    }
    count = 0
    for step in steps_of(page.read_text(encoding="utf-8")):
        if step.file:
            (folder / step.file).parent.mkdir(parents=True, exist_ok=True)
            (folder / step.file).write_text(step.text, encoding="utf-8")
        elif not skip(step.command):
            done = subprocess.run(
                ["bash", "-c", step.command],
                cwd=folder, env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
            )  # fmt: skip
            assert done.returncode == step.code, f"{step.command}: {done.returncode}\n{done.stdout}"
            assert matches(step.text, done.stdout), f"{step.command} printed\n{done.stdout}\nand not\n{step.text}"
            count += 1
    return count


def matches(expected: str, printed: str) -> bool:
    """Whether the printed lines are the expected ones, trailing blanks and times aside."""
    lines = [line.rstrip() for line in expected.strip().splitlines()]
    if not lines:
        return True
    pattern = ""
    for line in lines:
        pattern += r"(?:.*\n)*?" if line == "..." else ".*?".join(map(re.escape, line.split("…"))) + r"[ ]*\n"
    return re.fullmatch(pattern + r"\s*", printed.strip() + "\n") is not None


def programs(folder: Path) -> str:
    """A folder in which `boundcheck`, `pytest` and `python` are those of the interpreter that runs the tests."""
    folder.mkdir()
    for name, arguments in (("boundcheck", "-m boundcheck"), ("pytest", "-m pytest"), ("python", "")):
        (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n', encoding="utf-8")
        (folder / name).chmod(0o755)
    return str(folder)
