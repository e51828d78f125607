"""The data set of a sweep: one Parquet file a chunk, in a folder or at a URL, each named by what it holds.

    <place>/part-<digest>-0000012-<checksum>.parquet    chunk 12 of the sweep with this digest

The digest is of the specification, of the code that computes the rows and of the versions of what it uses, so that a
sweep that goes on finds what it has by a listing, and never mixes what two versions computed; the checksum is of the
file's bytes. A file is there as a whole or not at all. Its schema says unit and meaning of each column, and its
metadata, under the key `boundcheck`, where the rows come from and how many there are of each label. Equal chunks are
equal byte for byte.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.digest import digest, package_version
from boundcheck.core.extras import missing
from boundcheck.core.facts import facts
from boundcheck.core.loaded import LOADED, digests
from boundcheck.core.numbers import as_double, parse_number
from boundcheck.core.places import Place
from boundcheck.errors import BadInput, MissingExtra, UnknownName
from boundcheck.sweeps.checks import statements_of
from boundcheck.sweeps.rows import LABELS, columns_of
from boundcheck.sweeps.sweep import METRIC, RESULTS, Axis, Sweep

SCHEMA = 3
KEY = b"boundcheck"  # of the metadata
MOST_ROWS = 20_000_000  # of a picture
_PART = re.compile(r"part-([0-9a-f]{12})-([0-9]{7})-([0-9a-f]{16})\.parquet")

Counts = Mapping[str, int]  # label -> rows of a chunk


def need_pyarrow() -> None:
    """Raises MissingExtra where pyarrow is absent."""
    if importlib.util.find_spec("pyarrow") is None:
        raise MissingExtra(missing("pyarrow", "a sweep"))


# --- writing ---------------------------------------------------------------------------------------------------------


class Dataset:
    """The files of one sweep at a place."""

    def __init__(self, sweep: Sweep, place: Path | str, known_digest: str = "") -> None:
        """known_digest: `sweep_digest` of the sweep, where it has been computed already (it takes a second)."""
        self.sweep = sweep
        self.files = Place(place)
        self.digest = known_digest or sweep_digest(sweep)

    def claim(self) -> dict[int, Counts]:
        """The whole chunks that are there, with the counts of their labels; files that are damaged are removed.

        Raises BadInput where the place holds another sweep, or files that are no sweep.
        """
        self.files.tidy()
        found: dict[int, Counts] = {}
        for name in self.files.names():
            match = _PART.fullmatch(name)
            if match is None:
                raise BadInput(
                    f"{self.files.place} holds files that are no part of a sweep (such as '{name}'); name a new folder."
                )
            if match[1] != self.digest[:12]:
                raise BadInput(
                    f"{self.files.place} holds a sweep of another specification, or of another version of boundcheck "
                    f"('{name}'); name a new folder, or remove what is there."
                )
            content = self.files.read(name) or b""
            if is_whole(name, content) and int(match[2]) not in found:
                found[int(match[2])] = about_of(content)["counts"]
            else:
                self.files.remove(name)
        return found

    def chunks(self) -> set[int]:
        """The numbers of the chunks of this sweep that are there, whole or damaged."""
        matches = map(_PART.fullmatch, self.files.names())
        return {int(m[2]) for m in matches if m is not None and m[1] == self.digest[:12]}

    def compute(self, chunk: int, tell: Any = None) -> Counts:
        """Computes a chunk and puts its file in place."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = columns_of(self.sweep, self.sweep.box(chunk), tell)
        tally = np.bincount(columns["label"], minlength=len(LABELS))
        counts = {name: int(n) for name, n in zip(LABELS, tally, strict=True) if n}
        fields = fields_of(self.sweep)
        about = self.about() | {"rows": list(self.sweep.range_of(chunk)), "counts": counts}
        schema = pa.schema(fields, metadata={KEY: json.dumps(about, sort_keys=True)})
        arrays = [_array(columns[field.name], field.type) for field in fields]
        packed = io.BytesIO()
        pq.write_table(pa.Table.from_arrays(arrays, schema=schema), packed, compression="zstd", store_schema=True)
        content = packed.getvalue()
        self.files.write(f"part-{self.digest[:12]}-{chunk:07d}-{_checksum(content)}.parquet", content)
        return counts

    def about(self) -> dict[str, Any]:
        """Where the rows come from; no time and no machine, so that equal sweeps have equal files."""
        return {
            "schema": SCHEMA,
            "sweep": self.sweep.to_dict(),
            "digest": self.digest,
            "statements": [claimed.best_id for claimed in statements_of(self.sweep)],
            "versions": facts(),
            "total_rows": self.sweep.rows,
        }


