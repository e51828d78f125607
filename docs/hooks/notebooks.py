"""Notebooks, which are pages: each Python block is a cell, and what it shows is computed when the site is built."""

from __future__ import annotations

import contextlib
import html
import json
import re
import subprocess
import sys
import warnings
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from blocks import BLOCK, Block, blocks, run_cell

ROOT = Path(__file__).parents[2]
Outputs = tuple[tuple[str, str], ...]
RUNNING: dict[str, subprocess.Popen[str]] = {}


def cells(page: str) -> list[Block]:
    """The Python blocks that run."""
    return [block for block in blocks(page) if block.language == "python" and not block.title]


def start(files: Iterable[Path]) -> None:
    """Begins to run the cells of these pages, each page in a process of its own, while the site is built."""
    for file in files:
        command = [sys.executable, __file__, str(file)]
        running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        RUNNING[file.read_text(encoding="utf-8")] = running


@cache
def outputs(page: str) -> Outputs:
    """What each cell prints, and its value as HTML or ""; of a page that was started when it is ready."""
    if page not in RUNNING:
        return run(page)
    found, _ = RUNNING[page].communicate()
    assert RUNNING[page].returncode == 0, f"a cell failed of the page that begins with {page[:60]!r}"
    return tuple((printed, value) for printed, value in json.loads(found))


def run(page: str) -> Outputs:
    """Runs the cells of a page in the root of the repository."""
    names: dict[str, Any] = {"__name__": "__main__"}
    found: list[tuple[str, str]] = []
    with contextlib.chdir(ROOT), warnings.catch_warnings():
        warnings.simplefilter("error")
        for cell in cells(page):
            printed, value = run_cell(cell.body, names)
            show = getattr(value, "_repr_html_", None)
            found.append(
                (printed, "" if value is None else show() if show else f"<pre>{html.escape(repr(value))}</pre>")
            )
    return tuple(found)


def with_outputs(page: str, name: str) -> str:
    """The page with the value of each cell below it, and a link to the notebook."""
    shown = iter(outputs(page))

    def filled(match: re.Match[str]) -> str:
        if match["language"] != "python" or match["title"]:
            return match[0]
        _, value = next(shown)
        return (
            f'{match[0]}\n\n<div class="cell" tabindex="0">{" ".join(value.split(chr(10)))}</div>'
            if value
            else match[0]
        )

    title, _, rest = page.partition("\n")
    link = f"*This page is a notebook: [{name}.ipynb]({name}.ipynb), to be run in a clone of the repository.*"
    return f"{title}\n\n{link}\n{BLOCK.sub(filled, rest)}"


def notebook_file(page: str) -> str:
    """The page as a notebook, with the outputs of its cells."""
    found: list[dict[str, Any]] = []
    shown = iter(outputs(page))
    end = 0
    texts: list[str] = []

    def words() -> None:
        text = re.sub(r"<!-- .*? -->", "", "".join(texts)).strip()
        texts.clear()
        if text:
            found.append({"cell_type": "markdown", "metadata": {}, "source": text})

    for match in BLOCK.finditer(page):
        texts.append(page[end : match.start()])
        end = match.end()
        own = match["language"] == "python" and not match["title"]
        if own:
            words()
            printed, value = next(shown)
            out: list[dict[str, Any]] = []
            if printed:
                out.append({"output_type": "stream", "name": "stdout", "text": printed})
            if value:
                out.append({"output_type": "display_data", "metadata": {}, "data": {"text/html": value}})
            cell = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": out}
            found.append({**cell, "source": match["body"].rstrip()})
        elif not (
            match["language"] == "text" and found and found[-1]["cell_type"] == "code" and not "".join(texts).strip()
        ):
            texts.append(match[0])
    texts.append(page[end:])
    words()
    about = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    numbered = [{**cell, "id": f"cell-{number}"} for number, cell in enumerate(found)]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": about, "cells": numbered}, indent=1)


if __name__ == "__main__":
    json.dump(run(Path(sys.argv[1]).read_text(encoding="utf-8")), sys.stdout)
