"""The picture of a claim: metric and bound as a chart, or as bars where the points make no curve."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.linalg import nearest_float
from boundcheck.core.numbers import parse_number
from boundcheck.report.bars import value_bars
from boundcheck.report.chart import Chart, Line, chart_html
from boundcheck.report.words import plain_number, pretty

if TYPE_CHECKING:
    from markupsafe import Markup


Array = NDArray[np.float64]

LEAST = 1e-300  # below, axis limits underflow
POINTS = 3  # fewer make no curve: they are drawn as bars


def claim_picture(data: Mapping[str, Any], x_label: str = "", y_label: str = "") -> Markup | str:
    """The picture of one claim (see `data.claim_data`); "" where nothing was compared. x_label, y_label: HTML."""
    curve = data["curve"]
    if not curve["index"]:
        return ""
    if len(curve["index"]) < POINTS:
        return value_bars(_points(data))
    return chart_html(claim_chart(data, x_label, y_label))


def claim_chart(data: Mapping[str, Any], x_label: str = "", y_label: str = "") -> Chart:
    """Bound, metric with its band, bounds of other readings, and the value at the start."""
    curve, verdict = data["curve"], data["verdict"]["outcome"]
    x = _index(curve)
    low, high, bound, trivial = (_floats(curve[k]) for k in ("metric_low", "metric_high", "bound", "trivial"))
    top = np.where(np.isfinite(high), high, np.nan)
    kind, claimed = data["statement"]["kind"], verdict != "OUT_OF_SCOPE"
    name = "limit" if kind.startswith("lim") else "formula" if kind == "equality" else "bound"
    lines = [
        _line(name if claimed else f"{name}, not claimed here", "bound", x, bound, dash=0 if claimed else 1, width=2.2)
    ]
    if data["statistics"] is not None:
        level = f"{float(data['statistics']['level']):.1%} band of the metric"
        lines.append(_line(level, "metric", x, low, low=low, high=top, width=1))
        lines.append(_line("", "metric", x, top, width=1))
    else:
        middle = low + (top - low) / 2
        dash = 4 if kind == "equality" else 0
        lines.append(_line("metric, measured", "metric", x, middle, low=low, high=top, dash=dash))
    lines += [_line(label, "reading", x, values, dash=1) for label, values in _other_bounds(data["readings"])]
    if len(trivial):
        lines.append(_line("value at the start", "trivial", x, trivial, dash=2))
    above = np.flatnonzero(low > bound) if verdict == "VIOLATED" else ()
    rings = [(float(x[i]), float(low[i]), "violated") for i in above[:1]]
    log = log_axes(data)
    floor = drawn_floor(data) if log[1] else 0.0
    title = f"{data['label']}: metric against bound"
    return Chart(title, describe(data), lines, log, x_label, y_label, floor, rings, _words(data, set(above)))


def _line(label: str, role: str, x: Array, y: Array, **look: Any) -> Line:
    return Line(
        label, role, x.tolist(), y.tolist(), **{k: getattr(v, "tolist", lambda v=v: v)() for k, v in look.items()}
    )


def _words(data: Mapping[str, Any], violated: Container[Any]) -> list[str]:
    """What the readout says of each point."""
    curve, name = data["curve"], data["statement"]["metric"]["index"] or "point"
    found: list[str] = []
    for i, index in enumerate(curve["index"]):
        high, bound = (plain_number(curve[k][i]) for k in ("metric_high", "bound"))
        text = f"{name} = {_short(index)}: metric {pretty(high, 5)}, bound {pretty(bound, 5)}"
        found.append(text + (", violated" if i in violated else ""))
    return found


def _points(data: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, str, float]]]]:
    """For each point its name, and (class, words, value) of metric and bound."""
    curve, name = data["curve"], data["statement"]["metric"]["index"]
    rows: list[tuple[str, list[tuple[str, str, float]]]] = []
    for i, index in enumerate(curve["index"]):
        low, high, bound = (plain_number(curve[k][i]) for k in ("metric_low", "metric_high", "bound"))
        above = data["verdict"]["outcome"] == "VIOLATED" and low > bound
        bars = [
            ("needed", f"metric {pretty(high, 6)}{', above the bound: violated' if above else ''}", high),
            ("promised", f"bound {pretty(bound, 6)}", bound),
        ]
        rows.append((f"{name} = {_short(index)}" if name else "compared", bars))
    return rows


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
    return np.array([nearest_float(parse_number(k, "the index", max_text=len(k))) for k in curve["index"]])


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


def _other_bounds(readings: Sequence[Mapping[str, Any]]) -> list[tuple[str, Array]]:
    """Bounds that differ from the claimed one, with the names of the readings that share each."""
    groups: dict[tuple[Any, ...], list[str]] = {}
    for r in readings:
        if not r["same_bound"]:
            words = {True: "in scope", False: "out of scope", None: "scope undecided"}[r["in_scope"]]
            groups.setdefault(tuple(r["bound"]), []).append(f"bound {r['reading'].replace('_', ' ')} ({words})")
    return [(", ".join(names), _floats(bound)) for bound, names in groups.items()]


def _metric_name(data: Mapping[str, Any]) -> str:
    """The metric as it is drawn, with the factor that the statement puts before it."""
    metric = data["statement"]["metric"]
    scale = "" if metric["scale"] == "1" else metric["scale"].replace("**2", "²").replace("**", "^") + " · "
    return f"{scale}{metric['quantity']}"


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
