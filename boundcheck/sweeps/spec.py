"""The specification of a sweep: a TOML file, validated as a whole before anything is computed.

At its top stand the keys of a `[[claim]]` (statement, problem, method, constants, at, engine, ...) and `kind`. The
table `grid` has the same shape with a list or a range "log:low:high:count" in the place of a value; `latin` has ranges
"log:low:high" or "lin:low:high", and points. Each is an axis. What an axis gives need not stand at the top.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from boundcheck.core.numbers import as_fraction, parse_number
from boundcheck.core.toml_lines import KeyPath, TomlFile, parse_toml
from boundcheck.core.toml_models import validate
from boundcheck.errors import BadInput, BoundcheckError, SpecError, shown
from boundcheck.problems._own_data import load_specification
from boundcheck.sweeps.checks import mistakes, units_of
from boundcheck.sweeps.sweep import CHUNKS, CONSTANTS, RESULTS, Axis, Latin, Path, Range, Sweep, plain, range_axis

MOST_CHUNKS = 200_000  # of a data set; a file each
MOST_LEVELS = 100_000  # of one axis

Number = Annotated[Fraction, BeforeValidator(lambda value: as_fraction(value, "the number"))]
Whole = Annotated[int, Field(strict=True)]
Table = dict[str, Any]
A = TypeVar("A", Axis, Range)


class _Keys(BaseModel):
    """The keys of a claim that a sweep may have; `evidence.spec` reads them, point by point."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    statement: Any = None
    problem: Table = Field(default_factory=dict)
    method: Table = Field(default_factory=dict)
    constants: Table = Field(default_factory=dict)
    at: Table = Field(default_factory=dict)
    engine: Any = None
    arithmetic: Any = None
    seeds: Any = None
    level: Any = None
    estimate: Any = None
    neural: Any = None


class _Axes(_Keys):
    target: Any = None


class _Latin(_Axes):
    points: Annotated[Whole, Field(ge=1, le=10**6)]
    seed: Annotated[Whole, Field(ge=0, lt=2**32)] = 0


class _Spec(_Keys):
    kind: Literal["bound", "compare", "tune"]
    target: Number = Fraction(1, 100)
    tight: Number = Fraction(10)
    grid: _Axes = Field(default_factory=_Axes)
    latin: _Latin | None = None
    chunk: Annotated[Whole, Field(ge=1, le=10**7)] | None = None
    schema_version: Annotated[Literal[1], Field(alias="schema")] = 1


def load_sweep(path: FilePath | str) -> Sweep:
    """The sweep of a file; raises BadInput, and SpecError with every mistake and its line."""
    return _sweep(load_specification(path))


def sweep_from_text(text: str, name: str = "<text>") -> Sweep:
    """As `load_sweep`, for text that is already here."""
    return _sweep(parse_toml(text, name, parse_float=str))


