"""A derivation: the facts that a statement gives, the ordered steps, and the report of checking them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import sympy as sp

from boundcheck.errors import BadInput, UnknownName
from boundcheck.proof.identity import same
from boundcheck.proof.step import Fact, Finding, Setting, Status, Step, StepResult, weakest
from boundcheck.proof.vectors import Inner, VectorEquality

__all__ = ["Derivation", "DerivationReport", "scope_facts"]

KINDS = ("domain", "condition", "assumption", "algorithm", "metric", "index", "range", "definition")


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
class DerivationReport:
    """What checking a derivation found.

    status: the weakest step's, and at most UNDECIDED when the conclusion is not the statement's bound.
    bound_matches: the conclusion is identical to the bound; remarks: sentences on the comparison and on dependence;
    conditions: names of the statement's conditions that the steps of the conclusion use.
    A refuted step marks the derivation, not the statement, which may still be true.
    """

    statement: str
    results: tuple[StepResult, ...]
    facts: tuple[Fact, ...]
    status: Status
    bound_matches: bool
    conditions: tuple[str, ...]
    remarks: tuple[str, ...]
    seconds: float

    def result(self, name: str) -> StepResult:
        """The result of one step; raises UnknownName."""
        for r in self.results:
            if r.step.name == name:
                return r
        raise UnknownName(f"{self.statement}: the step", name, [r.step.name for r in self.results])

    @property
    def counts(self) -> dict[str, int]:
        """Number of steps by status, zeros included."""
        return {s.value: sum(r.status is s for r in self.results) for s in Status}

    def summary(self) -> dict[str, Any]:
        """Status, counts and the steps that are not proved, for the record beside the derivation."""
        failing = {r.step.name: r.status.value for r in self.results if r.status is not Status.PROVED}
        return {"status": self.status.value, "counts": self.counts, "failing": failing}

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return {
            "schema": 1,
            "statement": self.statement,
            "status": self.status.value,
            "counts": self.counts,
            "bound_matches": self.bound_matches,
            "conditions": list(self.conditions),
            "remarks": list(self.remarks),
            "facts": [{"name": f.name, "claim": str(f.claim), "kind": f.kind, "source": f.source} for f in self.facts],
            "steps": [r.to_dict() for r in self.results],
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True)
class Derivation:
    """The proof of one reading of a statement.

    statement: the Statement; facts: what it gives, at explicit points (see `step.Fact` and `scope_facts`); steps: in
    order; conclusion: name of the step that states the bound; target: the symbol or expression that the statement
    bounds; quantities: names of symbols that are squared norms, sums of such, or gaps.
    Raises BadInput for a repeated or unknown name, a step that uses a later one, a definition of a symbol that is
    already in use, or a condition that is not the statement's.
    """

    statement: Any
    facts: tuple[Fact, ...]
    steps: tuple[Step, ...]
    conclusion: str
    target: Any
    quantities: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self._check_facts()
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

    def _check_facts(self) -> None:
        names = [f.name for f in self.facts]
        if len(set(names)) != len(names):
            raise BadInput(f"{self.statement.id}: two facts of the derivation share a name.")
        given = {(f.kind, f.claim) for f in scope_facts(self.statement)}
        indices = {symbol for symbol, _ in self.ranges()}
        parameters = {s.expr for s in self.statement.symbols}
        fixed: set[Any] = parameters | indices
        for fact in self.facts:
            where = f"{self.statement.id}: the fact '{fact.name}'"
            if fact.kind not in KINDS:
                raise UnknownName(f"{where} has the kind", fact.kind, KINDS)
            if fact.kind in ("domain", "condition") and (fact.kind, fact.claim) not in given:
                raise BadInput(f"{where} is not a {fact.kind} of the statement.")
            if fact.kind == "definition":
                _check_definition(fact, fixed, where)
                if isinstance(fact.claim, sp.Eq) and fact.claim.rhs.free_symbols & indices:
                    raise BadInput(f"{where} defines a symbol by an index; write a function of the index instead.")
                fixed |= _symbols(fact.claim)
            if fact.kind in ("assumption", "algorithm", "metric"):
                if _symbols(fact.claim) <= parameters:
                    raise BadInput(f"{where} restricts the statement's own symbols; only its conditions may do that.")
                if not _has_terms(fact.claim) and _symbols(fact.claim) & indices:
                    raise BadInput(f"{where} restricts an index; only facts of kind 'index' or 'range' may do that.")

    def ranges(self) -> tuple[tuple[Any, Any], ...]:
        """(index, relation) of the facts of kind "index" or "range"; BadInput unless written index first."""
        found: list[tuple[Any, Any]] = []
        for fact in self.facts:
            if fact.kind in ("index", "range"):
                for part in _parts(fact.claim):
                    if not getattr(part, "lhs", sp.Integer(0)).is_Symbol:
                        raise BadInput(f"{self.statement.id}: the fact '{fact.name}' must have its index on the left.")
                    found.append((part.lhs, part))
        return tuple(found)

    def _integers(self) -> frozenset[str]:
        """Names of integer symbols: the statement's, indices, and what is defined as a polynomial in such."""
        names = {s.name for s in self.statement.symbols if s.integer}
        names |= {symbol.name for symbol, _ in self.ranges() if symbol in self._of_kind("index")}
        for fact in self.facts:
            if fact.kind == "definition" and isinstance(fact.claim, sp.Eq):
                value: Any = fact.claim.rhs
                if (
                    value.is_polynomial()
                    and {s.name for s in value.free_symbols} <= names
                    and not _has_terms(fact.claim)
                ):
                    whole = all(c.is_Integer for c in sp.Poly(value, *value.free_symbols).coeffs())
                    names |= {str(fact.claim.lhs)} if whole else set()
        return frozenset(names)

    def _of_kind(self, kind: str) -> set[Any]:
        return {part.lhs for f in self.facts if f.kind == kind for part in _parts(f.claim)}

    def check(self, seconds: float = 10.0) -> DerivationReport:
        """Decide every step; no solver call takes longer than `seconds`.

        A step is decided from the claims of what it uses, whatever became of these; its result names the steps
        that are not proved and on which it therefore depends.
        """
        begin = perf_counter()
        setting = self._setting(seconds)
        known: dict[str, Any] = {f.name: f.claim for f in self.facts}
        weak: dict[str, tuple[str, ...]] = {}
        results: list[StepResult] = []
        for step in self.steps:
            start = perf_counter()
            finding = step.by.check(step.claim, _facts(known, step.uses), setting)
            depends = tuple(dict.fromkeys(d for name in step.uses for d in weak.get(name, ())))
            results.append(StepResult(step, finding, depends, perf_counter() - start))
            weak[step.name] = depends if finding.status is Status.PROVED else (*depends, step.name)
            known[step.name] = step.claim
        return self._report(tuple(results), perf_counter() - begin)

    def check_step(self, name: str, seconds: float = 10.0) -> Finding:
        """Decide one step from the claims of what it uses; raises UnknownName."""
        known: dict[str, Any] = {f.name: f.claim for f in self.facts} | {s.name: s.claim for s in self.steps}
        for step in self.steps:
            if step.name == name:
                return step.by.check(step.claim, _facts(known, step.uses), self._setting(seconds))
        raise UnknownName(f"{self.statement.id}: the step", name, [s.name for s in self.steps])

    def _setting(self, seconds: float) -> Setting:
        return Setting(self.quantities, self._integers(), self.ranges(), seconds, self.statement)

    def _report(self, results: tuple[StepResult, ...], seconds: float) -> DerivationReport:
        remarks: list[str] = []
        matches, sentence = self._compare()
        remarks.append(sentence)
        used = self._ancestors()
        conditions = tuple(f.name for f in self.facts if f.kind == "condition" and f.name in used)
        for fact in self.facts:
            if fact.kind == "condition" and fact.name not in used:
                remarks.append(f"The {fact.name} of the statement is not used.")
        for result in results:
            if result.finding.vacuous:
                remarks.append(f"Step {result.step.name} is vacuous: what it uses cannot all hold.")
            if result.depends_on and result.status is Status.PROVED:
                remarks.append(f"Step {result.step.name} is conditional on {', '.join(result.depends_on)}.")
        status = weakest([*(r.status for r in results), Status.PROVED if matches else Status.UNDECIDED])
        return DerivationReport(
            self.statement.id, results, self.facts, status, matches, conditions, tuple(remarks), seconds
        )

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
        """Whether the conclusion is `target <= bound`, after the definitions have been put in."""
        claim = next(s.claim for s in self.steps if s.name == self.conclusion)
        if not isinstance(claim, sp.Le):
            return False, f"The conclusion '{claim}' is not an upper bound."
        values = self.definitions()
        left, right = claim.lhs.subs(values), claim.rhs.subs(values)
        if left != self.target:
            return False, f"The conclusion bounds {left}, not {self.target}."
        if not same(right, self.statement.bound.subs(values)):
            return False, f"The conclusion's bound {right} differs from the statement's {self.statement.bound}."
        return True, "The conclusion is identical to the statement's bound."

    def definitions(self) -> dict[Any, Any]:
        """Defined symbol -> expression, for definitions by scalars alone, in the statement's symbols."""
        values: dict[Any, Any] = {}
        for fact in self.facts:
            if fact.kind == "definition" and isinstance(fact.claim, sp.Eq) and not fact.claim.rhs.has(Inner, sp.Sum):
                values[fact.claim.lhs] = fact.claim.rhs.subs(values)
        return values


