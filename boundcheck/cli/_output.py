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
    dropped: Sequence[str] = (),
) -> None:
    """A table: drawn by rich on a terminal, in plain aligned columns elsewhere.

    styles: one rich style a column, or a word that colours the cell by its content ("outcome"). whole: the first
    column holds ids, which are never broken; dropped: columns that a narrow terminal does without, the first first.
    """
    if sys.stdout.isatty():
        _rich_table(columns, rows, title, styles, whole, dropped)
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


def _fitting(columns: Sequence[str], rows: Sequence[Row], width: int, dropped: Sequence[str]) -> list[int]:
    """Which columns to draw in `width`: all where each has its need, else without the dropped ones, in that order.

    The first column needs its full width, another one what its cells have, up to READABLE.
    """
    lengths = [max(map(len, (c, *(r[i] for r in rows)))) for i, c in enumerate(columns)]
    needs = [lengths[0], *(min(n, READABLE) for n in lengths[1:])]
    kept = list(range(len(columns)))
    for name in dropped:
        if sum(needs[i] + 2 for i in kept) - 2 <= width:
            break
        kept.remove(columns.index(name))
    return kept


def _rich_table(
    columns: Sequence[str], rows: Sequence[Row], title: str, styles: Sequence[str], whole: bool, dropped: Sequence[str]
) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=sys.stdout)
    drawn = Table(title=title or None, title_justify="left", show_edge=False, pad_edge=False)
    kept = _fitting(columns, rows, console.width, dropped) if rows else range(len(columns))
    for i in kept:
        drawn.add_column(columns[i], style="cyan" if i == 0 else None, overflow="fold", no_wrap=whole and i == 0)
    for row in rows:
        styled = {i for i in kept if i < len(styles) and styles[i] == "outcome"}
        drawn.add_row(*(Text(row[i], style=_COLOURS.get(row[i], "") if i in styled else "") for i in kept))
    console.print(drawn)
    missing = [name for i, name in enumerate(columns) if i not in kept]
    if missing:
        line(f"(a wider terminal also shows: {', '.join(missing)})")


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
        TextColumn("elapsed,"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        shown = bar.add_task(title, total=total)
        yield lambda done: bar.update(shown, completed=done)
