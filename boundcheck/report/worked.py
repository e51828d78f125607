"""One worked number of a statement: its bound at constants in its scope, with the command that computes it again."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any

from boundcheck.core.numbers import format_exact
from boundcheck.errors import BoundcheckError
from boundcheck.theory.arrays import nearest_value
from boundcheck.theory.dimension import STEP
from boundcheck.theory.evaluation import evaluate, needed_symbols
from boundcheck.theory.scope import holds

if TYPE_CHECKING:
    from boundcheck.theory.statement import Statement
    from boundcheck.theory.symbols import Symbol

TRIES = 160
STARTS, MOVES = 4, 24  # candidates that are moved, and moves of each
_PLAIN = tuple(Fraction(v) for v in ("1", "2", "1/2", "10", "1/10", "4", "100", "1/4", "0", "1/100"))
_WHOLE = tuple(map(Fraction, (10, 2, 4, 1, 100, 3, 8, 1000)))
_STEPS = tuple(Fraction(1, 10**k) for k in (1, 2, 3, 4, 5, 6))


@dataclass(frozen=True)
class Worked:
    """The bound at some constants. vacuous: it says nothing there."""

    value: float
    exact: str
    constants: tuple[tuple[str, str], ...]
    vacuous: bool
    command: str


def worked_number(statement: Statement) -> Worked | None:
    """The bound at plain constants in scope, the same ones every time; None where none were found.

    Constants at which the bound beats its trivial value are preferred. Where no plain ones are in scope, single
    constants are moved until all hypotheses hold.
    """
    names = needed_symbols(statement)
    second: Worked | None = None
    for values in _candidates(statement, names):
        worked = _at(statement, names, values) if not _failing(statement, values) else None
        if worked is not None and not worked.vacuous:
            return worked
        second = second or worked
    for values in islice(_candidates(statement, names), STARTS):
        moved = _moved(statement, names, values)
        worked = None if moved is None else _at(statement, names, moved)
        if worked is not None and not worked.vacuous:
            return worked
        second = second or worked
    return second


def _at(statement: Statement, names: Sequence[str], values: Mapping[str, Fraction]) -> Worked | None:
    """The bound there, None where it is not in scope or not finite."""
    try:
        found = evaluate(statement, values)
    except BoundcheckError:
        return None
    if found.in_scope is not True or not math.isfinite(found.value):
        return None
    told = tuple((name, format_exact(values[name])) for name in names)
    sets = " ".join(f"--set {name}={value}" for name, value in told)
    exact = format_exact(found.exact) if isinstance(found.exact, Fraction) else ""
    command = f"boundcheck evaluate {statement.id} {sets}".rstrip()
    return Worked(found.value, exact if len(exact) < 24 else "", told, bool(found.vacuous), command)


def _relations(statement: Statement) -> list[Any]:
    return [*statement.domain, *(c.relation for c in statement.conditions)]


def _failing(statement: Statement, values: Mapping[str, Fraction]) -> list[Any]:
    return [r for r in _relations(statement) if not holds(r, values)]


def _moved(statement: Statement, names: Sequence[str], values: dict[str, Fraction]) -> dict[str, Fraction] | None:
    """Constants in scope, by moving one after the other towards the hypotheses, and below the trivial value."""
    wanted = _relations(statement)
    if statement.trivial is not None:
        wanted.append(statement.bound < statement.trivial)
    prescribed = dict(statement.choices)
    values = _prescribed(statement, names, values)
    short = _shortfall(wanted, values)
    for _ in range(MOVES):
        if not short:
            break
        best: tuple[float, dict[str, Fraction]] | None = None
        for name in sorted({s.name for r in wanted if not holds(r, values) for s in r.free_symbols} - set(prescribed)):
            for value in _near(statement, name, values[name]):
                tried = _prescribed(statement, names, {**values, name: value})
                if set(tried) >= set(names):
                    found = _shortfall(wanted, tried)
                    best = (found, tried) if best is None or found < best[0] else best
        if best is None or best[0] >= short:
            break
        short, values = best
    return None if _failing(statement, values) else values


def _near(statement: Statement, name: str, value: Fraction) -> list[Fraction]:
    """Other values of a symbol: those that a hypothesis names, plain ones, larger and smaller ones."""
    symbol = statement.symbol(name)
    named = [
        Fraction(int(r.rhs.p), int(r.rhs.q))
        for r in _relations(statement)
        if r.lhs == symbol.expr and getattr(r.rhs, "is_Rational", False)
    ]
    moved = [value * f for f in (10, 2, Fraction(1, 2), Fraction(1, 10), 1000, Fraction(1, 1000))]
    return [v for v in dict.fromkeys([*named, Fraction(1), Fraction(0), *moved]) if symbol.admits(v) and v != value]


def _shortfall(relations: Sequence[Any], values: Mapping[str, Fraction]) -> float:
    """How much is missing from the relations at these values; 0 where all hold."""
    total = 0.0
    for relation in relations:
        if not holds(relation, values):
            left, right = (nearest_value(side, values) for side in (relation.lhs, relation.rhs))
            share = abs(left - right) / (abs(left) + abs(right)) if left != right else 0.0
            total += 1e-9 + (share if math.isfinite(share) else 2.0)
    return total


def _candidates(statement: Statement, names: tuple[str, ...]) -> Iterator[dict[str, Fraction]]:
    """Plain values in the domains; step sizes get smaller as the tries go on."""
    drawn = random.Random(statement.id)  # the same values on every page that is written
    prescribed = dict(statement.choices)
    for number in range(TRIES):
        values: dict[str, Fraction] = {}
        for name in names:
            if name not in prescribed:
                values[name] = _value(statement.symbol(name), drawn, number)
        values = _prescribed(statement, names, values)
        if set(values) >= set(names):
            yield values


def _prescribed(statement: Statement, names: Sequence[str], values: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """The values with those that the statement prescribes; without these where they do not exist."""
    found = dict(values)
    try:
        for name, formula in statement.choices:
            if name in names:
                near = Fraction(nearest_value(formula, found))
                found[name] = near.limit_denominator(10**6) if near.denominator < 2**20 else near
    except (BoundcheckError, ValueError, OverflowError, KeyError, ZeroDivisionError):
        return {name: value for name, value in values.items() if name not in dict(statement.choices)}
    return found


def _value(symbol: Symbol, drawn: random.Random, number: int) -> Fraction:
    step = symbol.dimension == STEP or symbol.name.startswith(("eta", "gamma", "alpha"))
    step = step and symbol.name != "eta_g"  # a server step, usually 1
    table = _WHOLE if symbol.integer else _PLAIN
    if step and not symbol.integer:
        table = _STEPS[number % len(_STEPS) :][:1] + _STEPS
        fitting = [v for v in table if symbol.admits(v)]
        return fitting[0] if fitting else Fraction(1)
    fitting = [v for v in table if symbol.admits(v)]
    if not fitting:
        low = symbol.low if symbol.low is not None else Fraction(0)
        fitting = [v for v in (low + 1, low, low + Fraction(1, 2)) if symbol.admits(v)] or [Fraction(1)]
    return fitting[0] if number == 0 else drawn.choice(fitting)
