"""The page of a study: its words, its picture, its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from boundcheck.report.bars import result_of
from boundcheck.report.chart import DASHES, WIDTH, Chart, Line, charts_html
from boundcheck.report.mathtext import math as mathtext
from boundcheck.report.names import study_page_names
from boundcheck.report.pages import environment
from boundcheck.verdict import plain

if TYPE_CHECKING:
    from markupsafe import Markup

    from boundcheck.evidence.studies import Series, Study


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
    result, bars = result_of(study)
    page = environment().get_template("study.html.j2")
    return page.render(report=report, study=study, picture=_picture(study), result=result, bars=bars)


def _series(curve: Series) -> dict[str, Any]:
    found = {"label": curve.label, "x": plain(curve.x), "y": plain(curve.y), "role": curve.role, "dash": curve.dash}
    if curve.low:
        found |= {"low": plain(curve.low), "high": plain(curve.high)}
    return found | ({"panel": curve.panel} if curve.panel else {})


def _picture(study: Mapping[str, Any]) -> Markup | str:
    """A chart for each panel, or "" where there is no curve."""
    if not study["series"]:
        return ""
    panels: list[dict[str, Any]] = study["panels"] or [{"title": "", "y": study["axes"][1], "log": study["log"][1]}]
    size = (WIDTH, 380) if len(panels) == 1 else (430, 280)
    text = study["caption"] + " All numbers stand in the tables below."
    charts: list[tuple[str, Chart]] = []
    for number, panel in enumerate(panels):
        lines = [_line(c) for c in study["series"] if c.get("panel", 0) == number]
        log = (study["log"][0], panel["log"])
        title = f"{study['name']} {panel['title']}".rstrip()
        x_label, y_label = (str(mathtext(words)) for words in (study["axes"][0], panel["y"]))
        charts.append((panel["title"], Chart(title, text, lines, log, x_label, y_label, size=size)))
    return charts_html(charts)


def _line(curve: Mapping[str, Any]) -> Line:
    x, y, low, high = ([float(v) for v in curve.get(part, ())] for part in ("x", "y", "low", "high"))
    return Line(curve["label"], curve["role"], x, y, low, high, curve["dash"] % len(DASHES))
