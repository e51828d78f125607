"""The specification of a sweep: a TOML file, validated as a whole before anything is computed.

At its top stand the keys of a `[[claim]]` (statement, problem, method, constants, at, engine, ...) and `kind`. The
table `grid` has the same shape with a list or a range "log:low:high:count" in the place of a value; `latin` has ranges
"log:low:high" or "lin:low:high", and points. Each is an axis. What an axis gives need not stand at the top.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from boundcheck.core.numbers import as_fraction, parse_number
from boundcheck.core.toml_lines import KeyPath, TomlFile, parse_toml
from boundcheck.core.toml_models import validate
from boundcheck.errors import BadInput, BoundcheckError, SpecError, nearest, shown
from boundcheck.problems._own_data import load_specification
from boundcheck.sweeps.axes import Axis, Latin, Path, Range, range_axis
from boundcheck.sweeps.checks import check_points
from boundcheck.sweeps.sweep import CHUNKS, RESULTS, Sweep, plain

MOST_CHUNKS = 200_000  # of a data set; a file each
MOST_LEVELS = 100_000  # of one axis
TABLES = ("problem", "method", "constants", "at")
SINGLE = ("statement", "engine", "arithmetic", "seeds", "level", "estimate", "neural", "target")

Number = Annotated[Fraction, BeforeValidator(lambda value: as_fraction(value, "the number"))]
Table = dict[str, Any]


class SweepSpec(BaseModel):
    """The keys of the file; those of a claim are read by `evidence.spec`, point by point."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    kind: Literal["bound", "compare", "tune"]
    statement: str = ""
    problem: Table = Field(default_factory=dict)
    method: Table = Field(default_factory=dict)
    constants: Table = Field(default_factory=dict)
    at: Table = Field(default_factory=dict)
    engine: str | None = None
    arithmetic: str | None = None
    seeds: int | None = None
    level: Any = None
    estimate: Any = None
    neural: Table | None = None
    target: Number = Fraction(1, 100)
    tight: Number = Fraction(10)
    grid: Table = Field(default_factory=dict)
    latin: Table = Field(default_factory=dict)
    chunk: Annotated[int | None, Field(strict=True, ge=1, le=10**7)] = None
    schema_version: Annotated[Literal[1], Field(alias="schema")] = 1


def load_sweep(path: FilePath | str) -> Sweep:
    """The sweep of a file; raises BadInput, and SpecError with every mistake and its line."""
    return _Reader(load_specification(path)).sweep()


def sweep_from_text(text: str, name: str = "<text>") -> Sweep:
    """As `load_sweep`, for text that is already here."""
    return _Reader(parse_toml(text, name, parse_float=str)).sweep()


