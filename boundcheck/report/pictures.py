"""The pictures of the pages: which lines, bars and labels a claim, a study or a limit study has, and their HTML.

`core.svg` draws each picture once, so that a page shows it without a script. The numbers stand beside it, from which
`assets/charts.js` and uPlot (`assets/uPlot.LICENSE`) draw it again with values under the pointer and zoom.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from boundcheck.core.linalg import nearest_float
from boundcheck.core.numbers import parse_number
from boundcheck.core.palette import DASHES
from boundcheck.core.svg import WIDTH, Chart, Line, axes, bar, chart_svg, drawable, sample, sparkline
from boundcheck.errors import BoundcheckError
from boundcheck.evidence.ordering import rankings
from boundcheck.report.mathtext import math as mathtext
from boundcheck.report.words import pretty, prose

if TYPE_CHECKING:
    from boundcheck.theory.statement import Statement

ASSETS = Path(__file__).parent / "assets"
LEAST = 1e-300  # below, axis limits underflow
LEADING = 3  # studies that the front page shows itself, where there is nothing else
LIMITS_CAPTION = (
    "One dash pattern a method. Blue: limit of the expected gap E F(x) − F*, the variance of orders and cohorts "
    "included. Red: gap of the limit of the mean, the objective inconsistency that no averaging removes. Grey: what "
    "the small-step weights predict for it. A consistent method has no red floor as the step tends to 0; a gap of "
    "exactly 0 has no place on a log axis."
)
BARS_CAPTION = "Rounds on a log scale: promised by the bound, and needed by the run with the same step size."
POINTS = 3  # fewer make no curve: they are drawn as bars
READINGS = (1, 3, 4, 5)  # places in `DASHES` of the bounds of other readings; 2 is the value at the start
GRID = tuple(m * 10**k for k in range(6) for m in (1, 2, 5))  # values of the index of a statement page
PANEL = (430, 280)  # pixels of one chart of several
Rows = Sequence[tuple[str, str, Sequence[tuple[str, str, float, float]]]]  # see `bars_html`


@cache
def asset(name: str) -> str:
    """The text of a file of the folder `assets`."""
    return (ASSETS / name).read_text(encoding="utf-8")


# --- HTML -------------------------------------------------------------------------------------------------------------


def legend_html(lines: Iterable[Line]) -> Markup:
    """The names of the lines with their looks, each once."""
    rows = {line.label: Markup("<li>{} {}</li>").format(Markup(sample(line)), line.label) for line in lines}
    return Markup('<ul class="legend">{}</ul>').format(Markup("").join(row for name, row in rows.items() if name))


def _number(value: float) -> float | None:
    return float(f"{value:.7g}") if math.isfinite(value) else None


def chart_html(chart: Chart, index: str, name: str = "chart", legend: bool = True) -> Markup:
    """A chart with axis labels, legend, readout and buttons.

    index: what the values of x are, for the readout. name: unlike those of the other charts of the page.
    """
    x, y = axes(chart)
    lines: list[dict[str, Any]] = []
    for line in chart.lines:
        dash = [int(v) for v in DASHES[line.dash].split()]
        own: dict[str, Any] = {"label": line.label, "role": line.role, "dash": dash, "width": line.width}
        lines.append(own | {k: [_number(v) for v in getattr(line, k)] for k in ("x", "y", "low", "high")})
    ends: dict[str, Any] = {"log": chart.log, "x": [x.low, x.high], "y": [y.low, y.high], "floor": chart.floor}
    whole = {**ends, "height": chart.size[1], "index": index, "lines": lines, "rings": chart.rings}
    data = json.dumps(whole, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    buttons = "".join(
        f'<button type="button" data-do="{do}">{words}</button>'
        for do, words in (("x", "x axis"), ("y", "y axis"), ("in", "Zoom in"), ("all", "Whole range"))
    )
    return Markup(
        f'<div class="chart"><div class="axis">{chart.y_label}</div>{chart_svg(chart, name)}'
        f'<div class="axis across">{chart.x_label}</div>{legend_html(chart.lines) if legend else ""}'
        f'<p class="controls" hidden>{buttons}<output class="small soft"></output></p>'
        f'<script type="application/json">{data}</script></div>'
    )


def bars_html(rows: Rows) -> Markup:
    """Bars beside their words. rows: name, note, and (role, words, start, width) of each bar, in per cent."""
    row = Markup('<dt>{} <span class="small soft">{}</span></dt><dd>{}</dd>')
    one = Markup('{}<span class="small">{}</span>')
    shown = (
        row.format(name, note, Markup().join(one.format(Markup(bar(role, a, b)), words) for role, words, a, b in bars))
        for name, note, bars in rows
    )
    return Markup('<dl class="bars">{}</dl>').format(Markup().join(shown))


# --- a claim ----------------------------------------------------------------------------------------------------------


def claim_picture(claim: Mapping[str, Any], x_label: str = "", y_label: str = "") -> Markup | str:
    """The picture of one claim (see `data.claim_data`); "" where nothing was compared. x_label, y_label: HTML."""
    if not claim["curve"]["index"]:
        return ""
    if len(claim["curve"]["index"]) < POINTS:
        return bars_html(_points(claim))
    return chart_html(claim_chart(claim, x_label, y_label), claim["statement"]["metric"]["index"] or "round")


def claim_chart(claim: Mapping[str, Any], x_label: str = "", y_label: str = "") -> Chart:
    """Bound, metric with its band, bounds of other readings, and the value at the start."""
    curve, outcome, kind = claim["curve"], claim["verdict"]["outcome"], claim["statement"]["kind"]
    x = _index(curve)
    low, high, bound, trivial = _values(curve, "metric_low", "metric_high", "bound", "trivial")
    top = [v if math.isfinite(v) else math.nan for v in high]
    name = "limit" if kind.startswith("lim") else "formula" if kind == "equality" else "bound"
    claimed = outcome != "OUT_OF_SCOPE"
    name = name if claimed else f"{name}, not claimed here"
    lines = [Line(name, "bound", x, bound, dash=0 if claimed else 1, width=2.2)]
    if claim["statistics"] is not None:
        level = f"{float(claim['statistics']['level']):.1%} band of the metric"
        lines.append(Line(level, "metric", x, low, low, top, width=1))
        lines.append(Line("", "metric", x, top, width=1))
    else:
        middle = [a + (b - a) / 2 for a, b in zip(low, top, strict=True)]
        lines.append(Line("metric, measured", "metric", x, middle, low, top, 4 if kind == "equality" else 0))
    others = _other_bounds(claim["readings"])
    lines += [Line(name, "reading", x, own, dash=READINGS[k % 4]) for k, (name, own) in enumerate(others)]
    if trivial:
        lines.append(Line("value at the start", "trivial", x, trivial, dash=2))
    above = [(k, v) for k, v, limit in zip(x, low, bound, strict=True) if outcome == "VIOLATED" and v > limit]
    rings = [(*point, "violated") for point in above[:1]]
    log = log_axes(claim)
    floor = drawn_floor(claim) if log[1] else 0.0
    title = f"{claim['label']}: metric against bound"
    return Chart(title, describe(claim), lines, log, x_label, y_label, floor, rings)


def _points(claim: Mapping[str, Any]) -> Rows:
    """Bars from 0 to metric and bound of each point, to scale."""
    curve, name = claim["curve"], claim["statement"]["metric"]["index"]
    low, high, bound = _values(curve, "metric_low", "metric_high", "bound")
    values = [v for v in (0.0, *high, *bound) if math.isfinite(v)]
    least, span = min(values), (max(values) - min(values)) or 1.0

    def one(role: str, words: str, v: float) -> tuple[str, str, float, float]:
        return role, words, 100 * (min(v, 0.0) - least) / span, 100 * abs(v) / span if math.isfinite(v) else 0.0

    rows: list[tuple[str, str, list[tuple[str, str, float, float]]]] = []
    for index, least_metric, metric, limit in zip(curve["index"], low, high, bound, strict=True):
        violated = claim["verdict"]["outcome"] == "VIOLATED" and least_metric > limit
        words = f"metric {pretty(metric, 6)}{', above the bound: violated' if violated else ''}"
        own = [one("metric", words, metric), one("bound", f"bound {pretty(limit, 6)}", limit)]
        rows.append((f"{name} = {_short(index)}" if name else "compared", "", own))
    return rows


def describe(claim: Mapping[str, Any]) -> str:
    """The picture in words, for those who do not see it."""
    curve, metric = claim["curve"], claim["statement"]["metric"]
    first, last, name = curve["index"][0], curve["index"][-1], metric["index"] or "rounds"
    ends = [f"{pretty(float(curve[k][0]), 4)} to {pretty(float(curve[k][-1]), 4)}" for k in ("metric_high", "bound")]
    return (
        f"Over {name} from {_short(first)} to {_short(last)} the metric {_metric_words(metric)} goes from "
        f"{ends[0]}, the bound from {ends[1]}. All numbers stand in the table below the picture."
    )


def _metric_words(metric: Mapping[str, Any]) -> str:
    scale = "" if metric["scale"] == "1" else metric["scale"].replace("**2", "²").replace("**", "^") + " · "
    return f"{scale}{metric['quantity']}"


def _short(index: str) -> str:
    return pretty(parse_number(index, "the index", max_text=len(index)), 6)


def _values(curve: Mapping[str, Any], *names: str) -> list[list[float]]:
    return [[float(v) for v in curve[name]] for name in names]


def _index(curve: Mapping[str, Any]) -> list[float]:
    return [nearest_float(parse_number(k, "the index", max_text=len(k))) for k in curve["index"]]


def log_axes(claim: Mapping[str, Any]) -> tuple[bool, bool]:
    """Whether the x and the y axis of the picture are logarithmic: where the values allow it and span enough."""
    x = _index(claim["curve"])
    after = [v for v in x if v > 0]
    log_x = len(after) >= POINTS and max(after) >= 50 * min(after)
    rows = _values(claim["curve"], "metric_low", "metric_high", "bound")
    values = [v for row in rows for k, v in zip(x, row, strict=True) if math.isfinite(v) and (k > 0 or not log_x)]
    above = [v for v in values if v > 0]
    # a value that is exactly 0 keeps the log axis and is left out; a negative one does not
    return log_x, bool(above) and min(values) >= 0 and max(above) >= 30 * min(above)


def drawn_floor(claim: Mapping[str, Any]) -> float:
    """The least value that a log axis shows, or 0 where all values above 0 are shown.

    A curve that falls to nothing would squeeze the rest: 30 decades below the start are enough, unless the bound
    goes deeper; then 6 below its least value, at most 66 below the start.
    """
    curve = claim["curve"]
    drawn = _values(curve, "metric_low", "metric_high", "bound")
    (trivial,) = _values(curve, "trivial")
    positive = [[v for v in row if math.isfinite(v) and v > 0] for row in (trivial, drawn[2], *drawn)]
    top = [v for row in positive for v in row]
    if not top:
        return 0.0
    start, low = top[0], [v for row in positive[2:] for v in row]
    floor = max(min([start * 1e-30, *(v / 1e6 for v in positive[1])]), start * 1e-66, LEAST)
    # a log axis leaves out index 0, which may be all that lies above
    after = [v for row in drawn for k, v in zip(_index(curve), row, strict=True) if k > 0]
    above = any(math.isfinite(v) and v > floor for v in after)
    return floor if above and min(low) < floor else 0.0


def _other_bounds(readings: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[float]]]:
    """Bounds that differ from the claimed one, with the names of the readings that share each."""
    groups: dict[tuple[Any, ...], list[str]] = {}
    for r in readings:
        if not r["same_bound"]:
            words = {True: "in scope", False: "out of scope", None: "scope undecided"}[r["in_scope"]]
            groups.setdefault(tuple(r["bound"]), []).append(f"bound {r['reading'].replace('_', ' ')} ({words})")
    return [(", ".join(names), [float(v) for v in bound]) for bound, names in groups.items()]


def claim_sparkline(claim: Mapping[str, Any]) -> str:
    """A small picture of metric and bound for the index; "" for fewer than three points above 0."""
    bound, metric = _values(claim["curve"], "bound", "metric_high")
    good = [(b, m) for b, m in zip(bound, metric, strict=True) if 0 < b < math.inf and 0 < m < math.inf]
    if len(good) < POINTS:
        return ""
    return sparkline([("bound", [b for b, _ in good]), ("metric", [m for _, m in good])])


# --- a statement -----------------------------------------------------------------------------------------------------


def bounds_picture(own: Sequence[Statement], constants: Mapping[str, str]) -> Markup | str:
    """Bounds over the index on logarithmic axes, in and out of scope; "" without an index or with too few points.

    own: the readings, the one that the page leads with first; constants: text of each constant by symbol.
    """
    import numpy as np

    name = own[0].metric.index or next((s.name for r in own for s in r.symbols if s.name == r.metric.index), "")
    if not name:
        return ""
    grid = [v for v in GRID if own[0].symbol(name).admits(Fraction(v))]
    lines: list[Line] = []
    for number, reading in enumerate(own):
        names = {s.name for s in reading.symbols}
        try:
            found = reading.evaluate(**{n: v for n, v in constants.items() if n in names} | {name: np.array(grid)})
        except BoundcheckError:  # a constant of this reading alone
            continue
        values = np.broadcast_to(np.asarray(found.value, dtype=float), (len(grid),)).tolist()
        scope = np.broadcast_to(np.asarray(found.in_scope, dtype=bool), (len(grid),))
        note = "" if scope.all() else ", out of scope here" if not scope.any() else ", in scope for some values only"
        points = [(float(k), v) for k, v in zip(grid, values, strict=True) if drawable(v, log=True)]
        if len(points) >= POINTS:
            x, y = zip(*points, strict=True)
            printed = reading.reading.startswith("as_printed")
            dash = READINGS[number % 4] if number else 0
            label = reading.reading.replace("_", " ") + note
            lines.append(Line(label, "bound" if printed else "reading" if number else "metric", x, y, dash=dash))
    if not lines:
        return ""
    text = "; ".join(f"{line.label}: from {line.y[0]:.4g} to {line.y[-1]:.4g}" for line in lines)
    chart = Chart(f"Bounds over {name}", text, lines, (True, True), size=PANEL)
    return Markup('<div class="bounds">{}{}</div>').format(Markup(chart_svg(chart, "bounds")), legend_html(lines))


# --- studies ----------------------------------------------------------------------------------------------------------


def study_picture(study: Mapping[str, Any]) -> Markup | str:
    """A chart for each panel of a study, with one legend, or "" where there is no curve."""
    if not study["series"]:
        return ""
    shown: list[Markup] = []
    every: list[Line] = []
    for number, (heading, plain) in enumerate(study_charts(study)):
        chart = replace(plain, x_label=str(mathtext(plain.x_label)), y_label=str(mathtext(plain.y_label)))
        head = Markup("<h3>{}</h3>").format(heading) if heading else ""
        drawn = chart_html(chart, study["axes"][0].partition(" ")[0].rstrip(":,"), f"chart-{number}", legend=False)
        shown.append(Markup('<div class="panel">{}{}</div>').format(head, drawn))
        every += chart.lines
    return Markup('<div class="panels">{}</div>{}').format(Markup("").join(shown), legend_html(every))


def study_charts(study: Mapping[str, Any]) -> list[tuple[str, Chart]]:
    """Heading and chart of each panel of a study, with labels in plain text; none where there is no curve."""
    if not study["series"]:
        return []
    panels: list[dict[str, Any]] = study["panels"] or [{"title": "", "y": study["axes"][1], "log": study["log"][1]}]
    size = (WIDTH, 380) if len(panels) == 1 else PANEL
    text = study["caption"] + " All numbers stand in the tables below."
    found: list[tuple[str, Chart]] = []
    for number, panel in enumerate(panels):
        lines = [_line(c) for c in study["series"] if c.get("panel", 0) == number]
        title = f"{study['name']} {panel['title']}".rstrip()
        log = (study["log"][0], panel["log"])
        found.append((panel["title"], Chart(title, text, lines, log, study["axes"][0], panel["y"], size=size)))
    return found


def _line(curve: Mapping[str, Any]) -> Line:
    x, y, low, high = ([float(v) for v in curve.get(part, ())] for part in ("x", "y", "low", "high"))
    return Line(curve["label"], curve["role"], x, y, low, high, curve["dash"] % len(DASHES))


def limits_picture(study: Mapping[str, Any]) -> Markup | str:
    """The chart of a limit study, or "" where no method has a limit above 0."""
    plain = limits_chart(study)
    if plain is None:
        return ""
    chart = replace(plain, x_label=str(mathtext(plain.x_label)), y_label=str(mathtext(plain.y_label)))
    return chart_html(chart, study["parameter"])


def limits_chart(study: Mapping[str, Any]) -> Chart | None:
    """The chart of a limit study, with labels in plain text; None where no method has a limit above 0."""
    lines: list[Line] = []
    drawn = [c for c in study["curves"] if any(_fraction(p["gap"]) for p in c["points"])]
    for k, curve in enumerate(drawn):
        known = [[_fraction(p[part]) or 0.0 for part in ("value", "gap", "bias")] for p in curve["points"]]
        x, gap, bias = (list(column) for column in zip(*(row for row in known if row[1]), strict=True))
        dash, label = k % len(DASHES), curve["label"]
        lines.append(Line(f"{label}: limit of E gap", "metric", x, gap, dash=dash))
        if any(bias):
            lines.append(Line(f"{label}: gap of the mean", "bound", x, bias, dash=dash, width=1.3))
        predicted = _fraction(curve["predicted_bias"])
        if predicted:
            lines.append(Line(f"{label}: predicted", "trivial", x, [predicted] * len(x), dash=dash, width=1))
    if not lines:
        return None
    parts: list[str] = []
    for curve in study["curves"]:
        ends = [pretty(_fraction(p["gap"]), 4) for p in curve["points"] if p["gap"] is not None]
        if ends:
            parts.append(f"{curve['label']}: from {ends[0]} at the smallest step to {ends[-1]} at the largest.")
    text = " ".join([*parts, "All numbers stand in the tables below the picture."])
    x_label, y_label = f"step size {study['parameter']}", "limit of the gap F(x) - F*, in [f]"
    title = f"{study['name']}: the limit against the step size"
    return Chart(title, text, lines, (True, True), x_label, y_label)


def page_charts(report: Mapping[str, Any]) -> dict[str, list[tuple[str, Chart]]]:
    """Page -> heading and chart of each panel, with labels in plain text, for the pages that have a curve."""
    found = {s["page"]: study_charts(s) for s in report["studies"]}
    found |= {s["page"]: [("", chart)] for s in report["limits"] if (chart := limits_chart(s)) is not None}
    for claim in report["claims"]:
        if len(claim["curve"]["index"]) >= POINTS:
            metric = claim["statement"]["metric"]
            unit = "" if metric["dimension"] in (None, "dimensionless") else f" in {prose(metric['dimension'])}"
            label = _metric_words(metric) + unit
            found[claim["page"]] = [("", claim_chart(claim, metric["index"] or "rounds", label))]
    return {name: charts for name, charts in found.items() if charts}


def _fraction(text: str | None) -> float | None:
    return None if text is None else nearest_float(parse_number(text, "a limit", max_text=len(text)))


def leading_studies(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the front page shows of studies; nothing for many."""
    if len(report["studies"]) + len(report["limits"]) > LEADING:
        return []
    found: list[dict[str, Any]] = []
    for s in report["studies"]:
        result, bars = result_of(s)
        found.append(
            {"result": result, "bars": bars, "picture": study_picture(s), "first": "".join(s["words"][:1])} | s
        )
    for s in report["limits"]:
        methods = ", ".join(curve["label"] for curve in s["curves"])
        first = f"Where methods with a constant step size end on {s['problem_name']}: {methods}."
        own = {"result": "", "bars": "", "first": first, "caption": LIMITS_CAPTION}
        found.append(own | {"picture": limits_picture(s)} | s)
    return found


