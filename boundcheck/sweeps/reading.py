"""Reading the data set of a sweep for a picture: its axes, and columns of the rows that are asked for."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.numbers import as_double, parse_number
from boundcheck.core.places import Place
from boundcheck.errors import BadInput, UnknownName
from boundcheck.sweeps.dataset import PART, about_of
from boundcheck.sweeps.sweep import RESULTS

MOST_ROWS = 20_000_000  # of a picture


@dataclass(frozen=True)
class SweepData:
    """A data set at a place.

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
        fields = self.fields
        paths = [] if latin is None else [r[0] for r in latin["ranges"]]
        return tuple(p if p in fields else p.rpartition(".")[2] for p in paths)

    @property
    def axes(self) -> tuple[str, ...]:
        """All columns of axes."""
        return (*(name for _, name, _ in self.about["sweep"]["grid"]), *self.drawn_at_random)

    @cached_property
    def fields(self) -> Mapping[str, tuple[str, str]]:
        """Unit and meaning of every column."""
        import pyarrow.parquet as pq

        schema = pq.read_schema(io.BytesIO(_whole(self.files, self.parts[0])[0]))
        of = [(f.name, {k.decode(): v.decode() for k, v in (f.metadata or {}).items()}) for f in schema]
        return {name: (about.get("unit", ""), about.get("meaning", "")) for name, about in of}

    def columns(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Columns of the rows that fit `at`; text as Python strings, a missing number as nan."""
        import pyarrow.parquet as pq

        known = (*self.axes, *RESULTS[self.kind])
        for name in (*names, *self.at):
            if name not in known:
                raise UnknownName("the column", name, known)
        found: dict[str, list[NDArray[Any]]] = {name: [] for name in names}
        rows = 0
        for part in self.parts:
            content = _whole(self.files, part)[0]
            read = pq.read_table(io.BytesIO(content), columns=sorted({*names, *self.at}))
            arrays = {name: _plain(read.column(name)) for name in read.column_names}
            keep = np.ones(read.num_rows, dtype=bool)
            for name, wanted in self.at.items():
                keep &= _fits(arrays[name], wanted, name)
            rows += int(keep.sum())
            if rows > MOST_ROWS:
                raise BadInput(f"more than {MOST_ROWS} rows are asked for; choose fewer with --at.")
            for name in names:
                found[name].append(arrays[name][keep])
        if not rows:
            raise BadInput("no row of the sweep has the values of --at.")
        return {name: np.concatenate(parts) for name, parts in found.items()}


def _plain(column: Any) -> NDArray[Any]:
    """An array of an Arrow column."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_floating(kind):
        return np.asarray(column.combine_chunks().fill_null(float("nan")).to_numpy(zero_copy_only=False))
    found = np.empty(len(column), dtype=object)
    found[:] = column.to_pylist()
    return found


def _fits(values: NDArray[Any], wanted: Any, name: str) -> NDArray[np.bool_]:
    if isinstance(wanted, tuple):
        if values.dtype == object:
            raise BadInput(f"--at {name}: a column of text has no range; give one value.")
        return (values >= wanted[0]) & (values <= wanted[1])
    if values.dtype == object:
        return np.array([str(v) == wanted for v in values])
    return np.isclose(values, float(parse_number(wanted, f"--at {name}")), rtol=1e-9, atol=0.0)


def read_sweep(place: str, at: Sequence[str]) -> SweepData:
    """The data set at a place; at: NAME=VALUE or NAME=LOW:HIGH. Raises BadInput where there is none."""
    files = Place(place)
    parts = sorted(name for name in files.names() if PART.fullmatch(name))
    if not parts:
        raise BadInput(f"{place} holds no sweep; give the folder of `boundcheck sweep`.")
    wanted: dict[str, Any] = {}
    for text in at:
        name, equals, value = text.partition("=")
        if not equals or not value.strip():
            raise BadInput(f"--at '{text}' is not of the form NAME=VALUE or NAME=LOW:HIGH.")
        low, colon, high = value.partition(":")
        wanted[name.strip()] = tuple(as_double(v, f"--at {name}") for v in (low, high)) if colon else value.strip()
    return SweepData(files, _whole(files, parts[0])[1], wanted, tuple(parts))


def _whole(files: Place, part: str) -> tuple[bytes, Mapping[str, Any]]:
    """The bytes of a part and its metadata. Raises BadInput where it is damaged."""
    content = files.read(part) or b""
    try:
        return content, about_of(content)
    except (ValueError, LookupError, TypeError, OSError) as error:
        raise BadInput(f"{files.where(part)} is damaged; run the sweep again, which replaces it.") from error
