"""The conclusions of other statements as methods of steps.

`Cited` starts a run of the cited statement anew; `Instance` takes its conclusion for the same run, or a general lemma
at given terms; `Lemma` takes it on average over what happened before, `ForVectors` for vectors that are drawn as its
own, and `Specialised` from a general method. Each is a term of another statement put in place of one here: whether
the cited statement is about that is decided in `proof.about`, and what follows then by the verifier.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.errors import BadInput
from boundcheck.proof.clock import at_start, value_of
from boundcheck.proof.discovery import derivation
from boundcheck.proof.language import parts
from boundcheck.proof.laws import head
from boundcheck.proof.methods import Citation
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Inner, Vector, inner, vector
from boundcheck.theory.discovery import statement as find_statement
from boundcheck.theory.special_cases import SPECIAL_CASES, SpecialCase


@dataclass(frozen=True)
class Cited(Citation):
    """The bound of another statement, for a run of the same method on the same objective from an explicit start.

    run: that run's metric as an expression in `clock`, the rounds done, so that `run` at 0 is the start and `run` at
    the cited statement's rounds is what it bounds: a function without a definition, of the clock and of what tells the
    runs apart; where the derivation gives its rounds, the clock counts them. Every symbol of the cited statement but
    the metric at the start must be declared alike in the citing one and stands for itself.
    """

    label = "citation for a new run"
    statement: str
    run: Any
    clock: Any

    def images(self, cited: Any) -> dict[Any, Any]:
        """The cited statement's metric at the start -> the run at 0."""
        name = f"{cited.metric.quantity}_0"
        return {s.expr: self.run.subs(self.clock, 0) for s in cited.symbols if s.name == name}

    def bounded(self, cited: Any) -> Any:
        """What is bounded: the run after the cited statement's rounds."""
        return self.run.subs(self.clock, cited.metric.rounds)

    def roles(self) -> tuple[tuple[Any, str], ...]:
        """What the run is."""
        return ((self.run, find_statement(self.statement).metric.quantity),)

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The cited bound with the start of the run put in."""
        cited = find_statement(self.statement)
        return sp.Le(self.bounded(cited), cited.bound.xreplace(self.images(cited)), evaluate=False)


@dataclass(frozen=True)
class Instance(Citation):
    """The bound of another statement on the run that the citing statement is about, or of a general lemma.

    metric: the unscaled quantity that it bounds, as an expression; images: pairs (name of a symbol of the cited
    statement, expression that it stands for). A statement about a method must be about the citing one's (it may leave
    out parameters that it does not need), so both are about one run from one start, under assumptions that the citing
    statement makes too. Values at the start, whose names end in _0, need an image each: the same value of the citing
    statement, or a quantity of its own that is taken there; the metric must be taken as many rounds later as the cited
    statement says, by the rounds that the derivation gives. Its other symbols stand for themselves and must be declared
    alike in the citing one. The symbols of a statement about no method need an image each.
    """

    label = "citation"
    statement: str
    metric: Any
    pairs: tuple[tuple[str, Any], ...] = ()

    def images(self, cited: Any) -> dict[Any, Any]:
        """Symbol of the cited statement -> what it stands for here."""
        return {cited.symbol(name).expr: expr for name, expr in self.pairs}

    def bounded(self, cited: Any) -> Any:
        """What is bounded, times the scale of the cited metric."""
        return cited.metric.scale.xreplace(self.images(cited)) * self.metric

    def roles(self) -> tuple[tuple[Any, str], ...]:
        """What the metric and the images of values at the start are, where these are single terms."""
        return roles_of(find_statement(self.statement), self.metric, dict(self.pairs))

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The cited bound with the images put in."""
        cited = find_statement(self.statement)
        return sp.Le(self.bounded(cited), cited.bound.xreplace(self.images(cited)), evaluate=False)


@dataclass(frozen=True)
class Specialised(Instance):
    """The bound of a statement about a general method, for a run of the special one that is being derived.

    The symbols of the general method have the values that `theory.special_cases` gives, the others must be declared
    alike in both statements. That the special method is the general one with these values is named by the proof.
    """

    label = "citation of a more general method"

    def values(self, cited: Any) -> dict[Any, Any]:
        """Symbol of the general method -> its value for the special one."""
        case, names = self.case, {s.name for s in cited.symbols}
        return {} if case is None else {cited.symbol(n).expr: e for n, e in case.values if n in names}

    @property
    def case(self) -> SpecialCase | None:
        """The special case of the cited method."""
        kind = find_statement(self.statement).algorithm
        return next((case for case in SPECIAL_CASES.values() if kind is not None and case.general == kind.kind), None)

    def images(self, cited: Any) -> dict[Any, Any]:
        """Symbol of the cited statement -> what it stands for here."""
        return {**self.values(cited), **super().images(cited)}


