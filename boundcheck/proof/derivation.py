"""A derivation: the facts that a statement gives, and the ordered steps; the finder makes a record of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import sympy as sp

from boundcheck.core import providers
from boundcheck.core.cards import Card, Shown
from boundcheck.errors import BadInput, UnknownName
from boundcheck.proof.at_points import check_taken
from boundcheck.proof.clock import Clock
from boundcheck.proof.language import check_method, check_proposition, named, parts, whole
from boundcheck.proof.laws import Law
from boundcheck.proof.methods import Method, cited_in
from boundcheck.proof.outcomes import Drawn, check_outcomes
from boundcheck.proof.scope import with_scope
from boundcheck.proof.step import Context, Fact, Step
from boundcheck.proof.transcribed import check_evaluations, levels
from boundcheck.proof.vectors import VectorEquality


def scope_facts(statement: Any) -> tuple[Fact, ...]:
    """The domain and the conditions of a statement as facts, so that no derivation writes them again.

    Named "domain <symbol>", "domain <number>" for relations, and "condition <name>".
    """
    found: list[Fact] = []
    for symbol in statement.symbols:
        ends: list[Any] = []
        if symbol.low is not None:
            low = sp.Rational(symbol.low.numerator, symbol.low.denominator)
            ends.append(symbol.expr > low if symbol.low_open else symbol.expr >= low)
        if symbol.high is not None:
            high = sp.Rational(symbol.high.numerator, symbol.high.denominator)
            ends.append(symbol.expr < high if symbol.high_open else symbol.expr <= high)
        if ends:
            claim: Any = sp.And(*ends)
            found.append(Fact(f"domain {symbol.name}", claim, "domain", f"domain of {symbol.name}"))
    for k, relation in enumerate(statement.domain, start=1):
        found.append(Fact(f"domain {k}", relation, "domain", "order of the symbols that the statement needs"))
    for condition in statement.conditions:
        found.append(Fact(f"condition {condition.name}", condition.relation, "condition", condition.meaning))
    return tuple(found)


@dataclass(frozen=True)
class Derivation(Shown):
    """The proof of one reading of a statement, as its author writes it; whether it is one, the verifier says.

    statement: the Statement; facts: what it gives, at explicit points (see `step.Fact` and `scope_facts`); steps: in
    order; conclusion: name of the step that states the bound; target: the symbol or expression that the statement
    bounds; quantities: names of symbols that are squared norms, sums of such, or gaps; rounds: (term, expression)
    pairs, for what is handed to another statement: the rounds done where a value of the run is taken (`clock.Clock`);
    drawn: where inner products are expectations, pairs of a vector, such as x(r), and the number of draws on which it
    depends, 0 for a fixed one. It holds for all indices; a vector at given indices, or a sum of vectors, may be listed
    with another number. laws: how vectors are drawn, in the order in which they are (`laws.Law`).
    Each step also uses the domains of its symbols and the ranges of its indices (`scope.with_scope`).
    Raises BadInput for what is outside the language, for evaluations or rounds that contradict each other, and
    UnknownName for a step that uses a later one or an unknown name.
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
    names: Mapping[str, str] = field(init=False, compare=False, repr=False)  # and what each stands for

    def __repr__(self) -> str:
        return f"<Derivation {self.statement.id}: {len(self.steps)} steps, conclusion '{self.conclusion}'>"

    def _card(self) -> Card:
        """The outline: each step with what it uses and what shows it."""
        columns = {
            "step": [s.name for s in self.steps],
            "claim": [str(s.claim) for s in self.steps],
            "uses": [", ".join(s.uses) for s in self.steps],
            "by": [s.by.label for s in self.steps],
            "why": [s.text for s in self.steps],
        }
        facts = [("conclusion", self.conclusion), ("facts", ", ".join(f.name for f in self.facts))]
        return Card(f"Derivation of {self.statement.id}: {len(self.steps)} steps", facts, columns=columns)

    def __post_init__(self) -> None:
        names: dict[str, str] = {}
        object.__setattr__(self, "names", names)
        own = self.statement
        check_proposition(sp.Ge(self.target, own.bound, evaluate=False), f"{own.id}: the target or the bound", names)
        for fact in self.facts:
            check_proposition(fact.claim, f"{self.statement.id}: the fact '{fact.name}'", names)
        for step in self.steps:
            where = f"{self.statement.id}: step '{step.name}'"
            check_proposition(step.claim, where, names)
            if not isinstance(step.by, Method):
                raise BadInput(f"{where} is shown by {step.by!r:.80}, which is no method; see `proof.methods`.")
            check_method(step.by, where, names)
        for law in self.laws:
            check_method(law, f"{self.statement.id}: the law '{law.name}'", names)
        self._check_names()
        object.__setattr__(self, "steps", with_scope(self.steps, self.facts))
        check_taken(self.statement, self.facts)
        check_evaluations(self.statement, self.facts, self.laws)
        check_outcomes(self.statement, self.facts, self.levels)
        _ = self.clock

    def _check_names(self) -> None:
        known: dict[str, None] = {}
        for item in (*self.facts, *self.steps):
            if item.name in known:
                raise BadInput(f"{self.statement.id}: the name '{item.name}' is used twice in the derivation.")
            for name in item.uses if isinstance(item, Step) else ():
                if name not in known:
                    what = f"{self.statement.id}: what step '{item.name}' uses, a fact or earlier step,"
                    raise UnknownName(what, name, known)
            known[item.name] = None
        steps = [s.name for s in self.steps]
        if self.conclusion not in steps:
            raise UnknownName(f"{self.statement.id}: the conclusion", self.conclusion, steps)

    @cached_property
    def levels(self) -> Drawn:
        """On how many draws each vector depends, by the author and by the laws."""
        return levels(self.laws, self.drawn, self.facts)

    @cached_property
    def clock(self) -> Clock:
        """The rounds of the terms, by the statement, by the definitions and by the author."""
        meanings: dict[Any, Any] = {}
        for fact in self.facts:
            if fact.kind == "definition":
                vectors = isinstance(fact.claim, VectorEquality)
                if vectors:
                    meanings |= dict([fact.claim.rewriting()])
                elif isinstance(fact.claim, sp.Eq):
                    meanings[fact.claim.lhs] = fact.claim.rhs
        indices = frozenset(s for kind in ("index", "range", "count") for s in self._of_kind(kind))
        cited = (cited_in(step.by) for step in self.steps)
        roles = tuple(role for by in cited if by is not None for role in by.roles())
        return Clock(self.statement, self.target, self.rounds, meanings, indices, roles)

    def ranges(self) -> tuple[tuple[Any, Any], ...]:
        """(index, relation) of the facts of kind "index" or "range", in their order."""
        facts = [f for f in self.facts if f.kind in ("index", "range")]
        return tuple((part.lhs, part) for f in facts for part in parts(f.claim))

    @cached_property
    def integers(self) -> frozenset[str]:
        """Names of integer symbols: the statement's, indices, and what is defined as a polynomial in such."""
        names = {s.name for s in self.statement.symbols if s.integer}
        names |= {symbol.name for kind in ("index", "count") for symbol in self._of_kind(kind)}
        for fact in self.facts:
            defined: Any = fact.claim.lhs if fact.kind == "definition" and isinstance(fact.claim, sp.Eq) else None
            if defined is not None and defined.is_Symbol and whole(fact.claim.rhs, Context(integers=frozenset(names))):
                names.add(defined.name)
        return frozenset(names)

    def _of_kind(self, kind: str) -> set[Any]:
        return {part.lhs for f in self.facts if f.kind == kind for part in parts(f.claim)}

    @property
    def setting(self) -> Context:
        """What every step may rely on."""
        return Context(self.quantities, self.integers, self.ranges())

    def check(self) -> Any:
        """Find a record of the derivation and let the verifier check it; see `proof.derive.DerivationReport`."""
        return providers.load(providers.STATEMENTS, "derive").derive(self.statement.id)


def named_parts(known: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The named propositions, conjunctions in their parts."""
    return {part: claim for name in names for part, claim in named(name, known[name]).items()}
