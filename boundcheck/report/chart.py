"""Charts of the pages: lines over one axis, as inline SVG that takes its colours from the page around it.

A chart is data (`Chart`). `chart_html` draws it once here, so that a page shows it without a script, and puts the same
data beside it; `templates/chart.js` draws it again from them at the width of the window, for another scale of an axis
and for a part of the x axis. Both lay a chart out alike; a test in a browser compares their paths.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from boundcheck.report.words import superscript

if TYPE_CHECKING:
    from markupsafe import Markup

WIDTH, HEIGHT = 860, 380  # of a chart on its own, in pixels
LEFT, RIGHT, TOP, BOTTOM = 64, 14, 10, 26  # margins
DASHES = ("", "7 4", "2 3", "9 3 2 3", "4 2", "12 4")
DOTS = 12  # a line of at most so many points shows them


@dataclass(frozen=True)
class Line:
    """One line with its band. role: the page's colour `--series-<role>`; dash: a place in `DASHES`."""

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
    """title, text: for those who do not see it. log: whether x and y are logarithmic at first.

    x_label, y_label: HTML. floor: the least value that a logarithmic y axis shows at first. rings: marked points with a
    word. words: what is said of each point of the first line.
    """

    title: str
    text: str
    lines: Sequence[Line]
    log: tuple[bool, bool]
    x_label: str = ""
    y_label: str = ""
    floor: float = 0.0
    rings: Sequence[tuple[float, float, str]] = ()
    words: Sequence[str] = ()
    size: tuple[int, int] = (WIDTH, HEIGHT)


@dataclass(frozen=True)
class Axis:
    """A scale from values to pixels."""

    low: float
    high: float
    log: bool
    start: float
    end: float
    ticks: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])

    def place(self, value: float) -> float:
        """The pixel of a value that the scale has."""
        low, high, at = (math.log10(v) if self.log else v for v in (self.low, self.high, value))
        return self.start + (self.end - self.start) * (at - low) / (high - low)


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
    """A number on an axis: 0.05, or 5·10⁻⁷ where not plain."""
    if value == 0 or plain:
        return f"{value:.6g}".replace("-", "−")
    mantissa, _, exponent = f"{value:.2e}".partition("e")
    mantissa = f"{float(mantissa):g}".replace("-", "−")
    power = "10" + superscript(int(exponent))
    return power if mantissa == "1" else f"{mantissa}·{power}"


def _axes(chart: Chart) -> tuple[Axis, Axis]:
    """The axes at first: all points, on the scales of the chart."""
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
        if drawable(at, x.log) and drawable(value, y.log):
            parts.append(f"{pen}{x.place(at):.1f} {y.place(value):.1f}")
            pen = "L"
        else:
            pen = "M"
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


def _svg(chart: Chart, name: str) -> str:
    x, y = _axes(chart)
    wide, tall = chart.size
    parts: list[str] = []
    for value, label in x.ticks:
        at = x.place(value)
        parts.append(f'<path class="grid" d="M{at:.1f} {TOP}V{tall - BOTTOM}"/>')
        parts.append(f'<text x="{at:.1f}" y="{tall - 8}" text-anchor="middle">{label}</text>')
    for value, label in y.ticks:
        at = y.place(value)
        parts.append(f'<path class="grid" d="M{LEFT} {at:.1f}H{wide - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 7}" y="{at + 4:.1f}" text-anchor="end">{label}</text>')
    parts.append(f'<path class="frame" d="M{LEFT} {TOP}V{tall - BOTTOM}H{wide - RIGHT}"/><g clip-path="url(#{name})">')
    for line in chart.lines:
        points = list(zip(line.x, line.y, strict=True))
        if line.low:
            parts.append(f'<path class="band s-{line.role}" d="{_band(line, x, y)}"/>')
        dash = f' stroke-dasharray="{DASHES[line.dash]}"' if line.dash else ""
        look = f'class="line s-{line.role}" stroke-width="{line.width:g}"{dash}'
        parts.append(f'<path {look} d="{_path(points, x, y)}"/>')
        if len(points) <= DOTS:
            parts += [
                f'<circle class="dot s-{line.role}" r="3" cx="{x.place(a):.1f}" cy="{y.place(b):.1f}"/>'
                for a, b in points
                if drawable(a, x.log) and drawable(b, y.log)
            ]
    parts.append("</g>")
    for at, value, word in chart.rings:
        if drawable(at, x.log) and drawable(value, y.log):
            a, b = x.place(at), y.place(value)
            left = a > wide - 140
            side = f'x="{a + (-12 if left else 12):.1f}" text-anchor="{"end" if left else "start"}"'
            parts.append(f'<circle class="ring" r="8" cx="{a:.1f}" cy="{b:.1f}"/>')
            parts.append(f'<text class="ring" {side} y="{max(b - 10, 12):.1f}">{html.escape(word)}</text>')
    inner = f'x="{LEFT}" y="{TOP}" width="{wide - LEFT - RIGHT}" height="{tall - TOP - BOTTOM}"'
    words = f"<title>{html.escape(chart.title)}</title><desc>{html.escape(chart.text)}</desc>"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="plot" role="img" viewBox="0 0 {wide} {tall}">{words}'
        f'<defs><clipPath id="{name}"><rect {inner}/></clipPath></defs><g class="drawn">{"".join(parts)}</g></svg>'
    )


