"""What the record of a derivation says, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from boundcheck.proof.records import NOT_CHECKED, Record, record
from boundcheck.proof.step import NAMES


def derivation_words(id: str) -> str:
    """What the record of a derivation says, such as "PROVED, 37 steps, verified; ..."; "" for a reading without one."""
    found = record(id)
    if found is None:
        return ""
    if found.status == NOT_CHECKED:
        return f"{NOT_CHECKED}: {found.reason}"
    count = sum(found.counts.values())
    if found.derived:
        said = f"verified{rests_words(found)}" if found.proved else f"not verified ({found.reason})"
        return f"{found.status}, {count} steps, {said}; {transcribed_words(found.transcribed, found.cites)}"
    named = ", ".join(f"{status} at {step}" for step, status in found.failing.items())
    if not named:
        named = f"{found.status}, its conclusion is not shown to be the bound"
    elif len(named) > 200:
        named = f"{found.status}, {len(found.failing)} of {count} steps are not proved"
    return f"not proved: {named}; {transcribed_words(found.transcribed, found.cites)}"


def rests_words(found: Record) -> str:
    """What the verifier names besides facts, terms and other proofs, such as a function that must be differentiable."""
    facts, terms = ("the transcribed ", "the generated ", "the record ", "the law "), (" is what ", " is the mean of ")
    named = [r for r in found.rests if not r.startswith(facts) and not any(words in r for words in terms)]
    return f", resting on: {'; '.join(named)}" if named else ""


def transcribed_words(transcribed: Mapping[str, int], cites: Sequence[str] = ()) -> str:
    """What a derivation takes over unchecked, counted by kind, and the derivations on which it rests besides."""
    claims = {kind: count for kind, count in transcribed.items() if kind not in NAMES}
    total, names = sum(claims.values()), sum(transcribed.values()) - sum(claims.values())
    kinds = ", ".join(f"{kind}: {count}" for kind, count in claims.items())
    text = f"rests on {total} transcribed {'fact' if total == 1 else 'facts'}{f' ({kinds})' if kinds else ''}"
    if names:
        text += f" and {names} {'name' if names == 1 else 'names'} of terms"
    if not cites:
        return text
    return f"{text}, and on the derivation{'' if len(cites) == 1 else 's'} of {', '.join(cites)}"