def result_of(study: Mapping[str, Any]) -> tuple[str, Markup | str]:
    """What a study found, in a sentence, and bars for it; empty for a kind whose words say it themselves."""
    if study["kind"] == "methods_compared":
        rows: list[Mapping[str, Any]] = [r for r in study["data"].get("rows", ()) if r.get("promised")]
        rows.sort(key=lambda r: r["promised"])
        return (_promise(rows), bars_html(_rounds(rows))) if rows else ("", "")
    outcomes = [row[-1] for table in study["tables"] if table["columns"][-1] == "outcome" for row in table["rows"]]
    if not outcomes:
        return "", ""
    return f"{rankings(Counter(outcomes))}.", ""


def _promise(rows: Sequence[Mapping[str, Any]]) -> str:
    best = rows[0]
    text = f"{best['statement']} promises the target soonest: after {pretty(best['promised'], 4)} "
    text += f"{'round' if best['promised'] == 1 else 'rounds'} of {best['method']}"
    ends = [(r["promised"], r[end]) for r in rows for end in ("needed", "needed_from") if r.get(end)]
    ratios = sorted(promised / needed for promised, needed in ends)
    if best.get("needed"):
        text += f", where {_needed(best)} {'is' if best['needed'] == 1 else 'are'} needed"
    if not ratios:
        return f"{text}. No run is there within the longest one."
    if len(ratios) == 1:
        return f"{text}."
    return f"{text}. The bounds promise {pretty(ratios[0])} to {pretty(ratios[-1])} times the rounds that are needed."


def _needed(row: Mapping[str, Any]) -> str:
    """The rounds that a run needs; two numbers where it is not decided which."""
    return " to ".join(pretty(row[end], 4) for end in ("needed_from", "needed") if row.get(end))


def _rounds(rows: Sequence[Mapping[str, Any]]) -> Rows:
    """Bars of the rounds promised and needed on one log axis."""
    top = max(math.log10(max(r["promised"], r.get("needed") or 1)) for r in rows) or 1.0

    def width(rounds: int | None) -> float:
        return 1 + 99 * math.log10(max(rounds, 1)) / top if rounds else 0.0

    return [
        (
            r["method"],
            r["statement"],
            [
                ("bound", f"{pretty(r['promised'], 4)} promised", 0.0, width(r["promised"])),
                (
                    "metric",
                    f"{_needed(r)} needed" if r.get("needed") else "not reached within the longest run",
                    0.0,
                    width(r.get("needed")),
                ),
            ],
        )
        for r in rows
    ]
