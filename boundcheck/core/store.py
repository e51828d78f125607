"""The result store: what was computed, each result in one file named by the digest of its specification and code.

    <store>/<key>.npz              the arrays, and about.json: specification, meta data, versions
    <store>/.checkpoint/<key>.npz  the newest checkpoint of an unfinished run, in the same form

Runs, verdicts, studies and searches are kept alike, in a folder or at a URL (`core.places`). A file holds its checksum
and is there as a whole or not at all; equal results give equal bytes, so that whoever writes last changes nothing.
What is damaged or does not parse counts as absent and is replaced, with a notice in the log `boundcheck.store`.
"""

from __future__ import annotations

import json
import logging
import platform
import re
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from boundcheck.core.arrays import MALFORMED, Arrays, Damaged, frozen_copy, pack_arrays, unpack
from boundcheck.core.digest import decode, encode, package_version
from boundcheck.core.places import Place, is_url
from boundcheck.errors import BadInput, StoreError

SCHEMA = 2
CHECKPOINT_INTERVAL = 5.0  # seconds; with a look at `due()` at least as often, no checkpoint is older than 10 s
_CHECKPOINT_AGE = 30 * 86400.0  # seconds after which a checkpoint that nobody resumed is removed
_KEY = re.compile(r"[0-9a-f]{16,128}")
_ENDING = ".npz"
_CHECKPOINTS = ".checkpoint"
_LOG = logging.getLogger("boundcheck.store")
_TIDIED: set[str] = set()  # places that this process has tidied


@dataclass(frozen=True)
class Stored:
    """A finished result.

    arrays: read-only, little-endian, C-ordered; meta: what the computation says of its result;
    environment: versions and machine; place: its path or URL, or None where it is not stored;
    reused: whether it was there before and was not computed now.
    """

    key: str
    spec: Any
    arrays: Arrays
    meta: Mapping[str, Any]
    environment: Mapping[str, Any]
    place: str | None
    reused: bool


class Checkpoint:
    """The state of an unfinished run, in one file that is replaced as a whole; without files it keeps nothing."""

    def __init__(self, files: Place | None = None, key: str = "", interval: float = CHECKPOINT_INTERVAL) -> None:
        self._files = files
        self._key = key
        self._name = f"{_CHECKPOINTS}/{key}{_ENDING}"
        self._interval = interval
        self._last = time.monotonic()

    def load(self) -> dict[str, NDArray[Any]] | None:
        """The arrays saved last, or None where there are none or they are damaged.

        Raises StoreError where the file cannot be read or comes from a newer boundcheck.
        """
        found = None if self._files is None else _opened(self._files, self._name, self._key, frozen=False)
        return None if found is None else found[0]

    def due(self) -> bool:
        """Whether 5 s have passed since the last save (or since the run began); ask at least every 5 s."""
        return self._files is not None and time.monotonic() - self._last >= self._interval

    def save(self, arrays: Arrays) -> None:
        """Replaces what was saved last, as a whole; raises StoreError and keeps the old one where that fails."""
        if self._files is not None:
            self._files.write(self._name, pack_arrays(arrays, _json({"schema": SCHEMA, "key": self._key})))
            self._last = time.monotonic()

    def refuse(self, error: Exception) -> None:
        """Says that what `load` has returned is not what the run had saved, and removes it."""
        if self._files is not None:
            _notice(self._files.where(self._name), error)
            self.remove()

    def remove(self) -> None:
        """Removes the file, if it is there."""
        if self._files is not None:
            self._files.remove(self._name)


class Store:
    """A place of finished results; any number of processes may use it at once."""

    def __init__(self, place: Path | str) -> None:
        """Opens the store in a folder or at a URL, creates it where it is missing and tidies it.

        Raises StoreError where it cannot be made or the place holds files that are not boundcheck's.
        """
        self.files = Place(place)
        self.files.prepare()
        if self.files.place not in _TIDIED:
            _TIDIED.add(self.files.place)
            self.files.tidy()
            self.files.tidy(_CHECKPOINTS, _CHECKPOINT_AGE, self.files.has)  # those of finished runs, and very old ones

    def keys(self) -> list[str]:
        """The keys of all results that are there, sorted (not yet checked for damage)."""
        return sorted(_sizes(self.files))

    def get(self, key: str) -> Stored | None:
        """The result named `key`, or None where it is absent, damaged or does not parse.

        Raises StoreError where it cannot be read (permissions) or comes from a newer boundcheck.
        """
        found = _opened(self.files, _name(key), key, frozen=True)
        if found is None:
            return None
        arrays, about = found
        try:
            spec, meta, environment = (decode(about[part]) for part in ("spec", "meta", "environment"))
            if not isinstance(meta, dict):
                raise ValueError("its meta data are no table")
        except MALFORMED as error:
            _notice(self.where(key), error)
            return None
        return Stored(key, spec, arrays, meta, environment, self.where(key), reused=True)

    def discard(self, key: str, error: Exception) -> None:
        """Removes a result that `get` has returned and that is not what its reader had stored."""
        _notice(self.where(key), error)
        self.files.remove(_name(key))

    def put(self, key: str, spec: Any, arrays: Arrays, meta: Mapping[str, Any]) -> Stored:
        """Stores a finished result, removes its checkpoint and returns the result as `get` will.

        `meta` must be as reproducible as the arrays. Raises Undigestible for a spec or meta that `encode` refuses,
        BadInput for arrays of Python objects, StoreError where the disk refuses.
        """
        parts = {"spec": encode(spec), "meta": encode(meta, "meta"), "environment": _environment()}
        content = pack_arrays(arrays, _json({"schema": SCHEMA, "key": key, **parts}))
        self.files.prepare()  # somebody may have removed the folder
        self.files.write(_name(key), content)
        self.checkpoint(key).remove()
        return _as_stored(key, spec, arrays, meta, self.where(key))

    @property
    def path(self) -> Path:
        """The folder of a store that lies in one; BadInput for a store at a URL."""
        if is_url(self.files.place):
            raise BadInput(f"the result store {self.files.place} is no folder.")
        return Path(self.files.place)

    def where(self, key: str) -> str:
        """The path or URL of a result."""
        return self.files.where(_name(key))

    def checkpoint(self, key: str) -> Checkpoint:
        """The checkpoint of the unfinished run named `key`."""
        _name(key)
        return Checkpoint(self.files, key)


