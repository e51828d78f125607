"""The page of a limit study: where methods end as a function of the step size, against the small-step prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from boundcheck.core.linalg import nearest_float
from boundcheck.core.numbers import format_exact, parse_number
from boundcheck.report.chart import DASHES, Chart, Line, chart_html
from boundcheck.report.mathtext import math as mathtext
from boundcheck.report.names import limits_page_name
from boundcheck.report.pages import environment
from boundcheck.report.words import pretty

if TYPE_CHECKING:
    from markupsafe import Markup

    from boundcheck.evidence.limits import LimitCurve, LimitStudy


LONG = 60  # characters of a fraction that a table shows


def limits_data(study: LimitStudy) -> dict[str, Any]:
    """The study as plain data (JSON-able; every number exact text)."""
    return {
        "name": study.limits.name,
        "page": limits_page_name(study.limits.name),
        "problem": dict(study.limits.problem),
        "problem_name": study.problem,
        "parameter": study.limits.parameter,
        "data_weights": [format_exact(w) for w in study.data_weights],
        "curves": [_curve(c) for c in study.curves],
    }


def _text(value: Fraction | None) -> str | None:
    return None if value is None else format_exact(value)


def _curve(curve: LimitCurve) -> dict[str, Any]:
    return {
        "method": {k: str(v) if isinstance(v, Fraction) else v for k, v in curve.method.items()},
        "label": curve.label,
        "predicted_weights": [format_exact(w) for w in curve.predicted_weights],
        "predicted_bias": format_exact(curve.predicted_bias),
        "points": [
            {
                "value": format_exact(p.value),
                "gap": _text(p.gap),
                "bias": _text(p.bias),
                "weights": None if p.weights is None else [format_exact(w) for w in p.weights],
                "why": p.why,
            }
            for p in curve.points
        ],
    }


def limits_page(report: Mapping[str, Any], study: Mapping[str, Any]) -> str:
    """The HTML page of one study out of `report["limits"]`."""
    page = environment().get_template("limits.html.j2")
    return page.render(report=report, study=study, picture=_picture(study), curves=list(map(_shown, study["curves"])))


def _number(text: str | None) -> float | None:
    return None if text is None else nearest_float(parse_number(text, "a limit", max_text=len(text)))


def _short(text: str | None) -> str:
    """A fraction as it is where it is short, else a decimal."""
    if text is None:
        return "–"
    return text if len(text) <= LONG // 4 else pretty(parse_number(text, "a limit", max_text=len(text)), 5)


def _shown(curve: Mapping[str, Any]) -> dict[str, Any]:
    rows = [
        {
            "value": _short(p["value"]),
            "gap": "–" if p["gap"] is None else pretty(parse_number(p["gap"], "gap", max_text=len(p["gap"])), 5),
            "bias": _short(p["bias"]),
            "weights": "–" if p["weights"] is None else ", ".join(_short(w) for w in p["weights"]),
            "why": p["why"],
        }
        for p in curve["points"]
    ]
    weights = ", ".join(_short(w) for w in curve["predicted_weights"])
    return {**curve, "rows": rows, "weights": weights, "bias": _short(curve["predicted_bias"])}


def _picture(study: Mapping[str, Any]) -> Markup | str:
    """The chart, or "" where no method has a limit above 0."""
    lines: list[Line] = []
    drawn = [c for c in study["curves"] if any(_number(p["gap"]) for p in c["points"])]
    for k, curve in enumerate(drawn):
        known = [(_number(p["value"]), _number(p["gap"]), _number(p["bias"])) for p in curve["points"]]
        known = [(x or 0.0, gap, bias or 0.0) for x, gap, bias in known if gap]
        x, gap, bias = (list(column) for column in zip(*known, strict=True))
        dash, label = k % len(DASHES), curve["label"]
        lines.append(Line(f"{label}: limit of E gap", "metric", x, gap, dash=dash))
        if any(bias):
            lines.append(Line(f"{label}: gap of the mean", "bound", x, bias, dash=dash, width=1.3))
        predicted = _number(curve["predicted_bias"])
        if predicted:
            lines.append(Line(f"{label}: predicted", "trivial", x, [predicted] * len(x), dash=dash, width=1))
    if not lines:
        return ""
    title, text = f"{study['name']}: the limit against the step size", _describe(study["curves"])
    x_label, y_label = mathtext(f"step size {study['parameter']}"), mathtext("limit of the gap F(x) - F*, in [f]")
    return chart_html(Chart(title, text, lines, (True, True), str(x_label), str(y_label)))


def _describe(curves: Sequence[Mapping[str, Any]]) -> str:
    parts: list[str] = []
    for curve in curves:
        known = [p for p in curve["points"] if p["gap"] is not None]
        if known:
            ends = [pretty(_number(p["gap"]), 4) for p in (known[0], known[-1])]
            parts.append(f"{curve['label']}: from {ends[0]} at the smallest step to {ends[1]} at the largest.")
    return " ".join(parts) + " All numbers stand in the tables below the picture."
