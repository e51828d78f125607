"""The gallery of theorems: what the catalogue of a report knows of each statement, as pages of the site."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping
from functools import cache
from typing import Any

from markdown_text import plain, table

PAPERS = ("scgd", "fedshuffle", "feddane", "async_fl", "partial_averaging", "classics")
REPORT = os.environ.get("DOCS_REPORT", "")  # the folder of a report within the site, "" without one
COLUMNS = ("statement", "title", "as printed", "corrected or sharp")


def anchor(name: str) -> str:
    """The place of a statement, `paper/statement`, on the page of its paper."""
    return name.partition("/")[2].replace("_", "-")


@cache
def listed() -> tuple[Any, dict[str, list[Any]]]:
    """The catalogue of a report, and its entries by paper."""
    from boundcheck.report.catalogue import catalogue

    found = catalogue(None, [])
    own: dict[str, list[Any]] = {paper: [] for paper in PAPERS}
    for entry in found.data():
        own[entry["paper"]].append(entry)
    return found, own


def gallery() -> str:
    """All statements with their status, by paper."""
    _, own = listed()
    parts: list[str] = []
    for paper, entries in own.items():
        rows = [
            (
                f"[{plain(e['number'])}]({paper}.md#{anchor(e['id'])})",
                plain(e["title"]),
                *(_statuses(e, printed) for printed in (True, False)),
            )
            for e in entries
        ]
        parts.append(f"## [{plain(_paper_title(paper))}]({paper}.md)\n\n" + table(COLUMNS, rows))
    readings = sum(len(e["readings"]) for entries in own.values() for e in entries)
    return f"{sum(map(len, own.values()))} statements with {readings} readings.\n\n" + "\n\n".join(parts)


def _statuses(entry: Mapping[str, Any], printed: bool) -> str:
    words = [r for r in entry["readings"] if r["reading"].startswith("as_printed") == printed]
    return "; ".join(dict.fromkeys(_badge(r) for r in words))


def _badge(reading: Mapping[str, Any]) -> str:
    return f'<span class="status {reading["tone"]}">{html.escape(reading["status"].lower())}</span>'


def _source(paper: str) -> Any:
    found, own = listed()
    return found.readings[own[paper][0]["id"]][0].source.paper


def _paper_title(paper: str) -> str:
    return "Textbook bounds" if paper == "classics" else _source(paper).title


def paper_page(paper: str) -> str:
    """All statements of a paper: readings with their formulas, status and evidence."""
    about = _source(paper)
    parts = [f"# {plain(_paper_title(paper))}"]
    if paper != "classics":
        link = f" [{plain(about.link.removeprefix('https://'))}]({about.link})" if about.link else ""
        parts.append(f"{plain(', '.join(about.authors))}. {plain(str(about.venue))}, {about.year}.{link}")
    parts.append(f"`boundcheck list --paper {paper}` prints them.")
    return "\n\n".join([*parts, *map(_statement, listed()[1][paper])])


def _statement(entry: Mapping[str, Any]) -> str:
    from boundcheck.report.formulas import claim_lines, markup

    own = listed()[0].readings[entry["id"]]
    printed = next((s for s in own if s.reading.startswith("as_printed")), None)
    amended = next((s for s in own if not s.reading.startswith("as_printed")), None)
    parts = [f"## {plain(entry['number'])}: {plain(entry['title'])} {{ #{anchor(entry['id'])} }}"]
    for statement, known in zip(own, entry["readings"], strict=True):
        is_printed = statement is printed or statement.reading.startswith("as_printed")
        lines = claim_lines(statement, amended if is_printed else printed, "printed" if is_printed else "corrected")
        formula = str(markup(lines)).replace("\n", " ")
        evidence = ", ".join(f"{kind}: {found['word']}" for kind, found in known["evidence"].items())
        why = f" {plain(statement.why)}" if statement.why else ""
        parts.append(
            f"**{plain(statement.reading.replace('_', ' '))}** {_badge(known)} {plain(known['how'])}"
            + (f" Evidence: {plain(evidence)}." if evidence else "")
            + why
        )
        parts.append(f'<div class="statement" tabindex="0">{formula}</div>')
    page = f"../{REPORT}/statement.{entry['id'].replace('/', '.')}.html"
    link = f' · <a href="{page}">its page in the report</a>' if REPORT else ""
    parts.append(f"`boundcheck show {entry['id']}`{link}")
    return "\n\n".join(parts)
