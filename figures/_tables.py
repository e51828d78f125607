"""Tables as pictures, Markdown and JSON, in one form."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import _files as files
import _findings as fd
from matplotlib.figure import Figure

from boundcheck.core.palette import PALETTE

Rows = Mapping[str, Mapping[str, str]]


def write(
    rows: Rows, first: str, title: str, caption: str, findings: Sequence[Mapping[str, str]], folder: Path, name: str,
    **more: Any,
) -> list[Path]:  # fmt: skip
    """Writes a table: row name -> column -> text. first: the heading of the column of names; more: further facts."""
    told = fd.lines(findings)
    blocks = [caption, *(f"{word.capitalize()}: {' '.join(those)}" for word, those in told.items() if those)]
    columns = list(next(iter(rows.values())))
    markdown = [f"# {title}", "", "| " + " | ".join([first, *columns]) + " |", "|---" * (len(columns) + 1) + "|"]
    markdown += ["| " + " | ".join([row, *(cells[c] for c in columns)]) + " |" for row, cells in rows.items()]
    facts = {"schema": 1, "title": title, "caption": caption, "findings": list(findings), "rows": rows, **more}
    texts = {
        ".json": json.dumps(facts, indent=1, ensure_ascii=False) + "\n",
        ".md": "\n".join([*markdown, "", *(part for block in blocks for part in (block, ""))]),
    }
    figure, add_prose = _draw(rows, first, columns, blocks)
    return files.write_figure(figure, texts, folder, name, add_prose)


def _draw(rows: Rows, first: str, columns: Sequence[str], blocks: Sequence[str]) -> tuple[Figure, Callable[[], None]]:
    """The table, and what adds the text in the room below it."""
    below = "\n".join(textwrap.fill(block, 170) for block in blocks)
    lines = below.count("\n") + 1
    table_height, text_height = 0.36 * (len(rows) + 1), 0.16 * lines + 0.3
    height = table_height + text_height
    figure = Figure(figsize=(11.5, height))
    ax = figure.add_axes((0.01, text_height / height, 0.98, table_height / height - 0.01))
    ax.set_axis_off()
    cells = [[first, *columns], *([row, *(own[c] for c in columns)] for row, own in rows.items())]
    widths = [max(len(line[k]) for line in cells) + 3 for k in range(len(columns) + 1)]
    table = ax.table(
        cells[1:],
        colLabels=cells[0],
        colWidths=[w / sum(widths) for w in widths],
        cellLoc="center",
        bbox=(0, 0, 1, 1),
    )
    table.auto_set_font_size(False)
    table.set_fontsize(8.5)
    for (line, column), cell in table.get_celld().items():
        cell.set_edgecolor(PALETTE["rule"][0])
        cell.set_linewidth(0.6)
        text = cell.get_text()
        if line == 0 or column == 0:
            text.set_weight("bold")
        elif text.get_text() == "no":
            text.set_color(PALETTE["series-bound"][0])

    def add_prose() -> None:
        figure.text(0.01, (text_height - 0.12) / height, below, va="top", fontsize=8, color=PALETTE["ink"][0])

    return figure, add_prose
