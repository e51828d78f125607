"""Data of users: arrays from Python, and .npz and .csv files.

A specification names a file, `data = "file.csv"`, with `target = "..."` (default "y") and `client = "..."`, the columns
or arrays with the target and with the client that holds each row; all other columns of a table are features, in its
order, and an .npz file has them as the matrix X. Python also gives arrays, `data = {X = ..., y = ..., client = ...}`.

The specification of the problem that is built holds enough to build it again and to digest it: of a file its absolute
path and the SHA-256 of its bytes, of small arrays the numbers, of larger ones the SHA-256 of the packed arrays, which
are kept in this process and in the data cache. Bytes with another SHA-256 are refused, so that no result of other data
is taken for one of these. Numbers are exact: those of arrays by their binary value, text by its decimal value.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.arrays import pack_arrays, unpack_arrays
from boundcheck.core.numbers import format_exact
from boundcheck.core.places import data_dir
from boundcheck.core.toml_lines import TomlFile, load_toml
from boundcheck.errors import BadInput, UnknownName, shown
from boundcheck.problems._data import UNLABELLED, Samples
from boundcheck.problems._data_files import ENDINGS, Raw, read_file
from boundcheck.problems._kept import put
from boundcheck.problems._own_entries import codes_of, numbers_of
from boundcheck.problems._split import Split

ARRAYS = ("X", "y", "client")
TARGET = "y"  # the column or array of the target where none is named
CLIENTS = 20  # over which rows are spread where no number is given
INLINE = 2000  # numbers of arrays that a specification holds itself
MAX_NUMBERS = 20_000_000  # entries of X
MAX_CLASSES = 1000

_kept_here: dict[str, bytes] = {}  # packed arrays of this process, by their SHA-256


@dataclass(frozen=True, eq=False)
class OwnData:
    """Data of a user as they were given.

    words: what messages and names call them. table: what the specification keeps. names: of the features (p).
    cells: (N, p), float64, or Fractions in an array of objects. answers: (N,) targets or labels as given; answer: what
    messages call them. owners: (N,) numbers 0..m-1 of the client that holds each row, or None; holders: their names.
    """

    words: str
    table: Mapping[str, Any]
    names: tuple[str, ...]
    cells: NDArray[Any]
    answers: NDArray[Any]
    answer: str
    owners: NDArray[np.int64] | None = None
    holders: tuple[str, ...] = ()


def is_own(data: Any) -> bool:
    """Whether `data` of a specification are the user's own: a table without a name of a data set, or a file's name."""
    if isinstance(data, Mapping):
        return "name" not in data
    return isinstance(data, str) and data.lower().endswith(ENDINGS)


def data_label(data: Any) -> str:
    """What a claim's label calls the data of a specification: a name, the name of a file, or "arrays"."""
    if not is_own(data):
        return str(data) if data else ""
    file = data.get("file") if isinstance(data, Mapping) else data
    return "arrays" if file is None else Path(str(file)).name


def plain_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A problem's specification with arrays from Python as JSON-able data; any other one as it is."""
    data = spec.get("data")
    own = isinstance(data, Mapping) and is_own(data) and ("X" in data or "y" in data)
    return {**spec, "data": dict(own_data(data).table)} if own else dict(spec)


def load_specification(path: Path | str) -> TomlFile:
    """A specification file whose names of data files are absolute: they are relative to its folder.

    Decimal numbers stay text, which means what it says. Raises as `load_toml` does.
    """
    file = load_toml(path, parse_float=str)
    return replace(file, data=_located(file.data, Path(path).absolute().parent))


def _located(tree: Any, folder: Path) -> Any:
    if isinstance(tree, list):
        return [_located(v, folder) for v in tree]
    if not isinstance(tree, dict):
        return tree
    found = {name: _located(value, folder) for name, value in tree.items()}
    data = found.get("data")
    if isinstance(data, str) and is_own(data):
        found["data"] = str(folder / os.path.expanduser(data))
    elif isinstance(data, dict) and isinstance(data.get("file"), str):
        found["data"] = {**data, "file": str(folder / os.path.expanduser(data["file"]))}
    return found


