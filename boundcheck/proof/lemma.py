"""A lemma of the package as a step: its bound for quantities of the derivation at hand, averaged over the past."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.proof.cited import as_strong
from boundcheck.proof.derivation import scope_facts
from boundcheck.proof.discovery import derivation
from boundcheck.proof.language import parts
from boundcheck.proof.rules.base import Obligation, Rule
from boundcheck.proof.step import Finding, Setting, Status
from boundcheck.theory.discovery import statement as find_statement
from boundcheck.theory.statement import Kind

__all__ = ["Lemma"]


def _none() -> Mapping[Any, Any]:
    return {}


@dataclass(frozen=True)
class Lemma(Rule):
    """The bound of another statement about the same method, for a quantity of this derivation.

    statement: full id, with the reading; metric: the mean of what it bounds, over all that happened before; means:
    expression in the cited statement's symbols -> the mean of it. The bound must be linear in these expressions, so
    that its mean is the bound at their means, and the cited statement's hypotheses must not mention their symbols.
    Every other symbol stands for itself. That the metric and the means are such means is presumed, and named in the
    trusted base.

    The hypotheses of the cited statement are shown from the facts of the step: the domain of its other symbols and its
    conditions by the kernels, its assumptions by being among those of the citing statement. The status is that of its
    derivation.
    """

    statement: str
    metric: Any
    means: Mapping[Any, Any] = field(default_factory=_none)

    @property
    def label(self) -> str:
        """What the report calls it."""
        return f"lemma: {self.statement}"

    def _averaged(self) -> set[Any]:
        """The symbols of the cited statement that may differ from outcome to outcome."""
        return {s for expr in self.means for s in expr.free_symbols}

    def trusted(self) -> tuple[tuple[str, str], ...]:
        """What the metric and the means are, and what the derivation of the cited statement rests on."""
        proof = derivation(self.statement)
        own = [f"{self.metric} is the mean of what {self.statement} bounds, whatever happened before"]
        own += [f"{mean} is the mean of its {expr}, over the same" for expr, mean in self.means.items()]
        own.append(f"the {len(proof.trusted())} transcriptions on which the derivation of {self.statement} rests")
        return tuple((claim, "the cited statement is used") for claim in own)

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The mean of the cited bound; raises BadInput where it is not linear in the expressions that are averaged."""
        averaged = self._averaged()
        bound = sp.Integer(0)
        for term in sp.Add.make_args(sp.expand(find_statement(self.statement).bound)):
            bound += self._mean(term, averaged)
        return sp.Le(self.metric, bound, evaluate=False)

    def _mean(self, term: Any, averaged: set[Any]) -> Any:
        if not term.free_symbols & averaged:
            return term
        for expr, mean in self.means.items():
            factor = term / expr
            if not factor.free_symbols & averaged:
                return factor * mean
        raise BadInput(f"{self.statement}: its bound has the term {term}, which is no multiple of what is averaged.")

    def _hypotheses(self) -> Iterator[Any]:
        """Domain and conditions of the cited statement, without the domain of what is averaged."""
        own = {f"domain {s}" for s in self._averaged()}
        for fact in scope_facts(find_statement(self.statement)):
            if fact.name not in own:
                yield from parts(fact.claim)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """The hypotheses, except those that the step has as facts."""
        for relation in self._hypotheses():
            if relation not in facts.values():
                yield relation, {}

    def counts(self) -> tuple[Any, ...]:
        """The cited statement's integers that stand for themselves."""
        cited = find_statement(self.statement)
        return tuple(s.expr for s in cited.symbols if s.integer and s.expr not in self._averaged())

    def check(self, claim: Any, facts: Mapping[str, Any], setting: Setting) -> Finding:
        """UNDECIDED where the cited statement does not apply; else the status of its own derivation.

        Raises BadInput for a statement that cites itself in a circle, UnknownName for one that is not there.
        """
        proof = derivation(self.statement)
        reason = self._mismatch(proof.statement, setting.statement)
        if reason:
            return Finding(Status.UNDECIDED, "no decision", note=reason, claim=str(claim))
        return as_strong(super().check(claim, facts, setting), proof, setting.seconds, self.label)

    def _mismatch(self, cited: Any, citing: Any) -> str:
        """Why the cited statement says nothing here; empty where it does."""
        if citing is None:
            return "no statement is being derived, so none can be cited"
        if cited.kind is not Kind.UPPER_BOUND or cited.metric.scale != 1:
            return f"{cited.id} is not an upper bound on a metric"
        methods = [s.algorithm.kind if s.algorithm else None for s in (cited, citing)]
        if methods[0] is None or methods[0] != methods[1]:
            return f"{cited.id} is about another method"
        missing = [a.name for a in cited.assumptions if a not in citing.assumptions]
        if missing:
            return f"{cited.id} assumes {', '.join(missing)} besides"
        averaged = self._averaged()
        strange = sorted(str(s) for s in averaged - {s.expr for s in cited.symbols})
        if strange:
            return f"{cited.id} has no symbol {', '.join(strange)} that could be averaged"
        if any(r.free_symbols & averaged for r in self._hypotheses()):
            return f"a hypothesis of {cited.id} is about a symbol that is averaged"
        own = {s.name: (s.dimension, s.integer, s.key) for s in citing.symbols}
        for s in cited.symbols:
            if s.expr not in averaged and own.get(s.name) != (s.dimension, s.integer, s.key):
                return f"{s.name} is not declared as in {cited.id}, or not at all"
        return ""
