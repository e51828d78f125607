"""Runs a page of the documentation: its files are written, its blocks are run in order, their output is compared.

- A fenced block with `title="NAME"` is a file.
- A block `console` holds commands after `$ ` and what they print. A command with `# exit code N` behind it must return
  N. `boundcheck`, `python` and `pytest` run in this process, what needs a shell in one of its own.
- The blocks `python` of a page share their names. What one prints stands in the block `text` right after it.
- In expected output a line `...` stands for any lines, and `…` within a line for any text. Whole numbers must be equal;
  other numbers may differ by the share `TOLERANCE`. Blanks between words may be more or fewer.
- `<!-- slow -->` above a block leaves it to the slow tests, `<!-- not run: REASON -->` leaves it out for good.
"""

from __future__ import annotations

import contextlib
import gc
import io
import math
import os
import re
import runpy
import shlex
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from boundcheck.cli import main
from docs.hooks.blocks import blocks, run_cell

TOLERANCE = 1e-4
NUMBER = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
TOKEN = re.compile(rf"(?P<any>…)|(?P<number>(?<![\w.]){NUMBER}(?![\w]))|(?P<blank>\s+)|(?P<text>\w+|.)")
SHELL = set("|><;&$*`")
QUOTED = re.compile(r"'[^']*'|\"[^\"$`]*\"")


@dataclass
class Count:
    """What was done with the blocks of a page: commands and Python blocks that ran, and those that were left out."""

    ran: int = 0
    installs: int = 0
    slow: int = 0
    not_run: int = 0


def follow(page: Path, folder: Path, installs: Callable[[str], bool], *, slow: bool = False, path: str = "") -> Count:
    """Does what a page says in `folder`, and compares. installs: commands that are left out. slow: the slow ones too.

    path: where programs are looked for first; with it no command runs in this process.
    """
    count = Count()
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.title:
            (folder / block.title).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.title).write_text(block.body, encoding="utf-8")
        elif block.language not in ("console", "python"):
            continue
        elif block.mark.startswith("not run"):
            count.not_run += 1
        elif block.mark == "slow" and not slow:
            count.slow += 1
        elif block.language == "python":
            with contextlib.chdir(folder):
                printed, _ = run_cell(block.body, names)
            why = difference(block.output or "", printed) if block.output or printed.strip() else ""
            assert not why, f"{page.name}:\n{block.body}\n{why}"
            count.ran += 1
        else:
            for command, code, output in block.commands():
                if installs(command):
                    count.installs += 1
                    continue
                returned, printed = carried_out(command, folder, path)
                assert returned == code, f"{page.name}: {command}: exit code {returned}\n{printed}"
                why = difference(output, printed) if output.strip() else ""
                assert not why, f"{page.name}: {command}\n{why}"
                count.ran += 1
    return count


def carried_out(command: str, folder: Path, path: str = "") -> tuple[int, str]:
    """Exit code and output of a command: in this process if no shell is needed, or only after a pipe."""
    first, _, rest = command.partition(" | ")
    words = shlex.split(first)
    if not path and words[0] in PROGRAMS and not SHELL & set(QUOTED.sub("", first)):
        code, printed = here(words, folder)
        return in_shell(rest, folder, path, printed) if rest else (code, printed)
    return in_shell(command, folder, path)


def in_shell(command: str, folder: Path, path: str, given: str = "") -> tuple[int, str]:
    """Exit code and output of what a shell carries out; given: its input."""
    own = {**os.environ, "PATH": f"{path or programs(folder)}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder, env=own, input=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


def here(words: Sequence[str], folder: Path) -> tuple[int, str]:
    """Exit code and output of a program that runs in this process, which forgets the modules of the folder."""
    out, arguments, path = io.StringIO(), sys.argv, list(sys.path)
    same_names = {file.stem for file in folder.glob("*.py")} & sys.modules.keys()
    others = {name: sys.modules.pop(name) for name in same_names}
    gc.freeze()  # what was there before is not looked at again: that takes seconds
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default" if words[0] == "boundcheck" else "ignore")
        try:
            code = PROGRAMS[words[0]](list(words[1:]))
        finally:
            sys.argv, sys.path[:] = arguments, path
            for name, module in list(sys.modules.items()):
                if Path(getattr(module, "__file__", None) or "/").is_relative_to(folder):
                    del sys.modules[name]
            sys.modules.update(others)
            gc.collect()  # what a script leaves open would be a warning of a later test
            gc.unfreeze()
    return int(code), out.getvalue()


def python(words: list[str]) -> int:
    """A file, or the text after -c, as Python carries it out."""
    sys.path.insert(0, os.getcwd())
    try:
        if words[0] == "-c":
            exec(words[1], {"__name__": "__main__"})
        else:
            sys.argv = words
            runpy.run_path(words[0], run_name="__main__")
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def tested(words: list[str]) -> int:
    """The tests of a file, by a pytest within this one."""
    return pytest.main(["-p", "no:cacheprovider", "-p", "no:xdist", *words])


PROGRAMS: dict[str, Callable[[list[str]], int]] = {"boundcheck": main, "python": python, "pytest": tested}


def programs(folder: Path) -> str:
    """A folder in which `boundcheck`, `pytest` and `python` are those of the interpreter that runs the tests."""
    found = folder / ".programs"
    if not found.exists():
        found.mkdir()
        for name, arguments in (("boundcheck", "-m boundcheck"), ("pytest", "-m pytest"), ("python", "")):
            (found / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n', encoding="utf-8")
            (found / name).chmod(0o755)
    return str(found)


def difference(expected: str, printed: str) -> str:
    """Where the printed lines are not the expected ones, in words; "" where they are."""
    left = [line.rstrip() for line in expected.strip().splitlines()]
    right = [line.rstrip() for line in printed.strip().splitlines()]
    reached = _reached(left, right)
    if reached is None:
        return ""
    wanted = left[reached] if reached < len(left) else "the end"
    return f"printed\n{printed}\nwhich does not go on with\n{wanted}"


def _reached(expected: Sequence[str], printed: Sequence[str]) -> int | None:
    """None where all lines match, else the number of expected lines that could be matched."""
    furthest = 0
    waiting, seen = [(0, 0)], set[tuple[int, int]]()
    while waiting:
        here = i, j = waiting.pop()
        if here in seen:
            continue
        seen.add(here)
        furthest = max(furthest, i)
        if i == len(expected):
            if j == len(printed):
                return None
        elif expected[i] == "...":
            waiting += [(i + 1, j), *([(i, j + 1)] if j < len(printed) else [])]
        elif j < len(printed) and same_line(expected[i], printed[j]):
            waiting.append((i + 1, j + 1))
    return furthest


def same_line(expected: str, printed: str) -> bool:
    """Whether a printed line is the expected one: text equal, numbers as near as they must be."""
    pattern, numbers = "", list[str]()
    for token in TOKEN.finditer(expected):
        if token["number"]:
            numbers.append(token["number"])
            pattern += f"({NUMBER})"
        else:
            pattern += ".*?" if token["any"] else r"\s+" if token["blank"] else re.escape(token["text"])
    found = re.fullmatch(pattern, printed)
    return found is not None and all(map(near, numbers, found.groups()))


def near(expected: str, printed: str) -> bool:
    """Whole numbers equal, others within the tolerance."""
    if re.fullmatch(r"[-+]?\d+", expected):
        return expected == printed
    return math.isclose(float(expected), float(printed), rel_tol=TOLERANCE, abs_tol=1e-12)
