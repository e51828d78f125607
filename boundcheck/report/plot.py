"""The curve against the bound as one SVG that takes its colours from the page around it.

matplotlib draws with marker colours, which are then replaced by CSS variables: the same picture serves the light
and the dark page. Text stays text; identifiers are hashed with a fixed salt, so equal data gives equal bytes.
"""

from __future__ import annotations

import html
import io
import itertools
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.numbers import parse_number
from boundcheck.report.words import plain_number, power_of_ten, pretty

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Array = NDArray[np.float64]

# Marker colour -> the CSS variable that the page defines for light and dark.
_VARIABLES = {
    "#010203": "ink",
    "#010204": "ink-soft",
    "#010205": "rule",
    "#010206": "series-metric",
    "#010207": "series-bound",
    "#010208": "series-reading",
    "#010209": "series-trivial",
    "#01020a": "violated",
}
_COLOUR = {name: marker for marker, name in _VARIABLES.items()}

LEAST = 1e-300  # below, axis limits underflow
POINTS = 3  # fewer make no curve: the page then shows the numbers alone

SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "boundcheck",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.edgecolor": _COLOUR["ink-soft"],
    "axes.labelcolor": _COLOUR["ink"],
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": _COLOUR["ink-soft"],
    "ytick.color": _COLOUR["ink-soft"],
    "text.color": _COLOUR["ink"],
    "grid.color": _COLOUR["rule"],
    "grid.linewidth": 0.5,
    "lines.solid_capstyle": "round",
}


def colour(variable: str) -> str:
    """The marker colour that stands for a variable of the page, such as "series-metric"."""
    return _COLOUR[variable]


