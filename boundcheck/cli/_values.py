"""What users write on the command line: NAME=VALUE, sweeps, and durations; text is parsed, never evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from boundcheck.core.numbers import parse_grid, parse_number
from boundcheck.errors import BadInput, Mistakes, UnknownName

if TYPE_CHECKING:
    from boundcheck.theory.relations import AnyStatement


MAX_SWEPT = 1_000_000  # points of all sweeps together


def _pair(text: str, option: str, example: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise BadInput(f"{option} '{text}' is not of the form {example}.")
    return name.strip(), value.strip()


def parse_values(
    statement: AnyStatement, sets: Sequence[str], sweeps: Sequence[str], needed: Sequence[str], purpose: str
) -> tuple[dict[str, Fraction], dict[str, list[Fraction]]]:
    """The values of all --set options and the points of all --sweep options, each within its symbol's domain.

    needed: symbols without which there is no `purpose`. Raises UnknownName for a symbol that the statement does not
    have, BadInput for anything but a number, and otherwise for a missing symbol, for all mistakes at once.
    """
    from boundcheck.theory.scope import require

    mistakes = Mistakes()
    fixed = _parse_sets(statement, sets, mistakes)
    grids = _parse_sweeps(statement, sweeps, fixed, mistakes)
    if mistakes.errors and not any(isinstance(e, UnknownName) for e in mistakes.errors):  # which leave one missing
        given = {text.partition("=")[0].strip() for text in (*sets, *sweeps)}
        with mistakes.noting():
            require(statement, [name for name in needed if name in given], needed, purpose)
    mistakes.raise_all()
    return fixed, grids


def _parse_sets(statement: AnyStatement, sets: Sequence[str], mistakes: Mistakes) -> dict[str, Fraction]:
    """The values of those --set options that are right."""
    values: dict[str, Fraction] = {}
    for text in sets:
        with mistakes.noting():
            name, value = _pair(text, "--set", "NAME=VALUE, such as mu=1/10")
            symbol = statement.symbol(name)
            if name in values:
                raise BadInput(f"--set gives {name} twice; give each symbol once.")
            values[name] = symbol.check(parse_number(value, name), statement.best_id)
    return values


def _parse_sweeps(
    statement: AnyStatement, sweeps: Sequence[str], fixed: Mapping[str, Fraction], mistakes: Mistakes
) -> dict[str, list[Fraction]]:
    """The points of those --sweep options that are right: NAME=LOW:HIGH:COUNT[:log|lin] or NAME=V1,V2,..."""
    grids: dict[str, list[Fraction]] = {}
    for text in sweeps:
        with mistakes.noting():
            name, value = _pair(text, "--sweep", "NAME=LOW:HIGH:COUNT[:log], such as eta=1e-6:1e-3:50:log")
            symbol = statement.symbol(name)
            if name in grids or name in fixed:
                raise BadInput(f"{name} is given twice; either set it or sweep it, once.")
            grids[name] = [symbol.check(p, statement.best_id) for p in _swept(text, name, value, symbol.integer)]
    total = 1
    for points in grids.values():
        total *= len(points)
    with mistakes.noting():
        if total > MAX_SWEPT:
            raise BadInput(f"the sweeps together have {total} points; at most {MAX_SWEPT} are allowed.")
    return grids


def _swept(text: str, name: str, value: str, integer: bool) -> list[Fraction]:
    """The points of one --sweep option."""
    if ":" not in value:
        return [parse_number(v, name) for v in value.split(",")]
    pieces = value.split(":")
    spacing = pieces[3].strip() if len(pieces) == 4 else "lin"
    if len(pieces) not in (3, 4) or spacing not in ("log", "lin"):
        raise BadInput(f"--sweep '{text}' is not of the form NAME=LOW:HIGH:COUNT or NAME=LOW:HIGH:COUNT:log.")
    return parse_grid(":".join([spacing, *pieces[:3]]), name, integer=integer)
