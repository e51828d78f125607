"""The result store: finished runs in folders named by the digest of their specification and code.

    <store>/<key>/spec.json          specification and what the run says of its result
    <store>/<key>/curve.npz          the arrays; equal arrays give equal bytes
    <store>/<key>/environment.json   versions and time; exempt from byte identity
    <store>/<key>/done.json          SHA-256 of spec.json and curve.npz, and their seal where a key is set
    <store>/.checkpoint/<key>        the newest checkpoint of an unfinished run
    <store>/.partial/...             what writers are writing now

A run is written to `.partial`, flushed to the disk and renamed, so that a folder is there as a whole or
not at all. A folder whose checksums disagree (a damaged disk) counts as absent and is replaced; so does one whose
content does not parse or lacks the seal that `core.seal` asks for, with a notice in the log `boundcheck.store`.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import logging
import os
import platform
import re
import secrets
import shutil
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
from boundcheck.core.places import MARKER, prepare, reason
from boundcheck.core.seal import is_sealed, seal
from boundcheck.core.stored_run import SCHEMA, Stored, check_schema, checksums, json_bytes, read_run, unreadable
from boundcheck.errors import BadInput, StoreError

CHECKPOINT_INTERVAL = 5.0  # seconds; with a look at `due()` at least as often, no checkpoint is older than 10 s
_LEFTOVER_AGE = 86400.0  # seconds after which a partial folder of an unknown writer is removed
_CHECKPOINT_AGE = 30 * 86400.0  # seconds after which a checkpoint that nobody resumed is removed
_KEY = re.compile(r"[0-9a-f]{16,128}")
_LOG = logging.getLogger("boundcheck.store")
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
        self._store = store
        self._interval = interval
        self._last = time.monotonic()
        self.path = store.path / ".checkpoint" / key

    def load(self) -> dict[str, NDArray[Any]] | None:
        """The arrays saved last, or None where there are none or they are damaged.

        Raises StoreError where the file cannot be read or comes from a newer boundcheck.
        """
        try:
            content = self.path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise unreadable(self.path, error) from error
        head, _, body = content.partition(b"\n")
        match = re.fullmatch(rb"boundcheck checkpoint ([0-9]{1,9}) ([0-9a-f]{64})(?: ([0-9a-f]{64}))?", head)
        if match is None:
            return None
        check_schema(int(match[1]), self.path)
        if hashlib.sha256(body).hexdigest().encode("ascii") != match[2]:
            return None
        if not is_sealed((match[3] or b"").decode("ascii"), *self._sealed(body)):
            _notice(self.path, "it does not carry the seal of the key in BOUNDCHECK_STORE_KEY")
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

        def put(folder: Path) -> None:
            _write(folder / "checkpoint", head + body)
            self.path.parent.mkdir(exist_ok=True)
            os.replace(folder / "checkpoint", self.path)

        self._store.write(put)
        self._last = time.monotonic()

    def refuse(self, error: Exception) -> None:
        """Says that what `load` has returned is not what the run had saved, and removes it."""
        _notice(self.path, f"it does not parse ({type(error).__name__})")
        self.remove()

    def remove(self) -> None:
        """Removes the file, if it is there."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise _unwritable(self.path, error) from error

    def _sealed(self, body: bytes) -> tuple[bytes, ...]:
        return b"checkpoint", self.path.name.encode("ascii"), body