def log_log(ax: Axes) -> None:
    """Two log axes with the pages' grid and tick labels."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    ax.set_xscale("log")
    ax.set_yscale("log")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda v, _: power_of_ten(v)))
        axis.set_minor_locator(NullLocator())
    ax.grid(visible=True, which="major")


def claim_svg(data: Mapping[str, Any], *, linear: bool = False) -> str:
    """The picture of one claim (see `data.claim_data`), or "" for fewer than `POINTS` points.

    linear: with a linear vertical axis, whatever the values. The places of the points and their values in words are in
    the attribute data-points, for the page's script.
    """
    curve = data["curve"]
    x = _index(curve)
    if len(x) < POINTS:
        return ""
    low, high, bound = (_floats(curve[k]) for k in ("metric_low", "metric_high", "bound"))
    trivial = _floats(curve["trivial"])
    others = _other_bounds(data["readings"])
    log_x, log_y = log_axes(data)
    log = (log_x, log_y and not linear)
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(8.6, 4.6), layout="constrained")
        FigureCanvasSVG(figure)
        ax = figure.subplots()
        shown = _set_axes(ax, x, [low, high, bound, *(b for _, b in others)], log, drawn_floor(data) if log[1] else 0.0)
        labels = _draw(ax, x[shown], low[shown], high[shown], bound[shown], data)
        for name, values in others:
            ax.plot(x[shown], values[shown], color=_COLOUR["series-reading"], ls=(0, (5, 3)), lw=1.3)
            labels.append((_last(values[shown]), name, "series-reading"))
        if len(trivial):
            ax.plot(x[shown], trivial[shown], color=_COLOUR["series-trivial"], ls=(0, (1, 2)), lw=1.4)
            labels.append((_last(trivial[shown]), "value at the start", "series-trivial"))
        if data["verdict"]["outcome"] == "VIOLATED":
            _mark_violation(ax, x[shown], low[shown], bound[shown])
        _label_ends(ax, labels)
        ax.set_xlabel(_x_label(data))
        ax.set_ylabel(_y_label(data))
        buffer = io.StringIO()
        blank = {"Date": None, "Creator": None, "Format": None, "Type": None}
        figure.savefig(buffer, format="svg", transparent=True, metadata=blank)
        points = _places(ax, data, np.flatnonzero(shown))
    svg = finish(buffer.getvalue(), f"{data['label']}: metric against bound", describe(data))
    return svg.replace("<svg ", f'<svg data-points="{html.escape(json.dumps(points))}" ', 1)


def _mark_violation(ax: Axes, x: Array, low: Array, bound: Array) -> None:
    """A ring at the first drawn point whose metric lies above the bound."""
    above = np.flatnonzero(low > bound)
    if len(above):
        at = above[0]
        ring: Any = {"marker": "o", "ms": 13, "mfc": "none", "mew": 2, "color": _COLOUR["violated"], "zorder": 6}
        ax.plot([x[at]], [low[at]], **ring)
        ax.annotate(
            "violated",
            (x[at], low[at]),
            xytext=(10, 10),
            textcoords="offset points",
            color=_COLOUR["violated"],
        )


def _places(ax: Axes, data: Mapping[str, Any], shown: Sequence[int] | NDArray[np.int_]) -> list[list[Any]]:
    """For each drawn point: x of the picture, y of metric and bound (None outside of it), and its values in words."""
    curve, name = data["curve"], data["statement"]["metric"]["index"] or "point"
    to_axes = ax.transData - ax.transAxes
    box, (width, height) = ax.get_position(), 72 * ax.figure.get_size_inches()  # type: ignore[union-attr]
    found: list[list[Any]] = []
    for i in map(int, shown):
        at = float(parse_number(curve["index"][i], "the index", max_text=len(curve["index"][i])))
        high, bound = (plain_number(curve[k][i]) for k in ("metric_high", "bound"))
        place: list[Any] = []
        for value in (high, bound):
            good = math.isfinite(value) and (value > 0 or ax.get_yscale() == "linear")
            across, up = map(float, to_axes.transform((at, value if good else ax.get_ylim()[0])))
            if not place:
                place.append(round(width * (box.x0 + across * box.width), 1))
            inside = good and -0.01 <= up <= 1.01
            place.append(round(height * (1 - box.y0 - up * box.height), 1) if inside else None)
        words = f"{name} {_short(curve['index'][i])}: metric {pretty(high, 5)}, bound {pretty(bound, 5)}"
        found.append([*place, words])
    return found


def describe(data: Mapping[str, Any]) -> str:
    """The picture in words, for those who do not see it."""
    curve, metric = data["curve"], data["statement"]["metric"]
    first, last, name = curve["index"][0], curve["index"][-1], metric["index"] or "rounds"
    ends = [f"{pretty(float(curve[k][0]), 4)} to {pretty(float(curve[k][-1]), 4)}" for k in ("metric_high", "bound")]
    return (
        f"Over {name} from {_short(first)} to {_short(last)} the metric {_metric_name(data)} goes from "
        f"{ends[0]}, the bound from {ends[1]}. All numbers stand in the table below the picture."
    )


def _short(index: str) -> str:
    return pretty(parse_number(index, "the index", max_text=len(index)), 6)


def _floats(values: Sequence[Any]) -> Array:
    return np.array([plain_number(v) for v in values], dtype=np.float64)


def _index(curve: Mapping[str, Any]) -> Array:
    return np.array([float(parse_number(k, "the index", max_text=len(k))) for k in curve["index"]])


def log_axes(data: Mapping[str, Any]) -> tuple[bool, bool]:
    """Whether the x and the y axis of the picture are logarithmic: where the values allow it and span enough."""
    curve = data["curve"]
    x = _index(curve)
    after = x[x > 0]
    log_x = len(after) >= POINTS and bool(after.max() >= 50 * after.min())
    values = np.concatenate(
        [_floats(curve[k])[x > 0 if log_x else slice(None)] for k in ("metric_low", "metric_high", "bound")]
    )
    values = values[np.isfinite(values)]
    above = values[values > 0]
    # a value that is exactly 0 keeps the log axis and is left out; a negative one does not
    log_y = bool(len(above) and not (values < 0).any() and float(above.max()) >= 30 * float(above.min()))
    return log_x, log_y


def drawn_floor(data: Mapping[str, Any]) -> float:
    """The least value that a log axis shows, or 0 where all values above 0 are shown.

    A curve that falls to nothing would squeeze the rest: 30 decades below the start are enough, unless the bound
    goes deeper; then 6 below its least value, at most 66 below the start.
    """
    curve = data["curve"]
    bound, trivial = (_floats(curve[k]) for k in ("bound", "trivial"))
    metric = np.concatenate([_floats(curve["metric_low"]), _floats(curve["metric_high"])])
    good, low = (v[np.isfinite(v) & (v > 0)] for v in (bound, np.concatenate([metric, bound])))
    top = np.concatenate([trivial[np.isfinite(trivial) & (trivial > 0)], good, low])
    if not len(top):
        return 0.0
    start = float(top[0])
    floor = max(min([start * 1e-30, *(good / 1e6)]), start * 1e-66, LEAST)
    # a log axis leaves out index 0, which may be all that lies above
    after = _index(curve) > 0
    drawn = [_floats(curve[k])[after] for k in ("metric_low", "metric_high", "bound")]
    above = any(bool((np.isfinite(v) & (v > floor)).any()) for v in drawn)
    return floor if above and float(low.min()) < floor else 0.0


def _set_axes(ax: Axes, x: Array, series: list[Array], log: tuple[bool, bool], floor: float = 0.0) -> NDArray[np.bool_]:
    """Scales, ticks and limits; returns which points are shown."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    log_x, log_y = log
    shown = x > 0 if log_x else np.ones(len(x), dtype=bool)
    values = np.concatenate([s[shown] for s in series])
    above = values[np.isfinite(values) & (values > floor)]
    for axis, logarithmic, span in ((ax.xaxis, log_x, x[shown]), (ax.yaxis, log_y, above)):
        if logarithmic:
            (ax.set_xscale if axis is ax.xaxis else ax.set_yscale)("log")
            axis.set_major_formatter(FuncFormatter(_decades(float(span.min()), float(span.max()))))
            axis.set_minor_locator(NullLocator())
        else:
            axis.set_major_formatter(FuncFormatter(lambda v, _: pretty(v, 6)))
    if log_y:
        ax.set_ylim(above.min() / 3, above.max() * 3)
    ax.grid(visible=True, which="major")
    return shown


