"""Points for claims about numbers: every symbol is drawn from its own domain, one may be pushed to the edge of scope.

A batch draws each symbol in one way: on a logarithmic scale of some width, or at a closed end of its domain. In half of
the batches one symbol is moved to just inside the edge of the conditions, where step conditions are tight.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp

from boundcheck.core.numbers import format_exact
from boundcheck.engines.curve import Floats
from boundcheck.errors import BadInput, Unsupported
from boundcheck.evidence.claim import Claim
from boundcheck.falsify.float_statement import FloatStatement, Known
from boundcheck.falsify.generator import Generator, Genes, Instance, Numbers
from boundcheck.theory.decide import Point
from boundcheck.theory.free_data import about_numbers, freed
from boundcheck.theory.statement import Condition, Kind, Statement
from boundcheck.theory.symbols import Symbol

WIDTHS = (0.3, 1.0, 2.0, 4.0)  # standard deviations of the logarithms of a batch's numbers
AT_AN_END = 0.15  # share of the symbols that are drawn at a closed end of their domain
AT_THE_EDGE = 0.5  # share of the batches with a symbol at the edge of scope
INSIDE = 1 - 1e-6  # how far inside, so that short fractions stay inside
POWERS = np.arange(-8, 8.01, 0.5)  # of 10, by which a symbol is moved in search of the edge
BISECTIONS = 40
LARGEST = 1e12  # no number is drawn beyond


@dataclass(frozen=True)
class Shape:
    """How a batch draws each symbol: the width of its logarithm, or an end of its domain as a number.

    edge: the symbol that is moved to the edge of scope, with the direction (1 up, -1 down); None for none.
    """

    widths: Mapping[str, float]
    ends: Mapping[str, float]
    edge: tuple[str, int] | None = None


class FreeNumbers(Generator):
    """Claims about numbers (`theory.free_data`), in their free data."""

    kinds = ()  # they are about no method

    def __init__(self, statement: Statement) -> None:
        if not about_numbers(statement):
            raise Unsupported(f"{statement.best_id} is not about numbers.")
        self.statement = self.original = statement
        own = freed(statement)
        # symbols that the claim itself determines: by a choice, or by a condition of the form symbol = expression
        self.determined: dict[str, Any] = dict(own.choices)
        for relation in (*own.domain, *(c.relation for c in own.conditions)):
            if not isinstance(relation, sp.Eq):
                continue
            left, right = relation.args
            if isinstance(left, sp.Symbol) and left not in right.free_symbols:
                self.determined.setdefault(left.name, right)
        self.drawn = [s for s in own.symbols if s.name not in self.determined]
        keyed = tuple(s.but(key=f"free/{s.name}") for s in own.symbols)
        relations = (*(c.relation for c in own.conditions), *own.domain)
        kept = tuple(Condition("scope", r) for r in relations if not isinstance(r, sp.Eq))
        compiled = FloatStatement(_plain(own, keyed, kept))
        self.claimed = compiled
        self._value, self._bound = compiled.formula(own.metric.value), compiled.formula(own.bound)
        self._determined = {name: compiled.formula(expr) for name, expr in self.determined.items()}
        self._limited = sorted({s.name for c in kept for s in c.relation.free_symbols} & {s.name for s in self.drawn})

    def draw(self, random: np.random.Generator) -> Shape:
        """A width or an end for every symbol, and perhaps a symbol at the edge of scope."""
        widths = {s.name: float(random.choice(WIDTHS)) for s in self.drawn}
        ends: dict[str, float] = {}
        for s in self.drawn:
            closed = [
                float(e) for e, open_ in ((s.low, s.low_open), (s.high, s.high_open)) if e is not None and not open_
            ]
            if s.low is None and s.high is None:
                closed = [0.0]
            if closed and random.random() < AT_AN_END:
                ends[s.name] = float(random.choice(closed))
        edge = None
        if self._limited and random.random() < AT_THE_EDGE:
            edge = (str(random.choice(self._limited)), int(random.choice([1, -1])))
        return Shape(widths, ends, edge)

    def genes(self, shape: Shape) -> Mapping[str, tuple[int, ...]]:
        """One normal number for each symbol."""
        return {s.name: (1,) for s in self.drawn}

    def decode(self, shape: Shape, genes: Genes) -> Numbers:
        """The numbers (B, 1) by symbol."""
        with np.errstate(all="ignore"):
            found = {s.name: _decoded(s, shape, genes[s.name]) for s in self.drawn}
            if shape.edge is not None and shape.edge[0] not in shape.ends:
                name, direction = shape.edge
                found[name] = self._at_the_edge(found, name, direction)
        return found

    def constants(self, shape: Shape, numbers: Numbers) -> Known:
        """Every symbol's number (B,) under its key."""
        known: dict[str, Any] = {f"free/{name}": values[:, 0] for name, values in numbers.items()}
        for name, formula in self._determined.items():
            known[f"free/{name}"] = formula(known)
        return known

    def scores(self, shape: Shape, numbers: Numbers) -> list[tuple[int, Floats]]:
        """How far the left side is on the wrong side of the right one, relative to both; -inf out of scope."""
        with np.errstate(all="ignore"):
            known = self.constants(shape, numbers)
            value, bound = (np.broadcast_to(f(known), known_size(numbers)) for f in (self._value, self._bound))
            apart = value - bound
            if self.original.kind is Kind.EQUALITY:
                apart = np.abs(apart)
            elif self.original.kind is Kind.LOWER_BOUND:
                apart = -apart
            score = np.where(apart == 0, 0.0, apart / (np.abs(value) + np.abs(bound)))
            usable = np.broadcast_to(self.claimed.in_scope(known), score.shape) & np.isfinite(score)
        return [(0, np.where(usable, score, -np.inf))]

    def claim(self, instance: Instance) -> Claim:
        """The claim at exact numbers. Raises BadInput where a determined symbol is irrational there."""
        at = {name: values[0] for name, values in instance.numbers.items()}
        for name, expr in self.determined.items():
            if name in dict(self.original.choices):
                continue
            exact = Point(expr, at).exact()
            if exact is None:
                raise BadInput(f"{self.original.best_id}: {name} is irrational at these numbers.")
            at[name] = exact
        return Claim(self.original, at={name: format_exact(value) for name, value in at.items()})

    def _at_the_edge(self, numbers: Numbers, name: str, direction: int) -> Floats:
        """The numbers of one symbol, moved to the last value in scope; those that are nowhere in scope stay."""
        start = np.where(numbers[name] == 0, 1.0, numbers[name])
        symbol = next(s for s in self.drawn if s.name == name)

        def inside(values: Floats) -> Any:
            known = self.constants(Shape({}, {}), {**numbers, name: values})
            return _admitted(symbol, values) & np.broadcast_to(self.claimed.in_scope(known), (len(values),))[:, None]

        low = np.full_like(start, np.nan)
        for power in POWERS:
            trial = start * 10.0 ** (direction * power)
            low = np.where(inside(trial), trial, low)
        high = low * 10.0 ** (direction * 0.5)
        for _ in range(BISECTIONS):
            middle = np.sign(low) * np.sqrt(low * high)
            within = inside(middle)
            low, high = np.where(within, middle, low), np.where(within, high, middle)
        found = low * INSIDE**direction
        if symbol.integer:
            found = np.floor(found) if direction > 0 else np.ceil(found)
        return np.where(np.isfinite(found) & _admitted(symbol, found), found, numbers[name])