def is_whole(name: str, content: bytes) -> bool:
    """Whether the bytes of a part are those that were written under its name."""
    match = _PART.fullmatch(name)
    return match is not None and match[3] == _checksum(content)


def about_of(content: bytes) -> dict[str, Any]:
    """The metadata of a part."""
    import pyarrow.parquet as pq

    return json.loads(pq.read_schema(io.BytesIO(content)).metadata[KEY])


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def sweep_digest(sweep: Sweep) -> str:
    """SHA-256 of what the sweep computes, of the code that does and of the versions of what it uses."""
    code = {**facts(), "pyarrow": str(package_version("pyarrow"))}
    return digest({"schema": SCHEMA, "sweep": sweep.to_dict(), "code": code, "loaded": digests() if LOADED else None})


def fields_of(sweep: Sweep) -> list[Any]:
    """The columns with types, units and meanings."""
    import pyarrow as pa

    types = {"label": pa.dictionary(pa.int8(), pa.string()), "double": pa.float64()}
    types |= {"bool": pa.bool_(), "string": pa.string()}
    units = {str(claimed.metric.dimension) for claimed in statements_of(sweep)}
    found: list[Any] = []
    for axis in sweep.every_axis:
        unit, meaning = sweep.units.get(axis.name, ("", ""))
        found.append(pa.field(axis.name, types[_type_of(axis)], metadata={"unit": unit, "meaning": meaning}))
    for name, (kind, unit, meaning) in RESULTS[sweep.kind].items():
        unit = unit if unit != METRIC else units.copy().pop() if len(units) == 1 else ""
        found.append(pa.field(name, types[kind], metadata={"unit": unit, "meaning": meaning}))
    return found


def _type_of(axis: Any) -> str:
    if not isinstance(axis, Axis) or axis.is_numeric:
        return "double"
    return "bool" if all(isinstance(v, bool) for v in axis.values) else "string"


