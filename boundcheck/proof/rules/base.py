"""What every general rule does: make an instance, and have its obligations decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import sympy as sp

from boundcheck.proof.gram import Combine, contradictory, prepare
from boundcheck.proof.identity import same
from boundcheck.proof.polynomial import direction
from boundcheck.proof.scalar import decide
from boundcheck.proof.step import Finding, Setting, Status
from boundcheck.proof.vectors import VectorEquality

__all__ = ["Obligation", "Rule"]


from abc import ABC, abstractmethod

Obligation = tuple[Any, Mapping[str, Any]]  # a relation, and facts of its own besides the scalar facts of the step


class Rule(ABC):
    """A general rule; subclasses give `label`, `instance` and `obligations`."""

    @property
    @abstractmethod
    def label(self) -> str:
        """What the report calls it."""

    @abstractmethod
    def instance(self, facts: Mapping[str, Any]) -> Any:
        """What the rule says of the explicit terms."""

    @abstractmethod
    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """What must hold for the instance to hold."""

    def covered(self, value: Any) -> tuple[Any, tuple[Any, ...]] | None:
        """(index, relations in `value`) when the rule uses a source for every value of the index that meets them."""
        return None

    def counts(self) -> tuple[Any, ...]:
        """What must be integers."""
        return ()

    def _ranges(self, setting: Setting) -> Iterator[Obligation]:
        """That every value that the rule uses is one for which the claims with the index hold."""
        value = sp.Symbol("_value", real=True)
        covered = self.covered(value)
        if covered is not None:
            index, relations = covered
            given = {f"_covered{k}": r for k, r in enumerate(relations)}
            for symbol, relation in setting.ranges:
                if symbol == index:
                    yield relation.xreplace({index: value}), given

    def check(self, claim: Any, facts: Mapping[str, Any], setting: Setting) -> Finding:
        """PROVED when the claim is the instance and all obligations are; else the first obligation that is not."""
        text = str(claim)
        if not _identical(claim, self.instance(facts), facts):
            note = f"the claim is not what the rule gives, which is {self.instance(facts)}"
            return Finding(Status.UNDECIDED, "no decision", note=note, claim=text)
        for count in self.counts():
            if not _whole(count, setting):
                note = f"that {count} is an integer is not known"
                return Finding(Status.UNDECIDED, "no decision", note=note, claim=text)
        parts: list[Finding] = []
        for relation, own in (*self.obligations(facts), *self._ranges(setting)):
            scalar = {k: f for k, f in facts.items() if not isinstance(f, VectorEquality | sp.Implies)}
            found = _oblige(relation, scalar | dict(own), setting)
            if found.status is not Status.PROVED:
                return Finding(Status.UNDECIDED, "no decision", note=f"not shown: {relation}", claim=text,
                               vacuous=found.vacuous, parts=(*parts, found))  # fmt: skip
            parts.append(found)
        if contradictory(prepare(sp.true, facts)[1], setting):
            return Finding(Status.UNDECIDED, "vacuous", vacuous=True, note="the hypotheses cannot all be met",
                           claim=text)  # fmt: skip
        return Finding(Status.PROVED, self.label, {"kind": "rule", "rule": self.label}, parts=tuple(parts), claim=text)


def _whole(count: Any, setting: Setting) -> bool:
    """Whether the expression is an integer: a polynomial with integer coefficients in integer symbols."""
    if not all(s.name in setting.integers for s in count.free_symbols):
        return False
    if not count.free_symbols:
        return bool(count.is_Integer)
    return all(c.is_Integer for c in sp.Poly(count, *count.free_symbols).coeffs()) if count.is_polynomial() else False


def _oblige(relation: Any, facts: Mapping[str, Any], setting: Setting) -> Finding:
    if isinstance(relation, VectorEquality) or relation.has(sp.Function):
        return Combine().check(relation, facts, setting)
    return decide(relation, facts, setting)


def _identical(claim: Any, instance: Any, facts: Mapping[str, Any]) -> bool:
    if isinstance(claim, VectorEquality) != isinstance(instance, VectorEquality):
        return False
    if isinstance(claim, VectorEquality):
        return not (claim.left - claim.right - instance.left + instance.right).terms
    equations = {k: f for k, f in facts.items() if isinstance(f, sp.Eq | VectorEquality)}
    claim, instance = prepare(claim, equations)[0], prepare(instance, equations)[0]
    if claim in (sp.true, sp.false):
        return claim is sp.true
    (mine, first), (theirs, second) = direction(claim), direction(instance)
    return first == second and same(mine, theirs)
