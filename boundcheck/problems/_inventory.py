"""What is on this machine of the data sets, and copies of their files into the data cache."""

from __future__ import annotations

import hashlib
import inspect
from pathlib import Path
from typing import Any

from boundcheck.core.places import data_dir, prepare, reason, write_whole
from boundcheck.errors import BadInput, DataNotFetched, StoreError
from boundcheck.problems import _data, _data_sets
from boundcheck.problems._fetching import Size


def facts(name: str) -> dict[str, Any]:
    """Rows, columns, files with checksums, licence, and whether the data set is on this machine.

    Of sets that are fetched the contents are not read for it, so that their checksums are not looked at.
    """
    module = _data_sets.module(name)
    found: dict[str, Any] = {
        "name": name,
        "licence": module.LICENCE,
        "package": getattr(module, "PACKAGE", _data.KNOWN),
        "sha256": dict(module.FILES),
        "rows": None,
        "test_rows": None,
        "columns": None,
        "unit": "rows",
        "problem": "",
    }
    try:
        found_size = size(module)
    except DataNotFetched as error:
        return found | {"there": False, "problem": str(error)}
    of_test = {"test_rows": found_size.test_rows, "unit": found_size.unit}
    return found | {"there": True, "rows": found_size.rows, "columns": found_size.columns} | of_test


def size(module: Any) -> Size:
    """How much there is of a data set; a small one is loaded for it. The exact rows of a labelled one are not made."""
    if hasattr(module, "size"):
        return module.size()
    data = module.load()
    rows = len(data.rows) if getattr(data, "labels", None) is None else data.count
    return Size(rows, len(data.names))


def fetch(name: str, module: Any, source: str | None) -> list[str]:
    """Makes sure that the data set is here, whole; the files that were written for it."""
    own = getattr(module, "fetch", None)
    copied: list[str] = []
    if source is not None:
        if not source.strip():
            raise BadInput(f"--from '{source}' names no folder.")
        copied = own(Path(source)) if own is not None else _copy(name, module.FILES, Path(source))
        module.load.cache_clear()
    elif own is not None:
        try:
            _check(module)
            return copied
        except DataNotFetched:
            copied = own()
    _check(module)
    return copied


def _check(module: Any) -> None:
    """Reads all that the data set has, which compares the checksums and says what is wrong."""
    parts = ("train", "test") if "part" in inspect.signature(module.load).parameters else ()
    for part in parts:
        module.load(part)
    if not parts:
        module.load()


def _copy(name: str, files: dict[str, str], folder: Path) -> list[str]:
    """Checks all files before the first is copied; raises BadInput naming the file that is missing or another."""
    contents: dict[str, bytes] = {}
    for file, digest in files.items():
        try:
            contents[file] = (folder / file).read_bytes()
        except OSError as error:
            raise BadInput(
                f"{folder / file}, which the data set '{name}' needs, cannot be read: {reason(error)}."
            ) from error
        found = hashlib.sha256(contents[file]).hexdigest()
        if found != digest:
            raise BadInput(f"{folder / file} has the sha256 {found[:16]}..., not the expected {digest[:16]}...")
    place = prepare(data_dir()) / name
    try:
        place.mkdir(exist_ok=True)
    except OSError as error:
        raise StoreError(f"the folder {place} cannot be made: {reason(error)}.") from error
    for file, content in contents.items():
        write_whole(place / file, content)
    return [str(place / file) for file in contents]
