"""The conclusion of another statement as a step, as strong as that statement's own derivation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.errors import BadInput
from boundcheck.proof.derivation import Derivation, DerivationReport, scope_facts
from boundcheck.proof.discovery import derivation
from boundcheck.proof.rules.base import Obligation, Rule
from boundcheck.proof.step import Finding, Setting, Status
from boundcheck.theory.discovery import statement as find_statement
from boundcheck.theory.statement import Kind

__all__ = ["Cited"]

_open: ContextVar[tuple[str, ...]] = ContextVar("open derivations", default=())
_reports: dict[tuple[str, float], tuple[Derivation, DerivationReport]] = {}


@dataclass(frozen=True)
class Cited(Rule):
    """The bound of another statement, for a run of the same method on the same objective from an explicit start.

    statement: full id, with the reading; run: that run's metric as an expression in `clock`, the rounds done, so that
    `run` at 0 is the start and `run` at the cited statement's rounds is what it bounds: a function without a
    definition, of the clock and of what tells the runs apart. That it is the metric of such a run is presumed, and
    named in the trusted base. Every symbol of the cited statement but the metric at the start must be declared alike
    in the citing one and stands for itself.

    The hypotheses of the cited statement are shown from the facts of the step: its domain and conditions by the
    kernels, its assumptions by being among those of the citing statement. The status is that of its derivation.
    """

    statement: str
    run: Any
    clock: Any

    @property
    def label(self) -> str:
        """What the report calls it."""
        return f"cited: {self.statement}"

    def _images(self, cited: Any) -> dict[Any, Any]:
        """The cited statement's metric at the start -> the run at 0."""
        name = f"{cited.metric.quantity}_0"
        return {s.expr: self.run.subs(self.clock, 0) for s in cited.symbols if s.name == name}

    def trusted(self) -> tuple[tuple[str, str], ...]:
        """What the run is, and what the derivation of the cited statement rests on."""
        proof = derivation(self.statement)
        own = f"{self.run} is the metric after {self.clock} rounds of a run to which {self.statement} applies"
        rest = f"the {len(proof.trusted())} transcriptions on which the derivation of {self.statement} rests"
        return ((own, "the cited statement is used for it"), (rest, "the cited statement is used"))

    def _unfit(self) -> str:
        """Why the run is no function of the clock that stands for itself; empty where it is one."""
        if not isinstance(self.run, AppliedUndef) or not getattr(self.clock, "is_Symbol", False):
            return f"the run {self.run} must be a function without a definition, and its clock a symbol"
        if sum(arg.has(self.clock) for arg in self.run.args) != 1 or self.clock not in self.run.args:
            return f"the run {self.run} must have its clock {self.clock} as one of its arguments, and nowhere else"
        return ""

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The cited bound with the start of the run put in."""
        cited = find_statement(self.statement)
        images = self._images(cited)
        end = self.run.subs(self.clock, cited.metric.rounds)
        return sp.Le(end, cited.bound.xreplace(images), evaluate=False)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """The domain and the conditions of the cited statement, except those that the step has as facts."""
        cited = find_statement(self.statement)
        images = self._images(cited)
        for fact in scope_facts(cited):
            for part in fact.claim.args if isinstance(fact.claim, sp.And) else (fact.claim,):
                relation = part.xreplace(images)
                if relation not in facts.values():
                    yield relation, {}

    def counts(self) -> tuple[Any, ...]:
        """The cited statement's integers."""
        return tuple(s.expr for s in find_statement(self.statement).symbols if s.integer)

    def check(self, claim: Any, facts: Mapping[str, Any], setting: Setting) -> Finding:
        """UNDECIDED where the cited statement does not apply; else the status of its own derivation.

        Raises BadInput for a statement that cites itself in a circle, UnknownName for one that is not there.
        """
        proof = derivation(self.statement)
        reason = self._unfit() or _mismatch(proof.statement, setting.statement, self._images(proof.statement))
        if reason:
            return Finding(Status.UNDECIDED, "no decision", note=reason, claim=str(claim))
        found = super().check(claim, facts, setting)
        if found.status is not Status.PROVED:
            note = f"{proof.statement.id} does not apply: {found.note}"
            return replace(found, note=note)
        report = _report(proof, setting.seconds)
        weak = [r for r in report.results if r.status is not Status.PROVED]
        note = ""
        if report.status is not Status.PROVED:
            steps = ", ".join(r.step.name for r in weak if not r.depends_on) or "its conclusion"
            note = f"the derivation of {report.statement} is {report.status.value} at {steps}"
        witness = next((r.finding.witness for r in weak if r.status is report.status), {})
        certificate = {"kind": "cited", "statement": report.statement, "status": report.status.value, **report.counts}
        return replace(found, status=report.status, how=self.label, certificate=certificate, witness=witness, note=note)


def _mismatch(cited: Any, citing: Any, images: Mapping[Any, Any]) -> str:
    """Why the cited statement is not about the same objective, method and metric; empty where it is."""
    if citing is None:
        return "no statement is being derived, so none can be cited"
    if cited.kind is not Kind.UPPER_BOUND or cited.metric.scale != 1:
        return f"{cited.id} is not an upper bound on a metric after some rounds"
    if not cited.metric.expectation.startswith("none"):
        return f"{cited.id} bounds an expectation, which is not carried over to a later start"
    if cited.algorithm is None or cited.algorithm != citing.algorithm:
        return f"{cited.id} is about another method or other parameters of it"
    if (cited.metric.quantity, cited.metric.average) != (citing.metric.quantity, citing.metric.average):
        return f"{cited.id} bounds another metric"
    missing = [a.name for a in cited.assumptions if a not in citing.assumptions]
    if missing:
        return f"{cited.id} assumes {', '.join(missing)} besides"
    own = {s.name: s for s in citing.symbols}
    for symbol in cited.symbols:
        if symbol.expr in images:
            continue
        if symbol.name.endswith("_0"):
            return f"{symbol.name} of {cited.id} is another value at the start, which the run does not give"
        if own.get(symbol.name) != symbol:
            return f"{symbol.name} is not declared as in {cited.id}, or not at all"
    return ""


def _report(proof: Derivation, seconds: float) -> DerivationReport:
    """The report of checking the cited derivation, once in a process."""
    name = proof.statement.id
    if name in _open.get():
        raise BadInput(f"{name} is cited in its own derivation: {' -> '.join((*_open.get(), name))}.")
    known = _reports.get((name, seconds))
    if known is not None and known[0] == proof:
        return known[1]
    token = _open.set((*_open.get(), name))
    try:
        report = proof.check(seconds)
    finally:
        _open.reset(token)
    _reports[name, seconds] = (proof, report)
    return report
