"""What commands print: tables, JSON, numbers, progress."""

from __future__ import annotations

import contextlib
import datetime
import json
import math
import os
import re
import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Generator, Sequence
from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import format_exact, format_short

Row = Sequence[str]

WIDTH = 80  # columns of what is printed where the output is no terminal and COLUMNS is not set
READABLE = 14  # columns that a cell of several words needs at least
LONGEST_WORD = 24  # columns of a word that is not broken: the names of constants, not paths and digests
PIPED = 10.0  # seconds between two lines of progress where standard error is no terminal
DIGITS = 200  # characters of an exact number that JSON carries without --exact
_EXACT = re.compile(r"-?\d+(/\d+)?")
_COLOURS = {
    **dict.fromkeys(("HOLDS", "yes"), "32"),
    **dict.fromkeys(("VIOLATED", "FAILED", "no"), "31"),
    **dict.fromkeys(("VACUOUS", "UNDECIDED", "OUT_OF_SCOPE"), "33"),
}

_state = {"exact": False}


def begin() -> None:
    """Called once a command begins: options that all commands share have their defaults again."""
    _state["exact"] = False


def with_exact(wanted: bool) -> None:
    """What --exact asks for: JSON with exact numbers of any length."""
    _state["exact"] = _state["exact"] or wanted


# ---- text ----


def line(text: str = "") -> None:
    """One line on standard output, as it is."""
    sys.stdout.write(text + "\n")


def width() -> int:
    """Columns of the output: those of the terminal, or of COLUMNS; 80 where neither is there."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit():
        return max(shutil.get_terminal_size((WIDTH, 24)).columns, 20)
    return WIDTH


def say(text: str) -> None:
    """A sentence on standard output, broken between words where it is wider than the output."""
    indent = " " * (len(text) - len(text.lstrip()) + 2)
    for part in textwrap.wrap(
        text, width(), subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    ) or [""]:
        line(part)


def note_reading(asked: str, taken: str) -> None:
    """Says which reading a bare id was taken for."""
    if asked.strip().strip("/") != taken:
        say(f"{asked}: taking the reading {taken}")


def short(value: Any) -> str:
    """A number for people."""
    if value is None:
        return "-"
    return format_short(value) if isinstance(value, int | float | Fraction) and value is not True else str(value)


def table(columns: Sequence[str], rows: Sequence[Row], *, coloured: Sequence[int] = (), whole: bool = False) -> None:
    """A table in aligned columns, whose cells are broken between words where the output is too narrow.

    coloured: columns of outcomes, in colours on a terminal. whole: the first column holds ids, which are never broken.
    Where the output is too narrow for all columns, each row is a paragraph.
    """
    widths = _widths(columns, rows, width() - 2 * (len(columns) - 1), whole)
    if widths is None and rows:
        _paragraphs(columns, rows)
        return
    widths = widths or [len(name) for name in columns]
    colours = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    for number, row in enumerate((columns, *rows)):
        cells = [_broken(cell, width) for cell, width in zip(row, widths, strict=True)]
        for k in range(max(map(len, cells))):
            parts = [cell[k] if k < len(cell) else "" for cell in cells]
            texts = [part.ljust(width) for part, width in zip(parts, widths, strict=True)]
            if colours:
                codes = ["1" if not number else _COLOURS.get(c, "") if i in coloured else "" for i, c in enumerate(row)]
                texts = [
                    f"\x1b[{code}m{text}\x1b[0m" if code else text for code, text in zip(codes, texts, strict=True)
                ]
            line("  ".join(texts).rstrip())


def _broken(cell: str, width: int) -> list[str]:
    return [cell] if len(cell) <= width else textwrap.wrap(cell, width, break_on_hyphens=False)


def _widths(columns: Sequence[str], rows: Sequence[Row], room: int, whole: bool) -> list[int] | None:
    """Widths of columns that fit into `room` and break no word, or None if there are no such widths."""
    cells = [[name, *(row[i] for row in rows)] for i, name in enumerate(columns)]
    natural = [max(map(len, column)) for column in cells]
    words = [max((len(word) for cell in column for word in cell.split()), default=0) for column in cells]
    least = [max(min(w, LONGEST_WORD), min(n, READABLE)) for w, n in zip(words, natural, strict=True)]
    if whole:
        least[0] = natural[0]
    spare = room - sum(least)
    if sum(natural) <= room:
        return natural
    gains = [n - m for n, m in zip(natural, least, strict=True)]
    return None if spare < 0 else [m + gain * spare // sum(gains) for m, gain in zip(least, gains, strict=True)]


def _paragraphs(columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Each row as its first cell and the others below it with their names, so that no column is lost."""
    for row in rows:
        line(row[0])
        say("  " + "; ".join(f"{name}: {cell}" for name, cell in zip(columns[1:], row[1:], strict=True) if cell))


