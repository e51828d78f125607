"""Statements with the evidence on each, as `boundcheck list` and `boundcheck show` print them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundcheck.evidence import shipped_files
from boundcheck.evidence.contradictions import contradictions
from boundcheck.evidence.standing import derivation_words, grounds, lacks_grounds
from boundcheck.proof.records import record
from boundcheck.theory import discovery
from boundcheck.theory.discovery import readings, statement
from boundcheck.theory.pretty import formula_blocks, symbol_unicode
from boundcheck.theory.quantities import PROOF_QUANTITIES
from boundcheck.theory.typeset import average_text, expr_text, left_text, relation_text, symbol_latex

if TYPE_CHECKING:
    from boundcheck.errors import BadInput
    from boundcheck.proof.records import Record
    from boundcheck.theory.statement import Metric, Statement


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
            **_evidence(s, derived, witnesses, claims),
            "refuted_at": [] if derived is None else list(derived.refuted_at),
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


Witnesses = Mapping[str, Path]
Claims = Mapping[str, Mapping[str, int]]


def _evidence(s: Statement, derived: Record | None, witnesses: Witnesses, claims: Claims) -> dict[str, Any]:
    """The evidence on a reading, JSON-able. transcribed: number of transcribed facts by kind."""
    return {
        "dimension_errors": s.dimension_errors(),
        "derivation": "none" if derived is None else derived.status,
        "transcribed": {} if derived is None else dict(derived.transcribed),
        "witness": str(witnesses[s.id]) if s.id in witnesses else None,
        "claims": claims.get(s.id, {}),
    }


def _derivation_words(derived: Record) -> str:
    """The status, with the number of facts taken over unchecked or of steps that are not proved."""
    if derived.proved:
        total = sum(derived.transcribed.values())
        return f"derivation PROVED ({total} transcribed {'fact' if total == 1 else 'facts'})"
    count = sum(status == derived.status for status in derived.failing.values())
    if not count or derived.status == "REFUTED":
        return f"derivation {derived.status}"
    return f"derivation {derived.status}, not proved ({count} {derived.status} {'step' if count == 1 else 'steps'})"


def evidence_words(id: str, derived: Record | None, witnesses: Witnesses, claims: Claims) -> str:
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


def shown(id: str) -> dict[str, Any]:
    """The statement of an id, JSON-able.

    data: what --json prints. before, after: lines of text around the table of symbols (rows). left: the left
    side of the claim. blocks, base: the bound, `theory.pretty.formula_blocks`.
    Raises UnknownName where there is no such statement.
    """
    found = statement(id)
    witnesses, claims = shipped_files.shipped_witnesses(), shipped_files.claims_by_id()
    derived = record(found.id)
    data = {
        **{k: v for k, v in found.to_dict().items() if k != "schema"},
        "contradictions": [c.to_dict() for c in contradictions([found.id])],
        "latex": found.latex(),
        **_evidence(found, derived, witnesses, claims),
    }
    blocks, base = formula_blocks(found.bound, found)
    signs = {s.name: symbol_unicode(symbol_latex(s), s.name) for s in found.symbols}
    return {
        "data": data,
        "before": _head(found),
        "rows": [[s.name, signs[s.name], s.meaning, str(s.dimension), s.allowed(), s.key] for s in found.symbols],
        "facts": _facts(found),
        "left": f"{left_text(found)} {'≤' if found.kind.sign == '<=' else '='} " if left_text(found) else "",
        "blocks": blocks,
        "base": base,
        "after": _tail(found, evidence_words(found.id, derived, witnesses, claims)),
    }


def _head(found: Statement) -> list[str]:
    texts = [f"{found.id}: {found.title}", f"  {found.source.paper}, {found.source.number} ({found.source.where})"]
    texts.append(f"  {found.kind.value}, {found.belief.value}")
    named = (("replaces", found.replaces), ("why", found.why), ("remark", found.remark))
    return texts + [f"  {label}: {text}" for label, text in named if text]


def _facts(found: Statement) -> list[str]:
    """Assumptions, conditions, method and metric."""
    texts = [f"assumption {a.name}: {a.meaning}" for a in found.assumptions]
    texts += [f"needed to make sense: {relation_text(relation)}" for relation in found.domain]
    for c in found.conditions:
        texts.append(f"condition '{c.name}': {relation_text(c.relation)}" + (f"  ({c.meaning})" if c.meaning else ""))
    texts += [f"prescribed: {name} = {expr_text(expr)}" for name, expr in found.choices]
    if found.algorithm is not None:
        texts.append(f"method: {found.algorithm.kind}")
        texts += [f"  its {name} after r rounds: {expr_text(expr)}" for name, expr in found.algorithm.steps]
        texts += [f"  with any {', '.join(found.algorithm.any_value)}"] if found.algorithm.any_value else []
    if found.any_method:
        texts.append("method: every method that meets the assumptions")
    return texts + _metric(found.metric) + [f"bound: {found.bound}"]


def _metric(metric: Metric) -> list[str]:
    if metric.value is not None:
        texts = [f"metric: {expr_text(metric.value)} (numbers alone; no run measures it)"]
        texts += [f"  where {name} = {expr_text(expr)}" for name, expr in metric.where]
        return texts + ([f"  all such numbers meet: {', '.join(metric.meets)}"] if metric.meets else [])
    if metric.quantity == "none":
        return []
    scaled = "" if metric.scale == 1 else f"{metric.scale} * "
    whose = " (of the objective that the method minimises)" if metric.surrogate else ""
    meaning = PROOF_QUANTITIES.get(metric.quantity)
    if meaning is not None:
        whose = f" ({meaning}; no run measures it)"
    return [
        f"metric: {scaled}{metric.quantity}{whose}; average: {average_text(metric)}; expectation: {metric.expectation}"
    ]


def _tail(found: Statement, evidence: str) -> list[str]:
    """Dimensions, evidence and the other readings."""
    texts = [] if found.printed_rate is None else [f"printed order: {found.printed_rate}"]
    errors = found.dimension_errors()
    texts += [f"UNITS DISAGREE: {error}" for error in errors]
    if not errors:
        declared = found.metric.dimension is not None
        texts.append(
            "dimensions: the units of all sides agree" if declared else "dimensions: none declared (a numeric example)"
        )
    texts.append(f"evidence: {evidence}")
    steps = derivation_words(found.id)
    if steps:
        texts.append(f"derivation: {steps}")
    paper, name, _ = found.id.split("/")
    others = [s.id for s in readings(paper, name) if s.id != found.id]
    return texts + ([f"other readings: {', '.join(others)}"] if others else [])
