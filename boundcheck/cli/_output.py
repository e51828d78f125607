"""What commands print: tables, JSON, numbers and progress."""

from __future__ import annotations

import contextlib
import json
import math
import sys
from collections.abc import Callable, Generator, Sequence
from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import format_exact, format_short

__all__ = ["json_float", "json_number", "line", "print_json", "progress", "short", "table"]

Row = Sequence[str]


def line(text: str = "") -> None:
    """One line on standard output."""
    sys.stdout.write(text + "\n")


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
        return f"{value:.6g}"
    return str(value)


def table(columns: Sequence[str], rows: Sequence[Row], title: str = "", styles: Sequence[str] = ()) -> None:
    """A table: drawn by rich on a terminal, in plain aligned columns elsewhere.

    styles: one rich style a column, or a word that colours the cell by its content ("outcome").
    """
    if sys.stdout.isatty():
        _rich_table(columns, rows, title, styles)
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


def _rich_table(columns: Sequence[str], rows: Sequence[Row], title: str, styles: Sequence[str]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(title=title or None, title_justify="left", show_edge=False, pad_edge=False)
    for i, column in enumerate(columns):
        drawn.add_column(column, style="cyan" if i == 0 else None, overflow="fold")
    for row in rows:
        cells = [
            Text(cell, style=_COLOURS.get(cell, "") if i < len(styles) and styles[i] == "outcome" else "")
            for i, cell in enumerate(row)
        ]
        drawn.add_row(*cells)
    Console(file=sys.stdout).print(drawn)


@contextlib.contextmanager
def progress(title: str, total: float = 1.0) -> Generator[Callable[[float], None]]:
    """A bar with the time left on standard error while it is a terminal; gives the function that sets what is done."""
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
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda done: bar.update(task, completed=done)
