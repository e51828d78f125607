"""What holds throughout a derivation and is found for each step: domains of symbols, counts, and ranges of indices.

These are hypotheses of the statement, or say for which values a claim holds, so a step may rely on them without naming
them. They are added to what it names, so that certificates and records have the names of all that may be used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from boundcheck.proof.language import parts, symbols_of, terms_of
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.vectors import Vector, VectorEquality

INDICES = ("index", "range")


def with_scope(steps: Sequence[Step], facts: Sequence[Fact]) -> tuple[Step, ...]:
    """The steps, each with the domains and counts of the symbols that it mentions and the ranges of its indices.

    A relation between several symbols is added where the step mentions all of them; the range of an index where the
    claim of the step depends on that index.
    """
    known: dict[str, Any] = {p.name: p.claim for p in (*facts, *steps)}
    return tuple(replace(s, uses=(*s.uses, *_found(s, facts, known))) for s in steps)


def _found(step: Step, facts: Sequence[Fact], known: Mapping[str, Any]) -> tuple[str, ...]:
    about = symbols_of_all([step.claim])
    ranges = [f for f in facts if f.kind in INDICES]
    found: dict[str, None] = {}
    for fact in reversed(ranges):  # a range may mention indices that are declared before it
        if about & {part.lhs for part in parts(fact.claim)}:
            about |= symbols_of_all([fact.claim])
            found[fact.name] = None
    mentioned = about | symbols_of_all([known[n] for n in step.uses if n in known])
    for value in terms_of(step.by):
        mentioned |= symbols_of(VectorEquality(value, value)) if isinstance(value, Vector) else value.free_symbols
    for fact in facts:
        if fact.kind in ("domain", "count") and symbols_of_all([fact.claim]) <= mentioned:
            found[fact.name] = None
    return tuple(f.name for f in facts if f.name in found and f.name not in step.uses)


def symbols_of_all(claims: Sequence[Any]) -> set[Any]:
    """The free symbols of the claims."""
    return {s for claim in claims for part in parts(claim) for s in symbols_of(part)}
