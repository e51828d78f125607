"""Where a store keeps its files: the few operations that it needs, and how a folder of this machine carries them out.

An entry is a group of small files that is there as a whole or not at all. `files_at` returns the implementation for a
place: a folder (also one that machines share), or a URL such as s3://bucket/prefix (`core.remote_files`).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import secrets
import shutil
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Protocol
from urllib.request import url2pathname

from boundcheck.core import places
from boundcheck.core.places import MARKER, is_url, unreadable, unwritable
from boundcheck.errors import StoreError

LEFTOVER_AGE = 86400.0  # seconds after which a partial folder of an unknown writer is removed

Entry = Mapping[str, bytes]  # name of a file -> content


class Files(Protocol):
    """Named entries and single files; the file system's errors become StoreErrors."""

    place: str

    def prepare(self) -> bool:
        """Makes the place one of boundcheck's, or accepts it as such; whether this process had not done so before.

        Raises StoreError where it cannot be made or holds files that are not boundcheck's.
        """
        ...

    def where(self, name: str) -> str:
        """The place of an entry or file, for messages and for people who look for it."""
        ...

    def names(self) -> list[str]:
        """The names of the entries and files at the top, those that begin with a point aside."""
        ...

    def sizes(self, files: Collection[str]) -> dict[str, int]:
        """The same with their bytes, of an entry those of `files`."""
        ...

    def entry(self, name: str) -> Entry | None:
        """The files of an entry; None where it is not there, incomplete where it is damaged."""
        ...

    def add(self, name: str, files: Entry, sound: Callable[[Entry], bool]) -> None:
        """Puts an entry in place, at once. Where one of this name is there and `sound`, that one stays."""
        ...

    def read(self, name: str) -> bytes | None:
        """The content of a single file; None where it is not there."""
        ...

    def write(self, name: str, content: bytes) -> None:
        """Writes a single file, or replaces it, at once."""
        ...

    def remove(self, name: str) -> None:
        """Removes an entry or a file, if it is there."""
        ...

    def tidy(self, folder: str = "", age: float = 0.0) -> None:
        """Removes what killed writers left, and files of `folder` older than `age` seconds or named as an entry is."""
        ...

    def usage(self) -> tuple[int, int]:
        """The number of files and their bytes."""
        ...

    def empty(self) -> tuple[int, int]:
        """Removes everything, and returns what there was; StoreError where the place is not boundcheck's."""
        ...


def files_at(place: Path | str, *, marked: bool = True) -> Files:
    """The files at a place; nothing is made or read yet. Raises MissingExtra and BadInput for a URL.

    marked: whether what is written to a folder gives it the marker of a place that boundcheck may empty.
    """
    if is_url(place) and not str(place).startswith("file://"):
        from boundcheck.core.remote_files import remote_files

        return remote_files(str(place))
    return LocalFiles(Path(url2pathname(place.removeprefix("file://")) if isinstance(place, str) else place), marked)


