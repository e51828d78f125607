"""What commands print: tables, JSON, numbers and progress."""

from __future__ import annotations

import contextlib
import json
import math
import sys
import textwrap
from collections.abc import Callable, Generator, Sequence
from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import format_exact, format_short

Row = Sequence[str]


def line(text: str = "") -> None:
    """One line on standard output."""
    sys.stdout.write(text + "\n")


def note_reading(asked: str, taken: str) -> None:
    """Says which reading a bare id was taken for."""
    if asked.strip().strip("/") != taken:
        line(f"{asked}: taking the reading {taken}")


def print_json(data: dict[str, Any]) -> None:
    """The data, with its schema version, as JSON on standard output; what is not finite becomes null."""
    line(json.dumps({"schema": 1} | _plain(data), indent=2, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, Fraction):
        return json_number(value)
    if isinstance(value, float):
        return json_float(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    tolist = getattr(value, "tolist", None)  # NumPy's arrays and scalars
    return _plain(tolist()) if tolist is not None else str(value)


def json_float(value: float) -> float | None:
    """The float, or None where it is not finite."""
    return value if math.isfinite(value) else None


def json_number(value: Fraction) -> dict[str, Any]:
    """An exact number as its text and its nearest float (null beyond the floats)."""
    try:
        near: float | None = value.numerator / value.denominator
    except OverflowError:
        near = None
    return {"exact": format_exact(value), "float": near}


def short(value: Any) -> str:
    """A number for people."""
    if value is None:
        return "-"
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return format_short(value)
    if isinstance(value, float):
        return format_short(value)
    return str(value)


def table(
    columns: Sequence[str],
    rows: Sequence[Row],
    title: str = "",
    styles: Sequence[str] = (),
    *,
    whole: bool = False,
) -> None:
    """A table: drawn by rich on a terminal, in plain aligned columns elsewhere.

    styles: one rich style a column, or a word that colours the cell by its content ("outcome"). whole: the first
    column holds ids, which are never broken. On a terminal too narrow for all columns each row is a paragraph.
    """
    if sys.stdout.isatty():
        _rich_table(columns, rows, title, styles, whole)
        return
    if title:
        line(title)
    widths = [max(len(c), *(len(r[i]) for r in rows)) if rows else len(c) for i, c in enumerate(columns)]
    for row in (columns, *rows):
        line("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


_COLOURS = {
    "HOLDS": "green",
    "yes": "green",
    "VIOLATED": "bold red",
    "FAILED": "bold red",
    "no": "red",
    "VACUOUS": "yellow",
    "UNDECIDED": "yellow",
    "OUT_OF_SCOPE": "yellow",
}


READABLE = 14  # characters that a cell of several words needs at least
LONGEST_WORD = 24  # characters of a word that is not broken: the names of constants, not paths and digests


def _widths(columns: Sequence[str], rows: Sequence[Row], room: int, whole: bool) -> list[int] | None:
    """Widths of columns that fit into `room` without a broken word; None where there are none."""
    from rich.cells import cell_len

    cells = [[name, *(row[i] for row in rows)] for i, name in enumerate(columns)]
    natural = [max(map(cell_len, column)) for column in cells]
    words = [max((cell_len(word) for cell in column for word in cell.split()), default=0) for column in cells]
    least = [max(min(w, LONGEST_WORD), min(n, READABLE)) for w, n in zip(words, natural, strict=True)]
    if whole:
        least[0] = natural[0]
    over, spare = sum(natural) - room, room - sum(least)
    if over <= 0:
        return natural
    gains = [n - m for n, m in zip(natural, least, strict=True)]
    return None if spare < 0 else [m + gain * spare // sum(gains) for m, gain in zip(least, gains, strict=True)]


def _paragraphs(columns: Sequence[str], rows: Sequence[Row], width: int) -> None:
    """Each row as its first cell and the others below it with their names, so that no column is lost."""
    for row in rows:
        line(row[0])
        rest = "; ".join(f"{name}: {cell}" for name, cell in zip(columns[1:], row[1:], strict=True) if cell)
        for part in textwrap.wrap(rest, max(width - 2, 20), break_on_hyphens=False):
            line(f"  {part}")


def _rich_table(columns: Sequence[str], rows: Sequence[Row], title: str, styles: Sequence[str], whole: bool) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=sys.stdout)
    widths = _widths(columns, rows, console.width - 3 * (len(columns) - 1), whole)
    if widths is None and rows:
        if title:
            line(title)
        _paragraphs(columns, rows, console.width)
        return
    drawn = Table(title=title or None, title_justify="left", show_edge=False, pad_edge=False)
    for i, name in enumerate(columns):
        width = None if widths is None else widths[i]
        drawn.add_column(name, style="cyan" if i == 0 else None, overflow="fold", width=width)
    for row in rows:
        styled = {i for i, style in enumerate(styles) if style == "outcome"}
        drawn.add_row(*(Text(c, style=_COLOURS.get(c, "") if i in styled else "") for i, c in enumerate(row)))
    console.print(drawn)


@contextlib.contextmanager
def progress(title: str, total: float = 1.0) -> Generator[Callable[[float], None]]:
    """A bar with the time left on standard error while it is a terminal; gives the function that sets what is
    done. The bar never goes back."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("elapsed,"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        shown = bar.add_task(title, total=total)
        furthest = 0.0

        def show(done: float) -> None:
            nonlocal furthest
            furthest = max(furthest, done)  # work that a lost process repeats is no step back
            bar.update(shown, completed=furthest)

        yield show
