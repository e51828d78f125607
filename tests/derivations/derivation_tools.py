"""A derivation checked once for all: its report, held against the record beside it and the frozen steps."""

from __future__ import annotations

from functools import cache

from boundcheck.proof.derivation import DerivationReport
from boundcheck.proof.discovery import citations, derivation
from boundcheck.proof.records import DIGEST, VERIFIED, recorded
from tests.oracle.evidence import steps_of
from tests.oracle.frozen import check, load


@cache
def fresh(statement: str) -> DerivationReport:
    """What a check of the derivation finds; AssertionError where the record or the frozen steps tell something else."""
    paper, name, reading = statement.split("/")
    found = derivation(statement).check()
    content = {k: v for k, v in recorded(paper, name)[reading].items() if k not in (DIGEST, VERIFIED)}
    now = {**found.summary(), "cites": list(citations(statement))}
    assert content == now, {k: (content.get(k), now.get(k)) for k in (*content, *now) if content.get(k) != now.get(k)}
    check("steps", {statement: steps_of(found)}, {statement: load("steps")[statement]})
    return found
