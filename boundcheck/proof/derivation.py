"""A derivation: the facts that a statement gives, the ordered steps, and the report of checking them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import sympy as sp

from boundcheck.core import providers
from boundcheck.core.cards import Card, Shown
from boundcheck.errors import BadInput, UnknownName
from boundcheck.proof.clock import Clock
from boundcheck.proof.contexts import context, empty_range, without
from boundcheck.proof.countermodel import FROM_FACTS_ALONE, refuted
from boundcheck.proof.drawing import check_laws, levels
from boundcheck.proof.foundations import carried, check_facts, check_target, definitions, unfounded
from boundcheck.proof.generated import generated
from boundcheck.proof.gram import contradicted, prepare
from boundcheck.proof.identity import same
from boundcheck.proof.kernel import of_the_kernel
from boundcheck.proof.language import check_method, check_proposition, has_terms, parts, whole
from boundcheck.proof.laws import Law
from boundcheck.proof.meaning import valueless
from boundcheck.proof.outcomes import Drawn, check_outcomes
from boundcheck.proof.report import DerivationReport
from boundcheck.proof.rules.limits import other_limit
from boundcheck.proof.scope import with_scope
from boundcheck.proof.step import NAMES, Context, Fact, Finding, Status, Step, StepResult, Trusted, assumed, weakest
from boundcheck.proof.vectors import VectorEquality
from boundcheck.theory.statement import Kind

_asked: ContextVar[tuple[str, ...]] = ContextVar("derivations whose trusted base is being collected", default=())


def scope_facts(statement: Any) -> tuple[Fact, ...]:
    """The domain and the conditions of a statement as facts, so that no derivation writes them again.

    Named "domain <symbol>", "domain <number>" for relations, and "condition <name>".
    """
    found: list[Fact] = []
    for symbol in statement.symbols:
        parts: list[Any] = []
        if symbol.low is not None:
            low = sp.Rational(symbol.low.numerator, symbol.low.denominator)
            parts.append(symbol.expr > low if symbol.low_open else symbol.expr >= low)
        if symbol.high is not None:
            high = sp.Rational(symbol.high.numerator, symbol.high.denominator)
            parts.append(symbol.expr < high if symbol.high_open else symbol.expr <= high)
        if parts:
            whole: Any = sp.And(*parts)
            found.append(Fact(f"domain {symbol.name}", whole, "domain", f"domain of {symbol.name}"))
    for k, relation in enumerate(statement.domain, start=1):
        found.append(Fact(f"domain {k}", relation, "domain", "order of the symbols that the statement needs"))
    for condition in statement.conditions:
        found.append(Fact(f"condition {condition.name}", condition.relation, "condition", condition.meaning))
    return tuple(found)


@dataclass(frozen=True)
class Derivation(Shown):
    """The proof of one reading of a statement.

    statement: the Statement; facts: what it gives, at explicit points (see `step.Fact` and `scope_facts`); steps: in
    order; conclusion: name of the step that states the bound; target: the symbol or expression that the statement
    bounds; quantities: names of symbols that are squared norms, sums of such, or gaps; rounds: (term, expression)
    pairs, for what is handed to another statement: the rounds done where a value of the run is taken (`clock.Clock`);
    drawn: where inner products are expectations, pairs of a vector, such as x(r), and the number of draws on which it
    depends, 0 for a fixed one. It holds for all indices; a vector at given indices, or a sum of vectors, may be listed
    with another number. laws: how vectors are drawn, in the order in which they are (`laws.Law`).
    Each step also uses the domains of its symbols and the ranges of its indices (`scope.with_scope`).
    Raises BadInput for a repeated or unknown name, a step that uses a later one, a definition of a symbol that is
    already in use, or a condition that is not the statement's.
    """

    statement: Any
    facts: tuple[Fact, ...]
    steps: tuple[Step, ...]
    conclusion: str
    target: Any
    quantities: frozenset[str] = frozenset()
    rounds: tuple[tuple[Any, Any], ...] = ()
    drawn: Drawn = ()
    laws: tuple[Law, ...] = ()

    def __repr__(self) -> str:
        return f"<Derivation {self.statement.id}: {len(self.steps)} steps, conclusion '{self.conclusion}'>"

    def _card(self) -> Card:
        """The outline: each step with what it uses and what decides it."""
        columns = {
            "step": [s.name for s in self.steps],
            "claim": [str(s.claim) for s in self.steps],
            "uses": [", ".join(s.uses) for s in self.steps],
            "by": [type(s.by).__name__ for s in self.steps],
            "why": [s.text for s in self.steps],
        }
        facts = [("conclusion", self.conclusion), ("facts", ", ".join(f.name for f in self.facts))]
        return Card(f"Derivation of {self.statement.id}: {len(self.steps)} steps", facts, columns=columns)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form, with the statement."""
        from boundcheck.proof.serial import derivation_to_dict

        return derivation_to_dict(self)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Derivation:
        """Inverse of `to_dict`. Raises BadInput for data that describe no derivation."""
        from boundcheck.proof.serial import derivation_from_dict

        return derivation_from_dict(Derivation, data)

    def __post_init__(self) -> None:
        names: dict[str, str] = {}
        for fact in self.facts:
            check_proposition(fact.claim, f"{self.statement.id}: the fact '{fact.name}'", names)
        for step in self.steps:
            where = f"{self.statement.id}: step '{step.name}'"
            check_proposition(step.claim, where, names)
            if isinstance(step.by, type) or not (hasattr(step.by, "label") and hasattr(step.by, "check")):
                raise BadInput(f"{where} is decided by {step.by!r:.80}, which is no method: it needs label and check.")
            check_method(step.by, where, names)
        for law in self.laws:
            check_method(law, f"{self.statement.id}: the law '{law.name}'", names)
        check_laws(self.statement, self.facts, self.laws)
        check_outcomes(self.statement, self.facts, levels(self.laws, self.drawn, self.facts))
        check_facts(self.statement, self.facts, {(f.kind, f.claim) for f in scope_facts(self.statement)})
        self._check_quantities()
        known = [f.name for f in self.facts]
        for step in self.steps:
            if step.name in known:
                raise BadInput(f"{self.statement.id}: the name '{step.name}' is used twice in the derivation.")
            for name in step.uses:
                if name not in known:
                    what = f"{self.statement.id}: what step '{step.name}' uses, a fact or earlier step,"
                    raise UnknownName(what, name, known)
            known.append(step.name)
        if self.conclusion not in [s.name for s in self.steps]:
            raise UnknownName(f"{self.statement.id}: the conclusion", self.conclusion, [s.name for s in self.steps])
        object.__setattr__(self, "steps", with_scope(self.steps, self.facts))
        check_target(self.statement, self.facts, self.target, self._conclusion(), self.definitions())
        self._clock()

    def _clock(self) -> Clock:
        """The rounds of the terms, by the statement, by the definitions and by the author."""
        meanings: dict[Any, Any] = {}
        for fact in self.facts:
            if fact.kind == "definition":
                vectors = isinstance(fact.claim, VectorEquality)
                meanings |= dict([fact.claim.rewriting()]) if vectors else {fact.claim.lhs: fact.claim.rhs}
        indices = frozenset(s for kind in ("index", "range", "count") for s in self._of_kind(kind))
        roles = tuple(role for step in self.steps for role in _roles(step.by))
        return Clock(self.statement, self.target, self.rounds, meanings, indices, roles)

    def _conclusion(self) -> Any:
        return next(s.claim for s in self.steps if s.name == self.conclusion)

    def _check_quantities(self) -> None:
        """A quantity is at least 0 by the statement's declaration, or by a definition, which `check` holds to it."""
        low = {s.name for s in self.statement.symbols if s.low is not None and s.low >= 0}
        for name in sorted(self.quantities - low - {str(symbol) for symbol in self._defined()}):
            raise BadInput(
                f"{self.statement.id}: the quantity '{name}' is neither a symbol of the statement with a domain of "
                "numbers that are at least 0 nor a definition."
            )

    def _defined(self) -> dict[Any, Fact]:
        return {f.claim.lhs: f for f in self.facts if f.kind == "definition" and isinstance(f.claim, sp.Eq)}

    def ranges(self) -> tuple[tuple[Any, Any], ...]:
        """(index, relation) of the facts of kind "index" or "range", in their order."""
        facts = [f for f in self.facts if f.kind in ("index", "range")]
        return tuple((part.lhs, part) for f in facts for part in parts(f.claim))

    def _integers(self) -> frozenset[str]:
        """Names of integer symbols: the statement's, indices, and what is defined as a polynomial in such."""
        names = {s.name for s in self.statement.symbols if s.integer}
        names |= {symbol.name for kind in ("index", "count") for symbol in self._of_kind(kind)}
        for symbol, fact in self._defined().items():
            if whole(fact.claim.rhs, Context(integers=frozenset(names))):
                names.add(symbol.name)
        return frozenset(names)

    def _of_kind(self, kind: str) -> set[Any]:
        return {part.lhs for f in self.facts if f.kind == kind for part in parts(f.claim)}

    def check(self) -> Any:
        """Find a record of the derivation and let the verifier check it; see `proof.derive.DerivationReport`."""
        return providers.load(providers.STATEMENTS, "derive").derive(self.statement.id)

    def examine(self, seconds: float = 10.0) -> DerivationReport:
        """Decide every step without a record, which proves nothing; no solver call takes longer than `seconds`."""
        begin = perf_counter()
        setting = self._setting(seconds)
        known: dict[str, Any] = {f.name: f.claim for f in self.facts}
        reasons, setting = self._founded(setting)
        weak: dict[str, tuple[str, ...]] = {}
        results: list[StepResult] = []
        for step in self.steps:
            start = perf_counter()
            finding = decided(step, _facts(known, step.uses), setting, reasons)
            depends = tuple(dict.fromkeys(d for name in step.uses for d in weak.get(name, ())))
            results.append(StepResult(step, finding, depends, perf_counter() - start))
            weak[step.name] = depends if finding.status is Status.PROVED else (*depends, step.name)
            known[step.name] = step.claim
        every = {f.name: f.claim for f in self.facts}
        nothing = contradicted(prepare(sp.true, _facts(every, every))[1], setting, "") is not None
        if nothing:
            reasons["facts"] = "The facts of the derivation cannot all hold."
        added = carried(self.statement, self.facts, self._conclusion(), setting)
        if added:
            reasons["descriptions"] = added
        return self._report(tuple(results), reasons, nothing, perf_counter() - begin)

    def check_step(self, name: str, seconds: float = 10.0) -> Finding:
        """Decide one step from the claims of what it uses; raises UnknownName."""
        known: dict[str, Any] = {f.name: f.claim for f in self.facts} | {s.name: s.claim for s in self.steps}
        for step in self.steps:
            if step.name == name:
                reasons, setting = self._founded(self._setting(seconds))
                return decided(step, _facts(known, step.uses), setting, reasons)
        raise UnknownName(f"{self.statement.id}: the step", name, [s.name for s in self.steps])

    def _founded(self, setting: Context) -> tuple[dict[str, str], Context]:
        """Fact -> why it does not stand, and the setting without what rests on such facts."""
        reasons = unfounded(self.facts, self.quantities, setting)
        lost = {str(f.claim.lhs) for f in self.facts if f.name in reasons and isinstance(f.claim, sp.Eq)}
        background = tuple(
            (n, f) for n, f in setting.background if n not in reasons and n.rpartition(".")[0] not in reasons
        )
        return reasons, replace(setting, quantities=setting.quantities - lost, background=background)

    def _setting(self, seconds: float) -> Context:
        kinds = ("domain", "definition", "count", "index", "range")
        lasting = {f.name: f.claim for f in self.facts if f.kind in kinds and not has_terms(f.claim)}
        background = tuple(_facts(lasting, lasting).items())
        return Context(
            self.quantities,
            self._integers(),
            self.ranges(),
            seconds,
            self.statement,
            background=background,
            clock=self._clock(),
            laws=self.laws,
            drawn=self.drawn,
        )

    def _report(
        self, results: tuple[StepResult, ...], reasons: Mapping[str, str], empty: bool, seconds: float
    ) -> DerivationReport:
        remarks = list(reasons.values())
        matches, sentence = self._compare()
        remarks.append(sentence)
        used = self._ancestors()
        conditions = tuple(f.name for f in self.facts if f.kind == "condition" and f.name in used)
        for fact in self.facts:
            if fact.kind == "condition" and fact.name not in used:
                remarks.append(f"The {fact.name} of the statement is not used.")
        for result in results:
            if result.status is Status.VACUOUS:
                remarks.append(f"Step {result.step.name} is vacuous: what it uses cannot all hold.")
            if result.depends_on and result.status is Status.PROVED:
                remarks.append(f"Step {result.step.name} is conditional on {', '.join(result.depends_on)}.")
        whole_way = matches and not reasons
        own = Status.VACUOUS if empty else Status.PROVED if whole_way else Status.UNDECIDED
        status = weakest([*(r.status for r in results), own])
        trusted = self.trusted()
        written = sum(t.kind not in NAMES for t in trusted)
        remarks.append(
            f"What is proved rests on {written} transcriptions of the statement's assumptions, metric and method, "
            f"which are taken as they are written, and on {len(trusted) - written} names of terms."
        )
        return DerivationReport(
            self.statement.id, results, self.facts, status, matches, conditions, tuple(remarks), seconds, trusted
        )

    def trusted(self) -> tuple[Trusted, ...]:
        """What is taken over unchecked: facts that transcribe the paper, what the target is, and what rules presume.

        Raises BadInput for a derivation with a step that cites its own statement, directly or through others.
        """
        outer, own = _asked.get(), self.statement.id
        if own in outer:
            raise BadInput(f"{own} is cited in its own derivation: {' -> '.join((*outer, own))}.")
        token = _asked.set((*outer, own))
        try:
            return self._trusted()
        finally:
            _asked.reset(token)

    def _trusted(self) -> tuple[Trusted, ...]:
        kinds = ("assumption", "metric", "algorithm", "count")
        given = generated(self.statement, self.facts, self.target)
        found = [
            Trusted(f.name, f.kind, str(f.claim), f"{f.assumption}: {f.source}" if f.assumption else f.source)
            for f in self.facts
            if f.kind in kinds and f.instance is None and f.name not in given
        ]
        found += [Trusted(f.name, "evaluation", w, f.source) for f in self.facts for w in given.get(f.name, ())]
        seen: set[str] = set()
        for fact in self.facts:  # the inequality is the assumption's own; what it is about is taken over
            for what in () if fact.instance is None else fact.instance.words():
                if what not in seen:
                    seen.add(what)
                    found.append(Trusted(fact.name, "evaluation", what, f"{fact.assumption}: {fact.source}"))
        found += [Trusted(law.name, "law", law.words(), law.of) for law in self.laws]
        found.append(Trusted("target", "evaluation", f"{self.target} is what the statement bounds", "conclusion"))
        found += [
            Trusted("rounds", "evaluation", f"{x} is taken after {n} rounds", "cited statements")
            for x, n in self.rounds
        ]
        for step in self.steps:
            found += [Trusted(step.name, "presumed", claim, why) for claim, why in _presumed(step.by)]
            found += [Trusted(step.name, "evaluation", name, "what the lemma is used for") for name in _named(step.by)]
            found += [Trusted(step.name, "cited", id, "its derivation") for id in _cited(step.by)]
        return tuple(found)

    def _ancestors(self) -> set[str]:
        uses = {s.name: s.uses for s in self.steps}
        found: set[str] = set()
        stack = [self.conclusion]
        while stack:
            name = stack.pop()
            if name not in found:
                found.add(name)
                stack += uses.get(name, ())
        return found

    def _compare(self) -> tuple[bool, str]:
        """Whether the conclusion is `target <= bound`, definitions put in.

        `target == bound` for an equality or a formula.
        """
        claim = self._conclusion()
        equality = self.statement.kind in (Kind.EQUALITY, Kind.FORMULA)
        if not isinstance(claim, sp.Eq if equality else sp.Le):
            return False, f"The conclusion '{claim}' is not an {'equation' if equality else 'upper bound'}."
        values = self.definitions()
        left, right = claim.lhs.subs(values), claim.rhs.subs(values)
        if left != self.target:
            return False, f"The conclusion bounds {left}, not {self.target}."
        if not equality and self.statement.kind is not Kind.UPPER_BOUND:
            of = (self.statement, self.steps, self.target, self._clock())
            missing = other_limit(*of)
            if missing:
                return False, f"The statement is no upper bound but claims a {self.statement.kind.value}; {missing}."
        if not same(right, self.statement.bound.subs(values)):
            return False, f"The conclusion's bound {right} differs from the statement's {self.statement.bound}."
        return True, "The conclusion is identical to the statement's bound."

    def definitions(self) -> dict[Any, Any]:
        """Defined symbol -> expression, for definitions by scalars alone, in the statement's symbols."""
        return definitions(self.facts)


