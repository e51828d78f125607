"""Where boundcheck keeps what it may throw away: the result store, the data cache and the index of statements.

By default they lie under `$XDG_CACHE_HOME/boundcheck` (`~/.cache/boundcheck` where that is unset); the environment
variables BOUNDCHECK_STORE, BOUNDCHECK_DATA and BOUNDCHECK_INDEX name other folders; that of the store may also be a
URL that fsspec reaches, such as s3://bucket/prefix. A place is used, and emptied, only if it was empty at first use:
the marker file says so, so that a variable that points at somebody's home folder costs nobody a file.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any
from urllib.request import url2pathname

from boundcheck.errors import BadInput, BoundcheckError, MissingExtra, StoreError

STORE_VARIABLE = "BOUNDCHECK_STORE"
DATA_VARIABLE = "BOUNDCHECK_DATA"
INDEX_VARIABLE = "BOUNDCHECK_INDEX"

# The tag of the Cache Directory Tagging Specification: backup programs leave such folders out.
MARKER = "CACHEDIR.TAG"
_MARKED = "Signature: 8a477f597d28d172789f06886806bc55\n# Written by boundcheck; everything here can be made again.\n"
_PARTIAL = ".partial"  # the folder of files that are being written
LEFTOVER_AGE = 86400.0  # seconds after which such a file is removed: its writer was killed


def is_url(place: Path | str) -> bool:
    """Whether a place is a URL, such as s3://bucket/prefix, and no folder."""
    return isinstance(place, str) and "://" in place


def store_place() -> Path | str:
    """The place of the result store: a folder (absolute; it need not exist yet), or the URL of BOUNDCHECK_STORE."""
    chosen = os.environ.get(STORE_VARIABLE, "")
    return chosen if is_url(chosen) else _folder(STORE_VARIABLE, "store")


def data_dir() -> Path:
    """The folder of the data cache (absolute; it need not exist yet)."""
    return _folder(DATA_VARIABLE, "data")


def index_dir() -> Path:
    """The folder of what `boundcheck list` and `show` keep (absolute; it need not exist yet)."""
    return _folder(INDEX_VARIABLE, "index")


def _folder(variable: str, name: str) -> Path:
    try:
        chosen = os.environ.get(variable, "")
        if chosen:
            return Path(os.path.abspath(Path(chosen).expanduser()))
        base = Path(os.environ.get("XDG_CACHE_HOME", ""))
        if not base.is_absolute():  # the XDG specification: relative paths are ignored
            base = Path.home() / ".cache"
    except RuntimeError as error:  # no home folder
        raise BadInput(
            f"the folder of the {name} is unknown, because this user has no home folder; set {variable} to a folder."
        ) from error
    return base / "boundcheck" / name


