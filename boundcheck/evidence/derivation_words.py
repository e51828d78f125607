"""What the record of a derivation says, in words."""

from __future__ import annotations

from collections.abc import Iterable

from boundcheck.proof.records import NOT_CHECKED, Record, record
from boundcheck.verify.boundcheck_verify import plain

RESTS_ON = "Rests on"  # how the last sentence of `derivation_words` begins

# How what a proof rests on begins, by weight, and what one of these and several are called.
RESTS = (
    ("the cited result ", "result taken from elsewhere", "results taken from elsewhere"),
    ("the transcribed assumption ", "assumption of the paper", "assumptions of the paper"),
    ("the transcribed algorithm ", "fact transcribed from the algorithm", "facts transcribed from the algorithm"),
    ("the transcribed metric ", "fact transcribed from the metric", "facts transcribed from the metric"),
    ("the transcribed ", "other transcribed fact", "other transcribed facts"),
    ("the law ", "law of draws", "laws of draws"),
    ("the generated ", "generated fact", "generated facts"),
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
    words = [words for words, _ in rests_groups(found.rests)]
    return f"{RESTS_ON} {', '.join(words)}." if words else ""


def rests_groups(rests: Iterable[str]) -> list[tuple[str, list[str]]]:
    """What a proof rests on by kind, the heaviest first: how many of a kind, in words, and each of them."""
    groups: dict[int, list[str]] = {}
    for rest in rests:
        row = next(k for k, (begin, *_) in enumerate(RESTS) if rest.startswith(begin))
        groups.setdefault(row, []).append(plain(rest.removeprefix(RESTS[row][0])))
    return [(f"{len(own)} {RESTS[k][1 if len(own) == 1 else 2]}", own) for k, own in sorted(groups.items())]
