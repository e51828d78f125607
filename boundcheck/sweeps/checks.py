"""What is wrong with a sweep beyond the shape of its file: every axis is tried, level by level, at the first point.

A mistake that only one combination of levels has shows when its row is computed; the row then says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from boundcheck.core.numbers import as_fraction
from boundcheck.core.toml_lines import KeyPath, TomlFile
from boundcheck.errors import BadInput, BoundcheckError, SpecError, UnknownName
from boundcheck.evidence.rounds_to_target import assembled, is_bound
from boundcheck.evidence.spec import claim_from_table
from boundcheck.problems.build import build as build_problem
from boundcheck.sweeps.axes import Axis, Path, Range
from boundcheck.sweeps.sweep import Sweep
from boundcheck.theory.discovery import statement
from boundcheck.theory.evaluation import needed_symbols

if TYPE_CHECKING:
    from boundcheck.theory.statement import Statement

TRIED = 24  # levels of one axis that are tried; of more, some between the first and the last
CONSTANTS = ("constants", "at")  # tables of symbols of the statement

Mistake = tuple[KeyPath, str]
Point = dict[Path, Any]


def check_points(sweep: Sweep, file: TomlFile, units: dict[str, tuple[str, str]]) -> Iterator[Mistake]:
    """The mistakes with their key paths; `units` gets unit and meaning of every axis that is a symbol."""
    check = _bound_mistakes if sweep.kind == "bound" else _claim_mistakes
    for point, place in _points(sweep):
        yield from check(sweep, file, point, place)
    if sweep.kind == "bound":
        yield from _level_mistakes(sweep)
    for axis in _all_axes(sweep):
        units[axis.name] = _unit(sweep, axis)


def _all_axes(sweep: Sweep) -> list[Axis | Range]:
    return [*sweep.axes, *(() if sweep.latin is None else sweep.latin.ranges)]


def _points(sweep: Sweep) -> Iterator[tuple[Point, KeyPath]]:
    """The first point, and those that differ from it in one axis, with the place of what differs."""
    first: Point = {}
    for axis in _all_axes(sweep):
        first[axis.path] = axis.values[0] if isinstance(axis, Axis) else _end(axis, axis.low)
    yield first, ()
    for axis in _all_axes(sweep):
        if isinstance(axis, Range):
            yield {**first, axis.path: _end(axis, axis.high)}, ("latin", *axis.path)
            continue
        if sweep.kind == "bound" and axis.path[0] in CONSTANTS:
            continue  # all of its levels are looked at, without the rest
        step = max(1, -(-len(axis.values) // TRIED))
        for i in sorted({*range(0, len(axis.values), step), len(axis.values) - 1}):
            yield {**first, axis.path: axis.values[i]}, ("grid", *axis.path, i)


def _end(axis: Range, value: float) -> Fraction:
    return Fraction(round(value)) if axis.integer else Fraction(value)


def _claim_mistakes(sweep: Sweep, file: TomlFile, point: Point, place: KeyPath) -> Iterator[Mistake]:
    """Those of the claim at one point, on the lines of the axes that give its parts."""
    table = sweep.table({p: v for p, v in point.items() if p[0] != "target"})
    lines: dict[KeyPath, int] = {path: line for path, line in file.lines.items() if path[0] not in ("grid", "latin")}
    for axis in _all_axes(sweep):
        where: KeyPath = ("grid" if isinstance(axis, Axis) else "latin", *axis.path)
        lines[axis.path] = file.line_of(place if place[: len(where)] == where else where)
    try:
        claim = claim_from_table(table, file.path, lines)
    except SpecError as error:
        yield from ((_at_line(file, line), text) for line, text in error.problems)
        return
    if not 0 < as_fraction(point.get(("target",), sweep.target)) < 1:
        yield place or ("target",), "target is a share of the start; between 0 and 1 is allowed."
    if sweep.kind == "tune" and not is_bound(statement(claim.statement)):
        why = "bounds no metric for every number of rounds, so that it promises nothing"
        yield place or ("statement",), f"{claim.id} {why}."


def _at_line(file: TomlFile, line: int) -> KeyPath:
    """A key path that stands on a line."""
    return next((path for path, found in file.lines.items() if found == line), ())


def _bound_mistakes(sweep: Sweep, file: TomlFile, point: Point, place: KeyPath) -> Iterator[Mistake]:
    table = sweep.table(point)
    try:
        claimed = statement(str(table.get("statement", "")))
    except BoundcheckError as error:
        yield place or ("statement",), str(error)
        return
    known: dict[str, Fraction] = {}
    if "problem" in table or "method" in table:
        found = setting_values(claimed, table)
        if isinstance(found, str):
            yield place or ("problem" if "problem" in table else "method",), f"{claimed.best_id}: {found}."
            return
        known = found
    for group in CONSTANTS:
        for name, value in table.get(group, {}).items():
            path = (group, name)
            own = place[1:3] == path
            where = place if own else ("grid", *path) if ("grid", *path) in file.lines else path
            where = where if where in file.lines or own else ("latin", *path)
            try:
                symbol = claimed.symbol(name)
                if name in known:
                    raise BadInput(f"{claimed.best_id}: problem and method give {name}; leave it out of {group}.")
                known_value = symbol.check(as_fraction(value, name), claimed.best_id)
                ranges = () if sweep.latin is None else sweep.latin.ranges
                if symbol.integer and any(r.path == path and not r.integer for r in ranges):
                    raise BadInput(f"{claimed.best_id}: {name} takes integers; end its range with ':integer'.")
                table[group][name] = known_value
            except UnknownName as error:
                if len(_statements(sweep)) == 1 or not any(_has(s, name) for s in _statements(sweep)):
                    yield where, str(error)
            except BoundcheckError as error:
                yield where, str(error)
    given = {*known, *(name for group in CONSTANTS for name in table.get(group, {}))}
    lacking = [name for name in needed_symbols(claimed) if name not in given]
    if lacking:
        text = f"{claimed.best_id}: no value for {', '.join(lacking)}; write it under constants, grid or latin."
        yield place if place[1:2] == ("statement",) else ("statement",), text


def _level_mistakes(sweep: Sweep) -> Iterator[Mistake]:
    """Levels of constants that no statement of the sweep admits."""
    known = {symbol.name: (claimed, symbol) for claimed in _statements(sweep) for symbol in claimed.symbols}
    for axis in sweep.axes:
        if axis.path[0] not in CONSTANTS or axis.path[-1] not in known:
            continue
        claimed, symbol = known[axis.path[-1]]
        for i, value in enumerate(axis.values):
            try:
                symbol.check(as_fraction(value, symbol.name), claimed.best_id)
            except BoundcheckError as error:
                yield ("grid", *axis.path, i), str(error)
                break


def setting_values(claimed: Statement, table: Mapping[str, Any]) -> dict[str, Fraction] | str:
    """The constants that problem and method of a table give to a statement, or why they give none, in a clause."""
    if not table.get("problem") or not table.get("method"):
        return "a problem needs a method, and a method a problem; write both or neither"
    try:
        problem = build_problem(table["problem"])
        found = assembled(claimed, problem, table["method"], None, table.get("at"))
    except BoundcheckError as error:
        return str(error).rstrip(".")
    if isinstance(found, str):
        return found
    return {name: value for name, value in found.values.items() if name not in table.get("at", {})}


def _statements(sweep: Sweep) -> list[Statement]:
    """The statements of a sweep, those that are unknown aside."""
    axis = next((a for a in sweep.axes if a.path == ("statement",)), None)
    ids = axis.values if axis is not None else (sweep.base.get("statement", ""),)
    found: list[Statement] = []
    for id in ids:
        try:
            found.append(statement(str(id)))
        except BoundcheckError:
            continue
    return found


def _has(claimed: Statement, name: str) -> bool:
    return name in [s.name for s in claimed.symbols]


def _unit(sweep: Sweep, axis: Axis | Range) -> tuple[str, str]:
    """The unit and meaning of an axis; of a parameter of a method, those of the symbol that takes its value."""
    for claimed in _statements(sweep):
        for symbol in claimed.symbols:
            if axis.path == (axis.path[0], symbol.name) and axis.path[0] in (*CONSTANTS, "method"):
                return str(symbol.dimension), symbol.meaning
    return "", axis.name if len(axis.path) == 1 else f"{'.'.join(axis.path[1:])} of the {axis.path[0]}"