def formula_lines(left: str, blocks: list[list[str]], base: int, width: int) -> list[str]:
    """A formula in at most `width` columns: as many summands side by side as fit, the next ones below them.

    A summand that is wider by itself is cut where the line ends and goes on below.
    """
    beside = len(left) <= width // 3  # else the left side has a line of its own
    margin = len(left) if beside else min(4, width // 2)
    room = max(width - margin, 1)
    groups: list[list[str]] = []
    for block in blocks:
        if groups and len(groups[-1][0]) + len(block[0]) <= room:
            groups[-1] = [a + b for a, b in zip(groups[-1], block, strict=True)]
        else:
            groups += [[row[k : k + room] for row in block] for k in range(0, max(len(block[0]), 1), room)]
    lines = [] if beside else [left.rstrip()]
    for k, group in enumerate(groups):
        lines += [""] * bool(k)
        for number, row in enumerate(group):
            start = left if beside and k == 0 and number == base else " " * margin
            if row.strip() or number == base:
                lines.append((start + row).rstrip())
    return lines


# ---- JSON ----


def print_json(data: dict[str, Any]) -> None:
    """The data, with its schema version, as JSON on standard output.

    What is not finite becomes null. An exact number of more than `DIGITS` characters becomes null without --exact, and
    the entry NAME_characters beside it says how long it is.
    """
    line(json.dumps({"schema": 1} | _plain(data), indent=2, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        found: dict[str, Any] = {}
        for key, entry in value.items():
            found[str(key)] = _plain(entry)
            if _is_long(entry):
                found |= {str(key): None, f"{key}_characters": len(entry)}
        return found
    if isinstance(value, list | tuple):
        return [f"{len(v)} characters" if _is_long(v) else _plain(v) for v in value]
    if isinstance(value, Fraction):
        return _plain(json_number(value))
    if isinstance(value, float):
        return json_float(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    tolist = getattr(value, "tolist", None)  # NumPy's arrays and scalars
    return _plain(tolist()) if tolist is not None else str(value)


def _is_long(value: Any) -> bool:
    """Whether a text is an exact number that is too long for JSON without --exact."""
    return (
        isinstance(value, str) and len(value) > DIGITS and not _state["exact"] and _EXACT.fullmatch(value) is not None
    )


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


# ---- progress ----


@contextlib.contextmanager
def progress(title: str, total: float = 1.0) -> Generator[Callable[[float], None]]:
    """A bar with the time left on standard error; gives the function that sets what is done. It never goes back.

    Where standard error is no terminal, a line every `PIPED` seconds takes the place of the bar.
    """
    furthest = 0.0
    with (_bar if sys.stderr.isatty() else _progress_lines)(title, total) as show:

        def further(done: float) -> None:
            nonlocal furthest
            furthest = max(furthest, done)  # work that a lost process repeats is no step back
            show(furthest)

        yield further


@contextlib.contextmanager
def _bar(title: str, total: float) -> Generator[Callable[[float], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    percent, elapsed, left = (TextColumn(text) for text in ("{task.percentage:3.0f} %", "elapsed,", "left"))
    columns = (TextColumn("{task.description}"), BarColumn(), percent, TimeElapsedColumn(), elapsed)
    apart = sys.stdout.isatty()  # what is printed meanwhile goes above the bar, but into a pipe where there is one
    console = Console(stderr=True)
    with Progress(*columns, TimeRemainingColumn(), left, console=console, transient=True, redirect_stdout=apart) as bar:
        shown = bar.add_task(title, total=total)
        yield lambda done: bar.update(shown, completed=done)


@contextlib.contextmanager
def _progress_lines(title: str, total: float) -> Generator[Callable[[float], None]]:
    stream, began, ended, reached = sys.stderr, time.monotonic(), threading.Event(), 0.0

    def show(done: float) -> None:
        nonlocal reached
        reached = done

    def tell() -> None:
        while not ended.wait(PIPED):
            share, took = min(reached / total, 1.0), time.monotonic() - began
            left = f", about {_clock(took / share - took)} left" if share > 0 else ""
            with contextlib.suppress(OSError, ValueError):  # who reads it has gone
                stream.write(f"{title}: {100 * share:.0f} %, {_clock(took)} elapsed{left}\n")
                stream.flush()

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield show
    finally:
        ended.set()
        teller.join()


def _clock(seconds: float) -> str:
    return str(datetime.timedelta(seconds=round(seconds)))
