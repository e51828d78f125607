"""Files of statements that this process was given by path: their digests, and how another process loads them too.

`theory.loading` fills the table. It stands below the result store and the executor, which both read it.
"""

from __future__ import annotations

import hashlib
import tempfile
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


# of each file: what loads it, its path, its digest and, for other machines, its sources
LoadedFiles = list[tuple[Callable[[str, str], object], str, str, dict[str, bytes]]]


def loaded_files(*, elsewhere: bool = False) -> LoadedFiles:
    """What `load_again` needs in another process; elsewhere: on a machine that may lack the files."""
    return [(f.again, f.path, f.digest, sources_of(Path(f.path)) if elsewhere else {}) for f in LOADED.values()]


def load_again(files: LoadedFiles) -> None:
    """Loads the files of another process; those that are not on this machine from a copy."""
    for again, path, digest, sources in files:
        again(path if Path(path).exists() else _copy(path, digest, sources), digest)


# digest -> the folder that this process has made for the files with it; it goes with the process
_COPIES: dict[str, tempfile.TemporaryDirectory[str]] = {}


def _copy(path: str, digest: str, sources: dict[str, bytes]) -> str:
    if digest not in _COPIES:
        _COPIES[digest] = tempfile.TemporaryDirectory(prefix="boundcheck-")
        for name, content in sources.items():
            target = Path(_COPIES[digest].name, Path(path).name, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    return str(Path(_COPIES[digest].name, Path(path).name))