@dataclass(frozen=True)
class Lemma(Citation):
    """The bound of another statement about the same method, for a quantity of this derivation.

    metric: the mean of what it bounds, over all that happened before; means: expression in the cited statement's
    symbols -> the mean of it. The bound must be linear in these expressions, so that its mean is the bound at their
    means, and the cited statement's hypotheses must not mention their symbols.

    Values at the start (names that end in _0) stand for nothing unless they are averaged; the metric must be taken as
    many rounds after their means as the cited statement says, by the rounds that the derivation gives. A value at the
    start of the citing statement is the mean of the same one only. Every other symbol that both statements declare
    alike is a constant, and stands for itself. A mean lies in the domain of what it is the mean of.

    at: constants of the cited statement -> values that its domain allows, such as mu = 0 for convex functions; a step
    size too, where it has this value in all the rounds that the cited statement is about.
    """

    label = "citation on average"
    statement: str
    metric: Any
    means: Mapping[Any, Any] = field(default_factory=dict[Any, Any])
    at: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def averaged(self) -> set[Any]:
        """The symbols of the cited statement that may differ from outcome to outcome."""
        return {s for expr in self.means for s in expr.free_symbols}

    def images(self, cited: Any) -> dict[Any, Any]:
        """The constants of the cited statement that have a value here."""
        return {cited.symbol(name).expr: sp.sympify(value, strict=True) for name, value in self.at.items()}

    def bounded(self, cited: Any) -> Any:
        """The mean of what the cited statement bounds."""
        return self.metric

    def roles(self) -> tuple[tuple[Any, str], ...]:
        """What the metric and the means of values at the start are, where these are single terms."""
        return roles_of(find_statement(self.statement), self.metric, {str(e): m for e, m in self.means.items()})

    def linear(self, cited: Any) -> tuple[Any, dict[Any, Any]]:
        """(rest, expression -> factor) with the cited bound equal to rest + the sum of factor * expression.

        Raises BadInput where it is not linear in what is averaged.
        """
        rest, factors = sp.Integer(0), dict.fromkeys(self.means, sp.Integer(0))
        for term in sp.Add.make_args(sp.expand(cited.bound.xreplace(self.images(cited)))):
            if not term.free_symbols & self.averaged:
                rest += term
                continue
            expr = next((e for e in self.means if not (term / e).free_symbols & self.averaged), None)
            if expr is None:
                raise BadInput(
                    f"{self.statement}: its bound has the term {term}, which is no multiple of what is averaged."
                )
            factors[expr] += term / expr
        return rest, factors

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The mean of the cited bound."""
        rest, factors = self.linear(find_statement(self.statement))
        return sp.Le(self.metric, rest + sum(c * self.means[e] for e, c in factors.items()), evaluate=False)


@dataclass(frozen=True)
class ForVectors(Citation):
    """The bound of another statement about the same method, for vectors that are drawn as its own are.

    No mean is presumed: the cited derivation says what its metric and its symbols are, as squared norms of its vectors.
    vectors: name and arguments of a vector of its derivation, such as f(e), and what stands for it; numbers: pairs of
    an expression in its symbols and the mean of it, for what no vector of its derivation says; kept: its symbols that
    stand for themselves, where the facts show of the images what it says. Vectors of its derivation that have no image
    are those of the cited run itself, such as its local steps.
    """

    label = "citation for vectors"
    statement: str
    vectors: tuple[tuple[str, tuple[Any, ...], Vector], ...]
    numbers: tuple[tuple[Any, Any], ...] = ()
    kept: tuple[Any, ...] = ()

    @property
    def lemma(self) -> Lemma:
        """The lemma with its metric and means; raises BadInput where nothing stands for one of their vectors."""
        metric: Any = None
        means: dict[Any, Any] = {s: s for s in self.kept}
        image = _Map(self.statement, self.vectors)
        for symbol, part in self._meanings(image):
            value = part.rhs if part.lhs == symbol else part.lhs
            if symbol == derivation(self.statement).target:
                metric = image.number(value)
            elif symbol not in self.kept:
                means[symbol] = image.number(value)
        if metric is None:
            raise BadInput(f"no vectors stand for the metric of {self.statement}.")
        return Lemma(self.statement, metric, {**means, **dict(self.numbers)})

    def _meanings(self, image: _Map) -> Iterator[tuple[Any, Any]]:
        """(symbol, fact) for what the cited derivation says of the metric and of symbols by its vectors."""
        proof = derivation(self.statement)
        found: set[Any] = set()
        own = {proof.target, *(s.expr for s in proof.statement.symbols)}
        for part in (part for fact in proof.facts if fact.kind == "metric" for part in parts(fact.claim)):
            symbol = _said(part, own)
            if symbol is None:
                continue
            if not image.knows(part):
                raise BadInput(
                    f"nothing stands for a vector of what {self.statement} says of {symbol}, which is {part}."
                )
            if symbol in found:
                raise BadInput(f"{self.statement} says two things of {symbol}, which no single expression need meet.")
            found.add(symbol)
            yield symbol, part

    def roles(self) -> tuple[tuple[Any, str], ...]:
        """What single terms the lemma takes for which quantity."""
        return self.lemma.roles()

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The bound for the vectors."""
        return self.lemma.instance(facts)


def plain(**images: Vector) -> tuple[tuple[str, tuple[Any, ...], Vector], ...]:
    """What stands for vectors of the cited derivation that have no arguments, by their names."""
    return tuple((name, (), image) for name, image in images.items())


def role_of(symbol: Any) -> str:
    """The quantity that a symbol of a round is: the metrics of a round's work are called alike."""
    from boundcheck.theory.dimension import QUANTITIES

    name = symbol.key.removeprefix("round/")
    return f"work_{name}" if f"work_{name}" in QUANTITIES else symbol.key.replace("/", "_")


def roles_of(cited: Any, metric: Any, images: Mapping[str, Any]) -> tuple[tuple[Any, str], ...]:
    """(term, quantity) for the metric and for the images of values at the start, by name, that are single terms."""
    found = [(metric, cited.metric.quantity)] if cited.algorithm is not None or cited.any_method else []
    found += [(images[s.name], value_of(s)) for s in cited.symbols if at_start(s) and s.name in images]
    if cited.any_method:
        found += [(images[s.name], role_of(s)) for s in cited.symbols if s.key and s.name in images]
    return tuple((term, role) for term, role in found if term.is_Symbol or isinstance(term, AppliedUndef))


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
