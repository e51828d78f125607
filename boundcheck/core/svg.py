"""Pictures of pages, notebooks and schedules as SVG: lines with bands, bars, sparklines, graphs and timetables.

Every colour is a variable of the page around the picture with a fallback (`palette.colour`), so that a picture follows
the scheme of a page and also stands alone. `fixed` puts the fallbacks in, for programs that know no variables.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from boundcheck.core.palette import DASHES, colour

WIDTH, HEIGHT = 860, 380  # of a chart on its own, in pixels
LEFT, RIGHT, TOP, BOTTOM = 64, 14, 10, 26  # margins of a chart
DOTS = 12  # a line of at most this many points shows them
NODE, ACROSS, DOWN = (196, 40), 44, 12  # a box of a graph, and the gaps between boxes
ROW = 30  # pixels of a row of a timetable
_MIDDLE, _END = ' text-anchor="middle"', ' text-anchor="end"'
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Line:
    """One line with its band. role: one of `ROLES`; dash: a place in `DASHES`."""

    label: str
    role: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    dash: int = 0
    width: float = 1.8


@dataclass(frozen=True)
class Chart:
    """title, text: for those who do not see it. log: whether x and y are logarithmic.

    x_label, y_label: HTML beside the picture. floor: the least value that a logarithmic y axis shows. rings: marked
    points with a word.
    """

    title: str
    text: str
    lines: Sequence[Line]
    log: tuple[bool, bool]
    x_label: str = ""
    y_label: str = ""
    floor: float = 0.0
    rings: Sequence[tuple[float, float, str]] = ()
    size: tuple[int, int] = (WIDTH, HEIGHT)


@dataclass(frozen=True)
class Axis:
    """A scale from values to pixels."""

    low: float
    high: float
    log: bool
    start: float
    end: float
    ticks: Sequence[tuple[float, str]] = ()

    def place(self, value: float) -> float:
        """The pixel of a value that the scale has."""
        low, high, at = (math.log10(v) if self.log else v for v in (self.low, self.high, value))
        return self.start + (self.end - self.start) * (at - low) / (high - low)


@dataclass(frozen=True)
class Node:
    """A box of a graph: its label, second line, link ("": none) and the name of its colour."""

    label: str
    note: str
    link: str
    colour: str


@dataclass(frozen=True)
class Work:
    """A client's work in a timetable: its row, when it starts and ends, when the server uses it, and its delay."""

    row: int
    start: float
    end: float
    used: float
    delay: int


def fixed(svg: str) -> str:
    """The picture with the light colours in place of variables, as a file of its own."""
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + re.sub(r"var\(--[a-z-]+,(#[0-9a-f]{6})\)", r"\1", svg) + "\n"


def superscript(number: int | str) -> str:
    """An exponent in raised digits."""
    return str(number).translate(_RAISED)


def _whole(size: tuple[float, float], inner: Iterable[str], title: str, text: str, kind: str = "plot") -> str:
    words = f"<title>{html.escape(title)}</title>" + (f"<desc>{html.escape(text)}</desc>" if text else "")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{kind}" role="img" viewBox="0 0 {size[0]:.0f} {size[1]:.0f}" '
        f'font-family="system-ui, sans-serif" font-size="12" fill="{colour("ink-soft")}">{words}{"".join(inner)}</svg>'
    )


def _text(x: float, y: float, words: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}"{more}>{html.escape(words)}</text>'


def _stroke(name: str, width: float, dash: str = "") -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'fill="none" stroke="{colour(name)}" stroke-width="{width:g}" stroke-linejoin="round"{dashed}'


# --- lines ------------------------------------------------------------------------------------------------------------


def drawable(value: float, log: bool) -> bool:
    """Whether an axis has a place for the value."""
    return math.isfinite(value) and (value > 0 or not log)


def extent(values: Iterable[float], log: bool, floor: float = 0.0, share: float = 0.04) -> tuple[float, float]:
    """The ends of an axis on which the values lie, with a margin; 0 to 1 without values."""
    good = [v for v in values if drawable(v, log) and (not log or v > floor)]
    if not good:
        return (1.0, 10.0) if log else (0.0, 1.0)
    low, high = min(good), max(good)
    if log:
        a, b = math.log10(low), math.log10(high)
        pad = share * (b - a) if b > a else 0.5
        return 10 ** max(a - pad, -307.0), 10 ** min(b + pad, 307.0)
    pad = share * (high - low) if high > low else abs(high) / 2 or 1.0
    return low - pad, high + pad