def _decades(low: float, high: float) -> Callable[[float, object], str]:
    """Tick labels of a log axis: plain numbers on a short one, powers of ten on a long one."""
    if low >= 1e-3 and high < 1e5:
        return lambda v, _: pretty(v, 6)
    return lambda v, _: power_of_ten(v) if v > 0 else ""  # ticks below the least double are 0


def _draw(
    ax: Axes, x: Array, low: Array, high: Array, bound: Array, data: Mapping[str, Any]
) -> list[tuple[float, str, str]]:
    marker: dict[str, Any] = {"marker": "o", "ms": 3} if len(x) <= 12 else {}
    kind = data["statement"]["kind"]
    claimed = data["verdict"]["outcome"] != "OUT_OF_SCOPE"
    ax.plot(
        x, bound, color=_COLOUR["series-bound"], lw=2 if claimed else 1.4, ls="-" if claimed else (0, (5, 3)), zorder=3
    )
    name = "limit" if kind.startswith("lim") else "formula" if kind == "equality" else "bound"
    labels = [(_last(bound), name if claimed else f"{name}, not\nclaimed here", "series-bound")]
    sampled = data["statistics"] is not None
    top = np.where(np.isfinite(high), high, np.nan)
    ax.fill_between(x, low, np.where(np.isfinite(top), top, low), color=_COLOUR["series-metric"], alpha=0.22, lw=0)
    if sampled:
        for edge in (low, top):
            ax.plot(x, edge, color=_COLOUR["series-metric"], lw=1, **marker)
        labels.append((_last(low), f"{float(data['statistics']['level']):.1%} band", "series-metric"))
    else:
        style: Any = {"ls": (0, (4, 2)), "zorder": 4} if kind == "equality" else {"zorder": 2}
        ax.plot(x, low + (top - low) / 2, color=_COLOUR["series-metric"], lw=2, **style, **marker)
        labels.append((_last(high), "measured", "series-metric"))
    return labels


def _other_bounds(readings: Sequence[Mapping[str, Any]]) -> list[tuple[str, Array]]:
    """Bounds that differ from the claimed one, with the names of the readings that share each."""
    groups: dict[tuple[Any, ...], list[str]] = {}
    for r in readings:
        if not r["same_bound"]:
            words = {True: "in scope", False: "out of scope", None: "scope undecided"}[r["in_scope"]]
            groups.setdefault(tuple(r["bound"]), []).append(f"{r['reading'].replace('_', ' ')}\n({words})")
    return [("\n".join(names), _floats(bound)) for bound, names in groups.items()]


