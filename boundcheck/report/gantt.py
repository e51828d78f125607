"""A timetable as a Gantt picture: clients as rows, their work as bars, the server's aggregations as vertical lines.

A bar runs from the receipt of the model to the end of the work, with its delay written in it; a thin line leads on to
the aggregation where the client waits for it, and a dot marks the contribution.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING

from boundcheck.core.numbers import as_double

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from boundcheck.methods.schedules import Timetable


MAX_ROWS = 60  # clients that are drawn; more would be lines without a name
LABELLED = 60  # contributions up to which delays and arrows are drawn

COLOURS: Mapping[str, str] = {"work": "#6a9fd4", "stale": "#e0a458", "line": "0.75", "dot": "0.2", "text": "0.1"}


def draw(ax: Axes, table: Timetable, *, arrows: bool = False) -> None:
    """The rounds of a timetable into axes, the first `MAX_ROWS` clients.

    arrows: from each aggregation to the client that receives the model there.
    """
    unit = 1.0 if table.unit is None else as_double(table.unit, "the unit of time")
    few = len(table.members) <= LABELLED
    last = float(table.ends[-1]) * unit if table.rounds else 1.0
    for end in table.ends:
        ax.axvline(float(end) * unit, color=COLOURS["line"], lw=0.8, zorder=0)
    for n, i, start, finished, end in table.visits():
        if i >= MAX_ROWS:
            continue
        begin, done, used = (float(t) * unit for t in (start, finished, end))
        delay = table.delays[table.offsets[n] : table.offsets[n + 1]][table.cohort(n).index(i)]
        fill = COLOURS["stale" if delay else "work"]
        ax.broken_barh([(begin, done - begin)], (i - 0.32, 0.64), facecolor=fill, edgecolor=COLOURS["line"], zorder=2)
        if used > done:
            ax.plot([done, used], [i, i], color=COLOURS["dot"], lw=1, zorder=2)
        ax.plot([used], [i], marker="o", ms=4 if few else 2, color=COLOURS["dot"], zorder=3)
        if few:
            ax.text((begin + done) / 2, i, str(delay), ha="center", va="center", fontsize=8, color=COLOURS["text"])
        if arrows and few and used < last:
            ax.annotate(
                "",
                (used + 0.02 * last, i),
                (used, i),
                arrowprops={"arrowstyle": "->", "color": COLOURS["dot"], "lw": 0.8},
                zorder=3,
            )
    shown = min(table.clients, MAX_ROWS)
    ax.set_ylim(shown - 0.4, -0.6)
    ax.set_yticks(range(shown) if shown <= 20 else range(0, shown, 10))
    ax.set_xlim(0, last * 1.02)
    ax.set_xlabel("time (lines: aggregations; in the bars: the delay in rounds)" if few else "time")
    ax.set_ylabel("client" if shown == table.clients else f"client (the first {shown} of {table.clients})")


def figure(table: Timetable, title: str = "", *, arrows: bool = False) -> Figure:
    """The picture as a figure of its own."""
    from matplotlib.figure import Figure  # draws to files alone; pyplot would look for a display

    height = 1.3 + 0.32 * min(max(table.clients, 2), MAX_ROWS)
    made = Figure(figsize=(8.6, min(height, 12)), layout="constrained")
    ax = made.add_subplot()
    draw(ax, table, arrows=arrows)
    if title:
        ax.set_title(title, fontsize=10)
    return made


def image(table: Timetable, form: str, title: str = "", *, arrows: bool = False) -> bytes:
    """The picture as a file: form is "svg", "png" or "pdf"."""
    drawn = io.BytesIO()
    figure(table, title, arrows=arrows).savefig(drawn, format=form, dpi=150)
    return drawn.getvalue()
