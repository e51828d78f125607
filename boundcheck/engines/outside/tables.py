"""Tables from files and data frames: named columns of equal length, whose cells are what the source holds.

Text is read by the grammar of `core.numbers` later; nothing here is evaluated. A cell without an entry is None.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from boundcheck.core.extras import missing, needed_for
from boundcheck.core.numbers import parse_number
from boundcheck.core.places import reason
from boundcheck.errors import BadInput, MissingExtra, shown

MAX_BYTES = 500_000_000
NO_NUMBERS = frozenset({"inf", "-inf", "infinity", "-infinity", "nan"})  # numbers that JSON and the grammar lack
SUFFIXES = ".csv, .tsv, .json, .jsonl, .ndjson, .parquet"


@dataclass(frozen=True)
class Table:
    """columns: name -> cells, row by row. where: how messages name the table. sha256: of the file's bytes, or ''."""

    where: str
    columns: Mapping[str, Sequence[Any]]
    sha256: str = ""

    def __len__(self) -> int:
        return max((len(cells) for cells in self.columns.values()), default=0)

    def named(self) -> str:
        """The columns in words."""
        return "it has the columns " + ", ".join(f"'{shown(name)}'" for name in self.columns)


def read_table(path: Path | str, where: str = "", suffix: str = "") -> Table:
    """The table of a file, whose name says what it is: .csv, .tsv, .json, .jsonl, .ndjson or .parquet.

    where: how messages name it, by default its path. suffix: instead of that of the name. Raises BadInput in one
    sentence where it is none, MissingExtra for Parquet where neither pyarrow nor polars nor pandas is installed.
    """
    path, where = Path(path), where or str(path)
    suffix = suffix or path.suffix.lower()
    if suffix not in READERS:
        raise BadInput(f"the curve {where} is not a file that is read here; its name ends in one of {SUFFIXES}.")
    content = _content(path, where)
    if not content:
        raise BadInput(f"the curve {where} is empty; it needs a column of rounds and one of values.")
    table = READERS[suffix](content, where)
    if not len(table):
        raise BadInput(f"the curve {where} has no rows; it needs one for each round.")
    return Table(where, table.columns, hashlib.sha256(content).hexdigest())


def _content(path: Path, where: str) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise BadInput(f"the curve {where} does not exist.") from error
    except IsADirectoryError as error:
        raise BadInput(f"the curve {where} is a folder; a file is needed.") from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise BadInput(f"the curve {where} cannot be read: {why}.") from error
    if len(content) > MAX_BYTES:
        raise BadInput(f"the curve {where} is larger than {MAX_BYTES // 10**6} MB, the most that is read.")
    return content