def _number(value: float) -> float | None:
    return float(f"{value:.7g}") if math.isfinite(value) else None


def _data(chart: Chart) -> dict[str, Any]:
    x, y = _axes(chart)
    lines: list[dict[str, Any]] = []
    for line in chart.lines:
        own: dict[str, Any] = {"role": line.role, "dash": DASHES[line.dash], "width": line.width}
        lines.append(own | {k: [_number(v) for v in getattr(line, k)] for k in ("x", "y", "low", "high")})
    return {
        "log": list(chart.log),
        "x": [x.low, x.high],
        "y": [y.low, y.high],
        "floor": chart.floor,
        "height": chart.size[1],
        "lines": lines,
        "rings": [list(r) for r in chart.rings],
        "words": list(chart.words),
    }


def legend_html(lines: Iterable[Line]) -> Markup:
    """The names of the lines with their looks, each once."""
    from markupsafe import Markup

    rows = {
        line.label: '<li><svg viewBox="0 0 30 8" width="30" height="8" aria-hidden="true">'
        f'<path class="line s-{line.role}" stroke-width="2" stroke-dasharray="{DASHES[line.dash]}" d="M0 4H30"/></svg> '
        f"{html.escape(line.label)}</li>"
        for line in lines
        if line.label
    }
    return Markup(f'<ul class="legend">{"".join(rows.values())}</ul>')


def chart_html(chart: Chart, name: str = "chart", legend: bool = True) -> Markup:
    """The chart with axis labels, legend, readout and buttons. name: unlike those of the other charts of the page."""
    from markupsafe import Markup

    data = json.dumps(_data(chart), ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    buttons = "".join(
        f'<button type="button" data-do="{do}">{words}</button>'
        for do, words in (("x", "x axis"), ("y", "y axis"), ("in", "Zoom in"), ("all", "Whole range"))
    )
    return Markup(
        f'<div class="chart"><div class="axis">{chart.y_label}</div>{_svg(chart, name)}'
        f'<div class="axis across">{chart.x_label}</div>{legend_html(chart.lines) if legend else ""}'
        f'<p class="controls" hidden>{buttons}<output class="small soft"></output></p>'
        f'<script type="application/json">{data}</script></div>'
    )


def charts_html(charts: Sequence[tuple[str, Chart]]) -> Markup:
    """Several small charts side by side, each under its heading, with one legend for all."""
    from markupsafe import Markup

    shown = [
        Markup('<div class="panel">{}{}</div>').format(
            Markup("<h3>{}</h3>").format(title) if title else "", chart_html(chart, f"chart-{k}", legend=False)
        )
        for k, (title, chart) in enumerate(charts)
    ]
    lines = [line for _, chart in charts for line in chart.lines]
    return Markup('<div class="panels">{}</div>{}').format(Markup("").join(shown), legend_html(lines))
