"""The result store: finished runs, each named by the digest of their specification and code.

    <store>/<key>/spec.json          specification and what the run says of its result
    <store>/<key>/curve.npz          the arrays; equal arrays give equal bytes
    <store>/<key>/environment.json   versions and time; exempt from byte identity
    <store>/<key>/done.json          SHA-256 of spec.json and curve.npz, and their seal where a key is set
    <store>/.checkpoint/<key>        the newest checkpoint of an unfinished run
    <store>/.partial/...             what writers are writing now

What comes of runs (`evidence.kept_results`) is kept in the same form, without arrays.

That is a store in a folder. At a URL a run is one archive of these four files, and `.partial` is not needed. What
differs is in `core.files`: a run is there as a whole or not at all. A run whose checksums disagree (a damaged disk)
counts as absent and is replaced; so does one whose content does not parse or lacks the seal that `core.seal` asks for,
with a notice in the log `boundcheck.store`.
"""

from __future__ import annotations

import hashlib
import json
import logging
import platform
import re
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from boundcheck.core.arrays import MALFORMED, Arrays, frozen_copy, pack_arrays, unpack_arrays
from boundcheck.core.digest import decode, encode, package_version
from boundcheck.core.files import files_at
from boundcheck.core.places import is_url
from boundcheck.core.seal import is_sealed, seal
from boundcheck.core.stored_run import FILES, SCHEMA, Stored, check_schema, checksums, json_bytes, read_run
from boundcheck.errors import BadInput

CHECKPOINT_INTERVAL = 5.0  # seconds; with a look at `due()` at least as often, no checkpoint is older than 10 s
_CHECKPOINT_AGE = 30 * 86400.0  # seconds after which a checkpoint that nobody resumed is removed
_KEY = re.compile(r"[0-9a-f]{16,128}")
_LOG = logging.getLogger("boundcheck.store")
_CHECKPOINTS = ".checkpoint"
_CHECKPOINT_HEAD = b"boundcheck checkpoint %d " % SCHEMA


class AnyCheckpoint(Protocol):
    """What a computation sees of its checkpoint."""

    def load(self) -> dict[str, NDArray[Any]] | None:
        """The arrays saved last, or None."""
        ...

    def due(self) -> bool:
        """Whether it is time to save again; ask at least every 5 s."""
        ...

    def save(self, arrays: Arrays) -> None:
        """Replaces what was saved last."""
        ...

    def refuse(self, error: Exception) -> None:
        """Drops what was loaded, because the computation met this error in reading it."""
        ...


class NullCheckpoint:
    """The checkpoint of a run that is not stored: never there, never due."""

    def load(self) -> None:
        """None: there is nothing to resume from."""

    def due(self) -> bool:
        """False: saving would be lost."""
        return False

    def save(self, arrays: Arrays) -> None:
        """Keeps nothing."""

    def refuse(self, error: Exception) -> None:
        """Drops nothing: nothing was loaded."""


class Checkpoint:
    """The state of an unfinished run, in one file that is replaced as a whole."""

    def __init__(self, store: Store, key: str, interval: float = CHECKPOINT_INTERVAL) -> None:
        self._files = store.files
        self._key = key
        self._name = f"{_CHECKPOINTS}/{key}"
        self._interval = interval
        self._last = time.monotonic()

    def load(self) -> dict[str, NDArray[Any]] | None:
        """The arrays saved last, or None where there are none or they are damaged.

        Raises StoreError where the file cannot be read or comes from a newer boundcheck.
        """
        content = self._files.read(self._name)
        if content is None:
            return None
        head, _, body = content.partition(b"\n")
        match = re.fullmatch(rb"boundcheck checkpoint ([0-9]{1,9}) ([0-9a-f]{64})(?: ([0-9a-f]{64}))?", head)
        if match is None:
            return None
        check_schema(int(match[1]), self._files.where(self._name))
        if hashlib.sha256(body).hexdigest().encode("ascii") != match[2]:
            return None
        if not is_sealed((match[3] or b"").decode("ascii"), *self._sealed(body)):
            _notice(self._files.where(self._name), "it does not carry the seal of the key in BOUNDCHECK_STORE_KEY")
            return None
        return unpack_arrays(body, frozen=False)

    def due(self) -> bool:
        """True when at least 5 s have passed since the last save (or since the run began)."""
        return time.monotonic() - self._last >= self._interval

    def save(self, arrays: Arrays) -> None:
        """Replaces what was saved last, atomically; raises StoreError and keeps the old one where that fails."""
        body = pack_arrays(arrays)
        marks = [hashlib.sha256(body).hexdigest(), *filter(None, [seal(*self._sealed(body))])]
        head = _CHECKPOINT_HEAD + " ".join(marks).encode("ascii") + b"\n"
        self._files.write(self._name, head + body)
        self._last = time.monotonic()

    def refuse(self, error: Exception) -> None:
        """Says that what `load` has returned is not what the run had saved, and removes it."""
        _notice(self._files.where(self._name), f"it does not parse ({type(error).__name__})")
        self.remove()

    def remove(self) -> None:
        """Removes the file, if it is there."""
        self._files.remove(self._name)

    def _sealed(self, body: bytes) -> tuple[bytes, ...]:
        return b"checkpoint", self._key.encode("ascii"), body


