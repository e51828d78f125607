"""Remark 4 (partial model averaging): the same threshold as Remark 2's; K^3 > m as printed is refuted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.discovery import derivation as derivation_of

READINGS = ("corrected", "as_printed")


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading: Remark 2's, with this reading's threshold as its conclusion."""
    other = derivation_of("partial_averaging/remark_2_speedup/as_printed")
    last = replace(other.steps[-1], claim=sp.Eq(other.target, statement.bound))
    return Derivation(
        statement,
        (*scope_facts(statement), *(f for f in other.facts if f.kind not in ("domain", "condition"))),
        (*other.steps[:-1], last),
        conclusion=other.conclusion,
        target=other.target,
    )
