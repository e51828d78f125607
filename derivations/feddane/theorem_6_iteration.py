"""The decrease of one iteration from any point (FedDANE, for Theorem 6): the chain of Theorem 5, with B for all points.

Only the assumption that bounds the dissimilarity at the point of the iteration is another.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.discovery import derivation as derivation_of

READINGS = ("as_printed", "sharp")


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    general = derivation_of(f"feddane/theorem_5/{statement.reading}")
    facts = [
        replace(f, assumption="bounded_dissimilarity", source="Definition 2, at every point")
        if f.name == "dissimilar"
        else f
        for f in general.facts
        if f.kind not in ("domain", "condition")
    ]
    return Derivation(
        statement,
        (*scope_facts(statement), *facts),
        general.steps,
        conclusion=general.conclusion,
        target=general.target,
    )
