"""What is wrong with a sweep beyond the shape of its file: every axis is tried, level by level, at the first point.

A mistake that only one combination of levels has shows when its row is computed; the row then says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from boundcheck.core.numbers import as_fraction
from boundcheck.core.toml_lines import KeyPath, TomlFile
from boundcheck.errors import BoundcheckError, SpecError
from boundcheck.evidence.rounds_to_target import assembled, is_bound
from boundcheck.evidence.spec import claim_from_table
from boundcheck.problems.build import build as build_problem
from boundcheck.sweeps.sweep import CONSTANTS, Axis, Path, Range, Sweep
from boundcheck.theory.discovery import statement
from boundcheck.theory.evaluation import needed_symbols

if TYPE_CHECKING:
    from boundcheck.theory.statement import Statement

TRIED = 24  # levels of one axis that are tried; of more, some between the first and the last

Mistake = tuple[KeyPath, str]


def mistakes(sweep: Sweep, file: TomlFile) -> Iterator[Mistake]:
    """The mistakes with their key paths."""
    if sweep.kind == "bound":
        yield from _settings(sweep)
        yield from _constants(sweep)
        return
    for point, place in _points(sweep):
        yield from _of_claim(sweep, file, point, place)


def statements_of(sweep: Sweep) -> list[Statement]:
    """The statements of a sweep, those that are unknown aside."""
    axis = next((a for a in sweep.axes if a.path == ("statement",)), None)
    found: list[Statement] = []
    for id in axis.values if axis is not None else (sweep.base.get("statement", ""),):
        try:
            found.append(statement(str(id)))
        except BoundcheckError:
            continue
    return found


def units_of(sweep: Sweep) -> dict[str, tuple[str, str]]:
    """Unit and meaning of every axis; of a parameter of a method, those of the symbol that takes its value."""
    known = {symbol.name: symbol for claimed in statements_of(sweep) for symbol in claimed.symbols}
    found: dict[str, tuple[str, str]] = {}
    for axis in sweep.every_axis:
        symbol = known.get(axis.path[-1]) if len(axis.path) == 2 and axis.path[0] != "problem" else None
        other = axis.name if len(axis.path) == 1 else f"{'.'.join(axis.path[1:])} of the {axis.path[0]}"
        found[axis.name] = ("", other) if symbol is None else (str(symbol.dimension), symbol.meaning)
    return found


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


def _levels(path: Path, given: Any) -> list[tuple[KeyPath, Any]]:
    """Where each value of an axis or of a single constant stands, and the value; of a range the two ends."""
    if isinstance(given, Axis):
        return [(("grid", *path, i), value) for i, value in enumerate(given.values)]
    if isinstance(given, Range):
        return [(("latin", *path), given.exact(end)) for end in (given.low, given.high)]
    return [(path, given)]


def _points(sweep: Sweep, *, outer: bool = False) -> Iterator[tuple[dict[Path, Any], KeyPath]]:
    """The first point, and those that differ from it in one axis (one of the outer ones), with the place of what
    differs."""
    levels = {axis.path: _levels(axis.path, axis) for axis in sweep.every_axis}
    first = {path: own[0][1] for path, own in levels.items()}
    yield first, ()
    for axis in sweep.every_axis:
        if outer and axis.path[0] in CONSTANTS:
            continue
        own = levels[axis.path]
        step = max(1, -(-len(own) // TRIED))
        for i in sorted({*range(int(isinstance(axis, Range)), len(own), step), len(own) - 1}):
            place, value = own[i]
            yield {**first, axis.path: value}, place


def _of_claim(sweep: Sweep, file: TomlFile, point: Mapping[Path, Any], place: KeyPath) -> Iterator[Mistake]:
    """Those of the claim at one point, on the lines of the axes that give its parts."""
    table = sweep.table({p: v for p, v in point.items() if p[0] != "target"})
    lines: dict[KeyPath, int] = {path: line for path, line in file.lines.items() if path[0] not in ("grid", "latin")}
    for axis in sweep.every_axis:
        where: KeyPath = ("grid" if isinstance(axis, Axis) else "latin", *axis.path)
        lines[axis.path] = file.line_of(place if place[: len(where)] == where else where)
    try:
        claim = claim_from_table(table, file.path, lines)
    except SpecError as error:
        at = {line: path for path, line in reversed(file.lines.items())}
        yield from ((at.get(line, ()), text) for line, text in error.problems)
        return
    if not 0 < as_fraction(point.get(("target",), sweep.target)) < 1:
        yield place or ("target",), "target is a share of the start; between 0 and 1 is allowed."
    if sweep.kind == "tune" and not is_bound(statement(claim.statement)):
        why = "bounds no metric for every number of rounds, so that it promises nothing"
        yield place or ("statement",), f"{claim.id} {why}."


def _settings(sweep: Sweep) -> Iterator[Mistake]:
    """What is wrong with statement, problem and method, and which symbols nothing gives."""
    given = _given(sweep)
    named = {path[1] for path in given}
    for point, place in _points(sweep, outer=True):
        table = sweep.table(point)
        try:
            claimed = statement(str(table.get("statement", "")))
        except BoundcheckError as error:
            yield place or ("statement",), str(error)
            continue
        known: Mapping[str, Fraction] = {}
        if "problem" in table or "method" in table:
            found = setting_values(claimed, table)
            if isinstance(found, str):
                yield place or ("problem" if "problem" in table else "method",), f"{claimed.best_id}: {found}."
                continue
            known = found
        for name in sorted(named & set(known)):
            group = next(g for g in CONSTANTS if name in table.get(g, {}))
            text = f"{claimed.best_id}: problem and method give {name}; leave it out of {group}."
            yield _levels((group, name), given[group, name])[0][0], text
        lacking = [name for name in needed_symbols(claimed) if name not in {*known, *named}]
        if lacking:
            text = f"{claimed.best_id}: no value for {', '.join(lacking)}; write it under constants, grid or latin."
            yield place if place[1:2] == ("statement",) else ("statement",), text


def _given(sweep: Sweep) -> dict[Path, Any]:
    """What gives each symbol of the statement that the file names: its value, or its axis."""
    single = {(group, name): value for group in CONSTANTS for name, value in sweep.base.get(group, {}).items()}
    return {**single, **{axis.path: axis for axis in sweep.every_axis if axis.path[0] in CONSTANTS}}


def _constants(sweep: Sweep) -> Iterator[Mistake]:
    """Symbols that no statement of the sweep has, and values that one of them does not admit."""
    every = statements_of(sweep)
    for path, given in _given(sweep).items():
        own = [s for s in every if path[-1] in [symbol.name for symbol in s.symbols]] or every[:1]
        for claimed in own:
            for place, value in _levels(path, given):
                try:
                    symbol = claimed.symbol(path[-1])
                    symbol.check(as_fraction(value, symbol.name), claimed.best_id)
                except BoundcheckError as error:
                    yield place, str(error)
                    break
            else:
                if isinstance(given, Range) and claimed.symbol(path[-1]).integer and not given.integer:
                    text = f"{claimed.best_id}: {path[-1]} takes integers; end its range with ':integer'."
                    yield ("latin", *path), text