def _last(values: Array) -> float:
    finite = values[np.isfinite(values)]
    return float(finite[-1]) if len(finite) else math.nan


def _label_ends(ax: Axes, labels: list[tuple[float, str, str]]) -> None:
    """Names beside the right ends of the lines, moved apart where they would touch."""
    to_axes = ax.transData + ax.transAxes.inverted()
    placed: list[list[Any]] = []
    for value, text, variable in labels:
        if math.isfinite(value) and (value > 0 or ax.get_yscale() == "linear"):
            height = float(to_axes.transform((ax.get_xlim()[1], value))[1])
            placed.append([min(max(height, 0.02), 0.98), 0.055 * (text.count("\n") + 1), text, variable])
    placed.sort(key=lambda p: p[0])
    for below, above in itertools.pairwise(placed):
        above[0] = max(above[0], below[0] + (below[1] + above[1]) / 2)
    excess = max(0.0, placed[-1][0] - 1.0) if placed else 0.0
    for height, _, text, variable in placed:
        ax.annotate(
            text,
            (1, height - excess),
            xycoords="axes fraction",
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            color=_COLOUR[variable],
            annotation_clip=False,
        )


def _x_label(data: Mapping[str, Any]) -> str:
    name = data["statement"]["metric"]["index"]
    meaning = next((s["meaning"] for s in data["statement"]["symbols"] if s["name"] == name), "")
    return f"{name}: {meaning.split(':')[0]}" if meaning else name or "rounds"


def _metric_name(data: Mapping[str, Any]) -> str:
    """The metric as it is drawn, with the factor that the statement puts before it."""
    metric = data["statement"]["metric"]
    scale = "" if metric["scale"] == "1" else metric["scale"].replace("**2", "²").replace("**", "^") + " · "
    return f"{scale}{metric['quantity']}"


def _y_label(data: Mapping[str, Any]) -> str:
    unit = data["statement"]["metric"]["dimension"]
    return _metric_name(data) + ("" if unit in (None, "dimensionless") else f"  in {unit.replace('^2', '²')}")


def finish(svg: str, title: str, description: str) -> str:
    """Inline form: no prolog, no fixed size, page colours, and a name and description for screen readers."""
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg[svg.index("<svg") :], flags=re.S)
    svg = re.sub(r'<svg [^>]*?viewBox="([^"]*)"[^>]*>', _opening, svg, count=1)
    for marker, name in _VARIABLES.items():
        svg = svg.replace(marker, f"var(--{name})")
    words = f"<title>{html.escape(title)}</title>\n<desc>{html.escape(description)}</desc>\n"
    head, _, rest = svg.partition(">\n")
    return f"{head}>\n{words}{rest}"


def _opening(match: re.Match[str]) -> str:
    space = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f'<svg {space} viewBox="{match[1]}" role="img" class="plot">'


def sparkline(data: Mapping[str, Any], width: int = 96, height: int = 24) -> str:
    """A small picture of metric and bound for the index; decoration, so hidden from screen readers."""
    curve = data["curve"]
    bound, metric = _floats(curve["bound"]), _floats(curve["metric_high"])
    if len(bound) < 3:
        return ""
    good = np.isfinite(bound) & np.isfinite(metric) & (bound > 0) & (metric > 0)
    if good.sum() < 3:
        return ""
    y = np.log(np.stack([bound[good], metric[good]]))
    span = float(y.max() - y.min()) or 1.0
    across = np.linspace(2, width - 2, int(good.sum()))
    lines = [
        f'<polyline fill="none" stroke="var(--series-{name})" stroke-width="1.5" points="'
        + " ".join(
            f"{a:.1f},{height - 3 - (v - y.min()) / span * (height - 6):.1f}" for a, v in zip(across, row, strict=True)
        )
        + '"/>'
        for name, row in zip(("bound", "metric"), y, strict=True)
    ]
    return f'<svg aria-hidden="true" class="spark" viewBox="0 0 {width} {height}">{"".join(lines)}</svg>'
