"""Constants that a user gives, against what problem and method say of themselves.

A given value that contradicts the run would make a verdict about another run. So a value that the problem knows
exactly, or that the method has as a parameter, can only be repeated; a certified bound can only be weakened; a value
that nobody can check lowers the grade. Symbols of a testable hypothesis (mu, L, sigma2 by their inequalities) are left
to the test of that hypothesis.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from boundcheck.certified.constant import Constant, Known
from boundcheck.core.numbers import as_fraction, format_apart
from boundcheck.errors import BadInput
from boundcheck.theory.assumptions import CLASSES, QUANTITIES, Assumption
from boundcheck.theory.statement import Statement

# How a given value is known that neither the problem nor the method has.
UNCHECKED = "given, and not checked against the run"
# A certified constant lies within this relative distance of the true one (`certified.certify`).
CERTIFIED_WIDTH = Fraction(2, 10**12)


def is_library(assumption: Assumption) -> bool:
    """Whether the assumption is the shipped one of its name, inequality included: only then a problem's answer to the
    name is an answer to the assumption.
    """
    if assumption.name.startswith("instance:"):
        return assumption.inequality is None
    shipped = CLASSES.get(assumption.name)
    return shipped is not None and shipped.inequality == assumption.inequality


def key_of(assumption: Assumption) -> str:
    """The key of a curve's `assumptions` and `violations` that is about this assumption."""
    return assumption.name if is_library(assumption) else f"own:{assumption.name}"


def given_constants(
    claimed: Statement, own: Mapping[str, Constant], given: Mapping[str, Any], methods: Iterable[str] = ()
) -> dict[str, Constant]:
    """The given values with how each is known.

    own: constants of the problem and parameters of the method under the statement's names (`Statement.known`), as far
    as they are known yet; methods: which of them are the method's. Raises BadInput where a value contradicts them, or
    is given for the index.
    """
    inequalities: list[Any] = [a.inequality for a in claimed.assumptions if a.inequality is not None]
    tested = {s.name for relation in inequalities for s in relation.free_symbols} - set(QUANTITIES)
    methods = set(methods)
    found: dict[str, Constant] = {}
    for name, value in given.items():
        symbol = claimed.symbol(name)
        if name == claimed.metric.index:
            raise BadInput(
                f"{claimed.best_id}: {name} is the index of the statement, not a constant; write its values under 'at'."
            )
        number = value if isinstance(value, Constant) else None
        amount = symbol.check(as_fraction(value, name) if number is None else number.value, claimed.best_id)
        mine = own.get(name)
        if mine is not None and amount == mine.value:
            found[name] = mine
            continue
        if mine is not None and (name in methods or name not in tested):
            _refuse(claimed, name, amount, mine, name in methods)
        if number is not None:
            checked = mine is not None or name in tested or symbol.free
            found[name] = number if checked else replace(number, how=f"{number.how}; {UNCHECKED}")
        elif name in tested or symbol.free:
            found[name] = Constant(amount, Known.EXACT, "exact", "given")
        else:
            side = "exact" if mine is None else mine.side
            found[name] = Constant(amount, Known.ESTIMATED, side, UNCHECKED)
    return found


def _refuse(claimed: Statement, name: str, amount: Fraction, mine: Constant, of_method: bool) -> None:
    """BadInput unless the given value is a weaker certified bound."""
    whose = "the method" if of_method else "the problem"
    weaker = (mine.side == "upper" and amount > mine.value) or (mine.side == "lower" and amount < mine.value)
    if weaker and not of_method:
        return
    given, own = format_apart(amount, mine.value)
    side = {"upper": "at most ", "lower": "at least "}.get(mine.side, "")
    raise BadInput(
        f"{claimed.best_id}: the constant {name} = {given} contradicts {whose}, where {name} is {side}{own}; leave it "
        "out."
    )


def check_parameters(claimed: Statement, methods: Iterable[str]) -> None:
    """BadInput where the statement names a parameter that the method which ran has not."""
    if claimed.algorithm is None:
        return
    have = sorted(methods)
    for name in claimed.algorithm.parameters:
        if name not in have:
            raise BadInput(
                f"{claimed.best_id} is about a method with the parameter {name}, which the method of this run has not "
                f"(it has {', '.join(have) or 'none'})."
            )


# --- decisions that rest on a rounded bound -----------------------------------------------------------------


def rounded(known: Mapping[str, Constant], names: Iterable[str]) -> list[str]:
    """Those of the names whose value is a bound on the constant, not the constant itself."""
    return sorted(name for name in names if name in known and known[name].side != "exact")


def within_rounding(known: Mapping[str, Constant], names: Iterable[str]) -> Iterator[dict[str, Fraction]]:
    """Values of all constants with the rounded ones moved back by the width of their certification, every corner."""
    names = rounded(known, names)
    values = {name: c.value for name, c in known.items()}
    for moved in itertools.product((False, True), repeat=len(names)):
        at = dict(values)
        for name, move in zip(names, moved, strict=True):
            if move:
                inwards = -1 if known[name].side == "upper" else 1
                at[name] += inwards * CERTIFIED_WIDTH * abs(at[name])
        yield at