class Store:
    """A folder of finished runs; any number of processes may use it at once."""

    def __init__(self, path: Path | str) -> None:
        """Opens the store at `path`, creates it where it is missing and tidies it.

        Raises StoreError where the folder cannot be made or holds files that are not boundcheck's.
        """
        self.path = prepare(Path(path))
        self.tidy()

    def keys(self) -> list[str]:
        """The keys of all runs that are there, sorted (not yet checked for damage)."""
        try:
            return sorted(name for name in os.listdir(self.path) if _KEY.fullmatch(name))
        except OSError as error:
            raise unreadable(self.path, error) from error

    def get(self, key: str) -> Stored | None:
        """The run named `key`, or None where it is absent, damaged, does not parse or lacks its seal.

        Raises StoreError where it cannot be read (permissions) or comes from a newer boundcheck.
        """
        found = read_run(self.path / _checked(key), key)
        if isinstance(found, str):
            _notice(self.path / key, found)
            return None
        return found

    def discard(self, key: str, error: Exception) -> None:
        """Removes a run that `get` has returned and that is not what its reader had stored."""
        _notice(self.path / _checked(key), f"it does not parse ({type(error).__name__})")

        def move(folder: Path) -> None:
            with contextlib.suppress(FileNotFoundError):
                os.rename(self.path / key, folder / key)

        self.write(move)

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

        def place(parent: Path) -> None:
            folder = parent / key
            folder.mkdir()
            for name, content in files.items():
                _write(folder / name, content)
            _flush_folder(folder)
            self._move_in_place(folder, key)
            _flush_folder(self.path)

        self.write(place)
        Checkpoint(self, key).remove()
        stored = self.get(key)
        if stored is not None:
            return stored
        # Emptied or damaged by somebody else in this very moment; the result is still good.
        same = {name: frozen_copy(array) for name, array in arrays.items()}
        return Stored(key, decode(tree["spec"]), same, _as_stored(meta), _environment(), None, reused=False)

    def checkpoint(self, key: str) -> Checkpoint:
        """The checkpoint of the unfinished run named `key`."""
        return Checkpoint(self, _checked(key))

    def tidy(self) -> None:
        """Removes what killed writers left behind, checkpoints of finished runs and very old ones."""
        now = time.time()
        for leftover in _entries(self.path / ".partial"):
            host, _, rest = leftover.name.partition("-")
            pid = rest.partition("-")[0]
            gone = host == _host() and pid.isdigit() and not _is_running(int(pid))
            if gone or _age(leftover, now) > _LEFTOVER_AGE:
                shutil.rmtree(leftover, ignore_errors=True)
        for checkpoint in _entries(self.path / ".checkpoint"):
            if (self.path / checkpoint.name / "done.json").exists() or _age(checkpoint, now) > _CHECKPOINT_AGE:
                with contextlib.suppress(OSError):  # tidying is a courtesy; a read-only store stays readable
                    checkpoint.unlink()

    def write(self, action: Callable[[Path], None]) -> None:
        """Calls `action` with a new folder of this process on the store's file system and then removes the folder.

        OSErrors become StoreErrors. An action whose files vanish (`boundcheck clean` in the middle) is repeated.
        """
        for last in (False, False, True):
            folder = self.path / ".partial" / f"{_host()}-{os.getpid()}-{secrets.token_hex(6)}"
            try:
                if not (self.path / MARKER).exists():
                    prepare(self.path)
                folder.mkdir(parents=True)
                action(folder)
            except StoreError:
                raise
            except OSError as error:
                if last or not isinstance(error, FileNotFoundError):
                    raise _unwritable(self.path, error) from error
            else:
                return
            finally:
                shutil.rmtree(folder, ignore_errors=True)

    def _move_in_place(self, folder: Path, key: str) -> None:
        final = self.path / key
        for _ in range(100):
            try:
                os.rename(folder, final)
            except OSError:
                if not final.exists():  # nothing is in the way, so the reason lies elsewhere
                    raise
            else:
                return
            if self.get(key) is not None:
                return  # another process was faster; equal keys mean equal results
            # A damaged run is in the way. Two processes may both see that, and the slower one would move
            # the faster one's sound run aside: it looks again at what it has moved.
            aside = folder.parent / f"aside-{secrets.token_hex(6)}"
            with contextlib.suppress(FileNotFoundError):
                os.rename(final, aside)
                if isinstance(read_run(aside, key), Stored):
                    with contextlib.suppress(OSError):  # a third process has put its own there
                        os.rename(aside, final)
        raise StoreError(f"the damaged run in {final} cannot be replaced; remove it.")


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


def _notice(path: Path, why: str) -> None:
    _LOG.warning("boundcheck: what is stored in %s is not used, because %s; it is computed again.", path, why)


def _environment() -> dict[str, Any]:
    versions = {name: package_version(name) for name in ("boundcheck", "numpy", "numba")}
    return {
        "schema": SCHEMA,
        "versions": versions | {"python": platform.python_version()},
        "implementation": platform.python_implementation(),
        "platform": sys.platform,
        "machine": platform.machine(),
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _checked(key: str) -> str:
    if not _KEY.fullmatch(key):
        raise BadInput(f"'{key}' is no key of the result store; 16 to 128 hexadecimal digits are allowed.")
    return key


def _write(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _flush_folder(path: Path) -> None:
    if os.name != "posix":  # elsewhere a folder cannot be opened
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unwritable(path: Path, error: OSError) -> StoreError:
    return StoreError(
        f"the result store {path} cannot be written: {reason(error)}; free some space or mend the permissions, "
        "run `boundcheck clean`, or name another folder with BOUNDCHECK_STORE."
    )


@functools.cache
def _host() -> str:
    """A tag of this machine and its process numbers: a number of elsewhere says nothing about who runs here."""
    space = ""
    with contextlib.suppress(OSError):  # containers have numbers of their own; systems without /proc have none
        space = os.readlink("/proc/self/ns/pid")
    return hashlib.sha256(f"{platform.node()} {space}".encode()).hexdigest()[:12]


def _is_running(pid: int) -> bool:
    if os.name != "posix":  # there is no harmless way to ask; old leftovers go by their age
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it runs under another user
        return True
    return True


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:  # missing, or not ours to read: nothing to tidy
        return []


def _age(path: Path, now: float) -> float:
    try:
        return now - path.lstat().st_mtime
    except OSError:  # gone meanwhile
        return 0.0
