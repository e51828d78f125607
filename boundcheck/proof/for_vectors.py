"""A lemma of the package for vectors of the derivation at hand: no mean is presumed, each is what the lemma's own is.

The cited derivation says what its metric and its symbols are, as squared norms of its vectors, and how these depend on
each other. Vectors of the derivation at hand stand for them; so the metric and the means are expressions in these, the
equations between them must hold here too, and what the cited derivation knows before a draw must be known here before
what depends on that draw (the tower rule: its bound is linear in inner products, so it holds in the mean over all that
happened before).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.errors import BadInput
from boundcheck.proof.cited import rests_on
from boundcheck.proof.discovery import derivation
from boundcheck.proof.language import parts, symbols_of
from boundcheck.proof.laws import head, heads
from boundcheck.proof.lemma import Lemma
from boundcheck.proof.outcomes import earlier
from boundcheck.proof.rules.base import Obligation, Rule
from boundcheck.proof.step import Context, Finding, Status
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Inner, Vector, VectorEquality, inner, vector


@dataclass(frozen=True)
class ForVectors(Rule):
    """The bound of another statement about the same method, for vectors that are drawn as its own are.

    statement: full id, with the reading; vectors: name and arguments of a vector of its derivation, such as f(e), and
    what stands for it; numbers: pairs of an expression in its symbols and the mean of it, for what no vector of its
    derivation says; kept: its symbols that stand for themselves, where the facts show of the images what it says.
    Vectors of its derivation that have no image are those of the cited run itself, such as its local steps.
    """

    statement: str
    vectors: tuple[tuple[str, tuple[Any, ...], Vector], ...]
    numbers: tuple[tuple[Any, Any], ...] = ()
    kept: tuple[Any, ...] = ()

    @property
    def label(self) -> str:
        """What the report calls it."""
        return f"lemma for vectors: {self.statement}"

    @property
    def theorem(self) -> str:
        """The cited statement, whose own derivation says how strong the step is."""
        return self.statement

    def _map(self) -> _Map:
        return _Map(self.statement, self.vectors)

    def lemma(self) -> Lemma:
        """The lemma with its metric and means; raises BadInput where nothing stands for one of their vectors."""
        metric: Any = None
        means: dict[Any, Any] = {s: s for s in self.kept}
        for symbol, part in self._meanings():
            value = part.rhs if part.lhs == symbol else part.lhs
            if symbol == derivation(self.statement).target:
                metric = self._map().number(value)
            elif symbol not in self.kept:
                means[symbol] = self._map().number(value)
        if metric is None:
            raise BadInput(f"no vectors stand for the metric of {self.statement}.")
        return Lemma(self.statement, metric, {**means, **dict(self.numbers)})

    def _meanings(self) -> Iterator[tuple[Any, Any]]:
        """(symbol, fact) for what the cited derivation says of the metric and of symbols by its vectors."""
        proof, image = derivation(self.statement), self._map()
        found: set[Any] = set()
        own = {proof.target, *(s.expr for s in proof.statement.symbols)}
        for part in (part for fact in proof.facts if fact.kind == "metric" for part in parts(fact.claim)):
            symbol = _said(part, own)
            if symbol is not None and not image.knows(part):
                raise BadInput(
                    f"nothing stands for a vector of what {self.statement} says of {symbol}, which is {part}."
                )
            if symbol in found:
                raise BadInput(f"{self.statement} says two things of {symbol}, which no single expression need meet.")
            if symbol is not None:
                found.add(symbol)
                yield symbol, part

    def named(self) -> tuple[str, ...]:
        """What the vectors are, and the numbers that no vector says."""
        found = [f"{image} is {vector(name, *own)} of {self.statement}" for name, own, image in self.vectors]
        return (*found, *(f"{mean} is {expr} of {self.statement}" for expr, mean in self.numbers if mean != expr))

    def cited(self) -> tuple[str, ...]:
        """The derivation on which the step rests."""
        return rests_on(self.statement)

    def roles(self) -> tuple[tuple[Any, str], ...]:
        """What single terms the lemma takes for which quantity."""
        return self.lemma().roles()

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The bound for the vectors."""
        return self.lemma().instance(facts)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """Those of the lemma."""
        yield from self.lemma().obligations(facts)

    def check(self, claim: Any, facts: Mapping[str, Any], setting: Context) -> Finding:
        """UNDECIDED where the vectors do not depend on each other as the cited ones do; else what the lemma finds."""
        reason = self._unlike(facts, setting) or self._late(setting)
        if reason:
            return Finding(Status.UNDECIDED, "no decision", note=reason, claim=str(claim))
        return self.lemma().check(claim, facts, setting)

    def _unlike(self, facts: Mapping[str, Any], setting: Context) -> str:
        """The first fact about mapped vectors alone that is not shown of their images."""
        from boundcheck.proof.gram import Combine

        image, proof = self._map(), derivation(self.statement)
        for fact in proof.facts:
            if fact.kind not in ("definition", "algorithm", "assumption") or fact.instance is not None:
                continue
            for part in parts(fact.claim):
                if not image.mentions(part) or (fact.kind == "definition" and isinstance(part, sp.Eq)):
                    continue  # what it defines is its own
                for index in symbols_of(part):
                    own, here = ({r for s, r in ranges if s == index} for ranges in (proof.ranges(), setting.ranges))
                    if own - here or (own and here - own):
                        return f"{index} has another range in {self.statement}"
                wanted = image.claim(part)
                if wanted not in facts.values() and Combine().check(wanted, facts, setting).status is not Status.PROVED:
                    return f"'{fact.name}' of {self.statement} is not shown of what stands for its vectors: {wanted}"
        said = dict(self._meanings())
        for symbol in self.kept:
            wanted = image.claim(said[symbol]) if symbol in said else sp.false
            if wanted not in facts.values() and Combine().check(wanted, facts, setting).status is not Status.PROVED:
                return f"that {symbol} is for the images what it is in {self.statement} is not shown"
        return ""

    def _late(self, setting: Context) -> str:
        """Why something that the cited derivation knows before a draw is not known before it here."""
        proof, image = derivation(self.statement), self._map()
        if not proof.laws:
            return ""
        if not setting.drawn:
            return "on which draws the vectors depend is not declared"
        own = [(head(vector(name, *arguments).terms[0][0]), image) for name, arguments, image in self.vectors]
        for law in proof.laws:
            known, late = _fixed(proof, law), _dependent(proof, law)
            for first in (v for h, v in own if h in known):
                for second in (v for h, v in own if h in late):
                    if not earlier(setting.statement.id, setting.drawn, setting.ranges, first, second):
                        return f"{first} is not known before what {second} depends on"
        return "" if image else "no vector stands for one of the cited derivation"


