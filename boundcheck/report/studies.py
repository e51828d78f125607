"""The page of a study: its words, its picture, its tables."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from boundcheck.report.bars import result_of
from boundcheck.report.names import study_page_names
from boundcheck.report.pages import environment
from boundcheck.report.plot import SETTINGS, colour, finish
from boundcheck.verdict import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from boundcheck.evidence.studies import Series, Study


_DASHES: Any = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (3, 1)), (0, (8, 3)))


def studies_data(studies: Sequence[Study]) -> list[dict[str, Any]]:
    """The studies as plain data (JSON-able), each with the name of its page."""
    found: list[dict[str, Any]] = []
    for study, page in zip(studies, study_page_names(study.name for study in studies), strict=True):
        found.append(
            {
                "name": study.name,
                "kind": study.kind,
                "page": page,
                "words": list(study.words),
                "tables": [
                    {
                        "caption": t.caption,
                        "columns": list(t.columns),
                        "rows": [list(r) for r in t.rows],
                        "numeric": list(t.numeric),
                    }
                    for t in study.tables
                ],
                "series": [_series(c) for c in study.series],
                "panels": [{"title": p.title, "y": p.y, "log": p.log} for p in study.panels],
                "axes": list(study.axes),
                "log": list(study.log),
                "caption": study.caption,
                "data": plain(study.data),
            }
        )
    return found


def study_page(report: Mapping[str, Any], study: Mapping[str, Any]) -> str:
    """The HTML page of one study out of `report["studies"]`."""
    from markupsafe import Markup

    result, bars = result_of(study)
    page = environment().get_template("study.html.j2")
    return page.render(report=report, study=study, svg=Markup(_svg(study)), result=result, bars=bars)


def _series(curve: Series) -> dict[str, Any]:
    found = {"label": curve.label, "x": plain(curve.x), "y": plain(curve.y), "role": curve.role, "dash": curve.dash}
    if curve.low:
        found |= {"low": plain(curve.low), "high": plain(curve.high)}
    return found | ({"panel": curve.panel} if curve.panel else {})


def _svg(study: Mapping[str, Any]) -> str:
    """The picture, or "" where there is no curve."""
    if not study["series"]:
        return ""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    panels = study["panels"] or [{"title": "", "y": study["axes"][1], "log": study["log"][1]}]
    columns = 1 if len(panels) == 1 else 3 if len(panels) % 3 == 0 else 2
    rows = -(-len(panels) // columns)
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(8.6, 5.6 if rows == columns == 1 else 1.2 + 3.2 * rows), layout="constrained")
        FigureCanvasSVG(figure)
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for ax in grid[len(panels) :]:
            ax.set_axis_off()
        for number, (panel, ax) in enumerate(zip(panels, grid, strict=False)):
            _draw(ax, [c for c in study["series"] if c.get("panel", 0) == number], study["log"][0], panel)
            ax.set_xlabel(study["axes"][0])
        if len(panels) == 1:
            grid[0].legend(frameon=False, fontsize=8.5, loc="upper left", bbox_to_anchor=(0, -0.14), ncols=2)
        else:
            named = {label: line for ax in grid for line, label in zip(*ax.get_legend_handles_labels(), strict=True)}
            figure.legend(named.values(), named.keys(), frameon=False, fontsize=8.5, loc="outside lower left", ncols=3)
        buffer = io.StringIO()
        blank = {"Date": None, "Creator": None, "Format": None, "Type": None}
        figure.savefig(buffer, format="svg", transparent=True, metadata=blank)
    return finish(buffer.getvalue(), study["name"], study["caption"] + " All numbers stand in the tables below.")


def _draw(ax: Axes, curves: Sequence[Mapping[str, Any]], log_x: bool, panel: Mapping[str, Any]) -> None:
    """The curves of one panel, each with its band."""
    for curve in curves:
        shade, dash = colour(f"series-{curve['role']}"), _DASHES[curve["dash"] % len(_DASHES)]
        rows = [_floats(curve["x"]), *(_floats(curve.get(part, curve["y"])) for part in ("y", "low", "high"))]
        known = [r for r in zip(*rows, strict=True) if _drawable(r[0], log_x) and _drawable(r[1], panel["log"])]
        if not known:
            continue
        x, y, low, high = zip(*known, strict=True)
        ax.plot(x, y, color=shade, ls=dash, lw=1.6, label=curve["label"])
        if "low" in curve:
            edges = [(v if _drawable(v, panel["log"]) else w) for v, w in zip(low, y, strict=True)]
            tops = [(v if _drawable(v, panel["log"]) else w) for v, w in zip(high, y, strict=True)]
            ax.fill_between(x, edges, tops, color=shade, alpha=0.15, lw=0)
    if log_x:
        ax.set_xscale("log")
    if panel["log"]:
        ax.set_yscale("log")
    ax.grid(visible=True, lw=0.4)
    ax.set_ylabel(panel["y"])
    if panel["title"]:
        ax.set_title(panel["title"], loc="left", fontsize=9)


def _floats(values: Sequence[Any]) -> list[float]:
    return [float(v) for v in values]


def _drawable(value: float, log: bool) -> bool:
    return value == value and abs(value) != float("inf") and (value > 0 or not log)
