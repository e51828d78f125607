"""The conclusion of another statement as a step, as strong as that statement's own derivation.

`Cited` starts a run of the cited statement anew; `Instance` takes its conclusion for the same run, or a general lemma
at given terms.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.errors import BadInput
from boundcheck.proof.clock import at_start, only_at_start, value_of
from boundcheck.proof.derivation import Derivation, DerivationReport, scope_facts
from boundcheck.proof.discovery import derivation
from boundcheck.proof.every_method import bounding, of_every_method, role_of
from boundcheck.proof.rules.base import Obligation, Rule
from boundcheck.proof.step import Context, Finding, Status
from boundcheck.theory.assumptions import follows
from boundcheck.theory.discovery import statement as find_statement
from boundcheck.theory.statement import Kind

_open: ContextVar[tuple[str, ...]] = ContextVar("open derivations", default=())
_reports: dict[tuple[str, float], tuple[Derivation, DerivationReport]] = {}


@dataclass(frozen=True)
class Cited(Rule):
    """The bound of another statement, for a run of the same method on the same objective from an explicit start.

    statement: full id, with the reading; run: that run's metric as an expression in `clock`, the rounds done, so that
    `run` at 0 is the start and `run` at the cited statement's rounds is what it bounds: a function without a
    definition, of the clock and of what tells the runs apart; where the derivation gives its rounds, the clock counts
    them. That it is the metric of such a run is presumed, and named in the trusted base. Every symbol of the cited
    statement but the metric at the start must be declared alike in the citing one and stands for itself.

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

    @property
    def theorem(self) -> str:
        """The cited statement, whose own derivation says how strong the step is."""
        return self.statement

    def _images(self, cited: Any) -> dict[Any, Any]:
        """The cited statement's metric at the start -> the run at 0."""
        name = f"{cited.metric.quantity}_0"
        return {s.expr: self.run.subs(self.clock, 0) for s in cited.symbols if s.name == name}

    def trusted(self) -> tuple[tuple[str, str], ...]:
        """What the run is."""
        own = f"{self.run} is the metric after {self.clock} rounds of a run to which {self.statement} applies"
        return ((own, "the cited statement is used for it"),)

    def cited(self) -> tuple[str, ...]:
        """The derivation on which the step rests."""
        return rests_on(self.statement)

    def _unfit(self) -> str:
        """Why the run is no function of the clock that stands for itself; empty where it is one."""
        if not isinstance(self.run, AppliedUndef) or not getattr(self.clock, "is_Symbol", False):
            return f"the run {self.run} must be a function without a definition, and its clock a symbol"
        if sum(arg.has(self.clock) for arg in self.run.args) != 1 or self.clock not in self.run.args:
            return f"the run {self.run} must have its clock {self.clock} as one of its arguments, and nowhere else"
        return ""

    def _other_clock(self, setting: Context) -> str:
        """Why the clock does not count the rounds of the run; empty where it does, or where nothing else is said."""
        if setting.clock is None or not setting.clock.knows(self.run):
            return ""
        start = self.run.subs(self.clock, 0)
        return setting.clock.apart(self.run, (start,), self.clock, later=True)

    def roles(self) -> tuple[tuple[Any, str], ...]:
        """What the run is."""
        return ((self.run, find_statement(self.statement).metric.quantity),)

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The cited bound with the start of the run put in."""
        cited = find_statement(self.statement)
        images = self._images(cited)
        end = self.run.subs(self.clock, cited.metric.rounds)
        return sp.Le(end, cited.bound.xreplace(images), evaluate=False)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """The domain and the conditions of the cited statement, except those that the step has as facts."""
        cited = find_statement(self.statement)
        yield from _scope(cited, self._images(cited), facts)

    def counts(self) -> tuple[Any, ...]:
        """The cited statement's integers."""
        return tuple(s.expr for s in find_statement(self.statement).symbols if s.integer)

    def check(self, claim: Any, facts: Mapping[str, Any], setting: Context) -> Finding:
        """UNDECIDED where the cited statement does not apply; else the status of its own derivation.

        Raises BadInput for a statement that cites itself in a circle, UnknownName for one that is not there.
        """
        proof = derivation(self.statement)
        reason = self._unfit() or _mismatch(proof.statement, setting.statement, self._images(proof.statement))
        reason = reason or self._other_clock(setting)
        if reason:
            return Finding(Status.UNDECIDED, "no decision", note=reason, claim=str(claim))
        return as_strong(super().check(claim, facts, setting), proof, setting.seconds, self.label)