class Place:
    """Named files in a folder or at a URL; each is written under a temporary name and moved.

    Names that begin with a point belong to boundcheck and are not listed. Errors of the storage become StoreErrors.
    """

    def __init__(self, place: Path | str) -> None:
        """Nothing is made or read yet.

        Raises MissingExtra where the package of a URL's protocol is absent, BadInput for an unknown protocol.
        """
        import fsspec

        if is_url(place) and not str(place).startswith("file://"):
            self.place = str(place).rstrip("/")
            try:
                self._system, root = fsspec.core.url_to_fs(self.place, use_listings_cache=False)
            except ImportError as error:
                raise MissingExtra(f"{place} cannot be reached: {str(error).rstrip('.')}.") from error
            except ValueError as error:
                raise BadInput(f"{place} cannot be reached: {str(error).rstrip('.')}.") from error
        else:
            if isinstance(place, str):
                place = url2pathname(place.removeprefix("file://"))
            self.place = root = os.path.abspath(place)
            self._system = fsspec.filesystem("file", auto_mkdir=True)
        self._root = str(root).rstrip("/")
        self._is_local: bool = getattr(self._system, "local_file", False)

    def where(self, name: str) -> str:
        """The path or URL of a file, for messages and for people who look for it."""
        return f"{self.place}/{name}"

    def read(self, name: str) -> bytes | None:
        """The content of a file; None where it is not there."""
        with _stating(unreadable, self.where(name)):
            try:
                return bytes(self._system.cat_file(self._path(name)))
            except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
                return None

    def write(self, name: str, content: bytes) -> None:
        """Writes a file, or replaces it, as a whole."""
        partial = self._path(f"{_PARTIAL}/{secrets.token_hex(8)}")
        with _stating(unwritable, self.place):
            try:
                self._put(partial, content, self._path(name))
            except FileNotFoundError:  # `boundcheck clean` has removed it in this moment
                self._put(partial, content, self._path(name))

    def _put(self, partial: str, content: bytes, final: str) -> None:
        try:
            self._system.pipe_file(partial, content)
            if self._is_local:
                os.makedirs(os.path.dirname(final), exist_ok=True)
                os.replace(partial, final)
            else:  # storage of objects puts a copy in place at once
                self._system.cp_file(partial, final)
        finally:
            with contextlib.suppress(Exception):  # it was moved, or an error is on its way
                self._system.rm_file(partial)

    def remove(self, name: str) -> None:
        """Removes a file, if it is there."""
        with _stating(unwritable, self.place), contextlib.suppress(FileNotFoundError, NotADirectoryError):
            self._system.rm_file(self._path(name))

    def names(self) -> list[str]:
        """The names of the files at the top."""
        return list(self.sizes())

    def sizes(self) -> dict[str, int]:
        """The same with their bytes."""
        found = {_last(f): int(f["size"] or 0) for f in self._listed("") if f["type"] == "file"}
        return {name: size for name, size in found.items() if not name.startswith(".") and name != MARKER}

    def prepare(self) -> bytes:
        """Makes the place one of boundcheck's, or accepts it as such; the content of its marker, which is its own.

        Raises StoreError where it cannot be made or holds files that are not boundcheck's.
        """
        marker = self._marker()
        if marker is None:
            if self._is_local and os.path.isfile(self._root):
                raise StoreError(f"{self.place} is not a folder; name a folder for the store or cache of boundcheck.")
            others = sorted(name for name in map(_last, self._listed("")) if name != _PARTIAL)
            if others and self._marker() is None:  # another process may have made it in this moment
                raise StoreError(
                    f"{self.place} holds files that boundcheck did not write (such as '{others[0]}'); "
                    "name an empty or a new folder for its store or cache."
                )
            marker = f"{_MARKED}# {secrets.token_hex(8)}\n".encode()
            self.write(MARKER, marker)
        return marker

    def _marker(self) -> bytes | None:
        found = self.read(MARKER)
        return found if found is not None and _MARKED.encode() in found else None

    def has(self, name: str) -> bool:
        """Whether a file is there."""
        with _stating(unreadable, self.where(name)):
            return bool(self._system.exists(self._path(name)))

    def tidy(
        self, folder: str = _PARTIAL, age: float = LEFTOVER_AGE, is_over: Callable[[str], bool] = lambda name: False
    ) -> None:
        """Removes files of a folder older than `age` seconds or `is_over`; by default what killed writers have left.

        What cannot be removed stays: tidying is a courtesy.
        """
        with contextlib.suppress(Exception):
            for found in self._listed(folder):
                old = time.time() - self._system.modified(found["name"]).timestamp() > age
                if old or is_over(_last(found)):
                    self._system.rm_file(found["name"])

    def usage(self) -> tuple[int, int]:
        """The number of files, the marker aside, and their bytes; (0, 0) where there is no such place."""
        with _stating(unreadable, self.place):
            found = self._system.find(self._root, detail=True)
        sizes = [int(f["size"] or 0) for f in found.values() if str(f["name"]) != self._path(MARKER)]
        return len(sizes), sum(sizes)

    def empty(self) -> tuple[int, int]:
        """Removes everything but the marker, and returns what there was. Links are removed, not followed.

        Raises StoreError where the place is not boundcheck's or something cannot be removed.
        """
        if self._marker() is None:
            if self._listed(""):
                raise StoreError(
                    f"{self.place} was not made by boundcheck (it has no file {MARKER}), so it is not emptied."
                )
            return 0, 0
        before = self.usage()
        for last in (False, False, False, True):  # a running writer may add or move a file meanwhile
            try:
                for found in self._listed(""):
                    if _last(found) != MARKER:
                        self._system.rm(found["name"], recursive=True)
                break
            except Exception as error:
                if last or not isinstance(error, FileNotFoundError):
                    raise StoreError(f"{self.place} cannot be emptied: {reason(error)}.") from error
        return before

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _listed(self, folder: str) -> list[dict[str, Any]]:
        """What the storage says of everything in a folder; nothing where it is not there."""
        with _stating(unreadable, self.place), contextlib.suppress(FileNotFoundError):
            return list(self._system.ls(self._path(folder).rstrip("/"), detail=True))
        return []


def _last(found: dict[str, Any]) -> str:
    return str(found["name"]).rstrip("/").rpartition("/")[2]


@contextlib.contextmanager
def _stating(sentence: Callable[[str, Exception], StoreError], place: str) -> Generator[None]:
    """What a file system raises as a StoreError; it need not be an OSError (no credentials, no connection)."""
    try:
        yield
    except BoundcheckError:
        raise
    except Exception as error:
        raise sentence(place, error) from error


def reason(error: Exception) -> str:
    """The system's reason in lower case on one line, such as "no space left on device"."""
    text = " ".join(str(getattr(error, "strerror", None) or error).split()).rstrip(".") or type(error).__name__
    return text[:1].lower() + text[1:]


def unreadable(place: str, error: Exception) -> StoreError:
    """The error of a file that the system does not let us read."""
    return StoreError(f"the result store cannot read {place}: {reason(error)}.")


def unwritable(place: str, error: Exception) -> StoreError:
    """The error of a place that the system does not let us write."""
    return StoreError(
        f"the result store {place} cannot be written: {reason(error)}; free some space or mend the permissions, "
        "run `boundcheck clean`, or name another folder with BOUNDCHECK_STORE."
    )


def prepare(path: Path) -> Path:
    """Makes a folder one of boundcheck's; see `Place.prepare`."""
    Place(path).prepare()
    return Path(path)


def is_special(target: Path) -> bool:
    """Whether something is there that is neither a file nor a folder: a pipe or a device."""
    return target.exists() and not target.is_file() and not target.is_dir()


def write_whole(target: Path, content: bytes) -> None:
    """Writes a file that a user has named; raises StoreError, leaving what was there, where the disk refuses.

    A pipe or a device, such as /dev/stdout, is written into; nothing is put in its place.
    """
    partial = target if is_special(target) else target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as stream:
            stream.write(content)
            if partial != target:
                stream.flush()
                os.fsync(stream.fileno())
        if partial != target:
            os.replace(partial, target)
    except OSError as error:
        raise StoreError(f"{target} cannot be written: {reason(error)}.") from error
    finally:
        if partial != target:
            with contextlib.suppress(OSError):
                partial.unlink()
