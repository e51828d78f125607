"""What a notebook shows of an object: a card with a title, facts, a formula, a table and a small plot."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from boundcheck.core.extras import missing, needed_for
from boundcheck.core.palette import line_style, look
from boundcheck.core.svg import Chart, Line, chart_svg, sample
from boundcheck.errors import BadInput, MissingExtra, shown

FRAMES = ("pandas", "polars", "pyarrow")
MOST_ROWS = 12  # of a table on a card; `to_frame` has all of them
SIZE = (420, 200)  # of a small plot, in pixels
_TEXT = "--ink-soft: currentColor; --rule: color-mix(in srgb, currentColor 25%, transparent)"  # as the notebook's


@dataclass(frozen=True)
class Card:
    """title: one line. facts: (label, text) pairs. latex, mathml: the formula, or "". columns: name -> all its values.

    lines: name -> the (x, y) points of a small plot.
    """

    title: str
    facts: Sequence[tuple[str, str]] = ()
    latex: str = ""
    mathml: str = ""
    columns: Mapping[str, Sequence[Any]] | None = None
    lines: Mapping[str, Sequence[tuple[float, float]]] | None = None

    def html(self) -> str:
        """A fragment of HTML without scripts and references; all text is escaped."""
        parts = [f"<div><p><b>{html.escape(self.title)}</b></p>"]
        if self.mathml:
            parts.append(f'<div style="overflow-x: auto">{self.mathml}</div>')
        if self.facts:
            rows = (f"<li>{html.escape(name)}: {html.escape(text)}</li>" for name, text in self.facts)
            parts.append(f"<ul>{''.join(rows)}</ul>")
        if self.lines:
            parts.append(small_plot(self.lines))
        if self.columns:
            head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
            body = "".join(
                f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in self._rows()
            )
            parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{self._more()}")
        return "".join(parts) + "</div>"

    def markdown(self) -> str:
        """The same without the plot."""
        parts = [f"**{_plain(self.title)}**"]
        if self.latex:
            parts.append(f"$${self.latex}$$")
        if self.facts:
            parts.append("\n".join(f"- {_plain(name)}: {_plain(text)}" for name, text in self.facts))
        if self.columns:
            lines = [" | ".join(map(_plain, self.columns)), " | ".join("---" for _ in self.columns)]
            lines += [" | ".join(map(_plain, row)) for row in self._rows()]
            parts.append("\n".join(f"| {line} |" for line in lines))
            if self._more():
                parts.append(self._more())
        return "\n\n".join(parts) + "\n"

    def _rows(self) -> list[list[str]]:
        columns = list((self.columns or {}).values())
        count = min(MOST_ROWS, len(columns[0])) if columns else 0
        return [[_cell(column[i]) for column in columns] for i in range(count)]

    def _more(self) -> str:
        count = len(next(iter((self.columns or {"": ()}).values())))
        return f"{count - MOST_ROWS} more rows: to_frame() has all." if count > MOST_ROWS else ""


class Shown:
    """An object with a card: what notebooks call to show it, and its table as a data frame."""

    def _card(self) -> Card:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return self._card().html()

    def _repr_markdown_(self) -> str:
        return self._card().markdown()

    def to_frame(self, library: str = "") -> Any:
        """The table of the card, all rows, as a data frame.

        library: "pandas", "polars" or "pyarrow"; by default the first that is installed. Raises MissingExtra.
        """
        return frame(self._card().columns or {}, library)

    def plot(self, ax: Any = None) -> Any:
        """Draws the lines of the card on a matplotlib axis (default: a new one) and returns the axis.

        Raises BadInput where there is nothing to draw, MissingExtra without matplotlib.
        """
        card = self._card()
        if not card.lines:
            raise BadInput(f"{card.title}: there is nothing to draw.")
        drawn = axis(ax)
        for number, (name, points) in enumerate(card.lines.items()):
            style = line_style(name, number)
            drawn.plot([x for x, _ in points], [y for _, y in points], label=name, **style)
        if all(y > 0 for points in card.lines.values() for _, y in points):
            drawn.set_yscale("log")
        drawn.legend()
        return drawn


def frame(columns: Mapping[str, Any], library: str = "") -> Any:
    """A data frame of these columns; library: see `Shown.to_frame`. Raises BadInput and MissingExtra."""
    if library not in ("", *FRAMES):
        raise BadInput(f"to_frame: library = {shown(library)} is not allowed; one of {', '.join(FRAMES)} is.")
    for name in (library,) if library else FRAMES:
        try:
            module = import_module(name)
        except ImportError:
            continue
        make = module.table if name == "pyarrow" else module.DataFrame
        return make({key: value if hasattr(value, "dtype") else list(value) for key, value in columns.items()})
    raise MissingExtra(missing(library or "pandas", "a data frame"))


def axis(ax: Any = None) -> Any:
    """The matplotlib axis that is given, or a new one. Raises MissingExtra without matplotlib."""
    if ax is not None:
        return ax
    with needed_for("a plot"):
        return import_module("matplotlib.pyplot").subplots()[1]


def small_plot(lines: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """An inline SVG of lines, with their names below; the y axis is logarithmic where all values are above 0."""
    finite = {name: [p for p in points if all(map(math.isfinite, p))] for name, points in lines.items()}
    values = [y for points in finite.values() for _, y in points]
    if not values:
        return ""
    drawn: list[Line] = []
    for number, (name, points) in enumerate(finite.items()):
        role, dash = look(name, number)
        drawn.append(Line(name, role, [x for x, _ in points], [y for _, y in points], dash=dash))
    log = min(values) > 0
    words = f"{min(values):.3g} to {max(values):.3g}{', logarithmic' if log else ''}"
    svg = chart_svg(Chart(", ".join(lines), words, drawn, (False, log), size=SIZE), "card")
    names = " ".join(f"<span>{sample(line)} {html.escape(line.label)}</span>" for line in drawn)
    return f'<div style="max-width: {SIZE[0]}px; {_TEXT}">{svg}<p>{names}</p></div>'


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _plain(text: str) -> str:
    """The text in Markdown, on one line and without the signs that would change the table or the emphasis."""
    return " ".join(html.escape(text, quote=False).split()).replace("|", r"\|").replace("*", r"\*").replace("_", r"\_")