@dataclass(frozen=True)
class Instance(Rule):
    """The bound of another statement on the run that the citing statement is about, or of a general lemma.

    statement: full id, with the reading; metric: the unscaled quantity that it bounds, as an expression; images: pairs
    (name of a symbol of the cited statement, expression that it stands for). A statement about a method must be about
    the citing one's (it may leave out parameters that it does not need), so both are about one run from one start,
    under assumptions that the citing statement makes too. Values at the start, whose names end in _0, need an image
    each: the same value of the citing statement, or a quantity of its own that is taken there; the metric must be taken
    as many rounds later as the cited statement says, by the rounds that the derivation gives. Its other symbols stand
    for themselves and must be declared alike in the citing one. The symbols of a statement about no method need an
    image each, and its assumptions are presumed of these terms.

    A statement about the runs of every method that meets its assumptions is cited by another such one, about the same
    run: see `of_every_method`.

    What metric and images are is named in the trusted base. The domain and conditions of the cited statement are shown
    from the facts of the step. The status is that of its derivation.
    """

    statement: str
    metric: Any
    images: tuple[tuple[str, Any], ...] = ()

    @property
    def label(self) -> str:
        """What the report calls it."""
        return f"instance: {self.statement}"

    @property
    def theorem(self) -> str:
        """The cited statement, whose own derivation says how strong the step is."""
        return self.statement

    def _images(self, cited: Any) -> dict[Any, Any]:
        """Symbol of the cited statement -> what it stands for here."""
        return {cited.symbol(name).expr: expr for name, expr in self.images}

    def named(self) -> tuple[str, ...]:
        """What the terms are."""
        cited = find_statement(self.statement)
        what = cited.metric.quantity + ("" if cited.algorithm is None else f" after {cited.metric.rounds} rounds")
        own = f"{self.metric} is what {self.statement} bounds, {what}"
        return (own, *(f"{expr} is {name} of {self.statement}" for name, expr in self.images))

    def trusted(self) -> tuple[tuple[str, str], ...]:
        """Which hypotheses of a statement about no method hold of the terms."""
        cited = find_statement(self.statement)
        if cited.algorithm is not None or cited.any_method:
            return ()
        return tuple((f"for these terms: {a.meaning}", f"{self.statement} is used") for a in cited.assumptions)

    def cited(self) -> tuple[str, ...]:
        """The derivation on which the step rests."""
        return rests_on(self.statement)

    def roles(self) -> tuple[tuple[Any, str], ...]:
        """What the metric and the images of values at the start are, where these are single terms."""
        return roles_of(find_statement(self.statement), self.metric, dict(self.images))

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The cited bound with the images put in."""
        cited = find_statement(self.statement)
        images = self._images(cited)
        left = cited.metric.scale.xreplace(images) * self.metric
        return sp.Le(left, cited.bound.xreplace(images), evaluate=False)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """The domain and the conditions of the cited statement, except those that the step has as facts."""
        cited = find_statement(self.statement)
        unused = {s.expr for s in cited.symbols} - bounding(cited) if cited.any_method else set[Any]()
        for relation, own in _scope(cited, self._images(cited), facts):
            if not relation.free_symbols & unused:
                yield relation, own

    def counts(self) -> tuple[Any, ...]:
        """What stands for the cited statement's integers."""
        cited = find_statement(self.statement)
        images = self._images(cited)
        return tuple(images.get(s.expr, s.expr) for s in cited.symbols if s.integer)

    def check(self, claim: Any, facts: Mapping[str, Any], setting: Context) -> Finding:
        """UNDECIDED where the cited statement does not apply; else the status of its own derivation.

        Raises BadInput for a statement that cites itself in a circle, UnknownName for one that is not there or for an
        image of a symbol that it has not.
        """
        proof = derivation(self.statement)
        reason = _no_instance(proof.statement, setting, dict(self.images), self.metric)
        if reason:
            return Finding(Status.UNDECIDED, "no decision", note=reason, claim=str(claim))
        return as_strong(super().check(claim, facts, setting), proof, setting.seconds, self.label)


def _scope(cited: Any, images: Mapping[Any, Any], facts: Mapping[str, Any]) -> Iterator[Obligation]:
    """Domain, conditions and choices of a cited statement with the images put in, but for those among the facts."""
    for claim in (*(fact.claim for fact in scope_facts(cited)), *choices_of(cited)):
        for part in claim.args if isinstance(claim, sp.And) else (claim,):
            relation = part.xreplace(images)
            if relation not in facts.values():
                yield relation, {}


def choices_of(cited: Any) -> Iterator[Any]:
    """The values that a statement prescribes, such as a tuned step size, as equations."""
    yield from (sp.Eq(cited.symbol(name).expr, formula, evaluate=False) for name, formula in cited.choices)


