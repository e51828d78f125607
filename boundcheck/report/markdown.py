"""The report as Markdown: what a CI job shows as its summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from boundcheck.report.words import prose, tightness

_MET = {True: "met", False: "**missed**", None: "not stated"}


def markdown(report: Mapping[str, Any]) -> str:
    """Contradictory evidence first, counts, one table row a claim, and every missed expectation in full.

    Without claims, the studies come before all that.
    """
    lines = [f"# {_cell(report['title'])}", ""]
    for found in report["contradictions"]:
        lines += [f"**{_cell(found['sentence'])}**", ""]
    studies = [f"- {_cell(s['name'])}: {_cell(' '.join(s.get('words', ())[:1]))}" for s in report["studies"]]
    studies += [f"- {_cell(s['name'])}: limits of constant step sizes" for s in report["limits"]]
    if not report["claims"]:
        lines += studies + [""] * bool(studies)
        studies = []
    for name, counts in report["counts"].items():
        lines.append(f"- {name}: " + ", ".join(f"{count} {_cell(key)}" for key, count in counts.items()))
    lines += ["", "| claim | statement | outcome | grade | tightness | expectation | reason |", "|" + "---|" * 7]
    for claim in report["claims"]:
        verdict = claim["verdict"]
        flag = " (units disagree)" if claim["statement"]["dimension_errors"] else ""
        row = (
            claim["label"],
            claim["statement"]["id"] + flag,
            verdict["outcome"],
            verdict["grade"] or "none",
            tightness(claim),
            "",
            prose(verdict["reason"]),
        )
        cells = [_cell(text) for text in row]
        cells[5] = _MET[claim["expectation"]["met"]]
        lines.append("| " + " | ".join(cells) + " |")
    missed = [(c["label"], f) for c in report["claims"] for f in c["expectation"]["failures"]]
    if missed:
        lines += ["", "## Missed", ""] + [f"- {_cell(label)}: {_cell(failure)}" for label, failure in missed]
    lines += ["", "## Studies", "", *studies] if studies else []
    if report["not_run"]:
        lines += ["", "## Not run", ""] + [f"- {_cell(n['name'])}: {_cell(n['why'])}" for n in report["not_run"]]
    versions = ", ".join(f"{k} {v}" for k, v in report["versions"].items())
    return "\n".join([*lines, "", f"Computed with {versions}.", ""])


def _cell(text: str) -> str:
    """Text that can break neither a table nor the page around it."""
    for mark in "\\|`*_<>[]#":
        text = text.replace(mark, "\\" + mark)
    return " ".join(text.split())
