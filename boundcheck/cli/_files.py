"""Writing files whole: under a temporary name, flushed and moved in place, so that nothing half-written is left."""

from __future__ import annotations

import os
from pathlib import Path

from boundcheck.core.places import reason
from boundcheck.errors import BadInput, StoreError

__all__ = ["read_text", "write_whole"]

MAX_READ = 64 * 1024 * 1024  # bytes of a file that a user names


def write_whole(target: Path, content: bytes) -> None:
    """Writes `content` to `target`; raises StoreError, leaving what was there, where the disk refuses."""
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


def read_text(path: Path) -> str:
    """The text of a file that a user names; BadInput where it is missing, unreadable, not UTF-8 or beyond 64 MiB."""
    try:
        if path.stat().st_size > MAX_READ:
            raise BadInput(f"{path} has more than {MAX_READ // 2**20} MiB, which is more than is read.")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {reason(error)}.") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not text in UTF-8 (byte {error.start}).") from error
