"""The files of a store at a URL, through fsspec: memory://, s3://bucket/prefix, and what else fsspec reaches.

An entry is one object, a zip archive of its files without compression: object stores put one object in place at once,
and one request reads it. A new entry is put on the condition that there is none of its name; a damaged one is
overwritten. Storage without such a condition ends with one of two equal entries, whole.
"""

from __future__ import annotations

import contextlib
import io
import time
import zipfile
from collections.abc import Callable, Collection, Generator, Mapping
from functools import cache
from typing import Any

from boundcheck.core.extras import needed_for
from boundcheck.core.places import MARKER, unreadable, unwritable
from boundcheck.errors import BadInput, BoundcheckError, MissingExtra, StoreError

Entry = Mapping[str, bytes]  # as in `core.files`
_DATE = (1980, 1, 1, 0, 0, 0)  # of every file in an archive, so that equal files give equal bytes


@cache
def remote_files(url: str) -> RemoteFiles:
    """The files at a URL; one object for each URL in a process, which keeps its connection.

    Raises MissingExtra where fsspec or the package of the protocol is absent, BadInput for a protocol that is unknown.
    """
    with needed_for(url):
        import fsspec
    try:
        system, root = fsspec.core.url_to_fs(url, use_listings_cache=False)
    except ImportError as error:
        raise MissingExtra(f"{url} cannot be reached: {str(error).rstrip('.')}.") from error
    except ValueError as error:
        raise BadInput(f"{url} cannot be reached: {str(error).rstrip('.')}.") from error
    return RemoteFiles(url.rstrip("/"), system, str(root).rstrip("/"))


class RemoteFiles:
    """Objects below a prefix."""

    def __init__(self, place: str, system: Any, root: str) -> None:
        self.place = place
        self._system = system
        self._root = root
        self._prepared = False

    def prepare(self) -> bool:
        """See `Files.prepare`."""
        if self._prepared:
            return False
        if self.read(MARKER) is None:
            with _told(unreadable, self.place), contextlib.suppress(FileNotFoundError):
                others = [found["name"] for found in self._system.ls(self._root, detail=True)]
                if others:
                    first = min(others).rpartition("/")[2]
                    raise StoreError(
                        f"{self.place} holds files that boundcheck did not write (such as '{first}'); "
                        "name an empty or a new prefix for its store."
                    )
            self.write(MARKER, b"written by boundcheck; everything here can be made again\n")
        self._prepared = True
        return True

    def where(self, name: str) -> str:
        """See `Files.where`."""
        return f"{self.place}/{name}"

    def names(self) -> list[str]:
        """See `Files.names`."""
        return list(self.sizes(()))

    def sizes(self, files: Collection[str]) -> dict[str, int]:
        """See `Files.sizes`."""
        with _told(unreadable, self.place):
            try:
                found = self._system.ls(self._root, detail=True)
            except FileNotFoundError:
                return {}
            named = {str(f["name"]).rstrip("/").rpartition("/")[2]: f for f in found if f["type"] == "file"}
            return {name: int(f["size"] or 0) for name, f in named.items() if not name.startswith(".")}

    def entry(self, name: str) -> Entry | None:
        """See `Files.entry`."""
        content = self.read(name)
        return None if content is None else _unpacked(content)

    def add(self, name: str, files: Entry, sound: Callable[[Entry], bool]) -> None:
        """See `Files.add`."""
        content = _packed(files)
        with _told(unwritable, self.place):
            try:
                self._system.pipe_file(self._path(name), content, mode="create")
                return
            except FileExistsError:
                pass
        found = self.entry(name)
        if found is None or not sound(found):
            self.write(name, content)

    def read(self, name: str) -> bytes | None:
        """See `Files.read`."""
        with _told(unreadable, self.where(name)):
            try:
                return bytes(self._system.cat_file(self._path(name)))
            except (FileNotFoundError, IsADirectoryError):
                return None

    def write(self, name: str, content: bytes) -> None:
        """See `Files.write`."""
        with _told(unwritable, self.place):
            self._system.pipe_file(self._path(name), content)

    def remove(self, name: str) -> None:
        """See `Files.remove`."""
        with _told(unwritable, self.place), contextlib.suppress(FileNotFoundError):
            self._system.rm_file(self._path(name))

    def tidy(self, folder: str = "", age: float = 0.0) -> None:
        """See `Files.tidy`; nothing half-written is ever there."""
        if not folder:
            return
        # a courtesy: a read-only store stays readable
        with contextlib.suppress(StoreError, FileNotFoundError), _told(unreadable, self.place):
            now = time.time()
            for path in self._system.find(self._path(folder)):
                name = str(path).rpartition("/")[2]
                old = now - self._system.modified(path).timestamp() > age
                if old or self._system.exists(self._path(name)):
                    self.remove(f"{folder}/{name}")

    def usage(self) -> tuple[int, int]:
        """See `Files.usage`."""
        found = self._all()
        return len(found), sum(found.values())

    def empty(self) -> tuple[int, int]:
        """See `Files.empty`."""
        found = self._all()
        if found and self.read(MARKER) is None:
            why = f"it has no file {MARKER}"
            raise StoreError(f"{self.place} was not made by boundcheck ({why}), so it is not emptied.")
        if found:
            with _told(unwritable, self.place):
                self._system.rm(list(found))
        return len(found), sum(found.values())

    def _all(self) -> dict[str, int]:
        """Path and bytes of every object but the marker."""
        with _told(unreadable, self.place):
            found = self._system.find(self._root, detail=True)
        marker = self._path(MARKER)
        return {str(path): int(f["size"] or 0) for path, f in found.items() if str(path) != marker}

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"


@contextlib.contextmanager
def _told(sentence: Callable[[str, OSError], StoreError], place: str) -> Generator[None]:
    """What a foreign file system raises, as a StoreError; it need not be an OSError (no credentials, no connection)."""
    try:
        yield
    except BoundcheckError:
        raise
    except OSError as error:
        raise sentence(place, error) from error
    except Exception as error:
        first = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise sentence(place, OSError(first)) from error


def _packed(files: Entry) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name, date_time=_DATE), files[name])
    return packed.getvalue()


def _unpacked(content: bytes) -> Entry:
    """The files of an archive; none where it is damaged."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return {info.filename: archive.read(info) for info in archive.infolist()}
    except Exception:  # whatever the archive's reader makes of damaged bytes
        return {}
