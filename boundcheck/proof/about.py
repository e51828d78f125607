"""Whether a cited statement is about the terms that it is cited for: run, quantities and number of rounds.

The verifier reads that the claim is that of the cited record at the given terms, and that its hypotheses are shown.
That these terms *are* what the cited statement is about, it can only name. `objection` decides that, from what both
statements declare and from the rounds that the derivation gives (`clock`). What it objects to, the finder does not
write, and `records.compared` does not take for proved.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.proof.at_points import inequality_of, is_name
from boundcheck.proof.citations import Cited, ForVectors, Instance, Lemma, Specialised, role_of
from boundcheck.proof.clock import Untimed, at_start, only_at_start, value_of
from boundcheck.proof.discovery import derivation
from boundcheck.proof.language import parts, same, whole
from boundcheck.proof.laws import head, heads
from boundcheck.proof.methods import Citation
from boundcheck.proof.outcomes import earlier
from boundcheck.proof.vectors import VectorEquality, vector
from boundcheck.theory.assumptions import follows
from boundcheck.theory.special_cases import SPECIAL_CASES
from boundcheck.theory.statement import ROUND, Kind


def objection(proof: Any, by: Citation) -> str:
    """Why the cited statement says nothing about these terms, one clause; empty where it does.

    proof: the citing `Derivation`. Raises BadInput or UnknownName for a reading that has no derivation.
    """
    if by.statement == proof.statement.id:
        return f"{by.statement} is cited in its own proof"
    try:
        return _About(proof, derivation(by.statement).statement).objection(by)
    except Untimed as reason:
        return f"{by.statement}: {reason}"


class _About:
    def __init__(self, proof: Any, cited: Any) -> None:
        self.proof, self.citing, self.cited, self.clock = proof, proof.statement, cited, proof.clock
        self.declared = {s.name: s for s in self.citing.symbols}

    def objection(self, by: Citation) -> str:
        if isinstance(by, ForVectors):
            return self._late(by) or self._lemma(by.lemma)
        if isinstance(by, Lemma):
            return self._lemma(by)
        if isinstance(by, Specialised):
            return self._special(by)
        return self._new_run(by) if isinstance(by, Cited) else self._instance(by)  # pyright: ignore[reportArgumentType]

    # what all share

    def _one_average(self, metric: Any) -> bool:
        """Whether the cited statement bounds the average over the rounds that the citing one bounds: `metric`."""
        own, other = self.citing.metric, self.cited.metric
        fields = ("quantity", "average", "weights", "with_last", "rounds", "scale")
        alike = other.over_rounds and all(getattr(own, f) == getattr(other, f) for f in fields)
        return alike and metric == self.clock.target and self.cited.kind is Kind.UPPER_BOUND

    def _no_value(self, metric: Any) -> str:
        """Why the cited statement is no upper bound on one value of a metric, or on one average."""
        one = self.cited.kind is Kind.UPPER_BOUND and self.cited.metric.index is None
        if (one and not self.cited.metric.over_rounds) or self._one_average(metric):
            return ""
        return f"{self.cited.id} is not an upper bound on one value of a metric"

    def _other_run(self, at: Mapping[str, Any] | None = None) -> str:
        """Why the cited statement is not about runs of the citing one's method; at: values of its constants."""
        own, other = self.citing.algorithm, self.cited.algorithm
        kept = own is not None and other is not None and own.kind == other.kind and set(other.steps) <= set(own.steps)
        if not (kept and own and other and set(other.parameters) <= {*own.parameters, *(at or {})}):
            return f"{self.cited.id} is about another method or other parameters of it"
        if self.cited.metric.surrogate != self.citing.metric.surrogate:
            return f"{self.cited.id} is about another objective"
        return self._assumes(self.cited.assumptions, at or {})

    def _assumes(self, wanted: Any, at: Mapping[str, Any]) -> str:
        missing = [a.name for a in wanted if not follows(a, self.citing.assumptions, at)]
        return f"{self.cited.id} assumes {', '.join(missing)} besides" if missing else ""

    def _ends(self, metric: Any, images: Mapping[str, Any], later: bool) -> str:
        """Why metric and images, by the names of what they stand for, are not what the cited statement is about.

        They must be as many rounds apart as it says, no term may be two quantities, and what the citing statement
        bounds must be bounded in the same way. later: whether its start may be after some rounds.
        """
        cited, clock, own = self.cited, self.clock, self.citing.metric
        if self._one_average(metric):
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
            if metric != clock.target or own.scale != 1 or own.average != cited.metric.average:
                return f"{cited.id} does not bound what {self.citing.id} does"
            if own.expectation.startswith("none") and not cited.metric.expectation.startswith("none"):
                return f"{cited.id} bounds an expectation, and {self.citing.id} every outcome"
        return ""

    def _names(self, metric: Any, images: Mapping[str, Any], free: frozenset[str] = frozenset()) -> str:
        """Why a symbol is not the same in both statements, or has a wrong image; free: symbols that have a value."""
        cited, declared = self.cited, self.declared
        if not is_name(metric) or str(metric) in declared:
            return f"{metric} is no quantity of its own, which what {cited.id} bounds must be"
        for symbol in cited.symbols:
            image, name = images.get(symbol.name), symbol.name
            if image is None:
                if at_start(symbol):
                    return f"nothing stands for {name} of {cited.id}, a value at its start"
                if name not in free and declared.get(name) != symbol:
                    return f"{name} is not declared as in {cited.id}, or not at all"
            elif not at_start(symbol):
                return f"{name} of {cited.id} stands for itself and has no image"
            elif name in declared:
                if image != symbol.expr or (not free and declared[name] != symbol):
                    return f"{name} of {cited.id} is the value at the start of this run, and has no other image"
            elif not is_name(image) or str(image) in declared:
                return f"{image} is no quantity of its own, which a value at the start of {cited.id} must be"
        return ""

    # the kinds of citations

    def _new_run(self, by: Cited) -> str:
        """A run of its own, from an explicit start."""
        cited, own = self.cited, self.citing.metric
        if not isinstance(by.run, AppliedUndef) or not getattr(by.clock, "is_Symbol", False):
            return f"the run {by.run} must be a function without a definition, and its clock a symbol"
        if sum(arg.has(by.clock) for arg in by.run.args) != 1 or by.clock not in by.run.args:
            return f"the run {by.run} must have its clock {by.clock} as one of its arguments, and nowhere else"
        if cited.kind is not Kind.UPPER_BOUND or cited.metric.scale != 1 or cited.metric.over_rounds:
            return f"{cited.id} is not an upper bound on a metric after some rounds"
        if not cited.metric.expectation.startswith("none"):
            return f"{cited.id} bounds an expectation, which is not carried over to a later start"
        if cited.algorithm != self.citing.algorithm:
            return f"{cited.id} is about another method or other parameters of it"
        if (cited.metric.quantity, cited.metric.average) != (own.quantity, own.average):
            return f"{cited.id} bounds another metric"
        reason = self._other_run()
        if reason or only_at_start(cited):
            return reason or f"{cited.id} assumes {only_at_start(cited)}, which a later start need not meet"
        images = by.images(cited)
        for symbol in (s for s in cited.symbols if s.expr not in images):
            if at_start(symbol):
                return f"{symbol.name} of {cited.id} is another value at the start, which the run does not give"
            if self.declared.get(symbol.name) != symbol:
                return f"{symbol.name} is not declared as in {cited.id}, or not at all"
        if self.clock.knows(by.run):
            return self.clock.apart(by.run, (by.run.subs(by.clock, 0),), by.clock, later=True)
        return ""

    def _instance(self, by: Instance) -> str:
        """The run of the citing statement, or a general lemma."""
        cited, images = self.cited, dict(by.pairs)
        if cited.any_method:
            return self._every_method(by.metric, images)
        reason = self._no_value(by.metric)
        if reason:
            return reason
        if cited.algorithm is None:
            without = [s.name for s in cited.symbols if s.name not in images]
            if without:
                return f"{cited.id} is general, and nothing stands for its {', '.join(without)}"
            about = by.metric.has(self.clock.target)
            return self.clock.other_quantity(by.metric, cited.metric.quantity) if about else ""
        return self._other_run() or self._names(by.metric, images) or self._ends(by.metric, images, later=False)

    def _special(self, by: Specialised) -> str:
        """A run of a method of which the citing statement's is a special case."""
        citing, cited, images = self.citing, self.cited, dict(by.pairs)
        if citing.algorithm is None or cited.algorithm is None:
            return "no statement about a method is being derived, or cited"
        case = SPECIAL_CASES.get(citing.algorithm.kind)
        if case is None or case.general != cited.algorithm.kind:
            return f"{citing.id} is not about a special case of the method of {cited.id}"
        if citing.metric.surrogate or not cited.metric.surrogate:
            return f"{cited.id} must be about the surrogate objective, and {citing.id} about f"
        wanted: list[Any] = [next((own for a, own in case.assumptions if a == one), one) for one in cited.assumptions]
        values = dict(case.values)
        needed = {s.name for c in cited.symbols for s in getattr(values.get(c.name), "free_symbols", ())}
        absent = sorted(needed - set(self.declared))
        if absent:
            return f"{', '.join(absent)}, by which the method is a special case, is no symbol of {citing.id}"
        return (
            self._assumes(wanted, {})
            or self._no_value(by.metric)
            or self._names(by.metric, images, frozenset(values))
            or self._ends(by.metric, images, later=False)
        )

    def _lemma(self, by: Lemma) -> str:
        """The mean of the cited bound, whatever happened before."""
        cited, averaged = self.cited, by.averaged
        if cited.metric.scale != 1:
            return f"{cited.id} is not an upper bound on a metric"
        reason = self._no_value(by.metric) or self._other_run(by.at)
        if reason:
            return reason
        strange = sorted(str(s) for s in averaged - {s.expr for s in cited.symbols})
        if strange:
            return f"{cited.id} has no symbol {', '.join(strange)} that could be averaged"
        own = {s.name: (s.dimension, s.integer, s.key) for s in self.citing.symbols}
        for s in cited.symbols:
            if s.name in by.at:
                if at_start(s) or s.expr in averaged:
                    return f"{s.name} of {cited.id} is no constant of the problem, and has no value of its own"
                reason = self._other_step(by, s.name) if s.name in cited.parameters else ""
                if reason:
                    return reason
            elif s.expr not in averaged:
                if at_start(s):
                    return f"nothing stands for {s.name} of {cited.id}, a value at its start"
                if own.get(s.name) != (s.dimension, s.integer, s.key):
                    return f"{s.name} is not declared as in {cited.id}, or not at all"
        means = {str(expr): mean for expr, mean in by.means.items()}
        return self._strange_mean(by) or self._ends(by.metric, means, later=True)

    def _strange_mean(self, by: Lemma) -> str:
        """Why a mean is not one of what it is said to be the mean of, by what both statements declare."""
        alike = {s.expr for s in self.cited.symbols if s in self.citing.symbols and not at_start(s)}
        starts = {s.expr for s in self.cited.symbols if at_start(s)}
        given = {s.expr for s in self.citing.symbols if at_start(s)}
        for expr, mean in by.means.items():
            if not expr.free_symbols:
                return f"{expr} is no expression in the symbols of {self.cited.id}"
            if expr.free_symbols & starts and expr not in starts:
                return f"{expr} is no single value at the start"
            if mean.free_symbols & given and mean != expr:
                return f"{mean} is a value at the start of this run, and the mean of no other {expr}"
            if expr.free_symbols <= alike and mean != expr:
                return f"{expr} of {self.cited.id} is a constant of this statement too, and its own mean"
        return ""

    def _other_step(self, by: Lemma, name: str) -> str:
        """Why a step size has another value in some round of the cited statement; empty where it has that one.

        The step is what the method of the citing statement says. A floor in it is read off where its argument is an
        integer plus j/rounds, j = 0, ..., rounds - 1 the rounds done since the begin.
        """
        begin = {self.clock.rounds(mean) for mean in by.means.values()} - {None}
        formula = dict(self.citing.algorithm.steps).get(name)
        if formula is None or len(begin) != 1:
            return f"{name} of {self.cited.id} is no constant of the problem, and has no value of its own"
        j, rounds = sp.Dummy("j", real=True), self.cited.metric.rounds
        floors: dict[Any, Any] = {}
        found = formula.xreplace({ROUND: begin.pop() + j})
        for floor in found.atoms(sp.floor):
            inside = sp.expand(floor.args[0])
            integer = sp.expand(inside.xreplace({j: sp.Integer(0)}))
            if not same(inside - integer, j / rounds) or not whole(integer, self.proof.setting):
                return f"{floor} is not shown to be constant over {rounds} rounds"
            floors[floor] = integer
        found = found.xreplace(floors)
        constant = not found.has(sp.floor) and same(found, by.at[name])
        return "" if constant else f"{name} is {found} there, and not {by.at[name]}"

    def _every_method(self, metric: Any, images: Mapping[str, Any]) -> str:
        """A statement about every method's runs, for one about the same run, under assumptions that it makes too.

        The cited one may bound a value in a round, for which the metric and the images are terms of one round, or the
        average over the rounds that the citing one is about. Symbols that both declare alike stand for themselves, as
        does a constant of an assumption that follows from the citing one's, such as L; all others stand for the
        quantity of the same key.
        """
        cited, citing, declared = self.cited, self.citing, self.declared
        if not citing.any_method or cited.kind is not Kind.UPPER_BOUND:
            return f"{cited.id} is not an upper bound on runs of every method, or {citing.id} is about others"
        keys = [s.key for s in (*cited.symbols, *citing.symbols)]
        if cited.metric.surrogate != citing.metric.surrogate and any(key.startswith("objective/") for key in keys):
            return f"{cited.id} is about another objective"
        reason = self._assumes(cited.assumptions, {})
        if reason:
            return reason
        own, other = citing.metric, cited.metric
        fields = ("average", "weights", "with_last", "rounds", "index")
        if other.over_rounds and any(getattr(own, f) != getattr(other, f) for f in fields):
            return f"{cited.id} is about another average over rounds"
        implied = [inequality_of(a) for a in cited.assumptions if a not in citing.assumptions]
        free = {str(s) for i in implied if i is not None for s in i.free_symbols}  # constants of what follows
        terms = [metric, *images.values()]
        for term in terms:
            if not is_name(term) or str(term) in declared:
                return f"{term} is no quantity of its own"
        rounds = {term.args if isinstance(term, AppliedUndef) else () for term in terms}
        in_a_round = not other.over_rounds and other.index != own.index
        if len(rounds) != 1 or in_a_round == (() in rounds):
            return f"{cited.id}: {', '.join(map(str, terms))} are not the values of one round"
        for symbol in (x for x in cited.symbols if x.index or x.expr in bounding(cited)):
            alike = symbol.index or _alike(symbol, declared.get(symbol.name), symbol.name in free)
            if alike == (symbol.name in images):
                what = "stands for itself and has no image" if alike else "is not declared here, and has no image"
                return f"{symbol.name} of {cited.id} {what}"
        named = [(metric, other.quantity), *((images[s.name], role_of(s)) for s in cited.symbols if s.name in images)]
        return next(filter(None, (self.clock.other_quantity(term, role) for term, role in named)), "")

    def _late(self, by: ForVectors) -> str:
        """Why something that the cited derivation knows before a draw is not known before it here."""
        proof = derivation(by.statement)
        if not proof.laws:
            return ""
        if not self.proof.levels:
            return "on which draws the vectors depend is not declared"
        own = [(head(vector(name, *arguments).terms[0][0]), image) for name, arguments, image in by.vectors]
        for law in proof.laws:
            known, late = _fixed(proof, law), _dependent(proof, law)
            for first in (v for h, v in own if h in known):
                for second in (v for h, v in own if h in late):
                    if not earlier(self.citing.id, self.proof.levels, self.proof.ranges(), first, second):
                        return f"{first} is not known before what {second} depends on"
        return "" if own else "no vector stands for one of the cited derivation"


