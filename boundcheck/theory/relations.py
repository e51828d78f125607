"""Relations between two expressions as programs: what deciding one needs, without SymPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from boundcheck.errors import BadInput
from boundcheck.theory.balls import ends
from boundcheck.theory.decide import Point, Undefined
from boundcheck.theory.program import Program, compile_expression, from_json, names_of, text_of, to_json

if TYPE_CHECKING:
    from boundcheck.theory.symbols import Symbol

BITS = 256  # of an irrational root
_SIGNS = {"<=": "<=", "<": "<", ">=": ">=", ">": ">", "==": "=", "!=": "!="}  # by SymPy's word for them


@dataclass(frozen=True)
class Condition:
    """A hypothesis on the constants.

    name, meaning: captions. relation: SymPy relational, sides with the same dimension (a Relation in a stored
    statement). vacuity: it says that the theorem guarantees something at all (rho > 0 where the bound is
    f - rho |grad f|^2); where nothing else fails the verdict is VACUOUS.
    """

    name: str
    relation: Any
    meaning: str = ""
    vacuity: bool = False


class AnyStatement(Protocol):
    """What deciding at given constants needs of a statement: a `Statement`, or its programs (`theory.stored`)."""

    @property
    def id(self) -> str: ...
    @property
    def best_id(self) -> str: ...
    @property
    def symbols(self) -> tuple[Symbol, ...]: ...
    @property
    def metric(self) -> Any: ...
    @property
    def bound(self) -> Any: ...
    @property
    def trivial(self) -> Any: ...
    @property
    def excess(self) -> Any: ...
    @property
    def domain(self) -> tuple[Any, ...]: ...
    @property
    def conditions(self) -> tuple[Condition, ...]: ...
    @property
    def choices(self) -> tuple[tuple[str, Any], ...]: ...
    @property
    def assumptions(self) -> tuple[Any, ...]: ...
    def symbol(self, name: str) -> Symbol: ...
    def expressions(self) -> Any: ...
    def scope(self, **values: Any) -> Any: ...
    def evaluate(self, **values: Any) -> Any: ...
    def largest(self, name: str, **values: Any) -> Fraction: ...


# Each a root by itself, or the coefficients of a polynomial, the constant first.
Roots = tuple[tuple[Program, ...], ...]


@dataclass(frozen=True)
class Relation:
    """An inequality or equation.

    text: on one line. sign: "<=", "<", ">=", ">", "=" or "!=". symbols: the names in it. difference: the expression
    whose sign decides it, the larger side minus the smaller, or left minus right. right: its right side. roots: for
    symbols in which the difference is made of affine or rational parts, the places where these can change sign.
    """

    text: str
    sign: str
    symbols: frozenset[str]
    difference: Program
    right: Program
    roots: Mapping[str, Roots] = field(default_factory=dict[str, "Roots"], compare=False)

    def holds(self, direction: int | None) -> bool | None:
        """Whether it holds, given the sign of its difference; None for None."""
        if direction is None:
            return None
        if self.sign == "=":
            return direction == 0
        if self.sign == "!=":
            return direction != 0
        return direction > 0 or (direction == 0 and self.sign in ("<=", ">="))

    def to_json(self) -> list[Any]:
        """A JSON-able form."""
        roots = {name: [[to_json(p) for p in own] for own in found] for name, found in self.roots.items()}
        return [self.text, self.sign, sorted(self.symbols), to_json(self.difference), to_json(self.right), roots]

    @staticmethod
    def from_json(data: Sequence[Any]) -> Relation:
        """Inverse of `to_json`."""
        text, sign, symbols, difference, right, roots = data
        found = {name: tuple(tuple(map(from_json, part)) for part in own) for name, own in roots.items()}
        return Relation(text, sign, frozenset(symbols), from_json(difference), from_json(right), found)


def relation_of(relation: Any) -> Relation:
    """The programs of a SymPy relational, kept for the next call; a Relation is returned as it is.

    Raises BadInput for anything else.
    """
    return relation if isinstance(relation, Relation) else _relation_of(relation)


@lru_cache(maxsize=4096)
def _relation_of(relation: Any) -> Relation:
    left_minus_right = compile_expression(difference(relation))
    right = compile_expression(relation.rhs)
    return Relation(text_of(relation), _SIGNS[relation.rel_op], names_of(relation), left_minus_right, right)


def difference(relation: Any) -> Any:
    """The expression whose sign decides a SymPy relational: its slack, or left minus right of an equation."""
    sign = _SIGNS.get(getattr(relation, "rel_op", ""))
    if sign is None:
        raise BadInput(f"{relation} is no inequality; conditions are written with <=, <, >=, >, = or !=.")
    return relation.rhs - relation.lhs if sign in ("<=", "<") else relation.lhs - relation.rhs


def holds(relation: Any, values: Mapping[str, Fraction]) -> bool | None:
    """Whether a relation holds at exact values; None where it stays undecided, False where a side is undefined."""
    own = relation_of(relation)
    try:
        direction = Point(own.difference, values).sign()
    except Undefined:
        return False
    return own.holds(direction)


@dataclass(frozen=True)
class Breakpoint:
    """A place where a relation can change, between low and high; exact where it is known to be rational."""

    low: Fraction
    high: Fraction
    exact: Fraction | None = None

    @staticmethod
    def at(value: Fraction) -> Breakpoint:
        """A rational breakpoint."""
        return Breakpoint(value, value, value)


def root_at(root: Any, values: Mapping[str, Fraction]) -> list[Breakpoint]:
    """The breakpoint at a root that is given as an expression; none where it has no value."""
    try:
        point = Point(root, values)
        exact = point.exact()
        if exact is not None:
            return [Breakpoint.at(exact)]
        low, high = point.enclose(BITS)
    except Undefined:
        return []
    return [Breakpoint(low, high)]


def stored_breakpoints(roots: Roots, values: Mapping[str, Fraction]) -> list[Breakpoint]:
    """The breakpoints at stored roots; none where one has no value."""
    found: list[Breakpoint] = []
    for root, *more in roots:
        if not more:
            found += root_at(root, values)
            continue
        try:
            exact = [Point(part, values).exact() for part in (root, *more)]
        except Undefined:
            continue
        found += real_roots([value for value in exact if value is not None])  # coefficients are rational
    return found


def real_roots(coefficients: Sequence[Fraction]) -> list[Breakpoint]:
    """The real roots of a polynomial, the constant coefficient first; none of the zero polynomial."""
    from flint import ctx, fmpq, fmpq_poly

    numerator = fmpq_poly([fmpq(c.numerator, c.denominator) for c in coefficients]).numer()
    found: list[Breakpoint] = []
    for factor, _ in numerator.factor_squarefree()[1] if numerator else ():
        for piece, _ in factor.factor()[1]:
            if piece.degree() == 1:
                found.append(Breakpoint.at(Fraction(-int(piece[0]), int(piece[1]))))
                continue
            with ctx.workprec(BITS):
                roots: list[Any] = piece.complex_roots()
                found += [_enclosed(root.real) for root, _ in roots if root.imag == 0]
    return found


def _enclosed(ball: Any) -> Breakpoint:
    """The breakpoint in a flint ball."""
    low, high = ends(ball, BITS)
    if low is None or high is None:
        raise BadInput("a condition has a root beyond 2^131072.")
    return Breakpoint(low, high)
