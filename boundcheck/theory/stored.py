"""A statement as evaluating it and deciding its scope need it: formulas as programs, without SymPy.

`theory.index` keeps these of the shipped statements, so that a command about numbers loads no SymPy. What needs the
expressions themselves (sweeps, a step size in a condition that is not rational in it) goes to the statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from boundcheck.core import providers
from boundcheck.theory.answers import Answers
from boundcheck.theory.dimension import STEP
from boundcheck.theory.largest import largest
from boundcheck.theory.program import Program, compile_expression, from_json, names_of, text_of, to_json
from boundcheck.theory.records import SYMBOL, Field, Form, optional, plain, record, several
from boundcheck.theory.relations import AnyStatement, Condition, Relation, Roots, relation_of
from boundcheck.theory.symbols import Symbol, declared

if TYPE_CHECKING:
    from boundcheck.theory.statement import Statement


@dataclass(frozen=True)
class Counted:
    """The index of a metric, its rounds at it, and its weights (None, or anything else for an average)."""

    index: str | None
    rounds: Program
    weights: Any


@dataclass(frozen=True)
class Named:
    """A hypothesis that numbers alone do not decide."""

    name: str


@dataclass(frozen=True)
class Stored(Answers):
    """The parts of `Statement` that decide at given constants, under the same names; made by `stored`.

    excess: the bound less its trivial value.
    """

    id: str
    symbols: tuple[Symbol, ...]
    metric: Counted
    bound: Program
    trivial: Program | None
    excess: Program | None
    domain: tuple[Relation, ...]
    conditions: tuple[Condition, ...]
    choices: tuple[tuple[str, Program], ...]
    assumptions: tuple[Named, ...]

    @property
    def best_id(self) -> str:
        """The id."""
        return self.id

    def symbol(self, name: str) -> Symbol:
        """The declaration of one symbol; UnknownName with the nearest ones otherwise."""
        return declared(self.symbols, name, self.id)

    def expressions(self) -> Statement:
        """The statement with its SymPy expressions, imported now."""
        return providers.load(providers.STATEMENTS, "discovery").statement(self.id)

    def largest(self, name: str, **values: Any) -> Fraction:
        """See `Statement.largest`."""
        return largest(self if self._has_roots(name) else self.expressions(), name, values)

    def _has_roots(self, name: str) -> bool:
        """Whether all relations with a symbol have their roots in it stored."""
        moving = [r for r in self._relations() if name in r.symbols]
        return not self.symbol(name).integer and all(name in r.roots for r in moving)

    def _relations(self) -> Iterator[Relation]:
        yield from self.domain
        yield from (c.relation for c in self.conditions)

    def to_json(self) -> dict[str, Any]:
        """A JSON-able form."""
        return _STORED.write(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Stored:
        """Inverse of `to_json`."""
        return _STORED.read(data)


_PROGRAM = Form(to_json, from_json)
_PAIR = Form(lambda pair: [pair[0], to_json(pair[1])], lambda pair: (pair[0], from_json(pair[1])))
_RELATION = Form(Relation.to_json, Relation.from_json)
_STORED = record(
    Stored,
    *plain("id"),
    Field("symbols", several(SYMBOL)),
    Field("metric", record(Counted, *plain("index", "weights"), Field("rounds", _PROGRAM))),
    Field("bound", _PROGRAM),
    Field("trivial", optional(_PROGRAM)),
    Field("excess", optional(_PROGRAM)),
    Field("domain", several(_RELATION)),
    Field("conditions", several(record(Condition, *plain("name", "meaning", "vacuity"), Field("relation", _RELATION)))),
    Field("choices", several(_PAIR)),
    Field("assumptions", several(record(Named, *plain("name")))),
)


def step_sizes(statement: AnyStatement) -> list[str]:
    """The step sizes that a condition limits."""
    used = frozenset[str]().union(*(names_of(c.relation) for c in statement.conditions))
    return [s.name for s in statement.symbols if s.name in used and (s.dimension == STEP or s.name.startswith("eta"))]


def stored(statement: Statement) -> Stored:
    """The programs of a statement, with the roots of its conditions in the step sizes that they limit."""
    steps, metric = step_sizes(statement), statement.metric
    excess = statement.excess
    return Stored(
        id=statement.best_id,
        symbols=statement.symbols,
        metric=Counted(metric.index, _program(metric.rounds), None if metric.weights is None else True),
        bound=compile_expression(statement.bound),
        trivial=None if statement.trivial is None else compile_expression(statement.trivial),
        excess=None if excess is None else compile_expression(excess),
        domain=tuple(_relation(r, steps) for r in statement.domain),
        conditions=tuple(
            Condition(c.name, _relation(c.relation, steps), c.meaning, c.vacuity) for c in statement.conditions
        ),
        choices=tuple((name, _program(expr)) for name, expr in statement.choices),
        assumptions=tuple(Named(a.name) for a in statement.assumptions),
    )


def _program(expr: Any) -> Program:
    """The program with the text of the expression."""
    made = compile_expression(expr)
    return Program(made.nodes, made.root, text_of(expr))


def _relation(relation: Any, steps: list[str]) -> Relation:
    from boundcheck.theory.breakpoints import roots_of

    made = relation_of(relation)
    roots: dict[str, Roots] = {}
    for name in steps:
        found = roots_of(relation, name) if name in made.symbols else None
        if found is not None:
            roots[name] = tuple(tuple(map(compile_expression, part)) for part in found)
    return Relation(made.text, made.sign, made.symbols, made.difference, made.right, roots)
