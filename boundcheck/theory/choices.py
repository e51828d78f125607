"""What a theorem prescribes for a symbol (a tuned step size), against the value that is given for it.

A prescribed value is irrational more often than not, so that no run can use it: a value that was rounded down by at
most a relative 1e-12 is taken for it, and the difference is reported. The value of a formula
without roots, exp and log is a fraction, and only that one is taken.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from boundcheck.core.numbers import format_apart, format_exact, format_short, round_down
from boundcheck.errors import BadInput
from boundcheck.theory.decide import Point, Undefined
from boundcheck.theory.program import Builder, Program, compile_expression, names_of

if TYPE_CHECKING:
    from boundcheck.theory.relations import AnyStatement


ROUNDED = Fraction(1, 10**12)  # a value below an irrational prescribed one by at most this share is taken for it
_DIGITS = 15  # of a prescribed value that is rounded down: less than a relative 1e-13 is lost
_SHORT = 200  # characters up to which a rational value of a formula with roots is kept as it is


@dataclass(frozen=True)
class Choice:
    """One prescribed symbol at given constants.

    expr: the formula. excess: the symbol minus the formula. near: the formula's value, rounded down (None where it has
    no value). met: whether the given value is the prescribed one or rounded down from it, None where that stays
    undecided. exact: whether it is known to be the prescribed one itself.
    """

    name: str
    expr: Any
    excess: Program
    near: Fraction | None
    met: bool | None
    exact: bool

    def objection(self, given: Fraction) -> str:
        """Why the given value is not the prescribed one, as a clause."""
        if self.near is None:
            return f"{self.name} is prescribed by a formula that has no value at these constants"
        near, own = format_apart(self.near, given, digits=10)
        return f"the statement prescribes {self.name} = {near}, and {self.name} is {own}"


def missing_for(expr: Any, known: Collection[str]) -> list[str]:
    """The symbols of a formula without a value, sorted."""
    return sorted(name for name in names_of(expr) if name not in known)


def prescribed(statement: AnyStatement, name: str, values: Mapping[str, Fraction]) -> Fraction:
    """The value that the statement prescribes for a symbol: itself where rational and short, else rounded down.

    Rounding loses less than a relative 1e-13. Raises BadInput where the statement prescribes none, a symbol of the
    formula has no value, or the formula gives nothing positive.
    """
    expr = dict(statement.choices).get(name)
    if expr is None:
        chosen = ", ".join(dict(statement.choices)) or "nothing"
        raise BadInput(
            f"{statement.best_id} prescribes no {name} (it prescribes {chosen}), so that '{name}' has no tuned value."
        )
    missing = missing_for(expr, values)
    if missing:
        raise BadInput(f"{statement.best_id}: the tuned {name} needs a value for {', '.join(missing)}.")
    try:
        found = _rounded(expr, values)
    except Undefined as error:
        raise BadInput(f"{statement.best_id}: the tuned {name} has no value: {error}") from error
    if not statement.symbol(name).admits(found):
        raise BadInput(
            f"{statement.best_id}: the tuned {name} would be {format_short(found)}, which is outside its domain: "
            f"{statement.symbol(name).allowed()}."
        )
    return found


def _rounded(expr: Any, values: Mapping[str, Fraction]) -> Fraction:
    point = Point(expr, values)
    exact = point.exact()
    if exact is not None and (_share(expr) == 1 or len(format_exact(exact)) <= _SHORT):
        return exact
    return round_down(point.enclose(128)[0], _DIGITS)


def check_choices(statement: AnyStatement, values: Mapping[str, Fraction]) -> list[Choice]:
    """Every choice whose symbol and formula have values here."""
    found: list[Choice] = []
    for name, expr in statement.choices:
        if name not in values or missing_for(expr, values):
            continue
        excess = _excess(name, expr, Fraction(1))
        try:
            near = _rounded(expr, values)
            above = Point(excess, values).sign()
        except Undefined:
            found.append(Choice(name, expr, excess, None, met=False, exact=False))
            continue
        if above == 0:
            found.append(Choice(name, expr, excess, near, met=True, exact=True))
        elif above == 1:
            found.append(Choice(name, expr, excess, near, met=False, exact=False))
        else:  # below, or so near that it is undecided
            enough = Point(_excess(name, expr, _share(expr)), values).sign()
            met = None if enough is None else enough >= 0
            found.append(Choice(name, expr, excess, near, met=met, exact=False))
    return found


@lru_cache(maxsize=1024)
def _excess(name: str, expr: Any, share: Fraction) -> Program:
    """The symbol minus a share of the formula."""
    formula = compile_expression(expr)
    builder = Builder(formula.nodes)
    root = formula.root if share == 1 else builder.product([builder.number(share), formula.root])
    return builder.program(builder.difference(builder.symbol(name), root))


def _share(expr: Any) -> Fraction:
    """How much of the formula's value a given one must have at least: all of it where that is a fraction."""
    return Fraction(1) if compile_expression(expr).is_rational else 1 - ROUNDED


def choice_relations(statement: AnyStatement, given: Collection[str]) -> tuple[Any, ...]:
    """The choices as relations that hold where a value is met, as far as `given` has all their symbols."""
    import sympy as sp

    found: list[Any] = []
    for name, expr in statement.choices:
        if name in given and not missing_for(expr, given):
            symbol, share = statement.symbol(name).expr, _share(expr)
            lower = expr * sp.Rational(share.numerator, share.denominator)
            found += [sp.Le(symbol, expr, evaluate=False), sp.Ge(symbol, lower, evaluate=False)]
    return tuple(found)
