"""A lemma of the package as a step: its bound for quantities of the derivation at hand, averaged over the past."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.errors import BadInput
from boundcheck.proof.cited import (
    as_strong,
    choices_of,
    not_one_value,
    other_run,
    rests_on,
    roles_of,
    start_and_end,
)
from boundcheck.proof.clock import at_start, value_of
from boundcheck.proof.derivation import scope_facts
from boundcheck.proof.discovery import derivation
from boundcheck.proof.language import parts
from boundcheck.proof.rules.base import Obligation, Rule
from boundcheck.proof.scalar import decide
from boundcheck.proof.schedule import constant_step
from boundcheck.proof.step import Context, Finding, Status
from boundcheck.theory.discovery import statement as find_statement


def _none() -> Mapping[Any, Any]:
    return {}


def _at(relation: Any, values: Mapping[Any, Any]) -> Any:
    """The relation with the values put in, never simplified to a truth value."""
    return relation.func(*(side.xreplace(values) for side in relation.args), evaluate=False) if values else relation


@dataclass(frozen=True)
class Lemma(Rule):
    """The bound of another statement about the same method, for a quantity of this derivation.

    statement: full id, with the reading; metric: the mean of what it bounds, over all that happened before; means:
    expression in the cited statement's symbols -> the mean of it. The bound must be linear in these expressions, so
    that its mean is the bound at their means, and the cited statement's hypotheses must not mention their symbols.
    Where the metric and the means are terms of their own, they are called so; that an expression is such a mean is
    presumed. Both are named in the trusted base.

    Values at the start (names that end in _0) stand for nothing unless they are averaged; the metric must be taken as
    many rounds after their means as the cited statement says, by the rounds that the derivation gives. A value at the
    start of the citing statement is the mean of the same one only. Every other symbol that both statements declare
    alike is a constant, and stands for itself. A mean lies in the domain of what it is the mean of.

    at: constants of the cited statement -> values that its domain allows, such as mu = 0 for convex functions; a step
    size too, where it has this value in all the rounds that the cited statement is about.

    The hypotheses of the cited statement are shown from the facts of the step: the domain of its symbols, for those
    that are averaged that of their means, and its conditions by the kernels, its assumptions by being among those of
    the citing statement. The status is that of its derivation.
    """

    statement: str
    metric: Any
    means: Mapping[Any, Any] = field(default_factory=_none)
    at: Mapping[str, Any] = field(default_factory=_none)

    @property
    def label(self) -> str:
        """What the report calls it."""
        return f"lemma: {self.statement}"

    @property
    def theorem(self) -> str:
        """The cited statement, whose own derivation says how strong the step is."""
        return self.statement

    def _averaged(self) -> set[Any]:
        """The symbols of the cited statement that may differ from outcome to outcome."""
        return {s for expr in self.means for s in expr.free_symbols}

    def _terms(self) -> bool:
        """Whether the metric and all means are terms of their own, each the mean of one value of the run."""
        single = all(e.is_Symbol or isinstance(e, AppliedUndef) for e in (self.metric, *self.means.values()))
        starts = {s.expr for s in find_statement(self.statement).symbols if at_start(s)}
        return single and set(self.means) <= starts

    def named(self) -> tuple[str, ...]:
        """What the metric and the means are, where these are terms of their own.

        Then no mean is presumed: the bound holds from every start, whatever happened before, and is linear in the
        values there, so that it holds for the means of these values (the tower rule).
        """
        if not self._terms():
            return ()
        cited = find_statement(self.statement)
        found = [f"{self.metric} is the mean of {cited.metric.quantity} where a run of {self.statement} ends"]
        values = {s.expr: value_of(s) for s in cited.symbols}
        return (*found, *(f"{mean} is the mean of {values[expr]} where it begins" for expr, mean in self.means.items()))

    def _values(self) -> dict[Any, Any]:
        """The constants of the cited statement that have a value here."""
        cited = find_statement(self.statement)
        return {cited.symbol(name).expr: sp.sympify(value, strict=True) for name, value in self.at.items()}

    def trusted(self) -> tuple[tuple[str, str], ...]:
        """That the metric and the means are such means, where they are expressions."""
        if self._terms():
            return ()
        own = [f"{self.metric} is the mean of what {self.statement} bounds, whatever happened before"]
        own += [f"{mean} is the mean of its {expr}, over the same" for expr, mean in self.means.items()]
        return tuple((claim, "the cited statement is used") for claim in own)

    def cited(self) -> tuple[str, ...]:
        """The derivation on which the step rests."""
        return rests_on(self.statement)

    def roles(self) -> tuple[tuple[Any, str], ...]:
        """What the metric and the means of values at the start are, where these are single terms."""
        return roles_of(find_statement(self.statement), self.metric, {str(e): m for e, m in self.means.items()})

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The mean of the cited bound; raises BadInput where it is not linear in the expressions that are averaged."""
        averaged = self._averaged()
        bound = sp.Integer(0)
        for term in sp.Add.make_args(sp.expand(find_statement(self.statement).bound.xreplace(self._values()))):
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
        """Domain, conditions and choices of the cited statement, without the domain of what is averaged."""
        own = {f"domain {s}" for s in self._averaged()}
        cited, values = find_statement(self.statement), self._values()
        for fact in scope_facts(cited):
            if fact.name not in own:
                yield from (_at(part, values) for part in parts(fact.claim))
        yield from (_at(choice, values) for choice in choices_of(cited))

    def _domains(self) -> Iterator[Any]:
        """That a mean lies where what it is the mean of does: its interval, or its sign for an expression."""
        scope = {f.name: f.claim for f in scope_facts(find_statement(self.statement)) if f.kind == "domain"}
        for expr, mean in self.means.items():
            if mean == expr:
                continue  # both statements declare its symbols alike
            own = {f"domain {s}": scope[f"domain {s}"] for s in expr.free_symbols if f"domain {s}" in scope}
            if expr.is_Symbol:
                yield from (part.xreplace({expr: mean}) for claim in own.values() for part in parts(claim))
                continue
            for kind in (sp.Gt, sp.Ge, sp.Lt, sp.Le):
                if decide(kind(expr, 0), own).status is Status.PROVED:
                    yield kind(mean, 0, evaluate=False)
                    break

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """The hypotheses and the domains of the means, except those that the step has as facts."""
        for relation in (*self._hypotheses(), *self._domains()):
            if relation not in facts.values():
                yield relation, {}

    def counts(self) -> tuple[Any, ...]:
        """The cited statement's integers that stand for themselves."""
        cited = find_statement(self.statement)
        return tuple(s.expr for s in cited.symbols if s.integer and s.expr not in self._averaged())

    def check(self, claim: Any, facts: Mapping[str, Any], setting: Context) -> Finding:
        """UNDECIDED where the cited statement does not apply; else the status of its own derivation.

        Raises BadInput for a statement that cites itself in a circle, UnknownName for one that is not there.
        """
        proof = derivation(self.statement)
        reason = self._mismatch(proof.statement, setting)
        if reason:
            return Finding(Status.UNDECIDED, "no decision", note=reason, claim=str(claim))
        return as_strong(super().check(claim, facts, setting), proof, setting.seconds, self.label)

    def _mismatch(self, cited: Any, setting: Context) -> str:
        """Why the cited statement says nothing here; empty where it does."""
        citing = setting.statement
        if citing is None or setting.clock is None:
            return "no statement is being derived, so none can be cited"
        if cited.metric.scale != 1:
            return f"{cited.id} is not an upper bound on a metric"
        reason = not_one_value(cited, setting, self.metric) or other_run(cited, citing, self.at)
        if reason:
            return reason
        averaged = self._averaged()
        strange = sorted(str(s) for s in averaged - {s.expr for s in cited.symbols})
        if strange:
            return f"{cited.id} has no symbol {', '.join(strange)} that could be averaged"
        if any(r.free_symbols & averaged for r in self._hypotheses()):
            return f"a hypothesis of {cited.id} is about a symbol that is averaged"
        own = {s.name: (s.dimension, s.integer, s.key) for s in citing.symbols}
        for s in cited.symbols:
            if s.name in self.at:
                if at_start(s) or s.expr in averaged:
                    return f"{s.name} of {cited.id} is no constant of the problem, and has no value of its own"
                reason = self._other_step(cited, setting, s.name) if s.name in cited.parameters else ""
                if reason:
                    return reason
            elif s.expr not in averaged:
                if at_start(s):
                    return f"nothing stands for {s.name} of {cited.id}, a value at its start"
                if own.get(s.name) != (s.dimension, s.integer, s.key):
                    return f"{s.name} is not declared as in {cited.id}, or not at all"
        return self._strange_mean(cited, citing) or start_and_end(
            cited, setting, self.metric, {str(expr): mean for expr, mean in self.means.items()}, later=True
        )

    def _other_step(self, cited: Any, setting: Context, name: str) -> str:
        """Why the step size has another value in the rounds of the cited statement; empty where it has that one."""
        begin = {setting.clock.rounds(mean) for mean in self.means.values()} - {None}
        if name not in dict(setting.statement.algorithm.steps) or len(begin) != 1:
            return f"{name} of {cited.id} is no constant of the problem, and has no value of its own"
        return constant_step(setting, name, self.at[name], begin.pop(), cited.metric.rounds)

    def _strange_mean(self, cited: Any, citing: Any) -> str:
        """Why a mean is not one of what it is said to be the mean of, by what both statements declare."""
        alike = {s.expr for s in cited.symbols if s in citing.symbols and not at_start(s)}
        starts = {s.expr for s in cited.symbols if at_start(s)}
        given = {s.expr for s in citing.symbols if at_start(s)}
        for expr, mean in self.means.items():
            if not expr.free_symbols:
                return f"{expr} is no expression in the symbols of {cited.id}"
            if expr.free_symbols & starts and expr not in starts:
                return f"{expr} is no single value at the start"
            if mean.free_symbols & given and mean != expr:
                return f"{mean} is a value at the start of this run, and the mean of no other {expr}"
            if expr.free_symbols <= alike and mean != expr:
                return f"{expr} of {cited.id} is a constant of this statement too, and its own mean"
        return ""
