"""The words of a proof: facts, steps, and their statuses.

A *fact* is an assumption of the statement (or a definition); a *step* is a claim with the names of the facts and
earlier steps that it uses and a *method* by which it follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Proposition = Any  # a SymPy relational, a conjunction or implication of such, or a VectorEquality


class Status(StrEnum):
    """The status of a step, strongest first; the verifier alone says which."""

    PROVED = "PROVED"  # follows from what it uses
    ASSUMED = "ASSUMED"  # a cited result, taken as it is
    OPEN = "OPEN"  # neither a certificate nor a witness was found
    REFUTED = "REFUTED"  # at exact values what it uses holds and the claim fails; or it cites what is refuted

    @property
    def rank(self) -> int:
        """0 for the strongest."""
        return list(Status).index(self)


@dataclass(frozen=True)
class Context:
    """What every step of a derivation may rely on besides the facts it names.

    quantities: names of symbols that stand for squared norms, sums of such, or gaps: real and at least 0, and free
    to be 0 together; integers: names of integer symbols; ranges: (index, relation) pairs in the order of declaration;
    a claim holds for all values of its indices that meet them.
    """

    quantities: frozenset[str] = frozenset()
    integers: frozenset[str] = frozenset()
    ranges: tuple[tuple[Any, Any], ...] = ()


@dataclass(frozen=True)
class Fact:
    """An assumption of the statement at explicit points, one of its conditions, or a definition of a new symbol.

    kind: "domain" or "condition" (taken from the statement), "assumption" (an instance of one of its assumptions),
    "algorithm" (what the method does), "metric" (what the statement's metric is at explicit points), "count" (a fixed
    integer of the problem that is no symbol of the statement, with its least value), "index" (an integer for all of
    whose values the claims hold that mention it), "range" (the same for a real variable), or "definition" (introduces
    a symbol, assumes nothing). source: where the paper says it. assumption: for that kind, the name of the assumption
    of the statement. instance: the `at_points.AtPoints` from which the claim was made, where that assumption has an
    inequality.
    """

    name: str
    claim: Proposition
    kind: str
    source: str
    assumption: str = ""
    instance: Any = None


@dataclass(frozen=True)
class Step:
    """One step: `claim` follows from the facts and earlier steps named in `uses`, by the method `by`.

    text: the paper's reason in our words. No step says what the result will be.
    """

    name: str
    claim: Proposition
    uses: tuple[str, ...]
    by: Any
    text: str
