"""What users write on the command line: NAME=VALUE, sweeps, and durations; text is parsed, never evaluated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from boundcheck.core.numbers import parse_grid, parse_number
from boundcheck.errors import BadInput

if TYPE_CHECKING:
    from boundcheck.theory.statement import Statement

__all__ = ["parse_seconds", "parse_sets", "parse_sweeps"]

MAX_SWEPT = 1_000_000  # points of all sweeps together


def _pair(text: str, option: str, example: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise BadInput(f"{option} '{text}' is not of the form {example}.")
    return name.strip(), value.strip()


def parse_sets(statement: Statement, sets: Sequence[str]) -> dict[str, Fraction]:
    """The values of all --set options, each within its symbol's domain.

    Raises UnknownName for a symbol that the statement has not, BadInput for anything but a number.
    """
    values: dict[str, Fraction] = {}
    for text in sets:
        name, value = _pair(text, "--set", "NAME=VALUE, such as mu=1/10")
        symbol = statement.symbol(name)
        if name in values:
            raise BadInput(f"--set gives {name} twice; give each symbol once.")
        values[name] = symbol.check(parse_number(value, name), statement.best_id)
    return values


def parse_sweeps(statement: Statement, sweeps: Sequence[str], fixed: dict[str, Fraction]) -> dict[str, list[Fraction]]:
    """The points of all --sweep options, NAME=LOW:HIGH:COUNT[:log|lin] or NAME=V1,V2,...

    Raises UnknownName and BadInput as `parse_sets` does, and BadInput for a symbol that is also set.
    """
    grids: dict[str, list[Fraction]] = {}
    for text in sweeps:
        name, value = _pair(text, "--sweep", "NAME=LOW:HIGH:COUNT[:log], such as eta=1e-6:1e-3:50:log")
        symbol = statement.symbol(name)
        if name in grids or name in fixed:
            raise BadInput(f"{name} is given twice; either set it or sweep it, once.")
        if ":" in value:
            pieces = value.split(":")
            spacing = pieces[3].strip() if len(pieces) == 4 else "lin"
            if len(pieces) not in (3, 4) or spacing not in ("log", "lin"):
                raise BadInput(f"--sweep '{text}' is not of the form NAME=LOW:HIGH:COUNT or NAME=LOW:HIGH:COUNT:log.")
            points = parse_grid(":".join([spacing, *pieces[:3]]), name, integer=symbol.integer)
        else:
            points = [parse_number(v, name) for v in value.split(",")]
        grids[name] = [symbol.check(p, statement.best_id) for p in points]
    total = 1
    for points in grids.values():
        total *= len(points)
    if total > MAX_SWEPT:
        raise BadInput(f"the sweeps together have {total} points; at most {MAX_SWEPT} are allowed.")
    return grids


_UNITS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}
_DURATION = re.compile(r"\s*([0-9][0-9./]*)\s*(s|m|min|h|)\s*")


def parse_seconds(text: str, name: str) -> float:
    """A duration such as "60s", "10m", "1h" or a number of seconds; BadInput otherwise or where it is not positive."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise BadInput(f"{name} = '{text}' is no duration; write 60s, 10m or 1h.")
    seconds = float(parse_number(match[1], name) * _UNITS[match[2]])
    if not 0 < seconds < 1e7:
        raise BadInput(f"{name} = '{text}' is not allowed; more than 0 s and less than 10^7 s are.")
    return seconds