class _Reader:
    """Collects the axes and the mistakes of one file."""

    def __init__(self, file: TomlFile) -> None:
        self.file = file
        self.problems: dict[tuple[int, str], None] = {}
        self.units: dict[str, tuple[str, str]] = {}

    def sweep(self) -> Sweep:
        """The sweep, or SpecError."""
        spec: SweepSpec | None = None
        try:
            spec = validate(SweepSpec, self.file)
        except SpecError as error:
            self.problems.update(dict.fromkeys(error.problems))
        data = self.file.data
        base = {k: data[k] for k in (*TABLES, *SINGLE) if k in data and k != "target"}
        axes = list(self._axes())
        ranges = list(self._ranges())
        axes.sort(key=lambda axis: axis.path[0] in ("constants", "at"))  # stable: outer axes first
        names = self._names([*axes, *ranges], str(data.get("kind")))
        named = [replace(a, name=names[a.path]) for a in axes]
        latin = self._latin([replace(r, name=names[r.path]) for r in ranges])
        if not axes and not ranges and not self.problems:
            self._add((), "the file has no axis; write a table [grid] or [latin].")
        if self.problems or spec is None:
            raise SpecError(self.file.path, self.problems)
        chunk = spec.chunk or CHUNKS[spec.kind]
        found = Sweep(spec.kind, base, tuple(named), latin, chunk, float(spec.tight), spec.target, self.units)
        if found.chunks > MOST_CHUNKS:
            least = -(-found.rows // MOST_CHUNKS)
            text = f"{found.rows} rows in chunks of {chunk} are {found.chunks} files; write chunk = {least} or more."
            self._add(("chunk",), text)
        else:
            for keys, text in check_points(found, self.file, self.units):
                self._add(keys, text)
        if self.problems:
            raise SpecError(self.file.path, self.problems)
        return found

    def _add(self, keys: KeyPath, text: str) -> None:
        self.problems[(self.file.line_of(keys), text)] = None

    def _leaves(self, top: str, skip: Sequence[str] = ()) -> Iterator[tuple[Path, Any]]:
        """The paths below a table and their values, tables aside."""

        def walk(table: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, Any]]:
            for key, value in table.items():
                if isinstance(value, Mapping):
                    yield from walk(cast("Mapping[str, Any]", value), (*path, key))
                elif path or key not in skip:
                    yield (*path, key), value

        table = self.file.data.get(top)
        for path, value in walk(table, ()) if isinstance(table, Mapping) else ():
            top_key = path[:1][0]
            known = top_key in TABLES if len(path) > 1 else top_key in SINGLE
            if known:
                yield path, value
                continue
            text = f"{top}: '{'.'.join(path)}' is no part of a claim"
            self._add((top, *path), text + nearest(top_key, (*TABLES, *SINGLE)).replace("; known: ", "; allowed: "))

    def _axes(self) -> Iterator[Axis]:
        for path, value in self._leaves("grid"):
            where, name = ("grid", *path), ".".join(path)
            try:
                if isinstance(value, str) and value.partition(":")[0].strip() in ("log", "lin"):
                    axis = range_axis(path, name, value)
                else:
                    axis = Axis(path, name, _levels(value, f"grid: {name}"), value)
            except BadInput as error:
                self._add(where, str(error))
                continue
            values = axis.values
            if len(values) > MOST_LEVELS:
                self._add(where, f"grid: {name} has {len(values)} values; at most {MOST_LEVELS} are allowed.")
            elif len({json.dumps(plain(v), sort_keys=True) for v in values}) < len(values):
                self._add(where, f"grid: {name} has a value twice.")
            else:
                yield axis

    def _ranges(self) -> Iterator[Range]:
        for path, value in self._leaves("latin", skip=("points", "seed")):
            name = ".".join(path)
            pieces = [p.strip() for p in value.split(":")] if isinstance(value, str) else []
            form = f"latin: {name} = '{shown(value)}' is not of the form log:low:high or lin:low:high."
            if len(pieces) not in (3, 4) or pieces[0] not in ("log", "lin") or pieces[3:] not in ([], ["integer"]):
                self._add(("latin", *path), form)
                continue
            try:
                low, high = (float(parse_number(p, f"latin: {name}")) for p in pieces[1:3])
            except (BadInput, OverflowError) as error:
                self._add(("latin", *path), str(error) if isinstance(error, BadInput) else form)
                continue
            if low >= high or (pieces[0] == "log" and low <= 0):
                needs = "0 < low < high" if pieces[0] == "log" else "low < high"
                self._add(("latin", *path), f"latin: {name} = '{shown(value)}' needs {needs}.")
                continue
            yield Range(path, name, low, high, pieces[0] == "log", len(pieces) == 4)

    def _latin(self, ranges: Sequence[Range]) -> Latin | None:
        table = self.file.data.get("latin")
        if not isinstance(table, Mapping) or not table:
            return None
        found: dict[str, int] = {}
        for key, default, least, most in (("points", None, 1, 10**12), ("seed", 0, 0, 2**32 - 1)):
            value: Any = cast("Mapping[str, Any]", table).get(key, default)
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
                given = f"{key} = {shown(value)} is not allowed" if key in table else f"{key} is missing"
                self._add(("latin", key), f"latin: {given}; an integer from {least} to {most} is needed.")
            else:
                found[key] = value
        if not ranges and not self.problems:
            self._add(("latin",), 'latin has no axis; write a range such as constants.eta = "log:1e-6:1e-3".')
        if len(found) < 2 or not ranges:
            return None
        return Latin(tuple(ranges), found["points"], found["seed"])

    def _names(self, axes: Sequence[Axis | Range], kind: str) -> dict[Path, str]:
        """The column of each axis: the last part of its path where that is unique, else the whole path."""
        last = [axis.path[-1] for axis in axes]
        taken = RESULTS.get(kind, ())
        found: dict[Path, str] = {}
        for axis in axes:
            short = last.count(axis.path[-1]) == 1 and axis.path[-1] not in taken
            if axis.path in found:
                self._add(("latin", *axis.path), f"{'.'.join(axis.path)} stands in grid and in latin; once is enough.")
            found[axis.path] = axis.path[-1] if short else ".".join(axis.path)
        return found


def _levels(value: Any, name: str) -> tuple[Any, ...]:
    """The values of a list: exact numbers where all of them are, else as they stand."""
    if not isinstance(value, list):
        raise BadInput(f"{name} = {shown(value)} is no axis; write a list, or a range such as log:1:100:3.")
    values = cast("list[Any]", value)
    if not values:
        raise BadInput(f"{name} is an empty list; give at least one value.")
    try:
        if not any(isinstance(v, bool) for v in values):
            return tuple(as_fraction(v, name) for v in values)
    except BoundcheckError:
        pass
    return tuple(values)
