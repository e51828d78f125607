"""The rows of the shipped table of worst cases, as the overview page shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def worst_cases(papers: set[str]) -> dict[str, Any]:
    """The rows of these papers, the command that makes the table, and whether other code made it.

    A row has the id, the number of sizes in scope and of those PROVED, the narrowest and the widest looseness with the
    size of each, or why there is none. changed: the statement is another one today, so that the row says nothing of it.
    """
    from boundcheck.worst_case.table import changed, shipped

    data = shipped()
    other = set(changed(data))
    rows = [_row(own, other) for own in data["rows"] if own["statement"].partition("/")[0] in papers]
    return {"rows": rows, "command": data["command"].partition(" -o ")[0], "other_code": "the code" in other}


def _row(own: Mapping[str, Any], other: set[str]) -> dict[str, Any]:
    inside = [s for s in own["sizes"] if s["outcome"] != "OUT_OF_SCOPE"]  # elsewhere the theorem says nothing
    known = [s for s in inside if s["looseness"][0] is not None]
    row = {"id": own["statement"], "changed": own["statement"] in other, "sizes": len(inside), "why": own["why"]}
    if not known:
        scope = "a condition fails at every small size" if own["sizes"] and not inside else ""
        why = own["why"] or scope or inside[0]["why"] or "the worst case is not positive"
        return row | {"ends": [], "why": why}
    least, most = (pick(known, key=lambda s: s["looseness"][0]) for pick in (min, max))
    ends = [_words(s) for s in ([least] if least is most else [least, most])]
    return row | {"ends": ends, "proved": sum(s["outcome"] == "PROVED" for s in inside)}


def _words(size: Mapping[str, Any]) -> tuple[str, str]:
    """The looseness, and the options of the command that computes it."""
    low, high = size["looseness"]
    if high is None:
        return f"at least {low:.4g}", size["at"]
    return f"{low:.4g}" if f"{low:.4g}" == f"{high:.4g}" else f"{low:.4g} to {high:.4g}", size["at"]
