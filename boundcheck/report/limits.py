"""The page of a limit study: where methods end as a function of the step size, against the small-step prediction."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from boundcheck.core.linalg import nearest_float
from boundcheck.core.numbers import format_exact, parse_number
from boundcheck.report.names import limits_page_name
from boundcheck.report.pages import environment
from boundcheck.report.plot import SETTINGS, colour, finish, log_log
from boundcheck.report.words import pretty

if TYPE_CHECKING:
    from boundcheck.evidence.limits import LimitCurve, LimitStudy


_DASHES: Any = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (3, 1)), (0, (8, 3)))
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
    from markupsafe import Markup

    return (
        environment()
        .get_template("limits.html.j2")
        .render(report=report, study=study, svg=Markup(_svg(study)), curves=[_shown(c) for c in study["curves"]])
    )


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


def _svg(study: Mapping[str, Any]) -> str:
    """The picture, or "" where no method has a limit above 0."""
    drawn = [c for c in study["curves"] if any(_number(p["gap"]) for p in c["points"])]
    if not drawn:
        return ""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(8.6, 6.0), layout="constrained")
        FigureCanvasSVG(figure)
        ax = figure.subplots()
        for k, curve in enumerate(drawn):
            dash, points = _DASHES[k % len(_DASHES)], curve["points"]
            known = [(_number(p["value"]), _number(p["gap"]), _number(p["bias"])) for p in points if _number(p["gap"])]
            x, gap, _ = zip(*known, strict=True)
            ax.plot(x, gap, color=colour("series-metric"), ls=dash, lw=1.8, label=curve["label"])
            positive = [(a, b) for a, _, b in known if b]
            if positive:
                ax.plot(*zip(*positive, strict=True), color=colour("series-bound"), ls=dash, lw=1.3)
            predicted = _number(curve["predicted_bias"])
            if predicted:
                ax.axhline(predicted, color=colour("series-trivial"), ls=dash, lw=1)
        log_log(ax)
        ax.set_xlabel(f"step size {study['parameter']}")
        ax.set_ylabel("limit of the gap F(x) − F*, in [f]")
        ax.legend(frameon=False, fontsize=8.5, loc="upper left", bbox_to_anchor=(0, -0.12), ncols=2)
        buffer = io.StringIO()
        blank = {"Date": None, "Creator": None, "Format": None, "Type": None}
        figure.savefig(buffer, format="svg", transparent=True, metadata=blank)
    return finish(buffer.getvalue(), f"{study['name']}: the limit against the step size", _describe(study["curves"]))


def _describe(curves: Sequence[Mapping[str, Any]]) -> str:
    parts: list[str] = []
    for curve in curves:
        known = [p for p in curve["points"] if p["gap"] is not None]
        if known:
            ends = [pretty(_number(p["gap"]), 4) for p in (known[0], known[-1])]
            parts.append(f"{curve['label']}: from {ends[0]} at the smallest step to {ends[1]} at the largest.")
    return " ".join(parts) + " All numbers stand in the tables below the picture."
