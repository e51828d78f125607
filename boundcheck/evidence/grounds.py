"""What a belief in a reading rests on: witnesses, shipped claims, derivations and dimensions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from boundcheck.theory.statement import Belief
from boundcheck.verdict import Outcome

if TYPE_CHECKING:
    from boundcheck.proof.records import Record
    from boundcheck.theory.statement import Statement


def grounds(
    statement: Statement,
    derived: Record | None,
    witnesses: Mapping[str, Path],
    claims: Mapping[str, Mapping[str, int]],
) -> tuple[str, ...]:
    """The kinds of evidence that bear out what is believed of a reading; empty without any, and for an open reading.

    A reading is shown false by a "witness", a "violated claim", a "refuted derivation" or a "dimension clash", and is
    borne out as true by a "claim that holds" (a vacuous one does not) or a "proved derivation". derived: what is on
    record of its derivation. witnesses, claims: see `evidence.shipped_files`.
    """
    own = claims.get(statement.id, {})
    found: dict[str, bool] = {}
    if statement.belief is Belief.FALSE:
        found = {
            "witness": statement.id in witnesses,
            "violated claim": own.get(Outcome.VIOLATED.value, 0) > 0,
            "refuted derivation": derived is not None and derived.status == "REFUTED",
            "dimension clash": bool(statement.dimension_errors()),
        }
    elif statement.belief is Belief.TRUE:
        found = {
            "claim that holds": own.get(Outcome.HOLDS.value, 0) > 0,
            "proved derivation": derived is not None and derived.proved,
        }
    return tuple(kind for kind, there in found.items() if there)


def lacks_grounds(statement: Statement, found: tuple[str, ...]) -> bool:
    """Whether a reading is believed true or false without any evidence; an open one needs none."""
    return statement.belief is not Belief.OPEN and not found