def _roles(method: Any) -> Iterable[tuple[Any, str]]:
    """(term, quantity) that a method, or the one inside it, takes the term for where it cites a statement."""
    own: Any = getattr(method, "roles", None)
    yield from own() if own is not None else ()
    inside: Any = getattr(method, "by", None)
    if inside is not None:
        yield from _roles(inside)


def _presumed(method: Any) -> Iterable[tuple[str, str]]:
    """What a method, or the one inside it, takes for granted."""
    own: Any = getattr(method, "trusted", None)
    yield from own() if own is not None else ()
    inside: Any = getattr(method, "by", None)
    if not of_the_kernel(method) and (inside is None or of_the_kernel(inside)):
        yield f"the method '{method.label}' is sound", "it is not one of the checker's own"
    if inside is not None:
        yield from _presumed(inside)


def _named(method: Any) -> tuple[str, ...]:
    """What a method calls the terms for which it uses a lemma."""
    own: Any = getattr(method, "named", None)
    return () if own is None else own()


def _cited(method: Any) -> Iterable[str]:
    """The derivations that a method, or the one inside it, cites."""
    own: Any = getattr(method, "cited", None)
    yield from own() if own is not None else ()
    inside: Any = getattr(method, "by", None)
    if inside is not None:
        yield from _cited(inside)