def _text(content: bytes, where: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BadInput(
            f"the curve {where}: the byte 0x{content[error.start]:02x} in line {line} is not UTF-8; save it as UTF-8."
        ) from error


# --- CSV --------------------------------------------------------------------------------------------------


def _csv(content: bytes, where: str) -> Table:
    """A header line and rows; the separator is the one of comma, semicolon and tab that the header has most of."""
    text = _text(content, where)
    first = text.lstrip("\r\n").partition("\n")[0]
    separator = max(",;\t", key=first.count)
    rows: list[list[str]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append(row)
                if len(row) != len(rows[0]):
                    raise BadInput(
                        f"the curve {where}: line {reader.line_num} has {len(row)} cells, the header has "
                        f"{len(rows[0])}; each line needs a cell for each column."
                    )
    except csv.Error as error:
        raise BadInput(f"the curve {where}: line {reader.line_num} is not CSV: {error}.") from error
    if not rows:
        raise BadInput(f"the curve {where} is empty; it needs a column of rounds and one of values.")
    names = [name.strip() for name in rows[0]]
    if all(_is_number(name) for name in names):
        raise BadInput(f"the curve {where} has no header; its first line names the columns, such as round,value.")
    return _table(where, names, zip(*rows[1:], strict=True) if rows[1:] else [()] * len(names))


def _table(where: str, names: Sequence[str], columns: Iterable[Sequence[Any]]) -> Table:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BadInput(f"the curve {where} has the column '{shown(twice)}' twice; names of columns differ.")
    found = {name: [_empty(cell) for cell in cells] for name, cells in zip(names, columns, strict=True)}
    return Table(where, found)


def _empty(cell: Any) -> Any:
    """The cell, None where it is empty text."""
    return (cell.strip() or None) if isinstance(cell, str) else cell


def _is_number(cell: str) -> bool:
    try:
        parse_number(cell)
    except BadInput:
        return cell.lower() in NO_NUMBERS
    return True


# --- JSON -------------------------------------------------------------------------------------------------


def _loads(text: str, where: str) -> Any:
    try:
        return json.loads(text, parse_float=str)  # a decimal means exactly what it says
    except RecursionError as error:
        raise BadInput(f"the curve {where} is nested too deeply to be read.") from error
    except ValueError as error:
        raise BadInput(f"the curve {where} is not JSON: {error}.") from error


def _json(content: bytes, where: str) -> Table:
    """Rows as objects, columns as lists, or TensorBoard's triples [wall time, step, value] of one or more runs."""
    data = _loads(_text(content, where), where)
    if isinstance(data, dict):
        inner = cast("dict[str, Any]", data)
        if isinstance(inner.get("metrics"), list):  # MLflow's answer to metrics/get-history
            data = inner["metrics"]
        elif inner and all(_are_triples(v) for v in inner.values()):  # TensorBoard's runs of one tag
            rows = [(run, *triple) for run, triples in inner.items() for triple in triples]
            return _table(where, ["run", *_TRIPLE], zip(*rows, strict=True))
        elif inner and all(isinstance(v, list) for v in inner.values()):
            return _columns(where, inner)
    if isinstance(data, list) and data:
        if _are_triples(data):
            return _table(where, _TRIPLE, zip(*data, strict=True))
        if all(isinstance(row, dict) for row in cast("list[Any]", data)):
            return _records(cast("list[dict[str, Any]]", data), where)
    raise BadInput(
        f"the curve {where} is JSON of another form; a list of objects such as "
        '{"round": 0, "value": 1}, an object of columns, or [[wall time, step, value], ...] is read.'
    )


_TRIPLE = ["Wall time", "Step", "Value"]


def _are_triples(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(cast("list[Any]", value))
        and all(isinstance(v, list) and len(cast("list[Any]", v)) == 3 for v in cast("list[Any]", value))
    )


def _columns(where: str, columns: Mapping[str, Sequence[Any]]) -> Table:
    lengths = {name: len(cells) for name, cells in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"'{shown(name)}' has {count}" for name, count in lengths.items())
        raise BadInput(f"the curve {where} has columns of different lengths: {told}.")
    return _table(where, list(columns), list(columns.values()))


def _records(rows: Sequence[Mapping[str, Any]], where: str) -> Table:
    names = list(dict.fromkeys(name for row in rows for name in row))
    return _table(where, names, [[row.get(name) for row in rows] for name in names])


def _json_lines(content: bytes, where: str) -> Table:
    rows: list[dict[str, Any]] = []
    for number, text in enumerate(_text(content, where).splitlines(), 1):
        if text.strip():
            row = _loads(text, f"{where}, line {number},")
            if not isinstance(row, dict):
                raise BadInput(f'the curve {where}: line {number} is no JSON object such as {{"round": 0}}.')
            rows.append(cast("dict[str, Any]", row))
    return _records(rows, where)


# --- Parquet and data frames ------------------------------------------------------------------------------


def _parquet(content: bytes, where: str) -> Table:
    source = io.BytesIO(content)
    for module, function in (("pyarrow.parquet", "read_table"), ("polars", "read_parquet"), ("pandas", "read_parquet")):
        try:
            read = getattr(import_module(module), function)
        except ImportError:
            continue
        try:
            return frame_table(read(source), where)
        except BadInput:
            raise
        except Exception as error:  # each library has errors of its own
            raise BadInput(f"the curve {where} is no Parquet file: {shown(str(error))}.") from error
    raise MissingExtra(missing("pyarrow", f"the curve {where} is Parquet, and reading it"))


def frame_table(frame: Any, where: str = "the data frame") -> Table:
    """The columns of a data frame: pandas, polars, pyarrow, a mapping of lists, or whatever speaks
    `__arrow_c_stream__` or `__dataframe__` where pyarrow is installed.

    Missing entries are None (NaN stays NaN). Raises BadInput for anything else.
    """
    if isinstance(frame, Mapping):
        mapping = cast("Mapping[Any, Any]", frame)
        return _columns(where, {str(name): _cells(cells, where) for name, cells in mapping.items()})
    names = getattr(frame, "column_names", None)  # pyarrow
    names = getattr(frame, "columns", None) if names is None else names
    if names is None or not hasattr(frame, "__getitem__"):
        frame = _through_arrow(frame, where)
        names = frame.column_names
    return _table(where, [str(name) for name in names], [_cells(frame[name], where) for name in names])


def _cells(column: Any, where: str) -> list[Any]:
    for method in ("to_pylist", "to_list", "tolist"):  # pyarrow, polars and pandas, NumPy
        if hasattr(column, method):
            return [None if type(v).__name__ in ("NAType", "NaTType") else v for v in getattr(column, method)()]
    if isinstance(column, Iterable) and not isinstance(column, str | bytes):
        return list(cast("Iterable[Any]", column))
    raise BadInput(f"{where}: a column is {shown(column)}; a list of numbers is allowed.")


def _through_arrow(frame: Any, where: str) -> Any:
    spoken = [name for name in ("__arrow_c_stream__", "__dataframe__") if hasattr(frame, name)]
    if not spoken:
        raise BadInput(f"{where} is {shown(type(frame).__name__)}, which is no data frame and no mapping of columns.")
    with needed_for(f"reading {where}"):
        if spoken[0] == "__arrow_c_stream__":
            return import_module("pyarrow").table(frame)
        return import_module("pyarrow.interchange").from_dataframe(frame)


READERS = {
    ".csv": _csv,
    ".tsv": _csv,
    ".json": _json,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".parquet": _parquet,
}
