"""Facts of a derivation evaluated exactly on a run: their own claims, with fractions for everything they mention."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from boundcheck.proof.derivation import Derivation
from boundcheck.proof.language import parts, symbols_of
from boundcheck.proof.step import Fact
from boundcheck.proof.vectors import Inner, Vector, VectorEquality

F = Fraction
Gradient = Callable[[str, Any, Any], Any]  # (function, which, point) -> gradient of that function there


@dataclass(frozen=True)
class Outcome:
    """One outcome of the random choices: its probability, vectors by name (functions of indices), and gradients."""

    probability: Fraction
    vectors: Mapping[str, Callable[..., Any]]
    gradient: Gradient


@dataclass(frozen=True)
class Replay:
    """What a run of the real method gives for the symbols of a derivation.

    numbers: by the name of a symbol; functions: of numbers, or of a SymPy symbol where a derivative is taken; ranges:
    values of an index that is real or has no upper end.
    """

    numbers: Mapping[str, Fraction]
    outcomes: Sequence[Outcome]
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    ranges: Mapping[str, Sequence[Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """A part of a fact at one choice of its indices: both sides, and whether it holds."""

    left: Any
    right: Any
    holds: bool

    @property
    def tight(self) -> bool:
        """Whether both sides are equal, and not 0 by chance."""
        return self.left == self.right != 0


def evaluated(derivation: Derivation, fact: Fact, replay: Replay) -> list[Found]:
    """The parts of the fact's claim at all values of the indices that it mentions.

    KeyError for a symbol that the replay does not give. An inner product is the mean over the outcomes; an equation
    of vectors is evaluated in each outcome.
    """
    reader = _Reader(derivation, replay)
    return [found for part in parts(fact.claim) for at in reader.places(part) for found in reader.relation(part, at)]


def misplaced(derivation: Derivation, fact: Fact, replay: Replay) -> list[str]:
    """Evaluations of a fact from the catalogue whose gradient is not that of the function at the point.

    Gradients of one function are compared by their differences, since a linear part may have been left out.
    """
    reader = _Reader(derivation, replay)
    wrong: list[str] = []
    for at in reader.places(fact.claim):
        for outcome in replay.outcomes:
            own: dict[Any, list[tuple[Any, Any]]] = {}
            for one in fact.instance.at:
                if one.gradient is not None:
                    which = None if one.which is None else reader.number(one.which, at)
                    real = outcome.gradient(one.function, which, reader.vector(one.point, at, outcome))
                    said = reader.vector(one.gradient, at, outcome)
                    own.setdefault((one.function, which), []).append((real, said))
            for (function, which), pairs in own.items():
                first = pairs[0] if len(pairs) > 1 else (0, 0)
                for real, said in pairs:
                    if any((real - first[0]) != (said - first[1])):
                        wrong.append(f"{fact.name}: {function} of {which}")
    return wrong


class _Reader:
    def __init__(self, derivation: Derivation, replay: Replay) -> None:
        self.replay = replay
        self.known: dict[Any, Any] = {}
        self.ranges = derivation.ranges()
        self.defined = {
            f.claim.lhs: f.claim.rhs for f in derivation.facts if f.kind == "definition" and isinstance(f.claim, sp.Eq)
        }
        self.defined_vectors = {
            f.claim.left.terms[0][0]: f.claim.right
            for f in derivation.facts
            if f.kind == "definition" and isinstance(f.claim, VectorEquality)
        }

    def places(self, claim: Any) -> Iterator[dict[Any, Any]]:
        """All values of the indices that the claim mentions."""
        wanted = symbols_of(claim)
        order = list(dict.fromkeys(symbol for symbol, _ in self.ranges))
        while True:
            more = {s for symbol, r in self.ranges if symbol in wanted for s in r.free_symbols if s in order}
            if more <= wanted:
                break
            wanted |= more
        yield from self._values([symbol for symbol in order if symbol in wanted], {})

    def _values(self, indices: list[Any], at: dict[Any, Any]) -> Iterator[dict[Any, Any]]:
        if not indices:
            yield at
            return
        first, *rest = indices
        relations = [r for symbol, r in self.ranges if symbol == first]
        values = self.replay.ranges.get(first.name)
        if values is None:
            low = max(self.number(r.rhs, at) for r in relations if isinstance(r, sp.Ge))
            high = min(self.number(r.rhs, at) for r in relations if isinstance(r, sp.Le))
            values = [low + k for k in range(int(high - low) + 1)]
        for value in values:
            here = {**at, first: value}
            if all(self._compare(r, here).holds for r in relations):
                yield from self._values(rest, here)

    def relation(self, claim: Any, at: Mapping[Any, Any]) -> Iterator[Found]:
        if isinstance(claim, VectorEquality):
            for outcome in self.replay.outcomes:
                left, right = (self.vector(side, at, outcome) for side in (claim.left, claim.right))
                size = sum(abs(v) for v in left - right)
                yield Found(F(0), size, size == 0)
        else:
            yield self._compare(claim, at)

    def _compare(self, claim: Any, at: Mapping[Any, Any]) -> Found:
        left, right = (self.number(side, at) for side in claim.args)
        kinds = {sp.Le: left <= right, sp.Lt: left < right, sp.Ge: left >= right, sp.Gt: left > right}
        return Found(left, right, kinds.get(type(claim), left == right))

    def number(self, expr: Any, at: Mapping[Any, Any]) -> Any:
        if expr in at:
            return at[expr]
        if expr.is_Rational:
            return F(expr.p, expr.q)
        if expr.is_Symbol:
            if expr.name not in self.replay.numbers and expr in self.defined:
                return self.number(self.defined[expr], at)
            return self.replay.numbers[expr.name]
        if isinstance(expr, Inner):
            a, b = (Vector(((atom, sp.Integer(1)),)) for atom in expr.args)
            return sum(
                (o.probability * sum(self.vector(a, at, o) * self.vector(b, at, o)) for o in self.replay.outcomes), F(0)
            )
        if isinstance(expr, sp.Sum):
            return sum((self.number(expr.function, inner) for inner in self._summed(expr, at)), F(0))
        if isinstance(expr, sp.Derivative):
            (variable,) = expr.variables
            path = self.replay.functions[type(expr.expr).__name__](variable)
            slope = sp.diff(path, variable).subs(variable, _sympy(at[variable]))
            return F(slope.p, slope.q)
        if isinstance(expr, AppliedUndef):
            value = self.replay.functions[type(expr).__name__](*(_sympy(self.number(a, at)) for a in expr.args))
            return value if isinstance(value, F | int) else F(value.p, value.q)
        values = [self.number(a, at) for a in expr.args]
        if expr.is_Add:
            return sum(values, F(0))
        if expr.is_Mul:
            product = F(1)
            for value in values:
                product *= value
            return product
        assert expr.is_Pow, expr
        assert values[1] == int(values[1]), expr
        return values[0] ** int(values[1])

    def _summed(self, expr: Any, at: Mapping[Any, Any]) -> Iterator[Mapping[Any, Any]]:
        ((index, low, high),) = expr.limits
        for k in range(int(self.number(low, at)), int(self.number(high, at)) + 1):
            yield {**at, index: F(k)}

    def vector(self, vector: Vector, at: Mapping[Any, Any], outcome: Outcome) -> Any:
        zero = 0 * outcome.vectors["zero"]()
        return sum((self.number(factor, at) * self._atom(atom, at, outcome) for atom, factor in vector.terms), zero)

    def _atom(self, atom: Any, at: Mapping[Any, Any], outcome: Outcome) -> Any:
        """One vector; those that a run gives are computed once for each choice of their indices."""
        if isinstance(atom, sp.Sum):
            zero = 0 * outcome.vectors["zero"]()
            return sum((self._atom(atom.function, inner, outcome) for inner in self._summed(atom, at)), zero)
        name = type(atom).__name__ if isinstance(atom, AppliedUndef) else atom.name
        if name not in outcome.vectors and atom in self.defined_vectors:
            return self.vector(self.defined_vectors[atom], at, outcome)
        place = (id(outcome), name, *(int(self.number(a, at)) for a in atom.args))
        if place not in self.known:
            self.known[place] = outcome.vectors[name](*place[2:])
        return self.known[place]


def _sympy(value: Any) -> Any:
    return sp.Rational(value.numerator, value.denominator) if isinstance(value, F | int) else value