def ticks(low: float, high: float, log: bool, most: int) -> list[tuple[float, str]]:
    """Values of an axis with their labels, at most about `most`."""
    plain = max(abs(low), abs(high)) < 1e5 and (not log or low >= 1e-4)
    if log and math.log10(high / low) >= 1:
        a, b = math.log10(low), math.log10(high)
        step = max(1, math.ceil((b - a) / most))
        own = (1, 2, 5) if b - a < most / 3 else (1,)
        exponents = range(math.floor(a), math.floor(b) + 1)
        found = [m * 10.0**e for e in exponents if e % step == 0 for m in own]
    else:
        raw = (high - low) / most
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw * (1 - 1e-9))
        plain = plain and step >= 1e-5
        found = [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)]
    return [(v, tick_label(v, plain)) for v in found if low <= v <= high]


def tick_label(value: float, plain: bool) -> str:
    """A number on an axis: 0.05, or 5·10⁻⁷ where not plain; 0 and 1 to 10 are plain."""
    if value == 0 or plain or 1 <= abs(value) <= 10:
        return f"{value:.6g}".replace("-", "−")
    mantissa, _, exponent = f"{value:.2e}".partition("e")
    mantissa = f"{float(mantissa):g}".replace("-", "−")
    power = "10" + superscript(int(exponent))
    return mantissa[:-1] + power if mantissa in ("1", "−1") else f"{mantissa}·{power}"


