"""Where boundcheck keeps what it may throw away: the result store, the data cache and the index of statements.

By default they lie under `$XDG_CACHE_HOME/boundcheck` (`~/.cache/boundcheck` where that is unset); the environment
variables BOUNDCHECK_STORE, BOUNDCHECK_DATA and BOUNDCHECK_INDEX name other folders; that of the store may also be a
URL (`core.files`). A folder is used, and emptied, only if it was empty at first use: the marker file says so, so that
a variable that points at somebody's home folder costs nobody a file.
"""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

from boundcheck.errors import BadInput, StoreError

STORE_VARIABLE = "BOUNDCHECK_STORE"
DATA_VARIABLE = "BOUNDCHECK_DATA"
INDEX_VARIABLE = "BOUNDCHECK_INDEX"

MARKER = ".boundcheck-cache"
# The tag of the Cache Directory Tagging Specification: backup programs leave such folders out.
_TAG = "CACHEDIR.TAG"
_TAG_TEXT = "Signature: 8a477f597d28d172789f06886806bc55\n# Written by boundcheck; everything here can be made again.\n"


def is_url(place: Path | str) -> bool:
    """Whether a place is a URL, such as s3://bucket/prefix, and no folder."""
    return isinstance(place, str) and "://" in place


def store_place() -> Path | str:
    """The place of the result store: a folder (absolute; it need not exist yet), or the URL of BOUNDCHECK_STORE."""
    chosen = os.environ.get(STORE_VARIABLE, "")
    return chosen if is_url(chosen) else _place(STORE_VARIABLE, "store")


def data_dir() -> Path:
    """The folder of the data cache (absolute; it need not exist yet)."""
    return _place(DATA_VARIABLE, "data")


def index_dir() -> Path:
    """The folder of what `boundcheck list` and `show` keep (absolute; it need not exist yet)."""
    return _place(INDEX_VARIABLE, "index")


def _place(variable: str, name: str) -> Path:
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


def prepare(path: Path) -> Path:
    """Makes `path` a folder of ours: creates it with its marker, or accepts one that has it.

    Raises StoreError where it cannot be made, is not a folder, or holds files that are not ours.
    """
    path = Path(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
        if (path / MARKER).exists():  # a store of 10^5 entries is not listed for it
            return path
        names = os.listdir(path)
        if MARKER in names:  # another process has made it in this moment
            return path
        if names:
            raise StoreError(
                f"{path} holds files that boundcheck did not write (such as '{min(names)}'); "
                "name an empty or a new folder for its store or cache."
            )
        (path / MARKER).touch()
        (path / _TAG).write_text(_TAG_TEXT, encoding="ascii")
    except FileExistsError as error:
        raise StoreError(f"{path} is not a folder; name a folder for the store or cache of boundcheck.") from error
    except StoreError:
        raise
    except OSError as error:
        raise StoreError(f"the folder {path} cannot be used: {reason(error)}.") from error
    return path


def reason(error: OSError) -> str:
    """The operating system's reason in lower case, such as "no space left on device"."""
    text = error.strerror or str(error) or type(error).__name__
    return text[:1].lower() + text[1:]


def unreadable(place: str, error: OSError) -> StoreError:
    """The error of a file that the system does not let us read."""
    return StoreError(f"the result store cannot read {place}: {reason(error)}.")


def unwritable(place: str, error: OSError) -> StoreError:
    """The error of a place that the system does not let us write."""
    return StoreError(
        f"the result store {place} cannot be written: {reason(error)}; free some space or mend the permissions, "
        "run `boundcheck clean`, or name another folder with BOUNDCHECK_STORE."
    )


def is_special(target: Path) -> bool:
    """Whether something is there that is neither a file nor a folder: a pipe or a device."""
    return target.exists() and not target.is_file() and not target.is_dir()


def write_whole(target: Path, content: bytes) -> None:
    """Writes `content` to `target`; raises StoreError, leaving what was there, where the disk refuses.

    A pipe or a device, such as /dev/stdout, is written into; nothing is put in its place.
    """
    if is_special(target):
        try:
            with target.open("wb") as stream:
                stream.write(content)
        except OSError as error:
            raise StoreError(f"{target} cannot be written: {reason(error)}.") from error
        return
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(partial, target)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise StoreError(f"{target} cannot be written: {reason(error)}.") from error
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def usage(path: Path) -> tuple[int, int]:
    """Number of files below `path` (the marker and tag aside) and their bytes; (0, 0) where there is no such folder."""
    files = size = 0
    for folder, _, names in os.walk(path):
        for name in names:
            if Path(folder) == Path(path) and name in (MARKER, _TAG):
                continue
            try:
                status = os.lstat(os.path.join(folder, name))
            except FileNotFoundError:  # moved or removed by a running writer in the meantime
                continue
            files, size = files + 1, size + status.st_size
    return files, size


def empty(path: Path) -> tuple[int, int]:
    """Removes everything below `path` but its marker; the number of files and bytes that were there.

    Links are removed, not followed. Raises StoreError where the folder lacks our marker (nothing is then
    removed) or something cannot be removed.
    """
    path = Path(path)
    if not path.exists():
        return 0, 0
    if not (path / MARKER).is_file():
        if path.is_dir() and not os.listdir(path):
            return 0, 0
        raise StoreError(f"{path} was not made by boundcheck (it has no file {MARKER}), so it is not emptied.")
    before = usage(path)
    for attempt in range(20):
        try:
            _remove_below(path)
        except OSError as error:
            # A running writer may move or add a file in the meantime: begin again with what is there now.
            if error.errno in (errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST) and attempt < 19:
                continue
            raise StoreError(f"{error.filename or path} cannot be removed: {reason(error)}.") from error
        break
    return before


def _remove_below(path: Path) -> None:
    for name in sorted(os.listdir(path)):
        entry = path / name
        if name in (MARKER, _TAG):
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