def as_strong(found: Finding, proof: Derivation, seconds: float, label: str) -> Finding:
    """The finding that the statement applies, with the status of its derivation."""
    if found.status is Status.ASSUMED:
        return found
    if found.status is not Status.PROVED:
        return replace(found, note=f"{proof.statement.id} does not apply: {found.note}")
    report = _report(proof, seconds)
    weak = [r for r in report.results if r.status is not Status.PROVED]
    note = ""
    if report.status is not Status.PROVED:
        steps = ", ".join(r.step.name for r in weak if not r.depends_on) or "its conclusion"
        note = f"the derivation of {report.statement} is {report.status.value} at {steps}"
    witness = next((r.finding.witness for r in weak if r.status is report.status), {})
    certificate = {"kind": "cited", "statement": report.statement, "status": report.status.value, **report.counts}
    return replace(found, status=report.status, how=label, certificate=certificate, witness=witness, note=note)


def one_average(cited: Any, setting: Context, metric: Any) -> bool:
    """Whether the cited statement bounds the average over the rounds that the citing one bounds: `metric`."""
    own, other = setting.statement.metric, cited.metric
    fields = ("quantity", "average", "weights", "with_last", "rounds", "scale")
    alike = other.over_rounds and all(getattr(own, f) == getattr(other, f) for f in fields)
    return alike and metric == setting.clock.target and cited.kind is Kind.UPPER_BOUND


def not_one_value(cited: Any, setting: Context, metric: Any) -> str:
    """Why the statement is no upper bound on one value of a metric, or on one average; empty where it is."""
    average = cited.metric.over_rounds
    one_value = cited.kind is Kind.UPPER_BOUND and cited.metric.index is None and not average
    if one_value or one_average(cited, setting, metric):
        return ""
    return f"{cited.id} is not an upper bound on one value of a metric"


def other_run(cited: Any, citing: Any, at: Mapping[str, Any] | None = None) -> str:
    """Why a statement about a method is not about runs of the citing one's; empty where it is.

    at: values that constants of the cited statement have.
    """
    own, other = citing.algorithm, cited.algorithm
    kinds = {None if one is None else one.kind for one in (own, other)}
    alike = other is not None and len(kinds) == 1 and set(other.steps) <= set(own.steps)
    if other is None or not alike or not set(other.parameters) <= {*own.parameters, *(at or {})}:
        return f"{cited.id} is about another method or other parameters of it"
    if cited.metric.surrogate != citing.metric.surrogate:
        return f"{cited.id} is about another objective"
    missing = [a.name for a in cited.assumptions if not follows(a, citing.assumptions, at or {})]
    return f"{cited.id} assumes {', '.join(missing)} besides" if missing else ""


def roles_of(cited: Any, metric: Any, images: Mapping[str, Any]) -> tuple[tuple[Any, str], ...]:
    """(term, quantity) for the metric and for the images of values at the start, by name, that are single terms."""
    found = [(metric, cited.metric.quantity)] if cited.algorithm is not None or cited.any_method else []
    found += [(images[s.name], value_of(s)) for s in cited.symbols if at_start(s) and s.name in images]
    if cited.any_method:
        found += [(images[s.name], role_of(s)) for s in cited.symbols if s.key and s.name in images]
    return tuple((term, role) for term, role in found if term.is_Symbol or isinstance(term, AppliedUndef))


def start_and_end(cited: Any, setting: Context, metric: Any, images: Mapping[str, Any], later: bool) -> str:
    """Why metric and images (by the name of what they stand for) are not what the cited statement is about.

    They must be as many rounds apart as it says, no term may be two quantities, and what the citing statement bounds
    must be bounded in the same way. later: whether its start may be after some rounds.
    """
    clock, citing = setting.clock, setting.statement
    if one_average(cited, setting, metric):
        reason = clock.not_started(images.values())
    else:
        reason = clock.apart(metric, images.values(), cited.metric.rounds, later)
    if reason:
        return f"{cited.id}: {reason}"
    if only_at_start(cited) and clock.later(images.values()):
        return f"{cited.id} assumes {only_at_start(cited)}, which a later start need not meet"
    starts = {s.name: value_of(s) for s in cited.symbols if at_start(s)}
    for term, quantity in ((metric, cited.metric.quantity), *((images[name], q) for name, q in starts.items())):
        other = clock.other_quantity(term, quantity) or (term is not metric and clock.no_start(term))
        if other:
            return f"{cited.id}: {other}"
    if metric.has(clock.target):
        if metric != clock.target or citing.metric.scale != 1 or citing.metric.average != cited.metric.average:
            return f"{cited.id} does not bound what {citing.id} does"
        if citing.metric.expectation.startswith("none") and not cited.metric.expectation.startswith("none"):
            return f"{cited.id} bounds an expectation, and {citing.id} every outcome"
    return ""


