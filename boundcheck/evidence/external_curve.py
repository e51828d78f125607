"""Curves that were measured elsewhere: files and data frames with named columns, and arrays, as a `Curve`.

A table has a row for each round, or for each round and seed, or for each round, seed and metric. Its columns are those
that the user names, else those called round, value, seed, key and stderr, or as the metric; `Curve.info["columns"]` has
what was taken. pandas reads files; text in cells is parsed by the grammar of `core.numbers` and never evaluated.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import NormalDist
from typing import Any, cast

import numpy as np

from boundcheck.core.extras import needed_for
from boundcheck.core.linalg import nearest_float
from boundcheck.core.numbers import as_fraction
from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.errors import BadInput, UnknownName, shown

ENGINE = "outside"  # `Curve.info["engine"]` of these curves
LEVEL = 0.999
MAX_BYTES = 500_000_000
SUFFIXES = ".csv, .tsv, .json, .jsonl, .ndjson, .parquet"
ROLES = ("round", "value", "seed", "key", "stderr")  # of columns, which may be called as their role
NOT_FINITE = frozenset({"inf", "infinity", "nan"})
_PLAIN = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,4})?")  # what float() reads as `core.numbers` does
Row = tuple[str, Any, Any, Any, Any]  # where it stands, seed, round, value, standard error
Found = Mapping[str, str | None]  # role -> column, or column of values -> the seed that it is of (None: a role has it)


@dataclass(frozen=True)
class Table:
    """columns: name -> cells, row by row, None if empty. where: its name in messages. sha256: of the file, or ""."""

    where: str
    columns: Mapping[str, Sequence[Any]]
    sha256: str = ""

    def __str__(self) -> str:
        return f"the curve {self.where}"

    def named(self) -> str:
        """The columns in words."""
        return "it has the columns " + ", ".join(f"'{shown(name)}'" for name in self.columns)


def read_table(path: Path | str, where: str = "", suffix: str = "") -> Table:
    """The table of a file. where: its name in messages, by default its path. suffix: instead of that of its name.

    Raises BadInput in one sentence, MissingExtra without pandas, or for Parquet without pyarrow.
    """
    path, where = Path(path), where or str(path)
    suffix = suffix or path.suffix.lower()
    if suffix not in SUFFIXES.split(", "):
        raise BadInput(f"the curve {where} is not a file that is read here; its name ends in one of {SUFFIXES}.")
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        gone, why = isinstance(error, FileNotFoundError), getattr(error, "strerror", None) or error
        raise BadInput(f"the curve {where} {'does not exist' if gone else f'cannot be read: {why}'}.") from error
    if len(content) > MAX_BYTES:
        raise BadInput(f"the curve {where} is larger than {MAX_BYTES // 10**6} MB, the most that is read.")
    with needed_for(f"reading the curve {where}"):
        library = import_module("pyarrow.parquet" if suffix == ".parquet" else "pandas")
    try:
        if suffix == ".parquet":  # in a frame of pandas, NaN would be an empty cell
            frame = library.read_table(io.BytesIO(content))
        elif suffix in (".csv", ".tsv"):
            frame = _csv(content.decode("utf-8-sig"), library)
        else:
            frame = _json(content.decode("utf-8-sig"), suffix != ".json", library)
    except Exception as error:  # pandas, pyarrow, json and UTF-8 have errors of their own
        why = shown(str(error), 200).rstrip(".")
        raise BadInput(f"the curve {where} cannot be read as {suffix}: {why}.") from error
    if not len(frame):
        raise BadInput(f"the curve {where} is empty or has no rows; it needs one for each round.")
    return Table(where, frame_table(frame, where).columns, hashlib.sha256(content).hexdigest())


def _csv(text: str, pandas: Any) -> Any:
    """A header and rows of text; the separator is the one of comma, semicolon and tab that the header has most of."""
    first = text.lstrip("\r\n").partition("\n")[0]
    # without `header` no column is renamed and no row is cut; this engine makes a missing cell None
    how = {"header": None, "dtype": object, "keep_default_na": False, "skipinitialspace": True, "engine": "python"}
    frame = pandas.read_csv(io.StringIO(text, newline=""), sep=max(",;\t", key=first.count), **how)
    short = next((i for i, cell in enumerate(frame.iloc[:, -1]) if cell is None), None)
    if short is not None:
        raise BadInput(f"row {short} has fewer cells than the header")
    names = [name.strip() for name in frame.iloc[0]]
    if all(name.lower() in NOT_FINITE or _PLAIN.fullmatch(name) for name in names):
        raise BadInput("it has no header; its first line names the columns, such as round,value")
    return frame[1:].set_axis(names, axis=1)


def _json(text: str, lines: bool, pandas: Any) -> Any:
    """Rows as objects or as lists (whose columns are 0, 1, ...), an object of columns, or one with a list of rows."""
    loads = partial(json.loads, parse_float=str, parse_constant=str)  # decimals as written; NaN is no empty cell
    rows = ",\n".join(line for line in text.splitlines() if line.strip())
    data: Any = loads(f"[{rows}]" if lines else text)
    if isinstance(data, dict):
        inner = [cast("list[Any]", v) for v in cast("dict[str, Any]", data).values() if isinstance(v, list)]
        data = inner[0] if len(inner) == 1 and all(isinstance(row, dict) for row in inner[0]) else data
    parts: list[Any] = list(data.values()) if isinstance(data, dict) else data if isinstance(data, list) else [data]
    lists = all(isinstance(part, list) for part in parts) and len({*map(len, parts)}) < 2
    if not lists and not (isinstance(data, list) and all(isinstance(part, dict) for part in parts)):
        raise BadInput('it is no list of objects such as {"round": 0, "value": 1}, and no lists of one length')
    frame = pandas.DataFrame(data, dtype=object)
    return frame.where(frame.notna(), None)


def frame_table(frame: Any, where: str = "in the data frame") -> Table:
    """The columns of a data frame: pandas, polars, pyarrow, a mapping of lists, or whatever speaks
    `__arrow_c_stream__` or `__dataframe__` where pyarrow is installed.

    Missing entries are None (NaN stays NaN). Raises BadInput for anything else.
    """
    if not isinstance(frame, Mapping) and not (hasattr(frame, "columns") and hasattr(frame, "__getitem__")):
        stream = hasattr(frame, "__arrow_c_stream__")
        if not stream and not hasattr(frame, "__dataframe__"):
            raise BadInput(f"{shown(type(frame).__name__)} is no data frame and no mapping of columns.")
        with needed_for("reading a data frame"):
            arrow = import_module("pyarrow")
            frame = arrow.table(frame) if stream else import_module("pyarrow.interchange").from_dataframe(frame)
    keys = list(frame if isinstance(frame, Mapping) else getattr(frame, "column_names", frame.columns))
    names = [str(key) for key in keys]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BadInput(f"the curve {where} has the column '{shown(twice)}' twice; names of columns differ.")
    columns = {name: _cells(frame[key], where) for name, key in zip(names, keys, strict=True)}
    if len({*map(len, columns.values())}) > 1:
        lengths = ", ".join(f"'{shown(name)}' has {len(cells)}" for name, cells in columns.items())
        raise BadInput(f"the curve {where} has columns of different lengths: {lengths}.")
    return Table(where, columns)


def _cells(column: Any, where: str) -> list[Any]:
    listed = next((m for m in ("to_pylist", "to_list", "tolist") if hasattr(column, m)), None)  # pyarrow, pandas, NumPy
    column = getattr(column, listed)() if listed else column
    if isinstance(column, str | bytes) or not isinstance(column, Iterable):
        raise BadInput(f"the curve {where} has a column that is {shown(column)}; a list of numbers is allowed.")
    texts = [(cell.strip() or None) if isinstance(cell, str) else cell for cell in cast("Iterable[Any]", column)]
    return [None if type(cell).__name__ in ("NAType", "NaTType") else cell for cell in texts]


def curve_of_table(
    table: Table, roles: Mapping[str, str], metric: str | None, level: float = LEVEL, deterministic: bool = False
) -> Curve:
    """The curve of this metric, or of all. roles: role of a column -> its name, see `Curve.from_file`.

    In a table with a key, value may be the metric's name there. Raises BadInput and UnknownName in one sentence.
    """
    for role in roles:
        if role not in ROLES:
            raise UnknownName(f"{table}: the role of a column", role, ROLES)
    columns = {role: _column(table, role, roles.get(role)) for role in ROLES if role != "value"}
    if columns["round"] is None:
        raise BadInput(f"{table} has no column of rounds ({table.named()}); name it: round = '...'.")
    found = _values(table, columns, roles.get("value"), metric)
    if columns["stderr"] is not None and len(found) > 1:
        raise BadInput(
            f"{table} has one column of standard errors and several of values {shown([*found])}; name one: value."
        )
    seeds = "" if columns["seed"] is None else f", seeds '{columns['seed']}'"
    parts, read_as = list[Curve](), dict[str, None]()
    for name, taken in found.items():
        called, own = metric or name, next(iter(taken))
        if called is None or "*" in called:
            raise BadInput(f"{table} does not say what its values are; name the metric, such as metric = 'gap'.")
        error = columns["stderr"] or (f"{own}_stderr" if f"{own}_stderr" in table.columns else None)
        seeded = columns["seed"] is not None or None not in taken.values()
        rows = _rows(table, columns, name, taken, error)
        parts.append(_curve(rows, called, str(table), level, deterministic, seeded=seeded, spread=error is not None))
        how = f"values of {len(taken)} seeds in columns such as '{own}'" if len(taken) > 1 else f"values '{own}'"
        how += "" if columns["key"] is None else f" of the metric that '{columns['key']}' names"
        read_as[f"rounds '{columns['round']}'{seeds}, {how}" + (f", standard errors '{error}'" if error else "")] = None
    first = parts[0]
    for other in parts[1:]:
        if not np.array_equal(first.rounds, other.rounds) or first.info["seeds"] != other.info["seeds"]:
            names = "' and '".join(next(iter(part.values)) for part in (first, other))
            raise BadInput(f"{table}: '{names}' have values at other rounds or seeds; read one of them.")
    info = {
        "source": table.where,
        "columns": "; ".join(read_as),
        "round_column": columns["round"],
        "names": list(found),
    }
    info |= {"sha256": table.sha256} if table.sha256 else {}
    errors = {name: row for part in parts for name, row in part.info.get("standard_error", {}).items()}
    every: dict[str, Any] = {
        field: {name: row for part in parts for name, row in getattr(part, field).items()}
        for field in ("values", "low", "high", "samples")
    }
    return replace(first, info={**first.info, **info, **({"standard_error": errors} if errors else {})}, **every)


def _column(table: Table, role: str, name: str | None = None) -> str | None:
    """The column that is named, else the one that is called as its role, in letters of either case; None for none."""
    if name is not None and name not in table.columns:
        raise BadInput(f"{table} has no column '{shown(name)}' ({role}); {table.named()}.")
    own = [column for column in table.columns if column.lower() == role] if name is None else [name]
    if len(own) > 1:
        raise BadInput(f"{table}: several columns are called {role}, so name the one: {role} = '...'; {table.named()}.")
    return own[0] if own else None


def _values(table: Table, columns: Found, value: str | None, wanted: str | None) -> dict[str | None, Found]:
    """Metric -> column -> the seed that it is of, None where a column is of all seeds."""
    rest = [name for name in table.columns if name not in columns.values()]
    beside = {f"{name}_{end}" for name in rest for end in ("stderr", "low", "high")}
    rest = [name for name in rest if name not in beside or name == value]
    found: dict[str | None, Found]
    if columns["key"] is not None:
        own = value if value in rest else _column(table, "value")
        if own is None:
            raise BadInput(f"{table} has the metrics of '{columns['key']}', but no column of values ({table.named()}).")
        found = {str(cell): {own: None} for cell in table.columns[columns["key"]] if cell is not None}
        wanted = wanted if value is None or value in table.columns else value
    elif value is not None:
        pattern = re.compile(re.escape(value).replace(r"\*", "(.*)"))
        taken = {name: " ".join(match.groups()) for name in rest if (match := pattern.fullmatch(name)) is not None}
        found = {value: {value: None} if value in rest else {**taken}}
        if not found[value]:
            raise BadInput(f"{table} has no column '{shown(value)}' (value); {table.named()}.")
        if columns["seed"] is not None and value not in rest:
            raise BadInput(f"{table} has seeds in '{shown(value)}' and in '{columns['seed']}'; name one of them.")
        return found
    elif wanted in rest or (own := _column(table, "value")) is None:
        found = {name: {name: None} for name in rest if name == wanted or _holds_numbers(table.columns[name])}
    else:
        return {None: {own: None}}
    if not found:
        raise BadInput(f"{table} has no column of values ({table.named()}).")
    if wanted is not None and wanted not in found:
        held, first = ", ".join(f"'{shown(name)}'" for name in found), shown(next(iter(found)))
        named = f"name its column, such as value = '{first}', or with * the columns of its seeds"
        raise BadInput(f"{table} holds {held}, not '{shown(wanted)}'; {named}.")
    return found if wanted is None else {wanted: found[wanted]}


def _holds_numbers(cells: Sequence[Any]) -> bool:
    """Whether the first entry looks like a number: columns of text are no metrics."""
    first = next((cell for cell in cells if cell is not None), None)
    if isinstance(first, str):
        return first.lower().lstrip("+-") in NOT_FINITE or first.lstrip("+-.")[:1].isdigit()
    return first is not None and not isinstance(first, bool | Mapping | list)


def _rows(table: Table, columns: Found, key: str | None, taken: Found, error: str | None) -> Iterator[Row]:
    """The rows of one metric with a value: trackers leave the cells of what was not recorded at a step empty.

    key: the metric in the column of keys. Raises BadInput for a mean, of which Weights & Biases has least and largest.
    """
    nothing = [None] * len(table.columns[str(columns["round"])])
    for column, of in taken.items():
        names = (columns["round"], column, columns["seed"], columns["key"], error, f"{column}__MIN")
        cells = [nothing if name is None else table.columns.get(name, nothing) for name in names]
        for number, (done, value, seed, which, spread, least) in enumerate(zip(*cells, strict=True), 1):
            if value is None or (columns["key"] is not None and str(which) != key):
                continue
            if least is not None and str(least) != str(value):
                mean = f"'{shown(column)}' is not its __MIN, so that it is a mean over runs or steps"
                raise BadInput(f"{table}: in row {number} {mean}; export the runs one by one, not grouped or smoothed.")
            yield f"row {number}", seed if of is None else of, done, value, spread


def from_samples(
    rounds: Any, values: Any, metric: str, *, standard_error: Any, seeds: Any, level: float, deterministic: bool
) -> Curve:
    """See `Curve.from_samples`."""
    if not isinstance(cast("Any", metric), str) or not metric:
        raise BadInput(f"the curve: metric = {shown(metric)} is not allowed; a name such as 'gap' is.")
    grid, table = _list(rounds, "rounds"), _list(values, "values")
    head = table[0] if table else ""
    nested = hasattr(head, "__len__") and not isinstance(head, str) and getattr(head, "ndim", 1) > 0
    table = [_list(row, f"the row of seed {i}") for i, row in enumerate(table)] if nested else [table]
    errors = [None] * len(grid) if standard_error is None else _list(standard_error, "the standard errors")
    labels = [str(seed) for seed in (range(len(table)) if seeds is None else _list(seeds, "seeds"))]
    for row, of in [*((row, f" of seed {i}" if nested else "") for i, row in enumerate(table)), (errors, " of errors")]:
        if len(row) != len(grid):
            raise BadInput(f"the curve has {len(grid)} rounds and {len(row)} values{of}; each round has one value.")
    if not len({*labels}) == len(labels) == len(table):
        named = f"{len(table)} rows of values and the seeds {shown(', '.join(labels))}"
        raise BadInput(f"the curve has {named}; each row has a seed of its own.")
    rows = (
        (f"value number {i}{f' of seed {seed}' if nested else ''}", seed, *cells)
        for seed, row in zip(labels, table, strict=True)
        for i, cells in enumerate(zip(grid, row, errors, strict=True))
    )
    how = {"seeded": nested or seeds is not None, "spread": standard_error is not None}
    return _curve(rows, metric, "the curve", level, deterministic, **how)


def _list(given: Any, what: str) -> list[Any]:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable) or getattr(given, "ndim", 1) == 0:
        raise BadInput(f"the curve: {what} = {shown(given)} is not allowed; a list of numbers is.")
    return list(cast("Iterable[Any]", given))


def _curve(
    rows: Iterable[Row], metric: str, where: str, level: float, deterministic: bool, *, seeded: bool, spread: bool
) -> Curve:
    """The curve of one metric. seeded: whether rows have seeds; spread: whether they have standard errors."""
    series: dict[str, dict[int, tuple[str, float, float]]] = {}
    for name, seed, at, cell, error in rows:
        place = f"{where}: {name}"
        if seeded and seed is None:
            raise BadInput(f"{place} has no seed; each row of a table with seeds has one.")
        own, done = series.setdefault(str(seed), {}), _round(at, place)
        which = f"round {done} of seed {shown(str(seed))}" if seeded else f"round {done}"
        if done in own:
            only = "each stands once" if seeded else "each stands once, or a column of seeds tells runs apart"
            raise BadInput(f"{place} gives {which} again, which {own[done][0]} has; {only}.")
        if own and done < (last := next(reversed(own))):
            raise BadInput(f"{place} has {which} after round {last}; rounds increase.")
        if spread and error is None:
            raise BadInput(f"{place} has no standard error; each mean has one (0 where nothing is random).")
        width = _number(error, f"{place}: the standard error") if spread else 0.0
        if not 0 <= width < math.inf:
            raise BadInput(f"{place}: a standard error is {width:g}; finite ones of at least 0 are allowed.")
        own[done] = name, _number(cell, f"{place}: the value"), width
    if not series:
        raise BadInput(f"{where} has no values of '{metric}'.")
    first, rounds = next((seed, list(own)) for seed, own in series.items())
    for seed, own in series.items():
        if list(own) != rounds:
            odd = min({*own} ^ {*rounds})
            lacking, other = (shown(s) for s in ((first, seed) if odd in own else (seed, first)))
            raise BadInput(f"{where}: seed {lacking} has no round {odd}, which seed {other} has; each has all rounds.")
    found = np.array([[value for _, value, _ in own.values()] for own in series.values()])
    if seeded and spread:
        raise BadInput(f"{where} has seeds and standard errors; take the seeds, or one row a round of their means.")
    if deterministic and len(found) > 1:
        raise BadInput(f"{where} has {len(found)} seeds, but is said to be deterministic; one row a round is allowed.")
    if len(found) > 1 and (found == found[0]).all() and len(np.unique(found[0])) > 1:
        same = f"all {len(found)} seeds have the same values"
        raise BadInput(f"{where}: {same}; random runs differ, and a run without anything random needs no seeds.")
    info: dict[str, Any] = {"engine": ENGINE, "seeds": None, **({"deterministic": True} if deterministic else {})}
    grid = np.array(rounds, dtype=np.int64)
    if seeded:
        info["seeds"] = {"count": len(found), "names": list(series)}
        with np.errstate(over="ignore"):
            means = {metric: found.mean(axis=0)}
        return Curve(grid, means, Arithmetic.SAMPLED, samples={metric: found}, expectation=True, info=info)
    low, high = {}, {}
    if spread:
        if not 0.5 <= level < 1:
            raise BadInput(f"{where}: level = {shown(level)} is not allowed; 0.5 <= level < 1 is.")
        errors = np.array([error for _, _, error in series[first].values()])
        reach = NormalDist().inv_cdf(1 - (1 - level) / (2 * len(grid))) * errors
        low, high = {metric: found[0] - reach}, {metric: found[0] + reach}
        info["standard_error"] = {metric: errors.tolist()}
        info["normal"] = (
            f"that the mean at each of the {len(grid)} rounds is normal about the expectation with the given "
            f"standard error (all within their intervals with probability {level:g})"
        )
    return Curve(grid, {metric: found[0]}, Arithmetic.FLOAT64, low=low, high=high, info=info)


def _item(cell: Any) -> Any:
    """The Python number of a NumPy scalar or of an array or tensor without dimensions, and the text of a Decimal."""
    single = hasattr(cell, "item") and getattr(cell, "ndim", 0) == 0
    return cell.item() if single else str(cell) if type(cell).__name__ == "Decimal" else cell


def _number(cell: Any, what: str) -> float:
    """The nearest double; infinity is a diverged run, NaN is refused."""
    cell = _item(cell)
    known = isinstance(cell, float) or (isinstance(cell, str) and cell.lower().lstrip("+-") in NOT_FINITE)
    if known or (isinstance(cell, str) and _PLAIN.fullmatch(cell) is not None):
        value = float(cell)
    else:
        value = nearest_float(as_fraction(cell, what))
    if math.isnan(value) or value == -math.inf:
        raise BadInput(
            f"{what} is {value:g}; a diverged run has the value inf, and where nothing was recorded the cell is empty."
        )
    if value == math.inf and not known:
        raise BadInput(f"{what} = {shown(str(cell))} is beyond the largest double; a diverged run has the value inf.")
    return value


def _round(cell: Any, place: str) -> int:
    """A whole number of rounds, from 0."""
    if cell is None:
        raise BadInput(f"{place} has no round.")
    with suppress(BadInput):
        exact = as_fraction(_item(cell))
        if exact.denominator == 1 and 0 <= exact < 2**62:
            return int(exact)
    raise BadInput(f"{place}: the round {shown(str(cell))} is not allowed; whole numbers from 0 are.")
