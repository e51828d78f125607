"""The blocks of a page: what is a file, what runs, and what it should print."""

from __future__ import annotations

import ast
import contextlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

BLOCK = re.compile(
    r"^(?P<indent>[ ]*)```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<body>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
MARK = re.compile(r"<!-- (slow|not run: [^>]+?) -->\s*$")


@dataclass(frozen=True)
class Block:
    """A fenced block. mark: "", "slow" or "not run: ...". output: what a Python block prints, None without a text."""

    language: str
    title: str
    body: str
    mark: str = ""
    output: str | None = None

    def commands(self) -> Iterator[tuple[str, int, str]]:
        """Of a console block: each command, its exit code and its output."""
        for part in re.split(r"^\$ ", self.body, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            while command.endswith("\\"):
                more, _, output = output.partition("\n")
                command = f"{command[:-1].rstrip()} {more.lstrip('> ')}"
            command, _, code = command.partition("  # exit code ")
            yield command.strip(), int(code or 0), output


def blocks(page: str) -> list[Block]:
    """The blocks of a page, in their order; a text after a Python block belongs to it."""
    found: list[Block] = []
    end = 0
    for match in BLOCK.finditer(page):
        between, end = page[end : match.start()], match.end()
        mark = MARK.search(between)
        indent = match["indent"]
        body = re.sub(rf"^{indent}", "", match["body"], flags=re.MULTILINE)
        if match["language"] == "text" and found and found[-1].language == "python" and not between.strip():
            found[-1] = Block(**{**vars(found[-1]), "output": body})
        else:
            found.append(Block(match["language"], match["title"] or "", body, mark[1] if mark else ""))
    return found


def run_cell(source: str, names: dict[str, Any]) -> tuple[str, Any]:
    """Runs Python code; returns what it prints, and the value of its last line where that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(tree, "page", "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), "page", "eval"), names)
    return out.getvalue(), value
