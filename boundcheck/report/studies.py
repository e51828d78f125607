"""The page of a study: its words, its picture, its tables."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from boundcheck.report.pages import environment
from boundcheck.report.plot import SETTINGS, colour, finish
from boundcheck.report.words import slug
from boundcheck.verdict import plain

if TYPE_CHECKING:
    from boundcheck.evidence.studies import Study

__all__ = ["studies_data", "study_page"]

_DASHES: Any = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (3, 1)), (0, (8, 3)))


def studies_data(studies: Sequence[Study]) -> list[dict[str, Any]]:
    """The studies as plain data (JSON-able), each with the name of its page."""
    used: set[str] = set()
    found: list[dict[str, Any]] = []
    for study in studies:
        base = page = f"study-{slug(study.name)}"
        k = 2
        while page in used:
            page, k = f"{base}-{k}", k + 1
        used.add(page)
        found.append(
            {
                "name": study.name,
                "kind": study.kind,
                "page": f"{page}.html",
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
                "series": [
                    {"label": c.label, "x": plain(c.x), "y": plain(c.y), "role": c.role, "dash": c.dash}
                    for c in study.series
                ],
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

    return environment().get_template("study.html.j2").render(report=report, study=study, svg=Markup(_svg(study)))


def _svg(study: Mapping[str, Any]) -> str:
    """The picture, or "" where there is no curve."""
    if not study["series"]:
        return ""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(8.6, 5.6), layout="constrained")
        FigureCanvasSVG(figure)
        ax = figure.subplots()
        for curve in study["series"]:
            pairs = zip((float(v) for v in curve["x"]), (float(v) for v in curve["y"]), strict=True)
            known = [(x, y) for x, y in pairs if _drawable(x, study["log"][0]) and _drawable(y, study["log"][1])]
            if known:
                dash = _DASHES[curve["dash"] % len(_DASHES)]
                x, y = zip(*known, strict=True)
                ax.plot(x, y, color=colour(f"series-{curve['role']}"), ls=dash, lw=1.6, label=curve["label"])
        if study["log"][0]:
            ax.set_xscale("log")
        if study["log"][1]:
            ax.set_yscale("log")
        ax.grid(visible=True, lw=0.4)
        ax.set_xlabel(study["axes"][0])
        ax.set_ylabel(study["axes"][1])
        ax.legend(frameon=False, fontsize=8.5, loc="upper left", bbox_to_anchor=(0, -0.14), ncols=2)
        buffer = io.StringIO()
        blank = {"Date": None, "Creator": None, "Format": None, "Type": None}
        figure.savefig(buffer, format="svg", transparent=True, metadata=blank)
    return finish(buffer.getvalue(), study["name"], study["caption"] + " All numbers stand in the tables below.")


def _drawable(value: float, log: bool) -> bool:
    return value == value and abs(value) != float("inf") and (value > 0 or not log)