class LocalFiles:
    """A folder. What is written goes to `.partial`, is flushed to the disk and renamed; an entry is a folder."""

    def __init__(self, path: Path, marked: bool = True) -> None:
        self.path = path
        self.marked = marked
        self.place = str(path)

    def prepare(self) -> bool:
        """See `Files.prepare`."""
        self.path = places.prepare(self.path)
        return True  # what another process has left may be looked at every time: it costs microseconds

    def where(self, name: str) -> str:
        """See `Files.where`."""
        return str(self.path / name)

    def names(self) -> list[str]:
        """See `Files.names`."""
        try:
            return [name for name in os.listdir(self.path) if not name.startswith(".")]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise unreadable(self.place, error) from error

    def sizes(self, files: Collection[str]) -> dict[str, int]:
        """See `Files.sizes`."""
        found: dict[str, int] = {}
        inside = [os.sep + file for file in files]
        for name in self.names():
            path = f"{self.place}{os.sep}{name}"
            found[name] = 0
            for file in inside:
                try:
                    found[name] += os.stat(path + file).st_size
                except NotADirectoryError:
                    found[name] = os.stat(path).st_size
                    break
                except FileNotFoundError:  # damaged, or removed meanwhile
                    continue
                except OSError as error:
                    raise unreadable(path, error) from error
        return found

    def entry(self, name: str) -> Entry | None:
        """See `Files.entry`."""
        return self._entry(self.path / name)

    def _entry(self, folder: Path) -> Entry | None:
        try:
            return {file: (folder / file).read_bytes() for file in os.listdir(folder)}
        except FileNotFoundError:  # not there, or moved away while it was read
            return None
        except NotADirectoryError:  # a file stands in its place
            return {}
        except OSError as error:
            raise unreadable(str(folder), error) from error

    def add(self, name: str, files: Entry, sound: Callable[[Entry], bool]) -> None:
        """See `Files.add`."""

        def place(parent: Path) -> None:
            folder = parent / name
            folder.mkdir()
            for file, content in files.items():
                _write(folder / file, content)
            _flush_folder(folder)
            self._move_in_place(folder, name, sound)
            _flush_folder(self.path)

        self.placing(place)

    def _move_in_place(self, folder: Path, name: str, sound: Callable[[Entry], bool]) -> None:
        final = self.path / name
        for _ in range(100):
            try:
                os.rename(folder, final)
            except OSError:
                if not final.exists():  # nothing is in the way, so the reason lies elsewhere
                    raise
            else:
                return
            if self._is_sound(final, sound):
                return  # another process was faster; equal names mean equal content
            # A damaged entry is in the way. Two processes may both see that, and the slower one would move
            # the faster one's sound entry aside: it looks again at what it has moved.
            aside = folder.parent / f"aside-{secrets.token_hex(6)}"
            with contextlib.suppress(FileNotFoundError):
                os.rename(final, aside)
                if self._is_sound(aside, sound):
                    with contextlib.suppress(OSError):  # a third process has put its own there
                        os.rename(aside, final)
        raise StoreError(f"the damaged run in {final} cannot be replaced; remove it.")

    def _is_sound(self, folder: Path, sound: Callable[[Entry], bool]) -> bool:
        found = self._entry(folder)
        return found is not None and sound(found)

    def read(self, name: str) -> bytes | None:
        """See `Files.read`."""
        try:
            return (self.path / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise unreadable(self.where(name), error) from error

    def write(self, name: str, content: bytes) -> None:
        """See `Files.write`."""
        target = self.path / name

        def put(folder: Path) -> None:
            _write(folder / "file", content)
            target.parent.mkdir(exist_ok=True)
            os.replace(folder / "file", target)

        self.placing(put)

    def remove(self, name: str) -> None:
        """See `Files.remove`."""
        target = self.path / name
        try:
            if not target.is_dir():
                target.unlink(missing_ok=True)
                return
        except OSError as error:
            raise unwritable(self.where(name), error) from error

        def move(folder: Path) -> None:  # so that it vanishes at once
            with contextlib.suppress(FileNotFoundError):
                os.rename(target, folder / name)

        self.placing(move)

    def placing(self, action: Callable[[Path], None]) -> None:
        """Calls `action` with a new folder of this process on the same file system and then removes the folder.

        OSErrors become StoreErrors. An action whose files vanish (`boundcheck clean` in the middle) is repeated.
        """
        for last in (False, False, True):
            folder = self.path / ".partial" / f"{host()}-{os.getpid()}-{secrets.token_hex(6)}"
            try:
                if self.marked and not (self.path / MARKER).exists():
                    places.prepare(self.path)
                folder.mkdir(parents=True)
                action(folder)
            except StoreError:
                raise
            except OSError as error:
                if last or not isinstance(error, FileNotFoundError):
                    raise unwritable(self.place, error) from error
            else:
                return
            finally:
                shutil.rmtree(folder, ignore_errors=True)

    def tidy(self, folder: str = "", age: float = 0.0) -> None:
        """See `Files.tidy`."""
        now = time.time()
        for leftover in _entries(self.path / ".partial"):
            writer, _, rest = leftover.name.partition("-")
            pid = rest.partition("-")[0]
            gone = writer == host() and pid.isdigit() and not _is_running(int(pid))
            if gone or _age(leftover, now) > LEFTOVER_AGE:
                shutil.rmtree(leftover, ignore_errors=True)
        for file in _entries(self.path / folder) if folder else ():
            if (self.path / file.name).exists() or _age(file, now) > age:
                with contextlib.suppress(OSError):  # tidying is a courtesy; a read-only store stays readable
                    file.unlink()

    def usage(self) -> tuple[int, int]:
        """See `Files.usage`."""
        return places.usage(self.path)

    def empty(self) -> tuple[int, int]:
        """See `Files.empty`."""
        return places.empty(self.path)


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


@functools.cache
def host() -> str:
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