def own_data(data: Any, target: str | None = None, client: str | None = None) -> OwnData:
    """The data that a specification gives as a file or as arrays.

    target, client: names of columns or arrays of a file. Raises BadInput and UnknownName in a sentence for a file or
    array that does not fit.
    """
    if isinstance(data, str):
        data = {"file": data}
    given = dict(data)
    arrays = "X" in given or "y" in given
    known = (*ARRAYS, "names") if arrays else ("file", "sha256", "target", "client")
    for name in given:
        if name not in known:
            raise UnknownName("data: the key", str(name), known)
    for name, value in (("target", target), ("client", client)):
        if value is None:
            continue
        if arrays or "file" not in given:
            raise BadInput(f"{name} = '{shown(value)}' names a column of a file; arrays are given under y and client.")
        if given.setdefault(name, value) != value:
            raise BadInput(f"{name} = '{shown(value)}' contradicts {name} = '{shown(given[name])}' in data.")
    if arrays:
        return _from_arrays(given)
    if "file" in given:
        return _from_file(given)
    return _recalled(given)


def _from_file(given: Mapping[str, Any]) -> OwnData:
    for name in given:
        if not isinstance(given[name], str):
            raise BadInput(f"data: {name} = {shown(repr(given[name]))} is not allowed; it must be text in quotes.")
    path = Path(os.path.expanduser(given["file"])).absolute()
    target, client = given.get("target", TARGET), given.get("client")
    raw, sha = read_file(path, target, client)
    if given.get("sha256", sha) != sha:
        raise BadInput(
            f"data: {path} has changed: its SHA-256 is {sha[:16]}..., and {given['sha256'][:16]}... is asked for; "
            "put the old file back, or leave sha256 out."
        )
    table = {"file": str(path), "sha256": sha, "target": target, **({} if client is None else {"client": client})}
    return _checked(raw, path.name, f"data = '{path.name}'", table)


def _from_arrays(given: Mapping[str, Any]) -> OwnData:
    for name in ("X", "y"):
        if name not in given:
            raise BadInput(f"data needs {name}, beside {', '.join(n for n in ARRAYS if n in given and n != name)}.")
    columns = getattr(given["X"], "columns", None)  # of a data frame
    names = given.get("names", None if columns is None else [str(c) for c in columns])
    if names is not None and (isinstance(names, str) or not isinstance(names, Sequence)):
        raise BadInput(f"data: names = {shown(repr(names))} is not allowed; it must be a list of the features' names.")
    names = None if names is None else [str(name) for name in names]
    cells = _array(given["X"], "X")
    if cells.ndim == 2 and names is None:
        names = [f"x{j}" for j in range(cells.shape[1])]
    holders = given.get("client")
    raw = Raw(
        tuple(names or ()), cells, _array(given["y"], "y"), "y", None if holders is None else _array(holders, "client")
    )
    found = _checked(raw, "arrays", "data", {})
    return replace(found, table=_kept(found, raw))


