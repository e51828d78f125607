"""One worked number of a statement: its bound at constants in its scope, with the command that computes it again."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from boundcheck.core.numbers import format_exact
from boundcheck.errors import BoundcheckError
from boundcheck.theory.dimension import STEP
from boundcheck.theory.evaluation import evaluate, needed_symbols
from boundcheck.theory.scope import holds
from boundcheck.theory.vectorised import nearest_value

if TYPE_CHECKING:
    from boundcheck.theory.statement import Statement
    from boundcheck.theory.symbols import Symbol

TRIES = 160
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
    """The bound at plain constants in scope, the same ones every time; None where none of `TRIES` are in scope.

    Constants at which the bound beats its trivial value are preferred.
    """
    names = needed_symbols(statement)
    second: Worked | None = None
    for values in _candidates(statement, names):
        if not all(holds(r, values) for r in (*statement.domain, *(c.relation for c in statement.conditions))):
            continue
        try:
            found = evaluate(statement, values)
        except BoundcheckError:
            continue
        if found.in_scope is not True or not math.isfinite(found.value):
            continue
        told = tuple((name, format_exact(values[name])) for name in names)
        sets = " ".join(f"--set {name}={value}" for name, value in told)
        exact = format_exact(found.exact) if isinstance(found.exact, Fraction) else ""
        command = f"boundcheck evaluate {statement.id} {sets}".rstrip()
        worked = Worked(found.value, exact if len(exact) < 24 else "", told, bool(found.vacuous), command)
        if not found.vacuous:
            return worked
        second = second or worked
    return second


def _candidates(statement: Statement, names: tuple[str, ...]) -> Iterator[dict[str, Fraction]]:
    """Plain values in the domains; step sizes get smaller as the tries go on."""
    drawn = random.Random(statement.id)  # the same values on every page that is written
    prescribed = dict(statement.choices)
    for number in range(TRIES):
        values: dict[str, Fraction] = {}
        for name in names:
            if name not in prescribed:
                values[name] = _value(statement.symbol(name), drawn, number)
        try:
            for name, formula in prescribed.items():
                if name in names:
                    near = Fraction(nearest_value(formula, values))
                    values[name] = near.limit_denominator(10**6) if near.denominator < 2**20 else near
        except (BoundcheckError, ValueError, OverflowError, KeyError, ZeroDivisionError):
            continue
        yield values


def _value(symbol: Symbol, drawn: random.Random, number: int) -> Fraction:
    step = symbol.dimension == STEP or symbol.name.startswith(("eta", "gamma", "alpha"))
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
