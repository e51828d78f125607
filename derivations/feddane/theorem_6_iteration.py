"""The decrease of one iteration from any point (FedDANE, for Theorem 6): the chain of Theorem 5, with B for all points.

Only the assumption that bounds the dissimilarity at the point of the iteration is another.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, pointwise
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.vectors import Vector, vector
from boundcheck.theory.assumptions import bounded_dissimilarity

READINGS = ("as_printed", "sharp")

DISSIMILAR = pointwise(
    "dissimilar",
    bounded_dissimilarity,
    "Definition 2, at every point",
    Evaluation("F", Vector(()), vector("slope")),
    client_grad2=sp.Symbol("clients", real=True),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    general = derivation_of(f"feddane/theorem_5/{statement.reading}")
    facts = [
        DISSIMILAR if f.name == "dissimilar" else f for f in general.facts if f.kind not in ("domain", "condition")
    ]
    return Derivation(
        statement,
        (*scope_facts(statement), *facts),
        general.steps,
        conclusion=general.conclusion,
        target=general.target,
        drawn=general.drawn,
    )
