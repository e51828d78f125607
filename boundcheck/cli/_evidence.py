"""The evidence on a statement as commands print it: derivation, witness, claims, and what contradicts itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from boundcheck.cli._output import line

if TYPE_CHECKING:
    from pathlib import Path

    from boundcheck.evidence.contradictions import Contradiction
    from boundcheck.proof.records import Record


def derivation_record(id: str) -> Record | None:
    """What is on record of a reading's derivation; None where it has none."""
    from boundcheck.proof.records import record

    return record(id)


def derivation_status(derived: Record | None) -> str:
    """ "none", "not checked", or the status on record."""
    return "none" if derived is None else derived.status


def transcribed(derived: Record | None) -> dict[str, int]:
    """Number of transcribed facts by kind; empty without a record that fits."""
    return {} if derived is None else dict(derived.transcribed)


def _derivation_words(derived: Record) -> str:
    """The status, with the number of facts taken over unchecked or of steps that are not proved."""
    if derived.proved:
        total = sum(derived.transcribed.values())
        return f"derivation PROVED ({total} transcribed {'fact' if total == 1 else 'facts'})"
    count = sum(status == derived.status for status in derived.failing.values())
    if not count or derived.status == "REFUTED":
        return f"derivation {derived.status}"
    return f"derivation {derived.status}, not proved ({count} {derived.status} {'step' if count == 1 else 'steps'})"


def evidence_words(
    id: str, derived: Record | None, witnesses: Mapping[str, Path], claims: Mapping[str, Mapping[str, int]]
) -> str:
    """The evidence so far, in a few words: the recorded derivation, a shipped witness, the shipped claims."""
    parts = [] if derived is None else [_derivation_words(derived)]
    if id in witnesses:
        parts.append("VIOLATED by a witness")
    for outcome, count in sorted(claims.get(id, {}).items()):
        verb = "HOLD" if outcome == "HOLDS" and count > 1 else outcome
        parts.append(f"{count} {'claim' if count == 1 else 'claims'} {verb}")
    return "; ".join(parts) or "none"


def print_contradictions(found: Iterable[Contradiction | str]) -> None:
    """Print one line for each contradiction and an empty line after them; print nothing without contradictions.

    found: contradictions, or their sentences.
    """
    sentences = [str(one) for one in found]
    for sentence in sentences:
        line(sentence)
    if sentences:
        line()
