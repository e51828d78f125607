"""The proof of Theorem 5.1 (FedShuffle) with strong convexity: the recursion of a round, weighted over the rounds.

    dist2(t)  expected squared distance to the minimiser after t rounds    gap(t)  expected objective gap there
    f         factor of the recursion, 1 - mu et/2                         mean    weighted mean of the gaps
    part(t)   weighted sum of the first t gaps                             V(t)    sum of their weights

Each reading uses the same reading of the recursion.
"""

from __future__ import annotations

from typing import Any

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.rounds import dist2, gap, mean, t, weighted

READINGS = ("corrected", "sharp")


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    lemma = f"fedshuffle/recursion_convex/{statement.reading}"
    facts, steps = weighted(statement, lemma, statement.bound, "conclusion")
    return Derivation(
        statement,
        (*scope_facts(statement), *facts),
        steps,
        conclusion="conclusion",
        target=mean,
        quantities=frozenset({"dist2_0"}),
        rounds=((dist2(t), t), (gap(t), t)),
    )
