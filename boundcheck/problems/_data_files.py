"""Reading data files of users: .npz and .csv."""

from __future__ import annotations

import csv
import hashlib
import io
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.arrays import MALFORMED
from boundcheck.core.places import reason
from boundcheck.errors import BadInput, UnknownName, shown

ENDINGS = (".npz", ".csv")
MAX_BYTES = 1 << 29  # of a file, and of what it holds unpacked


@dataclass(frozen=True, eq=False)
class Raw:
    """Arrays of a file, or of Python, before their entries are checked.

    names: of the features. cells: X as given, (N, p). answers: the target as given; answer: its name. holders: the
    client of each row as given, or None.
    """

    names: tuple[str, ...]
    cells: NDArray[Any]
    answers: NDArray[Any]
    answer: str
    holders: NDArray[Any] | None


def read_file(path: Path, target: str, client: str | None) -> tuple[Raw, str]:
    """The arrays of a file and the SHA-256 of its bytes.

    Raises BadInput for a file that is missing, too large or no such file, and UnknownName for a column that it lacks.
    Nothing is unpickled.
    """
    content = _bytes(path)
    if client is not None and client == target:
        raise BadInput(f"client = '{shown(client)}' is the target; another column must hold the clients.")
    read = {".npz": _npz, ".csv": _csv}.get(path.suffix.lower())
    if read is None:
        raise BadInput(f"data = '{shown(path.name)}': the name of a data file ends in {', '.join(ENDINGS)}.")
    return read(content, f"data = '{path.name}'", target, client), hashlib.sha256(content).hexdigest()


def _bytes(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise BadInput(f"data: {path} is a folder; the name of a file is needed.")
        if path.exists() and not path.is_file():
            raise BadInput(f"data: {path} is not a plain file.")
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise BadInput(f"data: the file {path} does not exist.") from error
    except BadInput:
        raise
    except (OSError, ValueError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise BadInput(f"data: the file {path} cannot be read: {why}.") from error
    if len(content) > MAX_BYTES:
        raise BadInput(f"data: the file {path} is too large; at most {MAX_BYTES >> 20} MiB are read.")
    return content


def _npz(content: bytes, where: str, target: str, client: str | None) -> Raw:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
        if unpacked > MAX_BYTES:
            raise BadInput(
                f"{where} is too large; it holds {unpacked >> 20} MiB, and at most {MAX_BYTES >> 20} are read."
            )
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays: dict[str, NDArray[Any]] = {str(n): archive[n] for n in archive.files if n in ("X", target, client)}
            known = list(archive.files)
    except BadInput:
        raise
    except MALFORMED as error:
        objects = "allow_pickle" in str(error)
        why = "holds Python objects, which are not read" if objects else "is no .npz file of arrays"
        raise BadInput(f"{where} {why}; save it with numpy.savez and arrays of numbers or text.") from error
    for what, name in (("array", "X"), ("target", target), ("client", client)):
        if name is not None and name not in arrays:
            raise UnknownName(f"{where}: the {what}", name, known)
    cells = arrays["X"]
    names = tuple(f"x{j}" for j in range(cells.shape[1])) if cells.ndim == 2 else ()
    return Raw(names, cells, arrays[target], target, None if client is None else arrays[client])


def _csv(content: bytes, where: str, target: str, client: str | None) -> Raw:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{where}: the byte at {error.start} is not UTF-8; save the file as UTF-8.") from error
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except csv.Error as error:
        raise BadInput(f"{where} is no table of comma-separated values: {error}.") from error
    if len(rows) < 2:
        raise BadInput(f"{where} has {len(rows)} lines; a header with the names of the columns and rows are needed.")
    header = [name.strip() for name in rows[0]]
    for i, row in enumerate(rows[1:], 2):
        if len(row) != len(header):
            raise BadInput(f"{where} is ragged: line {i} has {len(row)} entries and the header {len(header)}.")
    columns = np.array(rows[1:], dtype=object)
    if len(set(header)) != len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise BadInput(f"{where}: the column '{shown(twice)}' occurs twice; names of columns must differ.")
    for what, name in (("target", target), ("client", client)):
        if name is not None and name not in header:
            raise UnknownName(f"{where}: the {what} column", name, header)
    features = [j for j, name in enumerate(header) if name not in (target, client)]
    if not features:
        raise BadInput(f"{where} has no column beside {', '.join(header)}; at least one feature is needed.")
    answers = columns[:, header.index(target)]
    holders = None if client is None else columns[:, header.index(client)]
    return Raw(tuple(header[j] for j in features), columns[:, features], answers, target, holders)
