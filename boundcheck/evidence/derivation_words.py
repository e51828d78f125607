"""What the record of a derivation says, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from boundcheck.proof.records import NOT_CHECKED, Record, record

# How what a proof rests on begins, by weight, and what one of these and several are called.
RESTS = (
    ("the cited result ", "result taken from elsewhere", "results taken from elsewhere"),
    ("the transcribed assumption ", "assumption of the paper", "assumptions of the paper"),
    ("the transcribed algorithm ", "fact transcribed from the algorithm", "facts transcribed from the algorithm"),
    ("the transcribed metric ", "fact transcribed from the metric", "facts transcribed from the metric"),
    ("the transcribed ", "other transcribed fact", "other transcribed facts"),
    ("the law ", "law of draws", "laws of draws"),
    ("the generated ", "fact generated from the method", "facts generated from the method"),
    ("the record ", "other result (proved)", "other results (all proved)"),
    ("", "reading of a name", "readings of names"),
)


def derivation_words(id: str) -> str:
    """What the record of a derivation says, such as "PROVED, 19 lines, verified. Rests on ..."; "" without one."""
    found = record(id)
    if found is None:
        return ""
    if found.status == NOT_CHECKED:
        return f"{NOT_CHECKED}: {found.reason}"
    if found.proved:
        return f"PROVED, {found.lines} lines, verified. {rests_words(found)}"
    named = ", ".join(f"{status} at {step}" for step, status in found.failing.items())
    if not named or len(named) > 200:
        named = f"{found.status}, {len(found.failing)} of {sum(found.counts.values())} steps are not proved"
    return f"not proved: {named}. {rests_words(found)}".rstrip()


def rests_words(found: Record) -> str:
    """What a proof rests on, counted by weight, in a sentence; "" for nothing."""
    count = Counter(place(rest) for rest in found.rests)
    words = [f"{n} {RESTS[k][1 if n == 1 else 2]}" for k, n in sorted(count.items())]
    return f"Rests on {', '.join(words)}." if words else ""


def place(rest: str) -> int:
    """The row of RESTS for one thing that a proof rests on."""
    return next(k for k, (begin, *_) in enumerate(RESTS) if rest.startswith(begin))


def by_weight(rests: Iterable[str]) -> list[str]:
    """What a proof rests on, the heaviest first."""
    return sorted(rests, key=place)
