"""What every general rule does: make an instance, and have its obligations decided."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

import sympy as sp

from boundcheck.proof.contexts import context, declared, depends, without
from boundcheck.proof.gram import Combine, contradicted, prepare
from boundcheck.proof.identity import same
from boundcheck.proof.kernel import of_the_kernel
from boundcheck.proof.language import scalars, symbols_of, whole
from boundcheck.proof.meaning import valueless
from boundcheck.proof.polynomial import direction
from boundcheck.proof.scalar import decide
from boundcheck.proof.step import Context, Finding, Status, assumed
from boundcheck.proof.vectors import VectorEquality

Obligation = tuple[Any, Mapping[str, Any]]  # a relation, and facts of its own besides the scalar facts of the step

_VALUE = sp.Dummy("value", real=True)


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

    @property
    def over_integers(self) -> bool:
        """Whether the index that the rule generalises is an integer; otherwise it is a real variable."""
        return True

    def generalised(self) -> Any:
        """The index for all of whose values the rule uses its claims, or None."""
        return None

    def counts(self) -> tuple[Any, ...]:
        """What must be integers."""
        return ()

    @property
    def theorem(self) -> str:
        """What the instance itself rests on where a rule has nothing to show; empty: then it is only assumed."""
        return ""

    def trusted(self) -> tuple[tuple[str, str], ...]:
        """(what the rule takes for granted of the objects it is used on, why), for the trusted base."""
        return ()

    def _ranges(self, setting: Context) -> Iterator[Obligation]:
        """That every value that the rule uses is one for which the claims with the index hold."""
        covered = self.covered(_VALUE)
        if covered is not None:
            index, relations = covered
            given = {f"covered {k}": r for k, r in enumerate(relations)}
            for symbol, relation in setting.ranges:
                if symbol == index:
                    yield relation.xreplace({index: _VALUE}), given

    def _not_general(self, facts: Mapping[str, Any], setting: Context) -> str:
        """Why the claims that the rule uses are not known for every value of its index; empty where they are."""
        index = self.generalised()
        if index is None:
            return ""
        if index not in declared(setting):
            return f"{index} is not declared as an index, so no claim is known to hold for all of its values"
        if (index.name in setting.integers) is not self.over_integers:
            wanted = "an integer index" if self.over_integers else "a real variable with a range"
            return f"{index} must be declared as {wanted}"
        if any(index in context([p], setting) for p in setting.supposed):
            return f"the hypothesis of the implication is known at one value of {index} only"
        for other in context(facts.values(), setting):
            if depends(other, index, setting):
                return f"the range of {other} depends on {index}"
        return ""

    def check(self, claim: Any, facts: Mapping[str, Any], setting: Context) -> Finding:
        """PROVED when the claim is the instance and all obligations are; else the first obligation that is not.

        ASSUMED for a rule that is not one of the checker's own, or that shows nothing and names no theorem.

        Where the claim does not mention the index that the rule generalises, a fact that does is used for the values
        that the rule is about, and for nothing else.
        """
        text = str(claim)

        def undecided(note: str, parts: tuple[Finding, ...] = ()) -> Finding:
            return Finding(Status.UNDECIDED, "no decision", note=note, parts=parts, claim=text)

        reason = self._not_general(facts, setting)
        if reason:
            return undecided(reason)
        index = self.generalised()
        kept = facts if index is None or index in context([claim], setting) else without(facts, [index], setting)
        instance = self.instance(facts)
        if not _identical(claim, instance, kept):
            return undecided(f"the claim is not what the rule gives, which is {instance}")
        for count in self.counts():
            if not whole(count, setting):
                return undecided(f"that {count} is an integer is not known")
        missing = valueless(instance, kept, setting)
        if missing:
            return undecided(f"not shown: {missing}")
        found: list[Finding] = []
        relations = prepare(sp.true, facts)[1]
        for relation, own in (*self.obligations(facts), *self._ranges(setting)):
            about = facts if index is not None and index in symbols_of(relation) else kept
            one = _oblige(relation, scalars(about) | dict(own), setting)
            if one.status is not Status.PROVED:
                nothing = contradicted(relations, setting, text) if one.status is Status.VACUOUS else None
                return nothing or undecided(
                    f"not shown: {relation}{f': {one.note}' if one.note else ''}", (*found, one)
                )
            found.append(one)
        proved = Finding(
            Status.PROVED, self.label, {"kind": "rule", "rule": self.label}, parts=tuple(found), claim=text
        )
        nothing = contradicted(relations, setting, text)
        if nothing is None and (not of_the_kernel(self) or not (found or self.theorem)):
            return assumed(proved, self.label)
        return nothing or proved


def _oblige(relation: Any, facts: Mapping[str, Any], setting: Context) -> Finding:
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