def _sweep(file: TomlFile) -> Sweep:
    spec = validate(_Spec, file)
    problems: dict[tuple[int, str], None] = {}

    def add(keys: KeyPath, text: str) -> None:
        problems[(file.line_of(keys), text)] = None

    def read(top: str, make: Callable[[Path, Any], A]) -> list[A]:
        found: list[A] = []
        for path, value in _leaves({k: v for k, v in file.data.get(top, {}).items() if k not in ("points", "seed")}):
            try:
                found.append(make(path, value))
            except BadInput as error:
                add((top, *path), str(error))
        return found

    axes, ranges = read("grid", _axis), read("latin", _range)
    axes.sort(key=lambda axis: axis.path[0] in CONSTANTS)  # stable: outer axes first
    for twice in {a.path for a in axes} & {r.path for r in ranges}:
        add(("latin", *twice), f"{'.'.join(twice)} stands in grid and in latin; once is enough.")
    if not axes and not ranges and not problems:
        add((), "the file has no axis; write a table [grid] or [latin].")
    if spec.latin is not None and not ranges and not problems:
        add(("latin",), 'latin has no axis; write a range such as constants.eta = "log:1e-6:1e-3".')
    names = _names([*axes, *ranges], spec.kind)
    grid = tuple(replace(a, name=names[a.path]) for a in axes)
    drawn = tuple(replace(r, name=names[r.path]) for r in ranges)
    latin = None if spec.latin is None or not drawn else Latin(drawn, spec.latin.points, spec.latin.seed)
    base = {k: file.data[k] for k in _Keys.model_fields if k in file.data}
    chunk = spec.chunk or CHUNKS[spec.kind]
    found = Sweep(spec.kind, base, grid, latin, chunk, float(spec.tight), spec.target, {})
    if not problems and found.chunks > MOST_CHUNKS:
        least = -(-found.rows // MOST_CHUNKS)  # twice that where the levels divide badly
        enough = next(c for c in (least, 2 * least) if replace(found, chunk=c).chunks <= MOST_CHUNKS)
        text = f"{found.rows} rows in chunks of {chunk} are {found.chunks} files; write chunk = "
        add(("chunk",), f"{text}{enough} or more.")
    for keys, text in () if problems else mistakes(found, file):
        add(keys, text)
    if problems:
        raise SpecError(file.path, problems)
    return replace(found, units=units_of(found))


def _leaves(table: Mapping[str, Any], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The paths of the values of nested tables, in the order of the file."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _leaves(cast("Mapping[str, Any]", value), (*path, key))
        else:
            yield (*path, key), value


def _axis(path: Path, value: Any) -> Axis:
    """The grid of a list or a range. Raises BadInput."""
    name = ".".join(path)
    if isinstance(value, str) and value.partition(":")[0].strip() in ("log", "lin"):
        axis = range_axis(path, name, value)
    elif not isinstance(value, list):
        raise BadInput(f"grid: {name} = {shown(value)} is no axis; write a list, or a range such as log:1:100:3.")
    elif not value:
        raise BadInput(f"grid: {name} is an empty list; give at least one value.")
    else:
        axis = Axis(path, name, _levels(cast("list[Any]", value), f"grid: {name}"), value)
    if len(axis.values) > MOST_LEVELS:
        raise BadInput(f"grid: {name} has {len(axis.values)} values; at most {MOST_LEVELS} are allowed.")
    if len({json.dumps(plain(v), sort_keys=True) for v in axis.values}) < len(axis.values):
        raise BadInput(f"grid: {name} has a value twice.")
    return axis


def _levels(values: list[Any], name: str) -> tuple[Any, ...]:
    """Exact numbers where all of them are, else the values as they stand."""
    try:
        if not any(isinstance(v, bool) for v in values):
            return tuple(as_fraction(v, name) for v in values)
    except BoundcheckError:
        pass
    return tuple(values)


def _range(path: Path, value: Any) -> Range:
    """An axis of the Latin hypercube. Raises BadInput."""
    name = ".".join(path)
    pieces = [p.strip() for p in value.split(":")] if isinstance(value, str) else []
    form = f"latin: {name} = '{shown(value)}' is not of the form log:low:high or lin:low:high."
    if len(pieces) not in (3, 4) or pieces[0] not in ("log", "lin") or pieces[3:] not in ([], ["integer"]):
        raise BadInput(form)
    try:
        low, high = (float(parse_number(p, f"latin: {name}")) for p in pieces[1:3])
    except OverflowError as error:
        raise BadInput(form) from error
    if low >= high or (pieces[0] == "log" and low <= 0):
        needs = "0 < low < high" if pieces[0] == "log" else "low < high"
        raise BadInput(f"latin: {name} = '{shown(value)}' needs {needs}.")
    return Range(path, name, low, high, pieces[0] == "log", len(pieces) == 4)


def _names(axes: Sequence[Axis | Range], kind: str) -> dict[Path, str]:
    """The column of each axis: the last part of its path where that is unique, else the whole path."""
    last = [axis.path[-1] for axis in axes]
    unique = {name for name in last if last.count(name) == 1} - {*RESULTS[kind]}
    return {a.path: a.path[-1] if a.path[-1] in unique else ".".join(a.path) for a in axes}