def _no_instance(cited: Any, setting: Context, images: Mapping[str, Any], metric: Any) -> str:
    """Why the cited statement is neither about the citing one's run nor a general lemma; empty where it is."""
    citing = setting.statement
    if citing is None or setting.clock is None:
        return "no statement is being derived, so none can be cited"
    if cited.any_method:
        return of_every_method(cited, setting, images, metric)
    reason = not_one_value(cited, setting, metric)
    if reason:
        return reason
    if cited.algorithm is None:
        without = [s.name for s in cited.symbols if s.name not in images]
        if without:
            return f"{cited.id} is general, and nothing stands for its {', '.join(without)}"
        return setting.clock.other_quantity(metric, cited.metric.quantity) if metric.has(setting.clock.target) else ""
    reason = other_run(cited, citing)
    if reason:
        return reason
    declared = {s.name: s for s in citing.symbols}
    if not (metric.is_Symbol or isinstance(metric, AppliedUndef)) or str(metric) in declared:
        return f"{metric} is no quantity of its own, which what {cited.id} bounds must be"
    for symbol in cited.symbols:
        image = images.get(symbol.name)
        if image is None:
            if at_start(symbol):
                return f"nothing stands for {symbol.name} of {cited.id}, a value at its start"
            if declared.get(symbol.name) != symbol:
                return f"{symbol.name} is not declared as in {cited.id}, or not at all"
        elif not at_start(symbol):
            return f"{symbol.name} of {cited.id} stands for itself and has no image"
        elif symbol.name in declared:
            if image != symbol.expr or declared[symbol.name] != symbol:
                return f"{symbol.name} of {cited.id} is the value at the start of this run, and has no other image"
        elif not (image.is_Symbol or isinstance(image, AppliedUndef)) or str(image) in declared:
            return f"{image} is no quantity of its own, which a value at the start of {cited.id} must be"
    return start_and_end(cited, setting, metric, images, later=False)


def _mismatch(cited: Any, citing: Any, images: Mapping[Any, Any]) -> str:
    """Why the cited statement is not about the same objective, method and metric; empty where it is."""
    if citing is None:
        return "no statement is being derived, so none can be cited"
    if cited.kind is not Kind.UPPER_BOUND or cited.metric.scale != 1 or cited.metric.over_rounds:
        return f"{cited.id} is not an upper bound on a metric after some rounds"
    if not cited.metric.expectation.startswith("none"):
        return f"{cited.id} bounds an expectation, which is not carried over to a later start"
    if cited.algorithm != citing.algorithm:
        return f"{cited.id} is about another method or other parameters of it"
    own, other = citing.metric, cited.metric
    if (other.quantity, other.average) != (own.quantity, own.average):
        return f"{cited.id} bounds another metric"
    reason = other_run(cited, citing)
    if reason:
        return reason
    if only_at_start(cited):
        return f"{cited.id} assumes {only_at_start(cited)}, which a later start need not meet"
    declared = {s.name: s for s in citing.symbols}
    for symbol in cited.symbols:
        if symbol.expr in images:
            continue
        if at_start(symbol):
            return f"{symbol.name} of {cited.id} is another value at the start, which the run does not give"
        if declared.get(symbol.name) != symbol:
            return f"{symbol.name} is not declared as in {cited.id}, or not at all"
    return ""


def _report(proof: Derivation, seconds: float) -> DerivationReport:
    """The report of checking the cited derivation, once in a process."""
    name = proof.statement.id
    with _opened(name):
        known = _reports.get((name, seconds))
        if known is not None and known[0] == proof:
            return known[1]
        report = proof.examine(seconds)
    _reports[name, seconds] = (proof, report)
    return report


@contextmanager
def _opened(name: str) -> Generator[None]:
    """Holds that the derivation is being looked into; raises BadInput where it already is."""
    if name in _open.get():
        raise BadInput(f"{name} is cited in its own derivation: {' -> '.join((*_open.get(), name))}.")
    token = _open.set((*_open.get(), name))
    try:
        yield
    finally:
        _open.reset(token)


def rests_on(id: str) -> tuple[str, ...]:
    """What a step that cites a derivation rests on, in words."""
    return (f"the {count_trusted(derivation(id))} transcriptions on which the derivation of {id} rests",)


def count_trusted(proof: Derivation) -> int:
    """On how many transcriptions a cited derivation rests; raises BadInput for one that cites itself."""
    with _opened(proof.statement.id):
        return len(proof.trusted())