def _array(values: Any, name: str) -> NDArray[Any]:
    """What NumPy makes of a user's values, lists of text and fractions as objects."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        raise BadInput(f"data: {name} has masked entries, which have no numbers; leave their rows out.")
    try:
        array = np.asarray(values)
        if array.dtype.kind in "USO" and not isinstance(values, np.ndarray):
            array = np.array(values, dtype=object)
        elif array.dtype.kind in "iu" and isinstance(values, list | tuple):
            array = np.array(values, dtype=object)  # any length of integers
    except ValueError as error:  # NumPy's word for rows of different lengths
        if "inhomogeneous" in str(error):
            raise BadInput(f"data: {name} is ragged; all its rows must have the same length.") from error
        raise BadInput(f"data: {name} is no array of numbers: {_first_line(error)}.") from error
    except (TypeError, RuntimeError, OverflowError) as error:  # such as a torch tensor on a device or with a gradient
        raise BadInput(f"data: {name} is no array that NumPy reads: {_first_line(error)}.") from error
    return array


def _first_line(error: Exception) -> str:
    return shown(str(error).split("\n")[0].rstrip("."), 160)


def _kept(own: OwnData, raw: Raw) -> dict[str, Any]:
    """What a specification holds of arrays: the numbers where they are few, else the SHA-256 of the packed arrays."""
    holders = None if raw.holders is None else [_plain(v) for v in raw.holders.tolist()]
    answers = [_plain(v) for v in raw.answers.tolist()]
    if own.cells.size <= INLINE:
        table = {"X": [[_plain(v) for v in row] for row in own.cells.tolist()], "y": answers, "names": list(own.names)}
        return table if holders is None else {**table, "client": holders}
    exact = own.cells.dtype == object
    arrays: dict[str, NDArray[Any]] = {
        "X": np.array([[format_exact(v) for v in row] for row in own.cells.tolist()]) if exact else own.cells,
        "y": _packable(raw.answers),
        "names": np.array(own.names),
    }
    if raw.holders is not None:
        arrays["client"] = _packable(raw.holders)
    packed = pack_arrays(arrays)
    sha = hashlib.sha256(packed).hexdigest()
    _kept_here[sha] = packed
    if not (data_dir() / "own" / f"{sha}.npz").exists():
        put("own", f"{sha}.npz", packed)  # a process that does not find them there says that it lacks them
    return {"sha256": sha}


def _packable(values: NDArray[Any]) -> NDArray[Any]:
    return np.array([str(_plain(v)) for v in values.tolist()]) if values.dtype == object else values


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else format_exact(value)
    return value


def _recalled(given: Mapping[str, Any]) -> OwnData:
    """Arrays that this process or the data cache has under their SHA-256."""
    sha = given.get("sha256")
    if not isinstance(sha, str) or len(given) != 1:
        raise BadInput("data is a table with X and y (arrays), or with file, the name of an .npz or .csv file.")
    path = data_dir() / "own" / f"{Path(sha).name}.npz"
    try:
        packed = _kept_here.get(sha) or path.read_bytes()
    except OSError:
        packed = b""
    arrays = unpack_arrays(packed) if hashlib.sha256(packed).hexdigest() == sha else None
    if arrays is None:
        raise BadInput(
            f"data: the arrays with the SHA-256 {shown(sha[:16])}... are not in the data cache ({path.parent}); build "
            "the problem from the arrays again, or save them as an .npz file and name that file."
        )
    raw = Raw(tuple(str(v) for v in arrays["names"].tolist()), arrays["X"], arrays["y"], "y", arrays.get("client"))
    return _checked(raw, "arrays", "data", {"sha256": sha})


# --- checks ---------------------------------------------------------------------------------------------------------


def _checked(raw: Raw, words: str, where: str, table: Mapping[str, Any]) -> OwnData:
    """The data of arrays whose shapes and numbers fit. Raises BadInput."""
    if raw.cells.ndim != 2:
        ragged = raw.cells.dtype == object and raw.cells.ndim == 1 and raw.cells.size > 0
        lengths = [len(v) if isinstance(v, list | tuple | np.ndarray) else 1 for v in raw.cells] if ragged else []
        if len(set(lengths)) > 1:
            odd = next(i for i, n in enumerate(lengths) if n != lengths[0])
            raise BadInput(
                f"{where}: X is ragged; row {odd + 1} has {lengths[odd]} entries and row 1 has {lengths[0]}."
            )
        raise BadInput(f"{where}: X has {raw.cells.ndim} axes; it must be a matrix, one row a sample.")
    count, p = raw.cells.shape
    if not count or not p:
        raise BadInput(f"{where}: X has {count} rows and {p} columns; at least 1 of each is needed.")
    if raw.cells.size > MAX_NUMBERS:
        raise BadInput(f"{where}: X has {raw.cells.size} entries, which is too large; at most {MAX_NUMBERS} are read.")
    if len(raw.names) != p or len(set(raw.names)) != p:
        raise BadInput(f"{where}: {len(set(raw.names))} different names of features were given for {p} columns of X.")
    for name, values in ((raw.answer, raw.answers), ("client", raw.holders)):
        if values is not None and values.shape != (count,):
            given = " x ".join(map(str, values.shape)) or "no"
            raise BadInput(f"{where}: {name} has {given} entries; X has {count} rows, and one entry a row is needed.")
    owners, holders = (None, ()) if raw.holders is None else codes_of(raw.holders, where, "client")
    cells = numbers_of(raw.cells, where, raw.names)
    return OwnData(words, table, raw.names, cells, raw.answers, f"{where}: {raw.answer}", owners, holders)


# --- what the kinds of problem read ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Given:
    """The data of a specification, shipped or own, as the kinds of problem use them.

    own: None for a shipped data set. spec: what the problem's specification keeps. name: for titles; words: for
    messages.
    """

    own: OwnData | None
    spec: Any
    name: str
    words: str

    @staticmethod
    def of(data: Any, target: str | None, client: str | None) -> Given:
        """Raises BadInput for what is neither a name of a data set, nor a file, nor arrays, and for unfit own data."""
        if is_own(data):
            own = own_data(data, target, client)
            return Given(own, dict(own.table), own.words, own.answer.rpartition(": ")[0])
        if not isinstance(data, str):
            raise BadInput(
                f"data = {shown(repr(data))} is not allowed; it must be the name of a data set or of a file that ends "
                f"in {', '.join(ENDINGS)}, or a table with X and y."
            )
        for name, value in (("target", target), ("client", client)):
            if value is not None:
                raise BadInput(f"{name} = '{shown(value)}' goes with a data file; the data set '{data}' has its own.")
        return Given(None, data, data, f"the data set '{data}'")

    @property
    def owners(self) -> NDArray[np.int64] | None:
        """Whose each row is, where own data say so."""
        return None if self.own is None else self.own.owners

    @property
    def holders(self) -> int | None:
        """How many clients own data have of themselves."""
        return len(self.own.holders) if self.own is not None and self.own.owners is not None else None

    def dealt(self, table: Samples, asked: Mapping[str, Any]) -> tuple[Split, list[list[int]]]:
        """The split that is asked for, and the rows of each client.

        asked: what `build` of a kind is given, `None` for what is left out; the split is then that of the clients that
        own data have, else at random; clients: as many as these, or 20; a sorted split goes by the data's own feature.
        Raises BadInput and UnknownName as `Split.of`.
        """
        split = asked["split"] or ("random" if self.holders is None else "owners")
        given = {name: asked[name] for name in ("seed", "feature", "alpha", "shards_per_client", "imbalance")}
        if split == "sorted" and given["feature"] is None:
            given["feature"] = table.sort_by
        clients = CLIENTS if asked["clients"] is None and split != "owners" else asked["clients"]
        found = Split.of(split, clients, table.count, labelled=bool(table.meanings), owners=self.holders, **given)
        values = table.column(found.given["feature"], self.words) if split == "sorted" else None
        labels = table.labels.tolist() if table.meanings else None
        return found, found.parts(table.count, labels, values, self.owners)


def regression(own: OwnData) -> Samples:
    """Own data with numbers as targets. Raises BadInput for labels that are none."""
    targets = numbers_of(own.answers, own.answer, ())
    return Samples(own.names, own.cells, 1, UNLABELLED, target=tuple(Fraction(v) for v in targets.tolist()))


def labelled(own: OwnData) -> Samples:
    """Own data with class labels: integers or text, at least 2 different ones. Raises BadInput."""
    where, _, answer = own.answer.rpartition(": ")
    codes, meanings = codes_of(own.answers, where, f"the label ({answer})")
    if len(meanings) < 2:
        raise BadInput(f"{own.answer} has the single class '{shown(''.join(meanings))}'; at least 2 are needed.")
    if len(meanings) > MAX_CLASSES:
        raise BadInput(
            f"{own.answer} has {len(meanings)} different labels; at most {MAX_CLASSES} classes are allowed (numbers "
            "to be fitted are for kind = 'least_squares')."
        )
    return Samples(own.names, own.cells, 1, codes, meanings)