def sizes_at(place: Path | str) -> dict[str, int]:
    """The keys of all results of a store with their bytes, the largest first; none where it is missing."""
    return dict(sorted(_sizes(Place(place)).items(), key=lambda pair: (-pair[1], pair[0])))


def run_stored(
    store: Store | None,
    key: str,
    spec: Any,
    compute: Callable[[Checkpoint], tuple[Arrays, Mapping[str, Any]]],
    check: Callable[[Stored], object] | None = None,
) -> Stored:
    """The result named `key`: read where it is stored, otherwise computed (from its checkpoint on) and stored.

    Without a store it is computed and returned in the same form, the order of `meta` included. `check` parses a result
    that is read; where it raises one of `arrays.MALFORMED` the result is computed again and replaced, with a notice.
    """
    if store is None:
        return _as_stored(key, spec, *compute(Checkpoint()), None)
    found = store.get(key)
    if found is not None:
        try:
            if check is not None:
                check(found)
        except MALFORMED as error:
            store.discard(key, error)
        else:
            return found
    return store.put(key, spec, *compute(store.checkpoint(key)))


def _opened(files: Place, name: str, key: str, *, frozen: bool) -> tuple[dict[str, NDArray[Any]], Any] | None:
    """Arrays and about.json of a file of the store; None where it is absent, damaged or of another key."""
    content = files.read(name)
    if content is None:
        return None
    try:
        arrays, text = unpack(content, frozen=frozen)
        about = json.loads(text)
        schema = about["schema"]
        if not isinstance(schema, int) or about["key"] != key:
            raise ValueError("it is of another result")
    except MALFORMED as error:
        _notice(files.where(name), error)
        return None
    if schema > SCHEMA:
        raise StoreError(
            f"{files.where(name)} has schema {schema}, and this boundcheck reads schema {SCHEMA} at most; "
            "install a newer boundcheck, or name another store with BOUNDCHECK_STORE."
        )
    return arrays, about


def _as_stored(key: str, spec: Any, arrays: Arrays, meta: Mapping[str, Any], place: str | None) -> Stored:
    """A result that was computed now, as a stored one is read: meta data in the order of the file, tuples as lists."""
    same = {name: frozen_copy(array) for name, array in arrays.items()}
    read = decode(json.loads(_json(encode(meta, "meta"))))
    return Stored(key, spec, same, read, _environment(), place, reused=False)


def _notice(place: str, error: Exception) -> None:
    why = "it is damaged" if isinstance(error, Damaged) else f"it does not parse ({type(error).__name__})"
    _LOG.warning("boundcheck: what is stored in %s is not used, because %s; it is computed again.", place, why)


def _environment() -> dict[str, Any]:
    versions = {name: package_version(name) for name in ("boundcheck", "numpy", "numba")}
    return {
        "versions": versions | {"python": platform.python_version()},
        "implementation": platform.python_implementation(),
        "platform": sys.platform,
        "machine": platform.machine(),
    }


def _sizes(files: Place) -> dict[str, int]:
    found = {name.removesuffix(_ENDING): size for name, size in files.sizes().items() if name.endswith(_ENDING)}
    return {key: size for key, size in found.items() if _KEY.fullmatch(key)}


def _name(key: str) -> str:
    """The name of a result's file. Raises BadInput for what is no key."""
    if not _KEY.fullmatch(key):
        raise BadInput(f"'{key}' is no key of the result store; 16 to 128 hexadecimal digits are allowed.")
    return f"{key}{_ENDING}"


def _json(tree: Any) -> bytes:
    """The one JSON text of a tree, for a file."""
    return (json.dumps(tree, sort_keys=True, indent=1, allow_nan=False) + "\n").encode("ascii")
