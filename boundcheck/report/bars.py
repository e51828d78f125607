"""The result of a comparison of bounds at a glance: a sentence, and bars of the rounds promised and needed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from boundcheck.evidence.ordering import rankings
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
    return f"{rankings(Counter(outcomes))}.", Markup()


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
    top = max(math.log10(max(r["promised"], r.get("needed") or 1)) for r in rows) or 1.0

    def width(rounds: int | None) -> float:
        return 1 + 65 * math.log10(max(rounds or 1, 1)) / top if rounds else 0.0

    shown: list[tuple[str, str, list[tuple[str, str, float, float]]]] = []
    for r in rows:
        needed = f"{pretty(r['needed'], 4)} needed" if r.get("needed") else "not reached within the longest run"
        bars = [
            ("promised", f"{pretty(r['promised'], 4)} promised", 0.0, width(r["promised"])),
            ("needed", needed, 0.0, width(r.get("needed"))),
        ]
        shown.append((r["method"], r["statement"], bars))
    return _drawn(shown)


def value_bars(rows: Sequence[tuple[str, Sequence[tuple[str, str, float]]]]) -> Markup:
    """Bars from 0 to values, to scale. rows: a name, and (class, words, value) of each bar."""
    values = [v for _, bars in rows for *_, v in bars if math.isfinite(v)]
    low, high = min([0.0, *values]), max([0.0, *values])
    span = (high - low) or 1.0
    shown: list[tuple[str, str, list[tuple[str, str, float, float]]]] = []
    for name, bars in rows:
        placed = [
            (kind, words, 100 * (min(v, 0.0) - low) / span, 100 * abs(v) / span if math.isfinite(v) else 0.0)
            for kind, words, v in bars
        ]
        shown.append((name, "", placed))
    return _drawn(shown)


def _drawn(rows: Sequence[tuple[str, str, Sequence[tuple[str, str, float, float]]]]) -> Markup:
    """rows: name, note, and (class, words, start, width) of each bar, in per cent."""
    from markupsafe import Markup

    bar = Markup('<span class="{}" style="margin-left:{:.1f}%;width:{:.1f}%"></span><span class="small">{}</span>')
    row = Markup('<dt>{} <span class="small soft">{}</span></dt><dd>{}</dd>')
    return Markup('<dl class="bars">{}</dl>').format(
        Markup().join(
            row.format(
                name, note, Markup().join(bar.format(kind, start, width, words) for kind, words, start, width in bars)
            )
            for name, note, bars in rows
        )
    )
