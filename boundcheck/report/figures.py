"""Figures for papers as SVG, PDF or PNG, drawn by matplotlib in the colours of the pages; and pictures of timetables.

An SVG follows the page around it, and the light or dark setting of the viewer where it stands alone.
"""

from __future__ import annotations

import contextlib
import html
import io
import re
from collections.abc import Generator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundcheck.core import svg
from boundcheck.core.extras import needed_for
from boundcheck.core.numbers import as_double
from boundcheck.core.palette import DASHES, PALETTE, colour, line_style
from boundcheck.core.places import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from boundcheck.methods.schedules import Timetable
    from boundcheck.theory.statement import Statement

MAX_ROWS = 60  # clients of a timetable that are drawn; more would be lines without a name
PLAIN = 100  # times its low end up to which the ticks of a logarithmic axis are decimals
LABELLED = 60  # contributions up to which delays are drawn
SETTINGS: Mapping[str, Any] = {  # text stays text; equal data gives equal bytes
    "svg.fonttype": "none",
    "svg.hashsalt": "boundcheck",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": PALETTE["rule"][0],
    "grid.linewidth": 0.5,
    "lines.solid_capstyle": "round",
    **dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color"), PALETTE["ink-soft"][0]),
    **dict.fromkeys(("axes.labelcolor", "text.color"), PALETTE["ink"][0]),
}
_BLANK: Mapping[str, Any] = {"Date": None, "Creator": None, "Format": None, "Type": None}


@contextlib.contextmanager
def new_figure(size: tuple[float, float]) -> Generator[Any]:
    """A figure with the pages' settings."""
    with needed_for("a picture"):
        import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    settings: Any = SETTINGS
    with mpl.rc_context(settings):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        yield figure


def file_of(figure: Any, form: str, title: str, words: str) -> bytes:
    """The figure as a file; an SVG takes its colours from the page around it, and says what it shows."""
    buffer = io.BytesIO()
    if form != "svg":
        blank: Any = {"CreationDate": None, "Creator": None, "Producer": None} if form == "pdf" else None
        figure.savefig(buffer, format=form, dpi=150, metadata=blank)
        return buffer.getvalue()
    figure.savefig(buffer, format="svg", transparent=True, metadata=dict(_BLANK))
    text = buffer.getvalue().decode()
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text[text.index("<svg") :], flags=re.S)
    space = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    opening = rf'<svg {space} viewBox="\1" role="img" class="plot">'
    text = re.sub(r'<svg [^>]*?viewBox="([^"]*)"[^>]*>', opening, text, count=1)
    for name, (light, _) in PALETTE.items():
        text = re.sub(f"(?<!,){light}", colour(name), text)
    dark = "".join(f"--{name}:{own[1]};" for name, own in PALETTE.items())
    style = f"@media(prefers-color-scheme:dark){{svg.plot:root{{{dark}}}}}"
    about = f"<title>{html.escape(title)}</title><desc>{html.escape(words)}</desc>"
    head, _, rest = text.partition(">\n")
    seamless = "[id^=PolyCollection]{shape-rendering:crispEdges}"
    return f"{head}>\n{about}<style>{style}{seamless}</style>\n{rest}\n".encode()


def charts(shown: Sequence[tuple[str, svg.Chart]], form: str, alike: bool = False) -> bytes:
    """Charts of a page side by side as a file, with axis labels and one legend and no other words.

    shown: heading and chart of each, with labels in plain text. form: "svg", "png" or "pdf". alike: charts with the
    same label of y have the same range of y.
    """
    across = min(len(shown), 2)
    down = -(-len(shown) // across)
    with new_figure((6.4 if across == 1 else 9.6, 4.2 if across == 1 else 3.2 * down)) as figure:
        named: dict[str, Any] = {}
        for place, (heading, chart) in enumerate(shown, 1):
            ax = figure.add_subplot(down, across, place)
            for line in chart.lines:
                _draw_line(ax, line, named)
            for x, y, _ in chart.rings:
                ax.plot([x], [y], marker="o", ms=9, mfc="none", color=PALETTE["series-bound"][0])
            x, y = svg.axes(chart)
            of_y = [svg.axes(c)[1] for _, c in shown if c.y_label == chart.y_label] if alike else [y]
            ax.set(xlabel=chart.x_label, ylabel=chart.y_label, title=heading)
            ends = (x.low, x.high), (min(end.low for end in of_y), max(end.high for end in of_y))
            for name, log, end in zip("xy", chart.log, ends, strict=True):
                ax.set(**{f"{name}scale": "log" if log else "linear", f"{name}lim": end})
                if log and end[1] < PLAIN * end[0]:
                    _plain_ticks(ax.xaxis if name == "x" else ax.yaxis)
            ax.grid(visible=True)
        figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=2, frameon=False, fontsize=9)
        return file_of(figure, form, shown[0][1].title, shown[0][1].text)


