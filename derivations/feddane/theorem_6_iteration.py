"""The decrease of one iteration from any point (FedDANE, for Theorem 6): the chain of Theorem 5, with B for all points.

Only the assumption that bounds the dissimilarity at the point of the iteration is another.
"""

from __future__ import annotations

from typing import Any

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.proof import Proof, symbols
from boundcheck.proof.vectors import Vector, vector
from boundcheck.theory.assumptions import bounded_dissimilarity

READINGS = ("as_printed", "sharp")


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    general = f"feddane/theorem_5/{statement.reading}"
    p = Proof(statement, derivation_of(general).target, drawn=derivation_of(general).drawn)
    p.take_facts(general, skip=("dissimilar",))
    p.pointwise("dissimilar", bounded_dissimilarity, "Definition 2, at every point",
        Evaluation("F", Vector(()), vector("slope")), client_grad2=symbols("clients"))
    p.take_steps(general)
    p.take_steps(general, "conclusion")
    p.ends_with("conclusion")
    return p.done()
