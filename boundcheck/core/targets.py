"""Files and folders that a user names: places that are probed before the work for them, and texts that are read."""

from __future__ import annotations

import os
from pathlib import Path

from boundcheck.core.places import is_special, reason
from boundcheck.errors import BadInput, StoreError, shown

PICTURES = (".svg", ".png", ".pdf")
MAX_READ = 64 * 1024 * 1024  # bytes of a file that a user names


def probe_file(target: Path, option: str) -> None:
    """Refuses a place where no file can be written, before the work whose result it is to hold.

    Raises BadInput for a folder, StoreError with the system's reason for anything else. Nothing is left there.
    """
    try:
        if target.is_dir():
            raise BadInput(f"{option} '{target}' is a folder; name a file.")
        if is_special(target):  # a pipe is not opened before there is something to say
            return
        _probe(target.parent, target.name)
    except OSError as error:
        if isinstance(error, StoreError):
            raise
        raise StoreError(f"{option} '{target}' cannot be written: {reason(error)}.") from error


def probe_picture(text: str) -> Path:
    """The file that --plot names; refuses an ending other than those of `PICTURES`, a missing folder, and a place where
    no file can be written, as `probe_file`."""
    target = Path(text)
    if target.suffix.lower() not in PICTURES:
        raise BadInput(f"--plot '{text}' has no known ending; {', '.join(PICTURES)} are allowed.")
    if not target.parent.is_dir():
        raise BadInput(f"--plot '{text}': the folder '{target.parent}' does not exist.")
    probe_file(target, "--plot")
    return target


def probe_folder(text: str, option: str) -> Path:
    """The folder that `text` names, which the first file makes; refuses one that cannot be written, as `probe_file`."""
    if not text.strip() or "\0" in text:
        raise BadInput(f"{option} '{shown(text)}' names no folder.")
    folder = Path(text)
    try:
        if folder.exists() and not folder.is_dir():
            raise BadInput(f"{option} '{text}' is a file; name a folder.")
        whole = folder.absolute()
        _probe(next(place for place in (whole, *whole.parents) if place.exists()), "probe")
    except OSError as error:
        raise StoreError(f"{option} '{text}' cannot be written: {reason(error)}.") from error
    return folder


def _probe(folder: Path, name: str) -> None:
    partial = folder / f".{name}.{os.getpid()}.partial"
    try:
        partial.touch()
    finally:
        partial.unlink(missing_ok=True)


def read_text(path: Path) -> str:
    """The text of a file that a user names; BadInput where it is missing, unreadable, not UTF-8 or beyond 64 MiB."""
    try:
        with path.open("rb") as file:  # never more than that of a device, which may have no end
            content = file.read(MAX_READ + 1)
        if len(content) > MAX_READ:
            raise BadInput(f"{path} has more than {MAX_READ // 2**20} MiB, which is more than is read.")
        return content.decode("utf-8")
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {reason(error)}.") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not text in UTF-8 (byte {error.start}).") from error