def axes(chart: Chart) -> tuple[Axis, Axis]:
    """The axes of a chart, on which all its points lie."""
    log_x, log_y = chart.log
    wide, tall = chart.size
    x = extent((v for line in chart.lines for v in line.x), log_x, share=0.01)
    seen = [
        v
        for line in chart.lines
        for series in (line.y, line.low, line.high)
        for at, v in zip(line.x, series, strict=False)
        if drawable(at, log_x)
    ]
    y = extent(seen, log_y, chart.floor)
    across = ticks(*x, log_x, max(3, (wide - LEFT - RIGHT) // 90))
    up = ticks(*y, log_y, max(3, (tall - TOP - BOTTOM) // 45))
    return Axis(*x, log_x, LEFT, wide - RIGHT, across), Axis(*y, log_y, tall - BOTTOM, TOP, up)


def _path(points: Iterable[tuple[float, float]], x: Axis, y: Axis) -> str:
    """A polyline that is interrupted where an axis has no place for a point."""
    parts: list[str] = []
    pen = "M"
    for at, value in points:
        there = drawable(at, x.log) and drawable(value, y.log)
        parts.append(f"{pen}{x.place(at):.1f} {y.place(value):.1f}" if there else "")
        pen = "L" if there else "M"
    return "".join(parts)


def _band(line: Line, x: Axis, y: Axis) -> str:
    """The closed outline of a line's band; a lower end that the axis does not have lies below the picture."""
    rows = [
        (at, low if drawable(low, y.log) else y.low, high)
        for at, low, high in zip(line.x, line.low, line.high, strict=False)
        if drawable(at, x.log) and drawable(high, y.log)
    ]
    there = [(at, high) for at, _, high in rows] + [(at, low) for at, low, _ in reversed(rows)]
    return _path(there, x, y) + "Z" if len(rows) > 1 else ""


def chart_svg(chart: Chart, name: str) -> str:
    """Lines with their bands over two axes. name: of the picture, unlike those of the others on its page."""
    x, y = axes(chart)
    wide, tall = chart.size
    grid = [f"M{x.place(v):.1f} {TOP}V{tall - BOTTOM}" for v, _ in x.ticks]
    grid += [f"M{LEFT} {y.place(v):.1f}H{wide - RIGHT}" for v, _ in y.ticks]
    inner = f'x="{LEFT}" y="{TOP}" width="{wide - LEFT - RIGHT}" height="{tall - TOP - BOTTOM}"'
    parts = [f'<clipPath id="{name}"><rect {inner}/></clipPath><path {_stroke("rule", 0.6)} d="{"".join(grid)}"/>']
    parts += [_text(x.place(v), tall - 8, label, _MIDDLE) for v, label in x.ticks]
    parts += [_text(LEFT - 7, y.place(v) + 4, label, _END) for v, label in y.ticks]
    parts.append(f'<path {_stroke("ink-soft", 0.8)} d="M{LEFT} {TOP}V{tall - BOTTOM}H{wide - RIGHT}"/>')
    parts.append(f'<g clip-path="url(#{name})">')
    for line in chart.lines:
        own = f"series-{line.role}"
        points = list(zip(line.x, line.y, strict=True))
        if line.low:
            parts.append(f'<path class="band" fill="{colour(own)}" fill-opacity="0.2" d="{_band(line, x, y)}"/>')
        look = _stroke(own, line.width, DASHES[line.dash])
        parts.append(f'<path class="line" {look} d="{_path(points, x, y)}"/>')
        shown = points if len(points) <= DOTS else []
        parts += [
            f'<circle r="3" fill="{colour(own)}" cx="{x.place(a):.1f}" cy="{y.place(b):.1f}"/>'
            for a, b in shown
            if drawable(a, x.log) and drawable(b, y.log)
        ]
    parts.append("</g>")
    for at, value, word in chart.rings:
        if drawable(at, x.log) and drawable(value, y.log):
            a, b = x.place(at), y.place(value)
            side, anchor = (-12, "end") if a > wide - 140 else (12, "start")
            parts.append(f'<circle r="8" {_stroke("violated", 2)} cx="{a:.1f}" cy="{b:.1f}"/>')
            look = f' text-anchor="{anchor}" font-weight="600" fill="{colour("violated")}"'
            parts.append(_text(a + side, max(b - 10, 12), word, look))
    return _whole(chart.size, parts, chart.title, chart.text)


def sample(line: Line) -> str:
    """The look of a line, for a legend."""
    look = _stroke(f"series-{line.role}", 2, DASHES[line.dash])
    return f'<svg viewBox="0 0 30 8" width="30" height="8" aria-hidden="true"><path {look} d="M0 4H30"/></svg>'


def sparkline(rows: Sequence[tuple[str, Sequence[float]]], width: int = 96, height: int = 24) -> str:
    """Lines of two or more positive numbers on one log scale, by role; decoration, hidden from screen readers."""
    x = Axis(0.0, max(len(values) for _, values in rows) - 1.0, False, 2, width - 2)
    y = Axis(*extent((v for _, values in rows for v in values), True, share=0.1), True, height, 0)
    lines = [f'<path {_stroke(f"series-{role}", 1.5)} d="{_path(enumerate(own), x, y)}"/>' for role, own in rows]
    return f'<svg aria-hidden="true" class="spark" viewBox="0 0 {width} {height}">{"".join(lines)}</svg>'


def bar(role: str, start: float, width: float) -> str:
    """One bar of a chart whose words stand beside it. start, width: in per cent of the room there is."""
    shape = f'<rect x="{start:.1f}%" width="{width:.1f}%" height="9" rx="2" fill="{colour(f"series-{role}")}"/>'
    return f'<svg class="bar" aria-hidden="true" width="100%" height="9">{shape}</svg>'


# --- graphs and timetables --------------------------------------------------------------------------------------------


def graph(
    columns: Sequence[Sequence[str]], down: Mapping[str, Sequence[str]], nodes: Mapping[str, Node], own: str, title: str
) -> str:
    """Boxes in columns, each joined to those of `down` that stand left of it. own: the box that is drawn heavier."""
    wide, tall = NODE
    height = max(map(len, columns)) * (tall + DOWN) + DOWN
    width = len(columns) * (wide + ACROSS) - ACROSS + 4
    place: dict[str, tuple[float, float]] = {}
    for k, column in enumerate(columns):
        top = (height - len(column) * (tall + DOWN) + DOWN) / 2
        for n, id in enumerate(column):
            place.setdefault(id, (2 + k * (wide + ACROSS), top + n * (tall + DOWN)))
    parts: list[str] = []
    for id, (x, y) in place.items():
        for a, b in (place[other] for other in down.get(id, ()) if other in place and place[other][0] < x):
            start, end = (a + wide, b + tall / 2), (x, y + tall / 2)
            middle = (start[0] + end[0]) / 2
            curve = f"M{start[0]:.0f} {start[1]:.0f}C{middle:.0f} {start[1]:.0f} {middle:.0f} {end[1]:.0f}"
            parts.append(f'<path class="edge" {_stroke("ink-soft", 1.2)} d="{curve} {end[0]:.0f} {end[1]:.0f}"/>')
    parts += [_box(nodes[id], *place[id], own=id == own) for id in place]
    drawn = _whole((width, height), parts, title, "", "graph")
    return drawn.replace('role="img"', f'role="group" width="{width}" height="{height:.0f}"', 1)


def _box(node: Node, x: float, y: float, *, own: bool) -> str:
    wide, tall = NODE
    label, note = (words if len(words) <= 26 else words[:25] + "…" for words in (node.label, node.note))
    shape = f'<rect x="{x:.0f}" y="{y:.0f}" width="{wide}" height="{tall}" rx="4" fill="{colour("tint")}" '
    shape += f'stroke="{colour(node.colour)}" stroke-width="{3 if own else 1.3}"/>'
    text = _text(x + 9, y + 17, label, f' class="name" font-weight="600" fill="{colour("ink")}"')
    text += _text(x + 9, y + 32, note, ' font-size="10.5"')
    inner = f"<g><title>{html.escape(f'{node.label}: {node.note}')}</title>{shape}{text}</g>"
    return f'<a href="{html.escape(node.link)}">{inner}</a>' if node.link and not own else inner


def timetable(
    clients: int, work: Sequence[Work], ends: Sequence[float], title: str, rows: str = "client", *, words: bool = True
) -> str:
    """A Gantt picture: clients as rows, their work as bars, the server's aggregations as vertical lines.

    A line leads from the end of the work to the aggregation that uses it, where an arrow stands for the model that the
    client receives. rows: what the rows are. words: whether each bar shows its delay.
    """
    last = max(ends, default=1.0)
    x = Axis(0.0, 1.02 * last, False, LEFT, WIDTH - RIGHT)
    top, bottom = TOP + 32, TOP + 32 + ROW * clients
    parts = [f'<path {_stroke("rule", 1)} d="M{x.place(end):.1f} {top}V{bottom}"/>' for end in ends]
    for w in work:
        a, b, c = map(x.place, (w.start, w.end, w.used))
        middle = top + ROW * (w.row + 0.5)
        fill = colour("series-bound" if w.delay else "series-metric")
        arrow = "h10m-4 -3l4 3l-4 3" if words and w.used < last else ""
        parts.append(
            f'<rect x="{a:.1f}" y="{middle - 10:.1f}" width="{b - a:.1f}" height="20" fill="{fill}" '
            f'fill-opacity="0.35" stroke="{fill}"/><path {_stroke("ink", 1)} d="M{b:.1f} {middle:.1f}H{c:.1f}{arrow}"/>'
            f'<circle r="{3 if words else 1.5}" cx="{c:.1f}" cy="{middle:.1f}" fill="{colour("ink")}"/>'
        )
        if words:
            parts.append(_text((a + b) / 2, middle + 4, str(w.delay), f'{_MIDDLE} fill="{colour("ink")}"'))
    numbers = range(0, clients, 1 if clients <= 20 else 10)
    parts += [_text(LEFT - 7, top + ROW * (k + 0.5) + 4, str(k), _END) for k in numbers]
    parts.append(f'<path {_stroke("ink-soft", 0.8)} d="M{LEFT} {top}V{bottom}H{WIDTH - RIGHT}"/>')
    parts += [_text(x.place(v), bottom + 16, label, _MIDDLE) for v, label in ticks(0.0, x.high, False, 8)]
    about = "time (lines: aggregations; in the bars: the delay in rounds)" if words else "time"
    parts += [_text((LEFT + WIDTH) / 2, bottom + 34, about, _MIDDLE), _text(8, top - 6, rows)]
    parts.append(_text(WIDTH / 2, 16, title, f'{_MIDDLE} fill="{colour("ink")}"'))
    return _whole((WIDTH, bottom + 44), parts, title, "")
