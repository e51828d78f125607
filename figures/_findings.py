"""Findings of the papers, decided on the data of a figure: reproduced, reversed or undecided, with the statistic.

The sentence of a finding stands in record.toml, in the entry of its figure or table; the figure's script decides it by
a function of its data, and the caption, the facts and the table of the record print what came out. No word is typed in.

A statistic of random curves is compared seed by seed: the two hypotheses "not larger in the mean" and "not smaller in
the mean" are tested with Student's t at confidence 0.95, over all pairs of a finding together by Holm's procedure
(`boundcheck.evidence.ordering`). Where nothing is random the numbers themselves decide, against a stated threshold.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from boundcheck.evidence.ordering import OUTCOMES, Array, holm, p_values

RECORD = Path(__file__).with_name("record.toml")
REPRODUCED, REVERSED, UNDECIDED = OUTCOMES
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Decision:
    """The word of a finding, and the statistic that decides it, with its numbers."""

    word: str
    statistic: str


@dataclass(frozen=True)
class Comparison:
    """Two values of which the first is smaller, as a paper has it. Each (S,) by seed, or numbers that are certain.

    label: what they are values of, such as the panel. factor: the second is at least this many times the first. margin:
    numbers that are certain and this close, relative to the first, are level and decide nothing.
    """

    label: str
    smaller: Array | float
    larger: Array | float
    factor: float = 1.0
    margin: float = 0.0


def ordered(comparisons: Sequence[Comparison], names: tuple[str, str] = ("", "")) -> Decision:
    """Whether in all of them the first is smaller. Reversed as soon as one is surely the other way.

    names: of the two values, for the statistic.
    """
    words = decided(comparisons)
    parts = [_told(one, names, word, len(comparisons) > 1) for one, word in zip(comparisons, words, strict=True)]
    return Decision(together(words), "; ".join(parts))


def decided(comparisons: Sequence[Comparison]) -> list[str]:
    """The word of each, their error together at most 1 - CONFIDENCE."""
    both: list[tuple[float, float]] = []
    for one in comparisons:
        first, second = _values(one)
        if isinstance(one.smaller, int | float):  # nothing is random; one seed of random runs decides nothing
            gain, level = _gain(one.factor * first[0], second[0]), one.margin * abs(one.factor * first[0])
            both.append((0.0, 1.0) if gain > level else (1.0, 0.0) if gain < -level else (1.0, 1.0))
        else:
            gains = np.array([_gain(one.factor * a, b) for a, b in zip(first, second, strict=True)])
            both.append(p_values(gains, "t"))
    fallen = holm([p for pair in both for p in pair], 1 - CONFIDENCE)
    return [
        REPRODUCED if fallen[2 * k] else REVERSED if fallen[2 * k + 1] else UNDECIDED for k in range(len(comparisons))
    ]


def share(count: int, of: int, least: float) -> tuple[str, str]:
    """Whether repeats have a property with probability above `least`, by the exact limits of a binomial share, and the
    numbers in words.
    """
    from scipy.special import betaincinv

    low = 0.0 if count == 0 else float(betaincinv(count, of - count + 1, 1 - CONFIDENCE))
    high = 1.0 if count == of else float(betaincinv(count + 1, of - count, CONFIDENCE))
    word = REPRODUCED if low > least else REVERSED if high < least else UNDECIDED
    return (
        word,
        f"{count} of {of} repeats (one-sided limits of the share: {low:.3f} and {high:.3f}; asked for: {least:g})",
    )


def together(words: Sequence[str]) -> str:
    """The word of a finding that says something of several: one that is reversed reverses it."""
    if REVERSED in words:
        return REVERSED
    return UNDECIDED if UNDECIDED in words else REPRODUCED


def agreed(first: Decision, second: Decision) -> Decision:
    """A finding with two statistics: their word where they agree; where one is for it and one against it, undecided."""
    word = first.word if first.word == second.word else UNDECIDED
    return Decision(word, f"{first.statistic}; {second.statistic}")


def certain(holds: bool, statistic: str) -> Decision:
    """A statement about exact numbers or about the picture itself, which either holds or does not."""
    return Decision(REPRODUCED if holds else REVERSED, statistic)


def _values(one: Comparison) -> tuple[Array, Array]:
    return np.atleast_1d(np.asarray(one.smaller, dtype=float)), np.atleast_1d(np.asarray(one.larger, dtype=float))


def _gain(smaller: float, larger: float) -> float:
    """By how much the second is larger; infinite where one of them diverged."""
    if math.isfinite(smaller) and math.isfinite(larger):
        return larger - smaller
    if math.isfinite(smaller) == math.isfinite(larger):
        return math.nan
    return math.inf if math.isfinite(smaller) else -math.inf


def _told(one: Comparison, names: tuple[str, str], word: str, several: bool) -> str:
    first, second = _values(one)
    a, b = (f"{name} {mean_of(v)}".strip() for name, v in zip(names, (first, second), strict=True))
    times = "" if one.factor == 1 else f" (factor {second.mean() / first.mean():.2g}, asked for {one.factor:g})"
    seeds = "" if isinstance(one.smaller, int | float) else f" over {len(first)} seed{'s'[: len(first) - 1]}"
    label = f"{one.label}: " if one.label else ""
    return f"{label}{a}, {b}{times}{seeds}" + (f" [{word}]" if several and word != REPRODUCED else "")


def mean_of(values: Array) -> str:
    lost = int((~np.isfinite(values)).sum())
    if lost:
        return f"diverged in {lost} of {len(values)} runs"
    text = f"{values.mean():.4g}"
    return text if len(values) == 1 else f"{text} ± {values.std(ddof=1):.1g}"


@cache
def entries() -> tuple[Mapping[str, Any], ...]:
    """The entries of record.toml in their order."""
    return tuple(tomllib.loads(RECORD.read_text(encoding="utf-8"))["item"])


def judged(script: str, decisions: Mapping[str, Decision]) -> list[dict[str, str]]:
    """The findings of the entry of a script in its order, each with its sentence, word and statistic.

    Raises ValueError where the decisions are not about the findings that the record states.
    """
    says: Mapping[str, str] = next((e["findings"] for e in entries() if e.get("script") == script), {})
    if set(says) != set(decisions):
        raise ValueError(f"{script}: the record states {sorted(says)}, decided were {sorted(decisions)}.")
    return [{"key": key, "says": says[key], **asdict(decisions[key])} for key in says]


def lines(findings: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    """Word -> sentences with their statistics."""
    return {word: [f"{f['says']} ({f['statistic']})." for f in findings if f["word"] == word] for word in OUTCOMES}
