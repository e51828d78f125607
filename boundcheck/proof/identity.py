"""The scalar kernel and identities as methods of a step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import sympy as sp

from boundcheck.proof.exact import value_somewhere
from boundcheck.proof.gram import contradicted, prepare
from boundcheck.proof.language import scalars
from boundcheck.proof.polynomial import factorised, rational_parts
from boundcheck.proof.scalar import decide
from boundcheck.proof.step import Context, Finding, Status
from boundcheck.proof.vectors import Inner


def same(first: Any, second: Any) -> bool:
    """Whether two rational expressions are identical (wherever both are defined)."""
    here, there = value_somewhere(first), value_somewhere(second)
    if here is not None and there is not None and here != there:
        return False  # one point tells most expressions apart, and costs far less than a common denominator
    return bool(rational_parts(first - second)[0] == 0)


@dataclass(frozen=True)
class Decide:
    """An inequality between polynomials, rational functions, roots and Min, decided by `proof.scalar`."""

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "scalar inequality"

    def check(self, claim: Any, facts: Mapping[str, Any], setting: Context) -> Finding:
        """See `proof.scalar.decide`; vector facts and implications among `facts` are of no use here and left out."""
        found = decide(claim, scalars(facts), setting)
        if found.status is Status.PROVED and any(f.has(Inner) for f in scalars(facts).values()):
            return contradicted(prepare(sp.true, facts)[1], setting, str(claim)) or found
        return found


@dataclass(frozen=True)
class Identity:
    """An equation of rational expressions, or of vectors, after the facts that are equations have been put in.

    The denominators must be proved to differ from 0.
    """

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "identity"

    def check(self, claim: Any, facts: Mapping[str, Any], setting: Context) -> Finding:
        """PROVED where both sides are identical, otherwise what the scalar kernel says of the equation."""
        goal, relations = prepare(claim, facts)
        text = str(claim)
        if goal is sp.true:
            proved = Finding(Status.PROVED, "identity", {"kind": "identity"}, claim=text)
            return contradicted(relations, setting, text) or proved
        if goal is sp.false or not isinstance(goal, sp.Eq):
            return Finding(Status.UNDECIDED, "no decision", note="the claim is not an equation", claim=text)
        left, right = cast("tuple[Any, Any]", goal.args)
        top, _ = rational_parts(left - right)
        if top != 0:
            found = decide(goal, relations, setting)
            return replace(found, claim=text)
        factors = {f for side in (left, right) for f, _ in factorised(rational_parts(side)[1])[1]}
        parts = [decide(sp.Ne(f, 0), relations, setting) for f in sorted(factors, key=sp.default_sort_key)]
        if any(p.status is not Status.PROVED for p in parts):
            return Finding(Status.UNDECIDED, "no decision", note="a denominator is not proved to differ from 0",
                           claim=text, parts=tuple(parts))  # fmt: skip
        proved = Finding(Status.PROVED, "identity", {"kind": "identity"}, parts=tuple(parts), claim=text)
        return contradicted(relations, setting, text) or proved


@dataclass(frozen=True)
class Imported:
    """A cited result that is not checked here; source names author, title and number."""

    source: str

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "cited result"

    def check(self, claim: Any, facts: Mapping[str, Any], setting: Context) -> Finding:
        """Always ASSUMED."""
        return Finding(Status.ASSUMED, f"cited: {self.source}", claim=str(claim))