def bounding(statement: Any) -> set[Any]:
    """The symbols in the bound and in the hypotheses: others, of the trivial value alone, need no value."""
    relations = (c.relation for c in statement.conditions)
    every = (statement.bound, statement.metric.rounds, statement.metric.scale, *relations, *statement.domain)
    return {symbol for part in every for symbol in sp.sympify(part).free_symbols}


def _alike(symbol: Any, own: Any, free: bool) -> bool:
    """Whether a symbol is the same in both statements; free: its key does not matter."""
    if own is None or own == symbol or not free:
        return own == symbol
    return own.but(key="", meaning="") == symbol.but(key="", meaning="")


def _fixed(proof: Any, law: Any) -> set[Any]:
    """Heads of the past of a law, and of what is defined by it."""
    known = set(law.known)
    for fact in proof.facts:
        if fact.kind == "definition" and isinstance(fact.claim, VectorEquality) and heads(fact.claim.right) <= known:
            known |= heads(fact.claim.left)
    return known


def _dependent(proof: Any, law: Any) -> set[Any]:
    """Heads of the vectors that a law draws, and of those that its draws determine by equations and as gradients."""
    found = {head(x.terms[0][0]) for x, _ in law.drawn}
    while True:
        more: set[Any] = set()
        for fact in proof.facts:
            pairs = [(p.left, p.right) for p in parts(fact.claim) if isinstance(p, VectorEquality)]
            pairs += [(one.gradient, one.point) for one in getattr(fact.instance, "at", ()) if one.gradient is not None]
            for own, others in pairs:
                if heads(others) & found:
                    more |= heads(own)
        if more <= found:
            return found
        found |= more