def _plain_ticks(axis: Any) -> None:
    """Decimals instead of powers of ten, for a logarithmic axis that spans few of them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _draw_line(ax: Axes, line: svg.Line, named: dict[str, Any]) -> None:
    """A line with its band; named: label -> what the legend shows."""
    colour = PALETTE[f"series-{line.role}"][0]
    dash = tuple(float(v) / 2 for v in DASHES[line.dash].split())
    if line.low:
        ax.fill_between(line.x, line.low, line.high, color=colour, alpha=0.15, lw=0)
    (drawn,) = ax.plot(line.x, line.y, color=colour, lw=line.width * 0.8, ls=(0, dash) if dash else "solid")
    if line.label:
        named.setdefault(line.label, drawn)


def works(table: Timetable) -> tuple[list[svg.Work], list[float]]:
    """The work of the first `MAX_ROWS` clients of a timetable, and the times of the server's aggregations."""
    unit = 1.0 if table.unit is None else as_double(table.unit, "the unit of time")
    found: list[svg.Work] = []
    for n, i, *times in table.visits():
        if i < MAX_ROWS:
            delay = table.delays[table.offsets[n] : table.offsets[n + 1]][table.cohort(n).index(i)]
            start, end, used = (float(t) * unit for t in times)
            found.append(svg.Work(i, start, end, used, int(delay)))
    return found, [float(end) * unit for end in table.ends]


def draw_timetable(ax: Axes, table: Timetable) -> None:
    """A timetable as a Gantt picture in axes; see `core.svg.timetable`."""
    from matplotlib.colors import to_rgba

    metric, bound, ink, rule = (PALETTE[n][0] for n in ("series-metric", "series-bound", "ink", "rule"))
    work, ends = works(table)
    few = len(table.members) <= LABELLED
    for end in ends:
        ax.axvline(end, color=rule, lw=0.8, zorder=0)
    for w in work:
        fill = bound if w.delay else metric
        bar: Any = {"facecolor": to_rgba(fill, 0.35), "edgecolor": fill, "zorder": 2}
        ax.broken_barh([(w.start, w.end - w.start)], (w.row - 0.32, 0.64), **bar)
        ax.plot([w.end, w.used], [w.row, w.row], color=ink, lw=1, zorder=2)
        ax.plot([w.used], [w.row], marker="o", ms=4 if few else 2, color=ink, zorder=3)
        if few:
            ax.text((w.start + w.end) / 2, w.row, str(w.delay), ha="center", va="center", fontsize=8, color=ink)
    shown = min(table.clients, MAX_ROWS)
    ax.set_ylim(shown - 0.4, -0.6)
    ax.set_yticks(range(shown) if shown <= 20 else range(0, shown, 10))
    ax.set_xlim(0, max(ends, default=1.0) * 1.02)
    ax.set_xlabel("time (lines: aggregations; in the bars: the delay in rounds)" if few else "time")
    ax.set_ylabel(rows_label(table))


def rows_label(table: Timetable) -> str:
    """What the rows of a picture of the timetable are."""
    return "client" if table.clients <= MAX_ROWS else f"client (the first {MAX_ROWS} of {table.clients})"


def timetable(table: Timetable, form: str, title: str = "") -> bytes:
    """The picture of a timetable as a file. form: "svg" (needs no further package), "png" or "pdf"."""
    if form == "svg":
        work, ends = works(table)
        few, shown = len(table.members) <= LABELLED, min(table.clients, MAX_ROWS)
        return svg.fixed(svg.timetable(shown, work, ends, title, rows_label(table), words=few)).encode()
    with new_figure((8.6, min(1.3 + 0.32 * min(max(table.clients, 2), MAX_ROWS), 12))) as figure:
        ax = figure.add_subplot()
        draw_timetable(ax, table)
        ax.set_title(title, fontsize=10)
        return file_of(figure, form, title, "")


def draw_sweep(
    statement: Statement, name: str, grid: list[Fraction], values: list[float], scope: list[bool], target: Path
) -> None:
    """Writes the picture of a bound over the grid of one symbol; the ending of the target names its format.

    name, grid: the symbol and its values. values, scope: the bound at each, and whether it is in scope there.
    """
    x = [as_double(g, name) for g in grid]
    inside = [v if s else float("nan") for v, s in zip(values, scope, strict=True)]
    outside = [float("nan") if s else v for v, s in zip(values, scope, strict=True)]
    with new_figure((6.4, 4.2)) as figure:
        axes = figure.add_subplot()
        axes.plot(x, inside, marker=".", label="in scope", **line_style("bound"))
        if not all(scope):
            axes.plot(x, outside, marker="x", label="out of scope", **line_style("trivial") | {"linestyle": "none"})
        if min(x) > 0 and max(x) > 30 * min(x):
            axes.set_xscale("log")
        finite = [v for v in values if 0 < v < float("inf")]
        if len(finite) == len(values) and max(finite) > 30 * min(finite):
            axes.set_yscale("log")
        what = f"bound on {statement.metric.quantity}" if statement.metric.quantity != "none" else "value"
        axes.set_xlabel(name)
        axes.set_ylabel(what)
        axes.set_title(statement.id)
        axes.legend()
        write_whole(target, file_of(figure, target.suffix[1:].lower(), statement.id, f"{what} over {name}"))
