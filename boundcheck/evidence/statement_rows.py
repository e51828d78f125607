"""The table of statements with the evidence on each, as `boundcheck list` prints it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundcheck.evidence import shipped_files
from boundcheck.evidence.contradictions import contradictions
from boundcheck.evidence.grounds import grounds, lacks_grounds
from boundcheck.proof.records import record
from boundcheck.theory import discovery

if TYPE_CHECKING:
    from boundcheck.errors import BadInput
    from boundcheck.proof.records import Record
    from boundcheck.theory.statement import Statement

Table = dict[str, Any]


def statement_rows(papers: Sequence[str], known: Table | None = None) -> Table:
    """The rows of the statements of these papers, JSON-able; known: rows that are there already.

    papers: their names. statements: a row each, with the evidence in words (`words`). contradictions:
    `Contradiction.to_dict` each. broken: the errors of modules that cannot be read.
    """
    have = set() if known is None else set(known["papers"])
    broken: list[BadInput] = []
    every = [s for p in papers if p not in have for s in discovery.all_statements(p, broken.append)]
    witnesses, claims = shipped_files.shipped_witnesses(), shipped_files.claims_by_id()
    corrections: dict[str, Statement] = {}
    for s in every:
        if s.replaces:
            corrections.setdefault(s.id.rpartition("/")[0], s)

    def row(s: Statement) -> dict[str, Any]:
        errors, derived = s.dimension_errors(), record(s.id)
        borne_out = grounds(s, derived, witnesses, claims)
        correction = corrections.get(s.id.rpartition("/")[0])
        return {
            "id": s.id,
            "title": s.title,
            "reading": s.reading,
            "kind": s.kind.value,
            "belief": s.belief.value,
            "dimensions": dimensions_word(s, errors),
            "dimension_errors": errors,
            "derivation": derivation_status(derived),
            "refuted_at": [] if derived is None else list(derived.refuted_at),
            "transcribed": transcribed(derived),
            "witness": str(witnesses[s.id]) if s.id in witnesses else None,
            "claims": claims.get(s.id, {}),
            "borne_out_by": list(borne_out),
            "source": {"paper": str(s.source.paper), "number": s.source.number, "where": s.source.where},
            "correction": None if correction is None else {"replaces": correction.replaces, "why": correction.why},
            "without_evidence": lacks_grounds(s, borne_out),
            "words": evidence_words(s.id, derived, witnesses, claims),
        }

    before: Table = known or {"statements": [], "contradictions": []}
    return {
        "papers": sorted({*have, *papers}),
        "statements": sorted([*before["statements"], *map(row, every)], key=lambda r: r["id"].rpartition("/")[0]),
        "contradictions": [*before["contradictions"], *(c.to_dict() for c in contradictions(s.id for s in every))],
        "broken": [str(error) for error in broken],
    }


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


def dimensions_word(statement: Statement, errors: Sequence[str]) -> str:
    """Whether the units of both sides of a statement agree, in a word or two; errors: of its dimension check."""
    return "units disagree" if errors else "none declared" if statement.metric.dimension is None else "units agree"