def _parts(claim: Any) -> tuple[Any, ...]:
    """A conjunction in its parts."""
    return tuple(claim.args) if isinstance(claim, sp.And) else (claim,)


def _has_terms(claim: Any) -> bool:
    """Whether the proposition speaks of vectors, sums or functions."""
    return isinstance(claim, VectorEquality) or claim.has(Inner, sp.Sum, sp.core.function.AppliedUndef)


def _symbols(claim: Any) -> set[Any]:
    """Scalar symbols, vector atoms and functions of a proposition."""
    if isinstance(claim, VectorEquality):
        return set(_flat(a for side in (claim.left, claim.right) for term in side.terms for a in term))
    return set(_flat([claim]))


def _flat(expressions: Iterable[Any]) -> Iterable[Any]:
    for expr in expressions:
        yield from expr.atoms(sp.Symbol)
        yield from (type(f) for f in expr.atoms(sp.core.function.AppliedUndef))


def _check_definition(fact: Fact, fixed: set[Any], where: str) -> None:
    if isinstance(fact.claim, sp.Eq) and fact.claim.lhs.is_Symbol:
        new = fact.claim.lhs
        if new in fixed or fact.claim.rhs.has(new):
            raise BadInput(f"{where} defines {new}, which is already in use.")
        return
    if isinstance(fact.claim, VectorEquality) and len(fact.claim.left.terms) == 1:
        new = fact.claim.left.terms[0][0]
        name = type(new) if new.is_Function else new
        if name in fixed or any(a.has(new) for a, _ in fact.claim.right.terms):
            raise BadInput(f"{where} defines {new}, which is already in use.")
        return
    raise BadInput(f"{where} is not a definition: write Eq(symbol, expression) or a vector equality with one atom.")


def _facts(known: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The named propositions, conjunctions in their parts."""
    found: dict[str, Any] = {}
    for name in names:
        for k, part in enumerate(_parts(known[name])):
            found[f"{name}.{k}" if k else name] = part
    return found
