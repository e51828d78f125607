"""What `boundcheck show` prints of one statement, as data that the cache keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from boundcheck.evidence import shipped_files
from boundcheck.evidence.contradictions import contradictions
from boundcheck.evidence.derivation_words import derivation_words
from boundcheck.evidence.statement_rows import derivation_status, evidence_words, transcribed
from boundcheck.proof.records import record
from boundcheck.theory.discovery import readings, statement
from boundcheck.theory.pretty import formula_blocks, symbol_unicode
from boundcheck.theory.quantities import PROOF_QUANTITIES
from boundcheck.theory.typeset import average_text, expr_text, left_text, relation_text, symbol_latex

if TYPE_CHECKING:
    from boundcheck.theory.statement import Metric, Statement


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
        "dimension_errors": found.dimension_errors(),
        "derivation": derivation_status(derived),
        "transcribed": transcribed(derived),
        "witness": str(witnesses[found.id]) if found.id in witnesses else None,
        "claims": claims.get(found.id, {}),
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
