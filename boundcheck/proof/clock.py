"""After how many rounds the terms of a derivation are taken, and which quantity each of them is.

A statement bounds a value after its rounds by values at its start. Where it is cited, the values that stand for these
must be as many rounds apart. The statement that is being derived gives the rounds of its own target and, for symbols
whose names end in _0, that they are values at the start; the author of the derivation gives those of other terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.errors import BadInput
from boundcheck.proof.language import same
from boundcheck.proof.vectors import Inner, Vector, VectorEquality


class Untimed(ArithmeticError):
    """A term is no value after one number of rounds; the message is a sentence without its full stop."""


def at_start(symbol: Any) -> bool:
    """Whether a symbol of a statement is a value at the start of its run."""
    return symbol.name.endswith("_0") or symbol.key.startswith("start/")


def only_at_start(statement: Any) -> str:
    """The first assumption of a statement that is about the start of its run only; empty without such an assumption."""
    return next((a.name for a in statement.assumptions if a.name.endswith("_at_start")), "")


def value_of(symbol: Any) -> str:
    """The quantity whose value at the start the symbol is."""
    return symbol.key.removeprefix("start/") if symbol.key.startswith("start/") else symbol.name.removesuffix("_0")


def _head(term: Any) -> Any:
    return type(term) if isinstance(term, AppliedUndef) else term


@dataclass(frozen=True)
class Clock:
    """The rounds of each term of a derivation.

    given: (term, rounds): a symbol, a function or a vector, with symbols as arguments, and an expression in these and
    in the statement's symbols; definitions: what symbols and vectors are short for; indices: symbols that are no values
    of a run; roles: (term, quantity) pairs of what the steps cite. Raises BadInput where the rounds contradict the
    statement or each other.
    """

    statement: Any
    target: Any
    given: tuple[tuple[Any, Any], ...] = ()
    definitions: Mapping[Any, Any] = field(default_factory=dict[Any, Any])
    indices: frozenset[Any] = frozenset()
    roles: tuple[tuple[Any, str], ...] = ()

    def __post_init__(self) -> None:
        where = f"{self.statement.id}: the rounds of"
        heads: set[Any] = set()
        for term, rounds in self._patterns():
            arguments: tuple[Any, ...] = term.args if isinstance(term, AppliedUndef) else ()
            if not (term.is_Symbol or isinstance(term, AppliedUndef)):
                raise BadInput(f"{where} {term}: only a symbol, a function or a vector has rounds.")
            if len(set(arguments)) != len(arguments) or not all(a.is_Symbol for a in arguments):
                raise BadInput(f"{where} {term}: its arguments must be symbols, each once.")
            own = {s.expr for s in self.statement.symbols}
            if not sp.sympify(rounds, strict=True).free_symbols <= own | set(arguments):
                raise BadInput(f"{where} {term}: {rounds} may mention its arguments and symbols of the statement only.")
            if _head(term) in heads:
                raise BadInput(f"{where} {term} are given twice.")
            if self._definition(term) is not None:
                raise BadInput(f"{where} {term} follow from its definition.")
            if term in self.indices or str(term) in self.statement.parameters:
                raise BadInput(f"{where} {term}: an index or a parameter of the method is no value of a run.")
            if term in own and at_start(self.statement.symbol(term.name)):
                raise BadInput(f"{where} {term} are 0: it is a value at the start.")
            heads.add(_head(term))
        self._check_target(where, heads)

    def _check_target(self, where: str, heads: set[Any]) -> None:
        if _head(self.target) not in heads:
            return
        if self._averaged():
            raise BadInput(f"{where} {self.target}: the statement bounds an average over rounds, which has none.")
        if not same(self.rounds(self.target), self.statement.metric.rounds):
            wanted = self.statement.metric.rounds
            raise BadInput(f"{where} {self.target} are {self.rounds(self.target)}, but the statement's are {wanted}.")

    def _averaged(self) -> bool:
        return self.statement.metric.over_rounds

    def _patterns(self) -> Iterator[tuple[Any, Any]]:
        for term, rounds in self.given:
            if isinstance(term, Vector):
                if len(term.terms) != 1 or term.terms[0][1] != 1:
                    raise BadInput(f"{self.statement.id}: the rounds of {term}: only single vectors have rounds.")
                yield term.terms[0][0], sp.sympify(rounds, strict=True)
            else:
                yield term, sp.sympify(rounds, strict=True)

    def _definition(self, term: Any) -> Any:
        for defined, value in self.definitions.items():
            if _head(defined) == _head(term):
                return _at(value, _arguments(defined, term))
        return None

    def _terms(self, expr: Any) -> Iterator[tuple[Any, frozenset[Any]]]:
        """The symbols, functions and vectors of an expression, with what definitions stand for."""
        for term, bound in _values(expr):
            meaning = self._definition(term)
            if meaning is None:
                yield term, bound
            else:
                yield from ((one, bound | more) for one, more in self._terms(meaning))

    def rounds(self, expr: Any) -> Any:
        """The rounds done where the expression is taken, or None where it mentions no value of a run.

        Raises Untimed where the rounds of a part are not given, or where two parts have different ones.
        """
        found: list[Any] = []
        for term, bound in self._terms(expr):
            one = self._rounds_of(term)
            if one is None:
                continue
            if one.free_symbols & bound:
                raise Untimed(f"{expr} mixes values after different numbers of rounds")
            if found and not same(found[0], one):
                raise Untimed(f"{expr} mixes values after {found[0]} and after {one} rounds")
            found.append(one)
        return found[0] if found else None

    def _rounds_of(self, term: Any) -> Any:
        for pattern, rounds in self._patterns():
            if _head(pattern) == _head(term):
                return rounds.xreplace(_arguments(pattern, term))
        if term == self.target and not self._averaged() and self.statement.algorithm is not None:
            return sp.sympify(self.statement.metric.rounds, strict=True)
        own = {s.expr: s for s in self.statement.symbols}
        if term in own:
            return sp.Integer(0) if at_start(own[term]) else None
        if term in self.indices:
            return None
        raise Untimed(f"after how many rounds {term} is taken is not given")

    def knows(self, term: Any) -> bool:
        """Whether the rounds of a function are given, here or by the statement."""
        heads = [_head(self.target), *(_head(pattern) for pattern, _ in self._patterns())]
        return _head(term) in heads

    def apart(self, metric: Any, images: Iterable[Any], rounds: Any, later: bool) -> str:
        """Why the metric is not taken `rounds` rounds after the images; empty where it is.

        later: the images may be values after some rounds; otherwise they are values at the start.
        """
        try:
            starts = [one for one in (self.rounds(image) for image in images) if one is not None]
            end = self.rounds(metric)
        except Untimed as reason:
            return str(reason)
        if later and not starts:
            return "no value at its start stands for one of this derivation"
        start = starts[0] if starts else sp.Integer(0)
        if any(not same(start, one) for one in starts):
            return f"what stands for its start is taken after {', '.join(dict.fromkeys(map(str, starts)))} rounds"
        if not later and not same(start, sp.Integer(0)):
            return f"what stands for its start is taken after {start} rounds"
        if end is None:
            return f"{metric} is no value of a run"
        if not same(end - start, rounds):
            return f"{metric} is taken {sp.expand(end - start)} rounds after its start, and the bound is for {rounds}"
        return ""

    def not_started(self, images: Iterable[Any]) -> str:
        """Why some image is no value at the start; empty where all are."""
        try:
            other = next((i for i in images if not same(self.rounds(i) or sp.Integer(0), sp.Integer(0))), None)
        except Untimed as reason:
            return str(reason)
        return "" if other is None else f"{other} is no value at the start"

    def later(self, images: Iterable[Any]) -> bool:
        """Whether what stands for values at the start is, or may be, taken after some rounds; raises Untimed."""
        starts = [one for one in (self.rounds(image) for image in images) if one is not None]
        return not starts or not same(starts[0], sp.Integer(0))

    def other_quantity(self, expr: Any, quantity: str) -> str:
        """Why the expression is not the quantity, by the statement or by another citation; empty where none says so."""
        known = [(s.expr, value_of(s)) for s in self.statement.symbols if at_start(s)]
        for term, _ in self._terms(expr):
            for other, role in (*known, (self.target, self.statement.metric.quantity), *self.roles):
                if _head(other) == _head(term) and role != quantity:
                    return f"{expr} stands for {quantity}, and {other} for {role}"
        return ""

    def no_start(self, image: Any) -> str:
        """Why the image of a value at the start is no value of a run; empty where it is. Raises Untimed."""
        constants = {s.expr for s in self.statement.symbols if not at_start(s)}
        constant = next((term for term, _ in self._terms(image) if term in constants), None)
        if constant is not None or self.rounds(image) is None:
            return f"{image} is no value of a run, for which the value at its start could stand"
        return ""


def _arguments(pattern: Any, term: Any) -> dict[Any, Any]:
    if not isinstance(term, AppliedUndef):
        return {}
    if len(pattern.args) != len(term.args):
        raise Untimed(f"{term} has another number of arguments than {pattern}")
    return dict(zip(pattern.args, term.args, strict=True))


def _at(value: Any, arguments: Mapping[Any, Any]) -> Any:
    if isinstance(value, Vector):
        return Vector(tuple((a.xreplace(arguments), c.xreplace(arguments)) for a, c in value.terms))
    return value.xreplace(arguments)


def _values(expr: Any, bound: frozenset[Any] = frozenset()) -> Iterator[tuple[Any, frozenset[Any]]]:
    """The symbols, functions and vectors of an expression, without the arguments of functions."""
    if isinstance(expr, Vector):
        for atom, factor in expr.terms:
            yield from _values(atom, bound)
            yield from _values(factor, bound)
    elif isinstance(expr, VectorEquality):
        yield from _values(expr.left - expr.right, bound)
    elif isinstance(expr, sp.Sum):
        limits: Any = expr.limits
        yield from _values(expr.function, bound | {limit[0] for limit in limits})
    elif isinstance(expr, AppliedUndef) and not isinstance(expr, Inner):
        yield expr, bound
    elif expr.is_Symbol:
        if expr not in bound:
            yield expr, bound
    else:
        for part in expr.args:
            yield from _values(part, bound)
