"""What `list` and `show` print of the statements, kept in the cache: kept content loads no SymPy and no statement.

Content is kept under a digest of all bytes that it comes from: boundcheck, the derivations, claims and witnesses that
come with it, the packages of plug-ins with statements or derivations, and the versions of Python and SymPy.
Statements of `--load` are never kept. Nothing is read or kept where the statements are imported already: a program
that calls the command line may have changed them.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Any

from boundcheck.core.loaded import LOADED
from boundcheck.core.places import index_dir, prepare, write_whole
from boundcheck.errors import BoundcheckError
from boundcheck.evidence.shipped_files import PACKAGE, shipped_folder

STATES = 8  # digests whose content is kept, the latest; older ones are removed
_GROUPS = ("boundcheck.papers", "boundcheck.derivations")
_ENDINGS = (".py", ".json", ".toml")

_state = {"fresh": False}


def begin() -> None:
    """Called once a command begins: content is kept only if no statement has been imported before."""
    _state["fresh"] = "boundcheck.theory.discovery" not in sys.modules
    _digest.cache_clear()


def kept(name: str, make: Callable[[], dict[str, Any] | None]) -> dict[str, Any] | None:
    """What `make` returns, or what it returned earlier on the same bytes.

    name: of the content, such as "show scgd/theorem_3_3". None is not kept. A cache that cannot be written is no error.
    """
    if not _state["fresh"]:
        return make()
    digest = _digest()
    try:
        folder = index_dir() / digest
    except BoundcheckError:  # no home folder
        return make()
    path = folder / f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.json"
    found = _read(path, name)
    if found is None:
        found = make()
        if found is not None:
            with contextlib.suppress(BoundcheckError, OSError):
                _write(path, name, found)
    return found


def is_keeping() -> bool:
    """Whether this command keeps anything."""
    return _state["fresh"]


def is_loaded(id: str) -> bool:
    """Whether an id belongs to a paper of `--load`."""
    return id.strip().strip("/").partition("/")[0] in LOADED


def _read(path: Path, name: str) -> dict[str, Any] | None:
    try:
        outer: Any = json.loads(path.read_bytes())
        body = str(outer["content"]).encode()
        if outer["name"] == name and outer["sha256"] == hashlib.sha256(body).hexdigest():
            return json.loads(body)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    return None


def _write(path: Path, name: str, found: dict[str, Any]) -> None:
    home = prepare(index_dir())
    path.parent.mkdir(exist_ok=True)
    body = json.dumps(found)
    outer = {"name": name, "content": body, "sha256": hashlib.sha256(body.encode()).hexdigest()}
    write_whole(path, json.dumps(outer).encode())
    os.utime(path.parent)
    states = sorted((p for p in home.iterdir() if p.is_dir()), key=lambda p: p.stat().st_mtime)
    for old in states[:-STATES]:
        shutil.rmtree(old, ignore_errors=True)


@cache
def _digest() -> str:
    """SHA-256 over names and bytes of all that is kept depends on."""
    found = hashlib.sha256(f"1\n{sys.version}\n{_version('sympy')}\n".encode())
    for root in _roots():
        found.update(f"{root}\n".encode())
        for path in sorted(_files(root)):
            content = Path(path).read_bytes()
            found.update(f"{path}\0{len(content)}\n".encode() + content)
    return found.hexdigest()


def _version(package: str) -> str:
    try:
        return version(package)
    except ModuleNotFoundError:
        return ""


def _roots() -> list[Path]:
    """The package, what lies beside it in a checkout, and the top-level packages of plug-ins (none is imported)."""
    places = {"_derivations": "derivations", "_claims": "examples", "_recorded": "configs/neural/recorded"}
    beside = [shipped_folder(inside, outside) for inside, outside in places.items()]
    roots = [PACKAGE, *(p for p in beside if p.parent != PACKAGE)]
    for top in sorted({p.module.partition(".")[0] for group in _GROUPS for p in entry_points(group=group)}):
        spec = importlib.util.find_spec(top)
        if spec is not None and spec.submodule_search_locations is not None:
            roots += map(Path, spec.submodule_search_locations)
        elif spec is not None and spec.origin is not None:
            roots.append(Path(spec.origin))
    return roots


def _files(root: Path) -> Iterator[str]:
    if root.is_file():
        yield str(root)
    for folder, below, names in os.walk(root):
        below[:] = [b for b in below if not b.startswith((".", "__pycache__"))]
        yield from (os.path.join(folder, n) for n in names if n.endswith(_ENDINGS))