def _array(values: Any, kind: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return pa.DictionaryArray.from_arrays(pa.array(values, pa.int8()), pa.array(LABELS))
    if pa.types.is_string(kind):
        texts = [v if v is None or isinstance(v, str) else json.dumps(v, sort_keys=True) for v in values]
        return pa.array(texts, kind)
    return pa.array(values, kind)


# --- reading ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SweepData:
    """A data set at a place, for a picture: its axes, and columns of the rows that are asked for.

    about: the metadata of its files; at: column -> value, or (low, high), that rows must have; parts: its files.
    """

    files: Place
    about: Mapping[str, Any]
    at: Mapping[str, Any]
    parts: tuple[str, ...]

    @property
    def kind(self) -> str:
        """The kind of the sweep: bound, compare or tune."""
        return self.about["sweep"]["kind"]

    @property
    def drawn_at_random(self) -> tuple[str, ...]:
        """The columns of the Latin hypercube."""
        latin = self.about["sweep"]["latin"]
        return () if latin is None else tuple(name for _, name, *_ in latin["ranges"])

    @property
    def axes(self) -> tuple[str, ...]:
        """All columns of axes."""
        return (*(name for _, name, _ in self.about["sweep"]["grid"]), *self.drawn_at_random)

    @cached_property
    def fields(self) -> Mapping[str, tuple[str, str]]:
        """Unit and meaning of every column."""
        import pyarrow.parquet as pq

        schema = pq.read_schema(io.BytesIO(_content(self.files, self.parts[0])))
        of = [(f.name, {k.decode(): v.decode() for k, v in (f.metadata or {}).items()}) for f in schema]
        return {name: (about.get("unit", ""), about.get("meaning", "")) for name, about in of}

    def columns(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Columns of the rows that fit `at`; text as Python strings, a missing number as nan."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        known = (*self.axes, *RESULTS[self.kind])
        for name in (*names, *self.at):
            if name not in known:
                raise UnknownName("the column", name, known)
        schema = pq.read_schema(io.BytesIO(_content(self.files, self.parts[0])))
        wanted = [_fits(schema.field(name), value) for name, value in self.at.items()]
        filters = functools.reduce(lambda a, b: a & b, wanted) if wanted else None
        tables: list[Any] = []
        for part in self.parts:
            content = pa.BufferReader(_content(self.files, part))
            tables.append(pq.read_table(content, columns=list(names), filters=filters))
            if sum(table.num_rows for table in tables) > MOST_ROWS:
                raise BadInput(f"more than {MOST_ROWS} rows are asked for; choose fewer with --at.")
        whole = pa.concat_tables(tables)
        if not whole.num_rows:
            raise BadInput("no row of the sweep has the values of --at.")
        return {name: _plain(whole.column(name)) for name in names}


def _plain(column: Any) -> NDArray[Any]:
    """An array of an Arrow column."""
    import pyarrow as pa

    if pa.types.is_floating(column.type):
        return np.asarray(column.combine_chunks().fill_null(float("nan")).to_numpy(zero_copy_only=False))
    found = np.empty(len(column), dtype=object)
    found[:] = column.to_pylist()
    return found


def _fits(field: Any, wanted: Any) -> Any:
    """The rows that have a value of --at, as a filter of Arrow; numbers are equal to a relative 1e-9."""
    import pyarrow as pa
    import pyarrow.compute as pc

    is_number = pa.types.is_floating(field.type)
    if isinstance(wanted, tuple):
        if not is_number:
            raise BadInput(f"--at {field.name}: a column of text has no range; give one value.")
        return (pc.field(field.name) >= wanted[0]) & (pc.field(field.name) <= wanted[1])
    if not is_number:
        value = {"True": True, "False": False}.get(wanted) if pa.types.is_boolean(field.type) else wanted
        return pc.field(field.name) == value
    value = float(parse_number(wanted, f"--at {field.name}"))
    near = 1e-9 * abs(value)
    return (pc.field(field.name) >= value - near) & (pc.field(field.name) <= value + near)


def read_sweep(place: str, at: Sequence[str]) -> SweepData:
    """The data set at a place; at: NAME=VALUE or NAME=LOW:HIGH. Raises BadInput if there is none."""
    files = Place(place)
    parts = sorted(name for name in files.names() if _PART.fullmatch(name))
    if not parts:
        raise BadInput(f"{place} holds no sweep; give the folder of `boundcheck sweep`.")
    wanted: dict[str, Any] = {}
    for text in at:
        name, equals, value = text.partition("=")
        if not equals or not value.strip():
            raise BadInput(f"--at '{text}' is not of the form NAME=VALUE or NAME=LOW:HIGH.")
        low, colon, high = value.partition(":")
        wanted[name.strip()] = tuple(as_double(v, f"--at {name}") for v in (low, high)) if colon else value.strip()
    return SweepData(files, about_of(_content(files, parts[0])), wanted, tuple(parts))


def _content(files: Place, part: str) -> bytes:
    """The bytes of a part. Raises BadInput where it is damaged."""
    content = files.read(part) or b""
    if not is_whole(part, content):
        raise BadInput(f"{files.where(part)} is damaged; run the sweep again, which replaces it.")
    return content
