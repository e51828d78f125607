"""The report of a shipped record, verified once for all and held against the frozen steps."""

from __future__ import annotations

from functools import cache

from boundcheck.proof.derive import DerivationReport, recorded
from tests.oracle.frozen import check, load


@cache
def fresh(statement: str) -> DerivationReport:
    """What the verifier says of the record today; AssertionError where the frozen steps tell something else."""
    found = recorded(statement)
    steps = {r.step.name: r.status.value for r in found.results}
    check("steps", {statement: steps}, {statement: load("steps")[statement]})
    return found
