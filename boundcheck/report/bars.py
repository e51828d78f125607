"""The result of a comparison of bounds at a glance: a sentence, and bars of the rounds promised and needed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from boundcheck.report.words import pretty

if TYPE_CHECKING:
    from markupsafe import Markup


def result_of(study: Mapping[str, Any]) -> tuple[str, Markup]:
    """What a study found, in a sentence, and bars for it; empty for a kind whose words say it themselves."""
    from markupsafe import Markup

    if study["kind"] == "methods_compared":
        return compared(study)
    outcomes = [row[-1] for table in study["tables"] if table["columns"][-1] == "outcome" for row in table["rows"]]
    if not outcomes:
        return "", Markup()
    counts = ", ".join(f"{outcomes.count(word)} {word}" for word in dict.fromkeys(sorted(outcomes)))
    return f"Of {len(outcomes)} orders of two methods that the paper shows: {counts}.", Markup()


def compared(study: Mapping[str, Any]) -> tuple[str, Markup]:
    """Sentence and bars of a study of kind "methods_compared"; both empty where no bound promises anything."""
    from markupsafe import Markup

    rows: list[Mapping[str, Any]] = [r for r in study["data"].get("rows", ()) if r.get("promised")]
    rows.sort(key=lambda r: r["promised"])
    if not rows:
        return "", Markup()
    return _sentence(rows), _bars(rows)


def _sentence(rows: Sequence[Mapping[str, Any]]) -> str:
    best = rows[0]
    rounds = pretty(best["promised"], 4)
    text = f"{best['statement']} promises the target soonest: after {rounds} rounds of {best['method']}"
    reached = [r for r in rows if r.get("needed")]
    if best in reached:
        text += f", where {pretty(best['needed'], 4)} are needed"
    if not reached:
        return f"{text}. No run is there within the longest one."
    ratios = sorted(r["promised"] / r["needed"] for r in reached)
    if len(ratios) == 1:
        return f"{text}."
    return f"{text}. The bounds promise {pretty(ratios[0])} to {pretty(ratios[-1])} times the rounds that are needed."


def _bars(rows: Sequence[Mapping[str, Any]]) -> Markup:
    """Two bars a row on one log axis; the numbers stand beside them."""
    from markupsafe import Markup

    top = max(math.log10(max(r["promised"], r.get("needed") or 1)) for r in rows) or 1.0
    row = Markup(
        '<dt>{method} <span class="small soft">{statement}</span></dt><dd>'
        '<span class="promised" style="width:{promised:.1f}%"></span><span class="small">{words} promised</span>'
        '<span class="needed" style="width:{needed:.1f}%"></span><span class="small">{really}</span></dd>'
    )

    def width(rounds: int | None) -> float:
        return 1 + 65 * math.log10(max(rounds or 1, 1)) / top

    return Markup('<dl class="bars">{}</dl>').format(
        Markup().join(
            row.format(
                method=r["method"],
                statement=r["statement"],
                promised=width(r["promised"]),
                needed=width(r.get("needed")) if r.get("needed") else 0,
                words=pretty(r["promised"], 4),
                really=f"{pretty(r['needed'], 4)} needed" if r.get("needed") else "not reached within the longest run",
            )
            for r in rows
        )
    )
