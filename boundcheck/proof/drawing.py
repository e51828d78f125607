"""What the laws of a derivation may say, and expectations as a method of a step.

A vector of the past is known before the draw, so nothing that is drawn may determine it: no equation from outside the
past, no gradient at a point outside of it. Which laws a derivation may use is declared by its statement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import sympy as sp

from boundcheck.errors import BadInput, UnknownName
from boundcheck.proof.at_points import DEVIATION
from boundcheck.proof.families import Averages
from boundcheck.proof.gram import Combine, prepare
from boundcheck.proof.identity import Decide, Identity
from boundcheck.proof.language import parts, scalars, whole
from boundcheck.proof.laws import DECLARED, Draws, Law, Order, head, heads
from boundcheck.proof.outcomes import Drawn
from boundcheck.proof.scalar import decide, put
from boundcheck.proof.step import Context, Fact, Finding, Status
from boundcheck.proof.vectors import Inner, Vector, VectorEquality, norm2
from boundcheck.proof.weights import Weights
from boundcheck.theory.assumptions import with_implied

VARIANCES = ("sampling_variance", "participation_variance")  # metrics that are E|X - E X|^2


@dataclass(frozen=True)
class Variance:
    """What the metric of a statement, a variance, is the variance of: a sum of draws of the law."""

    of: Vector
    law: Law

    def words(self) -> tuple[str, ...]:
        """The vector."""
        return (f"{self.of} is what the metric is the variance of",)

    def claim(self, target: Any) -> Any:
        """The target is the expected squared distance to the mean."""
        places = {atom: self.law.place(atom) for atom, _ in self.of.terms}
        mean = self.of.map(lambda a: self.law.mean(place) if (place := places[a]) else Vector(((a, sp.Integer(1)),)))
        return sp.Eq(target, norm2(self.of - mean), evaluate=False)


def variance_of(name: str, target: Any, of: Vector, law: Law) -> Fact:
    """The metric of a statement as the variance of a sum of draws."""
    instance = Variance(of, law)
    return Fact(name, instance.claim(target), "metric", "the metric is a variance", instance=instance)


def check_laws(statement: Any, facts: tuple[Fact, ...], laws: tuple[Law, ...]) -> None:
    """Raises BadInput, or UnknownName, for a law that the statement does not declare or that its facts contradict."""
    declared: set[str] = set()
    if laws:
        declared = {statement.metric.quantity, *(a.name for a in with_implied(statement.assumptions))}
        declared |= set() if statement.algorithm is None else {statement.algorithm.kind}
    later = [set(_drawn(law)) for law in laws]
    for k, law in enumerate(laws):
        where = f"{statement.id}: the law '{law.name}'"
        if type(law) not in (Order, Draws, Weights, Averages):
            raise BadInput(f"{where} is a {type(law).__name__}, which is not one of the checker's own.")
        if law.of not in declared:
            raise UnknownName(
                f"{where} must be declared by an assumption, the method or the metric, and", law.of, sorted(declared)
            )
        if type(law).__name__ not in DECLARED.get(law.of, ()):
            allowed = ", ".join(DECLARED.get(law.of, ())) or "none"
            raise BadInput(f"{where} is of the kind {type(law).__name__}; '{law.of}' declares {allowed}.")
        missing = [name for name in law.requires() if name not in declared]
        if missing:
            raise BadInput(f"{where} needs the assumption {', '.join(missing)} of the statement.")
        for wanted in law.definitions():
            if not any(fact.kind == "definition" and fact.claim == wanted for fact in facts):
                raise BadInput(f"{where} needs the definition {wanted}.")
        if isinstance(law, Weights) and not _is_correlation(statement, law.correlation):
            raise BadInput(f"{where} takes {law.correlation} for alpha, which the statement does not.")
        drawn = set().union(*later[k:])
        if any(law.name == other.name or set(_drawn(law)) & set(_drawn(other)) for other in laws[:k]):
            raise BadInput(f"{where} draws or is called what another law does.")
        if law.known() & drawn:
            raise BadInput(
                f"{where} takes {_names(law.known() & drawn)} as known before, which it or a later law draws."
            )
        for fact in facts:
            _check_fact(fact, law, f"{where} and the fact '{fact.name}'")
        _check_gradients(law, facts, where)
        if isinstance(law, Averages):
            _check_averages(law, laws, where)
    means = {x - mean for law in laws if isinstance(law, Draws) for x, mean in law.drawn}
    for fact in facts:
        for name, value in getattr(fact.instance, "named", ()):
            if name == DEVIATION and value not in means:
                raise BadInput(f"{statement.id}: the fact '{fact.name}' takes {value} for a draw less its mean.")
        if isinstance(fact.instance, Variance):
            _check_variance(statement, fact, laws)


def _is_correlation(statement: Any, symbol: Any) -> bool:
    return any(s.expr == symbol and s.key == "participation/alpha" for s in statement.symbols)


def _drawn(law: Law) -> list[Any]:
    """Heads of what the law draws; averages draw nothing."""
    return [] if isinstance(law, Averages) else [head(x.terms[0][0]) for x, _ in law.drawn]


def _check_averages(law: Averages, laws: tuple[Law, ...], where: str) -> None:
    noise = [x for other in laws if isinstance(other, Draws) for x, mean in other.drawn if not mean.terms]
    if any(x not in noise for x in law.independent):
        raise BadInput(f"{where} needs independent noise of mean 0 that another law draws.")


def _names(found: set[Any]) -> str:
    return ", ".join(sorted(str(h) for h in found))


def _check_fact(fact: Fact, law: Law, where: str) -> None:
    known, drawn = law.known(), set(_drawn(law))
    for part in parts(fact.claim):
        if isinstance(part, VectorEquality):
            own = [a for a, _ in part.left.terms]
            if len(own) != 1 or own[0] not in {a for a, _ in (part.left - part.right).terms}:
                raise BadInput(f"{where}: an equation of vectors must have the one vector that it gives on its left.")
            if heads(part.left) & drawn:
                raise BadInput(f"{where}: {_names(heads(part.left) & drawn)} is given by its law, and by no equation.")
            for atom in own:
                others = [a for a, _ in (part.left - part.right).terms if a != atom]
                late = {head(a) for a in others if not _determined(law, a, law.moment(atom))}
                if head(atom) in known and late:
                    raise BadInput(f"{where}: {head(atom)} is known before the draw, but {_names(late)} is not.")
    at: Any = getattr(fact.instance, "at", ())
    for one in at:
        for atom, _ in () if one.gradient is None else one.gradient.terms:
            # a gradient may be drawn together with its point
            own = {a for a, _ in one.point.terms if head(a) in drawn and head(atom) in drawn and a.args == atom.args}
            late = {head(a) for a, _ in one.point.terms if a not in own and not law.before(a, law.moment(atom))}
            if head(atom) in known | drawn and late:
                raise BadInput(
                    f"{where}: {head(atom)} is a gradient at a point that is not known before the draw, {_names(late)}."
                )


def _determined(law: Law, atom: Any, moment: Any) -> bool:
    """Whether a vector is known before the draws at that time, or drawn before them."""
    if head(atom) not in _drawn(law):
        return law.before(atom, moment)
    own = law.moment(atom)
    return own is not None and moment is not None and law.earlier(own, moment)


def _check_gradients(law: Law, facts: tuple[Fact, ...], where: str) -> None:
    """What an order draws is of the functions, and at the point, that its family is."""
    places: dict[Any, set[Any]] = {}
    for fact in facts:
        for one in getattr(fact.instance, "at", ()):
            for h in () if one.gradient is None else heads(one.gradient):
                places.setdefault(h, set()).add((one.function, one.point))
    for x, source in law.drawn if isinstance(law, Order) else law.alike if isinstance(law, Draws) else ():
        own, family = (places.get(head(v.terms[0][0]), set()) for v in (x, source))
        if own and family and own != family:
            raise BadInput(f"{where} draws {x} as {source}, which is the gradient of other functions or elsewhere.")


def _check_variance(statement: Any, fact: Fact, laws: tuple[Law, ...]) -> None:
    where = f"{statement.id}: the fact '{fact.name}'"
    if statement.metric.quantity not in VARIANCES or fact.kind != "metric":
        raise BadInput(f"{where} says that the metric {statement.metric.quantity} is a variance, which it is not.")
    if fact.instance.law not in laws or any(
        fact.instance.law.place(a) is None and head(a) not in fact.instance.law.known()
        for a, _ in fact.instance.of.terms
    ):
        raise BadInput(f"{where} takes the variance of what its law does not draw.")
    if not isinstance(fact.claim, sp.Eq) or fact.claim != fact.instance.claim(fact.claim.lhs):
        raise BadInput(f"{where} is not what the variance of {fact.instance.of} is.")


def levels(laws: tuple[Law, ...], drawn: Drawn, facts: tuple[Fact, ...] = ()) -> Drawn:
    """On how many draws each vector depends: by the laws where neither the author says it nor a definition."""
    if len(laws) != 1 or isinstance(laws[0], Averages):
        return drawn
    own = {head(v.terms[0][0]) for v, _ in drawn}
    own |= {
        h for f in facts if f.kind == "definition" and isinstance(f.claim, VectorEquality) for h in heads(f.claim.left)
    }
    found: list[tuple[Vector, Any]] = [(v, 0) for v in laws[0].past if not heads(v) & own]
    for x, _ in laws[0].drawn:
        atom = x.terms[0][0]
        if head(atom) not in own:
            found.append((x, atom.args[-1] + 1))
    return (*drawn, *found)


@dataclass(frozen=True)
class Expected:
    """The claim follows once expectations are put in for the inner products of draws, by the laws in this order.

    laws: names of laws of the derivation, those that draw last first (the tower rule); by: what then decides the
    claim: `Identity`, `Combine` or `Decide`. The same expectations are put into the facts.
    """

    laws: tuple[str, ...]
    by: Any = field(default_factory=Identity)

    @property
    def label(self) -> str:
        """What the report calls it."""
        return f"expectations, then {self.by.label}"

    def check(self, claim: Any, facts: Mapping[str, Any], setting: Context) -> Finding:
        """What `by` finds of the claim with the expectations in it.

        UNDECIDED where a position is not shown to be one.
        """
        text = str(claim)

        def undecided(note: str, found: tuple[Finding, ...] = ()) -> Finding:
            return Finding(Status.UNDECIDED, "no decision", note=note, parts=found, claim=text)

        if not isinstance(self.by, Identity | Combine | Decide):
            return undecided("expectations are put in for an identity, a combination or a scalar inequality only")
        goal, relations = prepare(claim, facts)
        known = {law.name: law for law in setting.laws}
        needed: dict[Any, None] = {}
        values: list[dict[str, str]] = []
        for name in self.laws:
            law = known.get(name)
            if law is None:
                return undecided(f"the derivation has no law '{name}'")
            goal = _expected(goal, law, needed, values)
            relations = {k: _expected(r, law, needed, values) for k, r in relations.items()}
        shown: list[Finding] = []
        goal, relations = self._resolved(goal, relations, facts, setting, shown)
        for relation in needed:
            if relation is sp.true:
                continue
            for count in () if relation is sp.false else (relation.lhs - relation.rhs,):
                if not whole(count, setting):
                    return undecided(f"that {count} is an integer is not known", tuple(shown))
            if relation is sp.false:
                return undecided("a position is not one of the draws", tuple(shown))
            one = decide(relation, scalars(facts), setting)
            if one.status is not Status.PROVED:
                return undecided(f"not shown: {relation}", (*shown, one))
            shown.append(one)
        found = self.by.check(goal, relations, setting)
        if found.status is not Status.PROVED:
            return replace(found, claim=text)
        certificate = {"kind": "expectation", "laws": [_law(known[n]) for n in self.laws], "put in": values}
        return replace(
            found,
            how=f"expectations, {found.how}",
            certificate={**certificate, "then": found.certificate},
            parts=(*shown, *found.parts),
            claim=text,
        )

    def _resolved(
        self, goal: Any, relations: dict[str, Any], facts: Mapping[str, Any], setting: Context, shown: list[Finding]
    ) -> tuple[Any, dict[str, Any]]:
        """max(1, n - 1) as n - 1 where the facts show that there are two items."""
        found = {e for r in (goal, *relations.values()) if isinstance(r, sp.Rel) for e in r.atoms(sp.Max)}
        values: dict[Any, Any] = {}
        for largest in found:
            others = [e for e in largest.args if e != 1]
            if len(others) == 1 and len(largest.args) == 2:
                one = decide(sp.Ge(others[0], 1), scalars(facts), setting)
                if one.status is Status.PROVED:
                    shown.append(one)
                    values[largest] = others[0]
        return put(goal, values), {k: put(r, values) for k, r in relations.items()}


@dataclass(frozen=True)
class EverySample:
    """An equation of vectors that holds for every outcome, since an epoch draws every item once.

    law: name of the order.
    """

    law: str

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "every item once"

    def check(self, claim: Any, facts: Mapping[str, Any], setting: Context) -> Finding:
        """PROVED where both sides are identical with the sums over whole epochs put in."""
        text = str(claim)
        law = next((law for law in setting.laws if law.name == self.law), None)
        if not isinstance(claim, VectorEquality) or not isinstance(law, Order):
            note = "the claim must be an equation of vectors, about an order of the derivation"
            return Finding(Status.UNDECIDED, "no decision", note=note, claim=text)
        values = {atom: law.whole(atom) for side in (claim.left, claim.right) for atom, _ in side.terms}
        shown: list[Finding] = []
        for atom, found in values.items():
            place = None if found is None else law.place(atom)
            if found is None or place is None:
                continue
            for number, least in ((law.size(place), 1), (found[1], 0)):
                relation = sp.Ge(number, least)
                if relation == sp.true:
                    continue
                one = decide(relation, scalars(facts), setting)
                if not whole(number, setting) or one.status is not Status.PROVED:
                    note = f"not shown: {number} is an integer that is at least {least}"
                    return Finding(Status.UNDECIDED, "no decision", note=note, parts=(*shown, one), claim=text)
                shown.append(one)

        def image(atom: Any) -> Vector:
            found = values[atom]
            return Vector(((atom, sp.Integer(1)),)) if found is None else found[0]

        found = Identity().check(VectorEquality(claim.left.map(image), claim.right.map(image)), facts, setting)
        if found.status is not Status.PROVED:
            return replace(found, claim=text)
        put_in = [{"sum": str(a), "value": str(v[0])} for a, v in values.items() if v is not None]
        certificate = {"kind": "every item once", "law": _law(law), "put in": put_in, "then": found.certificate}
        return replace(found, how=self.label, certificate=certificate, parts=(*shown, *found.parts), claim=text)


def _law(law: Law) -> dict[str, Any]:
    return {"name": law.name, "kind": type(law).__name__, "of": law.of, "words": law.words()}


def _expected(relation: Any, law: Law, needed: dict[Any, None], values: list[dict[str, str]]) -> Any:
    """The relation with the expectations of the law put in; fills what must hold for it."""
    if relation in (sp.true, sp.false) or not isinstance(relation, sp.Rel):
        return relation
    sides: list[Any] = []
    for side in relation.args:
        found: dict[Any, Any] = {}
        for product in _outside(side):
            expected = law.expected(*product.args)
            if expected is not None:
                found[product] = expected[0]
                needed |= dict.fromkeys(expected[1])
                entry = {"product": str(product), "expectation": str(expected[0])}
                if entry not in values:
                    values.append(entry)
        sides.append(sp.expand(side.xreplace(found)) if found else side)
    return relation.func(*sides, evaluate=False)


def _outside(expr: Any) -> set[Any]:
    """The inner products of an expression that are not terms of a sum."""
    found: set[Any] = set()
    stack = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, Inner):
            found.add(node)
        elif not isinstance(node, sp.Sum):
            stack += node.args
    return found
