"""The table of all statements with the evidence on each, as `boundcheck list` prints it; kept in the cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from boundcheck.cli._evidence import derivation_record, derivation_status, evidence_words, transcribed
from boundcheck.cli._kept import is_keeping, kept
from boundcheck.core.loaded import LOADED

if TYPE_CHECKING:
    from boundcheck.errors import BadInput
    from boundcheck.theory.statement import Statement

Table = dict[str, Any]


def statement_table(paper: str = "") -> Table:
    """The rows of all statements, or of those of one paper.

    papers: all names of papers. statements: a row each, JSON-able, with the evidence in words (`words`).
    contradictions: `Contradiction.to_dict` each. broken: the errors of modules that cannot be read.
    Raises UnknownName for a paper that does not exist, BadInput where none of its modules can be read.
    """
    from boundcheck.errors import BadInput, UnknownName

    found = kept("statements", _whole) if is_keeping() else None
    if found is None or LOADED:
        every = _papers()
        found = _made([paper] if paper in every else every, found)
    if paper and paper not in found["papers"]:
        raise UnknownName("the paper", paper, found["papers"])
    if paper:
        found = {**found, "statements": [r for r in found["statements"] if r["id"].startswith(f"{paper}/")]}
    if found["broken"] and not found["statements"]:
        raise BadInput(found["broken"][0])
    return found


def _papers() -> list[str]:
    from boundcheck.theory.discovery import papers

    return sorted(papers())


def _whole() -> Table | None:
    """The rows of all papers but those of --load; None where a module cannot be read, so that it is tried again."""
    found = _made([p for p in _papers() if p not in LOADED])
    return None if found["broken"] else found


def _made(papers: Sequence[str], known: Table | None = None) -> Table:
    """The rows of these papers; known: rows that are there already."""
    from boundcheck.evidence.contradictions import contradictions
    from boundcheck.evidence.grounds import grounds, lacks_grounds
    from boundcheck.evidence.shipped_files import claims_by_id, shipped_witnesses
    from boundcheck.theory.discovery import all_statements

    have = set() if known is None else set(known["papers"])
    broken: list[BadInput] = []
    every = [s for p in papers if p not in have for s in all_statements(p, broken.append)]
    witnesses, claims = shipped_witnesses(), claims_by_id()
    corrections: dict[str, Statement] = {}
    for s in every:
        if s.replaces:
            corrections.setdefault(s.id.rpartition("/")[0], s)

    def row(s: Statement) -> dict[str, Any]:
        errors, derived = s.dimension_errors(), derivation_record(s.id)
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


def is_slip(row: dict[str, Any]) -> bool:
    """Whether a row is of a printed reading that is believed false, or whose printed proof has a refuted step."""
    return row["reading"].startswith("as_printed") and (row["belief"] == "false" or bool(row["refuted_at"]))


def _as_a_statement(row: dict[str, Any]) -> str:
    others = ", ".join(kind for kind in row["borne_out_by"] if kind != "refuted derivation")
    return f"{row['belief']} ({others})" if others else row["belief"]


SLIP_COLUMNS: dict[str, Callable[[dict[str, Any]], str]] = {
    "statement": lambda row: row["id"],
    "in the paper": lambda row: f"{row['source']['number']} ({row['source']['where']})",
    "refuted steps": lambda row: "; ".join(row["refuted_at"]),
    "the statement is": _as_a_statement,
    "the correction replaces": lambda row: row["correction"]["replaces"] if row["correction"] else "",
}


def matching_ids(incomplete: str) -> list[str]:
    """The ids that begin with what is typed, for the completion of a shell; full ids once a statement is chosen."""
    ids = [r["id"] for r in statement_table()["statements"] if r["id"].startswith(incomplete)]
    bare = dict.fromkeys(id.rpartition("/")[0] for id in ids)
    return ids if incomplete.count("/") == 2 or len(bare) == 1 else [id for id in bare if id.startswith(incomplete)]


def dimensions_word(statement: Statement, errors: Sequence[str]) -> str:
    """Whether the sides of a statement scale alike, in a word or two; errors: of its dimension check."""
    return "INCONSISTENT" if errors else "none declared" if statement.metric.dimension is None else "consistent"