def known_size(numbers: Numbers) -> tuple[int, ...]:
    """(B,), the size of a batch."""
    return (len(next(iter(numbers.values()))),)


def _plain(own: Statement, symbols: tuple[Symbol, ...], conditions: tuple[Condition, ...]) -> Statement:
    """The statement with these conditions alone, without the symbols that then occur nowhere."""
    metric = own.metric
    sides = (metric.value, own.bound, own.trivial, metric.scale, *(expr for _, expr in metric.where))
    exprs = [expr for expr in (*sides, *(c.relation for c in conditions)) if expr is not None]
    used = {s.name for expr in exprs for s in expr.free_symbols} | {name for name, _ in metric.where}
    kept = tuple(s for s in symbols if s.name in used)
    return replace(own, symbols=kept, conditions=conditions, choices=(), domain=())


def _admitted(symbol: Symbol, values: Floats) -> Any:
    """Where the values lie between the ends of the symbol's domain."""
    low = -np.inf if symbol.low is None else float(symbol.low)
    high = np.inf if symbol.high is None else float(symbol.high)
    above = values > low if symbol.low_open else values >= low
    return above & (values < high if symbol.high_open else values <= high)


def _decoded(symbol: Symbol, shape: Shape, gene: Floats) -> Floats:
    """Numbers (B, 1) in the symbol's domain from normal ones."""
    if symbol.name in shape.ends:
        return np.full_like(gene, shape.ends[symbol.name])
    size = np.minimum(np.exp(shape.widths[symbol.name] * gene), LARGEST)
    low, high = (None if end is None else float(end) for end in (symbol.low, symbol.high))
    if low is not None and high is not None:
        found = low + (high - low) * size / (1 + size)
    elif low is not None:
        found = low + (np.floor(size) if symbol.integer else size)
    elif high is not None:
        found = high - size
    else:
        found = np.sign(gene) * size
    return np.round(found) if symbol.integer else found
