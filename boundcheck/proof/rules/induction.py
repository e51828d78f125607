"""Induction over an integer, with the step case as an implication that is a step of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.proof.rules.base import Obligation, Rule
from boundcheck.proof.step import Context, Finding, Justification, Status

HYPOTHESIS = "hypothesis"  # the name under which `Supposing` hands the hypothesis on


def at(relation: Any, index: Any, value: Any) -> Any:
    """The inequality or equation with the index replaced, never simplified to a truth value."""
    return relation.func(relation.lhs.subs(index, value), relation.rhs.subs(index, value), evaluate=False)


@dataclass(frozen=True)
class Supposing:
    """A claim `Implies(p, q)`: `by` decides q from the facts and p, which it finds under the name "hypothesis".

    p is known at one value of each index only, so a rule inside may not use claims for every value of one that is
    free in p.
    """

    by: Justification

    @property
    def label(self) -> str:
        """What the report calls it."""
        return f"{self.by.label}, supposing the hypothesis"

    def check(self, claim: Any, facts: Mapping[str, Any], setting: Context) -> Finding:
        """What `by` finds; raises BadInput where a fact has the name of the hypothesis."""
        if HYPOTHESIS in facts:
            raise BadInput(f"no fact may be called '{HYPOTHESIS}': that is the hypothesis of an implication.")
        if not isinstance(claim, sp.Implies):
            return Finding(Status.UNDECIDED, "no decision", note="the claim is not an implication", claim=str(claim))
        supposed, wanted = claim.args
        parts = supposed.args if isinstance(supposed, sp.And) else (supposed,)
        own = {f"{HYPOTHESIS}.{k}" if k else HYPOTHESIS: part for k, part in enumerate(parts)}
        inside = replace(setting, supposed=(*setting.supposed, *parts))
        return replace(self.by.check(wanted, {**facts, **own}, inside), claim=str(claim))


@dataclass(frozen=True)
class Induction(Rule):
    """From p(0), and p(k) => p(k + 1) for every integer k >= 0: p(last), for an integer last >= 0.

    base: name of the fact or step that gives p(0); step: name of the one that claims the implication, in the index.
    """

    base: str
    step: str
    index: Any
    last: Any

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "induction"

    def generalised(self) -> Any:
        """The index of the step case."""
        return self.index

    def counts(self) -> tuple[Any, ...]:
        """The last value."""
        return (self.last,)

    def covered(self, value: Any) -> tuple[Any, tuple[Any, ...]]:
        """The step case is used below the last value."""
        return self.index, (sp.Ge(value, 0), sp.Le(value, self.last - 1))

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """p(last); raises BadInput where the step case is not of the form p(k) => p(k + 1)."""
        return at(self._predicate(facts), self.index, self.last)

    def _predicate(self, facts: Mapping[str, Any]) -> Any:
        source = facts.get(self.step)
        if not isinstance(source, sp.Implies) or not all(isinstance(p, sp.Rel) for p in source.args):
            raise BadInput(f"induction needs the implication '{self.step}', p({self.index}) => p({self.index} + 1).")
        before, after = source.args
        if at(before, self.index, self.index + 1) != after:
            raise BadInput(f"the conclusion of '{self.step}' is not its hypothesis at {self.index} + 1.")
        return before

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """The last value is at least 0, and p(0) is what the base case says."""
        yield sp.Ge(self.last, 0), {}
        start = at(self._predicate(facts), self.index, sp.Integer(0))
        if self.base not in facts:
            raise BadInput(f"induction needs the base case '{self.base}' among the facts that the step uses.")
        if facts[self.base] != start:
            yield start, {}