def decided(step: Step, facts: dict[str, Any], setting: Context, reasons: Mapping[str, str]) -> Finding:
    """What the step's method finds; PROVED only where the claim has a value and every index that it drops has one.

    reasons: fact -> why it does not stand; nothing is proved from such a fact.
    """
    for name in step.uses:
        if name in reasons:
            return Finding(Status.UNDECIDED, "no decision", note=reasons[name], claim=str(step.claim))
    own = of_the_kernel(step.by)
    found = step.by.check(step.claim, facts, setting) if own else _foreign(step, facts, setting)
    if found.status is Status.UNDECIDED and own and type(step.by) in FROM_FACTS_ALONE:
        counterexample = refuted(step.claim, facts, setting)
        return found if counterexample is None else replace(counterexample, note=f"{counterexample.note}; {found.note}")
    if found.status is not Status.PROVED:
        return found
    method: Any = step.by
    while hasattr(method, "by"):
        method = method.by
    general: Any = getattr(method, "generalised", None)
    covered = {general() if general else None} - context([step.claim], setting)
    facts = without(facts, covered, setting)  # a rule uses these for the values that it is about, and for nothing else
    index = empty_range(context(facts.values(), setting) - context([step.claim], setting), facts, setting)
    if index is not None:
        note = f"no value of {index} is shown to be in its range; what the step uses mentions it, the claim does not"
        return replace(found, status=Status.UNDECIDED, how="no decision", certificate=None, note=note)
    claim = step.claim
    if isinstance(claim, sp.Implies):
        facts = {**facts, **{f"hypothesis {k}": part for k, part in enumerate(parts(claim.args[0]))}}
        claim = claim.args[1]
    missing = valueless(claim, facts, setting)
    if missing:
        note = f"the claim is not shown to have a value: {missing}"
        return replace(found, status=Status.UNDECIDED, how="no decision", certificate=None, note=note)
    return found if own else assumed(found, step.by.label)


def _foreign(step: Step, facts: dict[str, Any], setting: Context) -> Finding:
    """What a method finds that is not one of the checker's own: never a refutation, which nobody has checked."""
    found: Any = step.by.check(step.claim, facts, setting)
    if not isinstance(found, Finding) or found.status not in list(Status):
        raise BadInput(f"{setting.statement.id}: the method '{step.by.label}' of step '{step.name}' gives no Finding.")
    status = Status(found.status)
    if status is Status.REFUTED:
        note = f"the method '{step.by.label}' is not one of the checker's own, so what it refutes is not decided"
        return Finding(Status.UNDECIDED, "no decision", note=note, claim=str(step.claim))
    return replace(found, status=status)


def _facts(known: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The named propositions, conjunctions in their parts."""
    found: dict[str, Any] = {}
    for name in names:
        for k, part in enumerate(parts(known[name])):
            found[f"{name}.{k}" if k else name] = part
    return found
