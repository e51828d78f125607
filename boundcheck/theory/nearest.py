"""The nearest constants at which a statement guarantees something, where it is vacuous at those that are given.

One symbol is moved at a time, by the least factor that brings all conditions and the bound below its trivial value;
whether a point does so is decided exactly, the search in between is a bisection.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from boundcheck.core.numbers import simplest_between
from boundcheck.errors import BadInput
from boundcheck.theory.evaluation import guarantees

if TYPE_CHECKING:
    from boundcheck.theory.relations import AnyStatement
    from boundcheck.theory.scope import Scope
    from boundcheck.theory.symbols import Symbol


POWERS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)  # of 2 by which a symbol is moved on the way to a guarantee
WITHIN = Fraction(1, 1000)  # how closely the edge is told, relatively


@dataclass(frozen=True)
class Near:
    """A symbol, the value near the edge at which the statement guarantees something, and the direction ("up", "down").

    The value itself is inside: with it, and all else as it was, the statement is not vacuous.
    """

    name: str
    value: Fraction
    direction: str

    def words(self) -> str:
        """In a phrase, such as "mu at least 135"."""
        return f"{self.name} at {'least' if self.direction == 'up' else 'most'} about {float(self.value):.4g}"


def nearest_guarantee(
    statement: AnyStatement, values: Mapping[str, Fraction], movable: Iterable[str] | None = None
) -> tuple[Near, ...]:
    """For each symbol that can do it alone, the least change after which the statement guarantees something.

    values: every symbol the bound and the conditions use. movable: which symbols may move (default all but those whose
    value is 0, which no factor moves). The search goes up to a factor 2^64; sorted by the size of the change.
    """
    names = [s.name for s in statement.symbols] if movable is None else list(movable)
    found: list[tuple[Fraction, Near]] = []
    for name in names:
        if values.get(name):
            for direction in ("up", "down"):
                value = _move(statement, values, statement.symbol(name), direction)
                if value is not None:
                    ends = (value, values[name]) if direction == "up" else (values[name], value)
                    change = ends[0] / ends[1] if ends[1] else Fraction(2) ** POWERS[-1]  # down to 0
                    # a factor above 1 moves a negative number down
                    told = "up" if value > values[name] else "down"
                    found.append((abs(change), Near(name, value, told)))
                    break
    return tuple(near for _, near in sorted(found, key=lambda pair: pair[0]))


def guarantees_nothing(statement: AnyStatement, scope: Scope) -> bool:
    """Whether a decided scope fails, and only by conditions which say that something is guaranteed at all."""
    empty = {c.name for c in statement.conditions if c.vacuity}
    failed = scope.failed
    return bool(failed) and all(c.name in empty for c in failed) and all(c.holds is not None for c in scope.conditions)


def _guarantees(statement: AnyStatement, values: Mapping[str, Fraction]) -> bool:
    try:
        return guarantees(statement, values)
    except BadInput:  # outside the domain
        return False


def _move(statement: AnyStatement, values: Mapping[str, Fraction], symbol: Symbol, direction: str) -> Fraction | None:
    start = values[symbol.name]
    outside, inside = start, None
    for power in POWERS:
        tried = start * 2**power if direction == "up" else start / 2**power
        if symbol.integer:
            tried = Fraction(round(tried))
        if not symbol.admits(tried) or tried == outside:
            edge = symbol.high if direction == "up" else symbol.low
            if edge is None or edge == outside or not symbol.admits(edge):
                return None
            tried = edge
        if _guarantees(statement, {**values, symbol.name: tried}):
            inside = tried
            break
        if tried in (symbol.low, symbol.high):
            return None
        outside = tried
    if inside is None:
        return None
    return _edge(statement, values, symbol, outside, inside)


def _edge(
    statement: AnyStatement, values: Mapping[str, Fraction], symbol: Symbol, outside: Fraction, inside: Fraction
) -> Fraction:
    """A value inside, within `WITHIN` of the edge between the two."""
    while abs(inside - outside) > (1 if symbol.integer else WITHIN * abs(inside)):
        low, high = sorted((outside, inside))
        third = (high - low) / 3
        if symbol.integer:
            middle = Fraction((low + high) // 2)
        elif high > 4 * low > 0:  # on a logarithmic scale first
            middle = low * 2 ** ((high / low).__floor__().bit_length() // 2)
        else:
            middle = simplest_between(low + third, high - third)
        if middle in (outside, inside):
            break
        if _guarantees(statement, {**values, symbol.name: middle}):
            inside = middle
        else:
            outside = middle
    return inside
