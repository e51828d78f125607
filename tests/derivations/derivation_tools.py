"""A derivation checked once for all: its report, held against the record beside it."""

from __future__ import annotations

from functools import cache

from boundcheck.proof.derivation import DerivationReport
from boundcheck.proof.discovery import derivation, recorded


@cache
def fresh(statement: str) -> DerivationReport:
    """What a check of the derivation finds; AssertionError where the record tells something else."""
    paper, name, reading = statement.split("/")
    found = derivation(statement).check()
    assert dict(recorded(paper, name)[reading]) == found.summary()
    return found