def plain(**images: Vector) -> tuple[tuple[str, tuple[Any, ...], Vector], ...]:
    """What stands for vectors of the cited derivation that have no arguments, by their names."""
    return tuple((name, (), image) for name, image in images.items())


def _fixed(proof: Any, law: Any) -> set[Any]:
    """Heads of the past of a law, and of what is defined by it."""
    known = set(law.known())
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


def _said(part: Any, symbols: set[Any]) -> Any:
    """The symbol of a fact that says what it is by inner products, or that it is at least or at most such."""
    if isinstance(part, sp.Eq | sp.Le) and part.lhs in symbols and part.rhs.has(Inner):
        return part.lhs
    return part.rhs if isinstance(part, sp.Eq | sp.Le) and part.rhs in symbols and part.lhs.has(Inner) else None


class _Map:
    """A linear map of the vectors of one derivation into those of another."""

    def __init__(self, where: str, vectors: tuple[tuple[str, tuple[Any, ...], Vector], ...]) -> None:
        self.where = where
        self.images: dict[Any, tuple[tuple[Any, ...], Vector]] = {}
        for name, arguments, image in vectors:
            if len(set(arguments)) != len(arguments) or not all(a.is_Symbol for a in arguments):
                raise BadInput(f"{where}: the arguments of its vector {name} must be symbols, each once.")
            own = head(vector(name, *arguments).terms[0][0])
            if own in self.images:
                raise BadInput(f"{where}: two vectors stand for {name}.")
            self.images[own] = (arguments, image)

    def _atoms(self, claim: Any) -> set[Any]:
        if isinstance(claim, VectorEquality):
            return {a for side in (claim.left, claim.right) for a, _ in side.terms}
        return {a for product in claim.atoms(Inner) for a in product.args}

    def mentions(self, claim: Any) -> bool:
        """Whether the proposition is about vectors, and about vectors with images alone."""
        atoms = self._atoms(claim)
        return bool(atoms) and all(head(a) in self.images for a in atoms)

    def knows(self, expr: Any) -> bool:
        """Whether all vectors of the expression have images."""
        return all(head(a) in self.images for product in expr.atoms(Inner) for a in product.args)

    def atom(self, atom: Any) -> Vector:
        """The image of one vector atom."""
        if isinstance(atom, sp.Sum):
            ((index, low, high),) = atom.limits
            if low != 0:
                raise BadInput(f"{self.where}: the sum {atom} has no image.")
            own = sp.Dummy("index", real=True)
            return vector_total(self.atom(atom.function.xreplace({index: own})), own, high + 1)
        if head(atom) not in self.images:
            raise BadInput(f"{self.where}: nothing stands for its {atom}.")
        arguments, image = self.images[head(atom)]
        values = dict(zip(arguments, getattr(atom, "args", ()), strict=True)) if arguments else {}
        return Vector.of({a.subs(values, simultaneous=True): c.subs(values, simultaneous=True) for a, c in image.terms})

    def number(self, expr: Any) -> Any:
        """The expression with the images in its inner products."""
        if isinstance(expr, Inner):
            return inner(*(self.atom(a) for a in expr.args))
        if isinstance(expr, sp.Sum):
            ((index, _, high),) = expr.limits
            own = sp.Dummy("index", real=True)
            return total(self.number(expr.function.xreplace({index: own})), own, high + 1)
        if not expr.args or isinstance(expr, AppliedUndef):
            return expr
        return expr.func(*(self.number(a) for a in expr.args))

    def claim(self, claim: Any) -> Any:
        """The proposition about the images."""
        if isinstance(claim, VectorEquality):
            return VectorEquality(claim.left.map(self.atom), claim.right.map(self.atom))
        return claim.func(*(self.number(side) for side in claim.args), evaluate=False)

    def __bool__(self) -> bool:
        return bool(self.images)
