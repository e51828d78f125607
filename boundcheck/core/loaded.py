"""Files of statements that this process was given by path: their digests, and how another process loads them too.

`theory.loading` fills the table. It stands below the result store and the executor, which both read it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Loaded:
    """One file, or one folder of modules.

    name: of the paper and of the module. path: absolute. digest: SHA-256 of its bytes (`digest_of`). again: loads it in
    another process, called with path and digest; a function at the top of a module.
    """

    name: str
    path: str
    digest: str
    again: Callable[[str, str], object]


LOADED: dict[str, Loaded] = {}


def digests() -> dict[str, str]:
    """Name -> digest of everything that is loaded."""
    return {name: found.digest for name, found in sorted(LOADED.items())}


def digest_of(path: Path) -> str:
    """SHA-256 of the bytes of a file, or of the names and bytes of all Python files of a package."""
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    parts = [f"{file.relative_to(path).as_posix()}\0{digest_of(file)}\n" for file in sorted(_sources(path))]
    return hashlib.sha256("".join(parts).encode()).hexdigest()


def sources_of(path: Path) -> dict[str, bytes]:
    """The bytes of a file, under "", or those of all Python files of a package by their relative names."""
    if path.is_file():
        return {"": path.read_bytes()}
    return {file.relative_to(path).as_posix(): file.read_bytes() for file in sorted(_sources(path))}


def _sources(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.suffix == ".py" and path.is_file():
            yield path
        elif path.is_dir() and (path / "__init__.py").is_file():
            yield from _sources(path)
