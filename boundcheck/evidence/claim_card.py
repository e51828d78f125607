"""What a notebook shows of a claim that was carried out: the verdict, and the metric beside the bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boundcheck.core.cards import Card

if TYPE_CHECKING:
    from boundcheck.evidence.claim import ClaimResult


def claim_card(result: ClaimResult) -> Card:
    """The card of a result; its table has a row for each compared point."""
    verdict = result.verdict
    grade = "" if verdict.grade is None else f" ({verdict.grade.value})"
    facts = [("reason", verdict.reason), *(("missed", text) for text in result.failures)]
    if verdict.tightness is not None:
        facts.insert(0, ("tightness", f"{verdict.tightness.ratio_min:.4g} (1 is tight)"))
    columns = {
        "index": [str(v) for v in result.index],
        "round": list(result.rounds),
        "metric from": list(result.metric_low),
        "metric to": list(result.metric_high),
        "bound": list(result.bound),
    }
    index = [float(v) for v in result.index]
    lines = {
        "bound": list(zip(index, result.bound, strict=False)),
        "metric": [(x, (a + b) / 2) for x, a, b in zip(index, result.metric_low, result.metric_high, strict=False)],
    }
    title = f"{verdict.outcome.value}{grade}: {result.claim.label()}"
    return Card(title, facts, columns=columns if index else None, lines=lines if index else None)