class Store:
    """A place of finished runs; any number of processes may use it at once."""

    def __init__(self, place: Path | str) -> None:
        """Opens the store in a folder or at a URL (`core.files`), creates it where it is missing and tidies it.

        Raises StoreError where it cannot be made or the place holds files that are not boundcheck's.
        """
        self.files = files_at(place)
        if self.files.prepare():
            self.files.tidy(_CHECKPOINTS, _CHECKPOINT_AGE)

    def keys(self) -> list[str]:
        """The keys of all runs that are there, sorted (not yet checked for damage)."""
        return sorted(name for name in self.files.names() if _KEY.fullmatch(name))

    def get(self, key: str) -> Stored | None:
        """The run named `key`, or None where it is absent, damaged, does not parse or lacks its seal.

        Raises StoreError where it cannot be read (permissions) or comes from a newer boundcheck.
        """
        files = self.files.entry(_checked(key))
        found = None if files is None else read_run(files, key, self.where(key))
        if isinstance(found, str):
            _notice(self.where(key), found)
            return None
        return found

    def discard(self, key: str, error: Exception) -> None:
        """Removes a run that `get` has returned and that is not what its reader had stored."""
        _notice(self.where(_checked(key)), f"it does not parse ({type(error).__name__})")
        self.files.remove(key)

    def put(self, key: str, spec: Any, arrays: Arrays, meta: Mapping[str, Any]) -> Stored:
        """Stores a finished run, removes its checkpoint and returns the run as `get` will.

        Where another process has stored the same key meanwhile, its run stays and is returned.
        `meta` must be as reproducible as the arrays. Raises Undigestible for a spec or meta that `encode`
        refuses, BadInput for arrays of Python objects, StoreError where the disk refuses.
        """
        _checked(key)
        tree = {"schema": SCHEMA, "key": key, "spec": encode(spec), "meta": encode(meta, "meta")}
        files = {"spec.json": json_bytes(tree), "curve.npz": pack_arrays(arrays)}
        done: dict[str, Any] = {"schema": SCHEMA, "sha256": checksums(files)}
        sealed = seal(b"run", key.encode("ascii"), *files.values())
        done |= {} if sealed is None else {"hmac": sealed}
        files |= {"environment.json": json_bytes(_environment()), "done.json": json_bytes(done)}

        def sound(found: Mapping[str, bytes]) -> bool:
            return isinstance(read_run(found, key, self.where(key)), Stored)

        self.files.add(key, files, sound)
        Checkpoint(self, key).remove()
        stored = self.get(key)
        if stored is not None:
            return stored
        # Emptied or damaged by somebody else in this very moment; the result is still good.
        same = {name: frozen_copy(array) for name, array in arrays.items()}
        return Stored(key, decode(tree["spec"]), same, _as_stored(meta), _environment(), None, reused=False)

    @property
    def path(self) -> Path:
        """The folder of a store that lies in one; BadInput for a store at a URL."""
        if is_url(self.files.place):
            raise BadInput(f"the result store {self.files.place} is no folder.")
        return Path(self.files.place)

    def where(self, key: str) -> str:
        """The folder or URL of a run."""
        return self.files.where(key)

    def checkpoint(self, key: str) -> Checkpoint:
        """The checkpoint of the unfinished run named `key`."""
        return Checkpoint(self, _checked(key))


def sizes_at(place: Path | str) -> dict[str, int]:
    """The keys of all runs of a store with the bytes of their files, the largest first; none where it is missing."""
    found = {name: size for name, size in files_at(place).sizes(FILES).items() if _KEY.fullmatch(name)}
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))


def run_stored(
    store: Store | None,
    key: str,
    spec: Any,
    compute: Callable[[AnyCheckpoint], tuple[Arrays, Mapping[str, Any]]],
    check: Callable[[Stored], object] | None = None,
) -> Stored:
    """The run named `key`: read where it is stored, otherwise computed (resuming from its checkpoint) and stored.

    Without a store it is computed and returned in the same form, the order of `meta` included. `check` parses a run
    that is read; where it raises one of `arrays.MALFORMED` the run is computed again and replaced, with a notice.
    """
    if store is None:
        arrays, meta = compute(NullCheckpoint())
        same = {name: frozen_copy(array) for name, array in arrays.items()}
        return Stored(key, spec, same, _as_stored(meta), _environment(), None, reused=False)
    found = store.get(key)
    if found is not None:
        try:
            if check is not None:
                check(found)
        except MALFORMED as error:
            store.discard(key, error)
        else:
            return found
    arrays, meta = compute(store.checkpoint(key))
    return replace(store.put(key, spec, arrays, meta), reused=False)


def _as_stored(meta: Mapping[str, Any]) -> Mapping[str, Any]:
    """The meta data as a stored run has them: in the order of its file, tuples as lists."""
    return decode(json.loads(json_bytes(encode(meta, "meta"))))


def _notice(place: str, why: str) -> None:
    _LOG.warning("boundcheck: what is stored in %s is not used, because %s; it is computed again.", place, why)


def _environment() -> dict[str, Any]:
    versions = {name: package_version(name) for name in ("boundcheck", "numpy", "numba")}
    return {
        "schema": SCHEMA,
        "versions": versions | {"python": platform.python_version()},
        "implementation": platform.python_implementation(),
        "platform": sys.platform,
        "machine": platform.machine(),
        "written": datetime.now(UTC).isoformat(timespec="microseconds"),
    }


def _checked(key: str) -> str:
    if not _KEY.fullmatch(key):
        raise BadInput(f"'{key}' is no key of the result store; 16 to 128 hexadecimal digits are allowed.")
    return key
