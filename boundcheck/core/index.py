"""The index: what commands about statements print or compute with, kept so that they load no SymPy and no statement.

An entry is kept under a digest of all bytes that it comes from: boundcheck, the derivations, claims and witnesses that
come with it and SymPy's version; also the packages of plug-ins with statements or derivations where it is about them,
too. So an entry is never used on other bytes. The wheel carries entries in `boundcheck/_index`; others are kept in the
cache (`core.places.index_dir`). Statements of `--load` are never kept. Nothing is read or kept where the statements are
imported already: a program that calls the command line may have changed them.
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

from boundcheck.core.places import index_dir, prepare, write_whole
from boundcheck.errors import BoundcheckError

PACKAGE = Path(__file__).resolve().parents[1]
SHIPPED = PACKAGE / "_index"
STATES = 8  # digests whose entries the cache has, the latest; older ones are removed
_BESIDE = {"_derivations": "derivations", "_claims": "examples", "_recorded": "configs/neural/recorded"}
_GROUPS = ("boundcheck.papers", "boundcheck.derivations")
_ENDINGS = (".py", ".json", ".toml")
# Entries have paths of shipped files, relative to this folder.
_HERE, _RELATIVE = json.dumps(f"{PACKAGE.parent}{os.sep}")[1:-1], "<boundcheck>/"

_state = {"fresh": False}


def begin() -> None:
    """Called once a command begins: entries are used only if no statement has been imported before."""
    _state["fresh"] = "boundcheck.theory.discovery" not in sys.modules
    digest.cache_clear()


def is_keeping() -> bool:
    """Whether this command uses the index."""
    return _state["fresh"]


def kept(name: str, make: Callable[[], dict[str, Any] | None], *, plugins: bool = True) -> dict[str, Any] | None:
    """What `make` returns, or what it returned earlier on the same bytes.

    name: of the entry, such as "show scgd/theorem_3_3". plugins: whether plug-ins can change it. None is not kept. A
    cache that cannot be written is no error.
    """
    if not _state["fresh"]:
        return make()
    state = digest(plugins=plugins)
    places = [SHIPPED]
    with contextlib.suppress(BoundcheckError):  # no home folder
        places.append(index_dir())
    for place in places:
        found = _read(_path(place, state, name), name)
        if found is not None:
            return found
    found = make()
    if found is not None and len(places) > 1:
        with contextlib.suppress(BoundcheckError, OSError):
            _write(prepare(places[1]), state, name, found)
    return found


@cache
def digest(*, plugins: bool = False) -> str:
    """SHA-256 over names and bytes of all that an entry depends on."""
    found = hashlib.sha256(f"2\n{_version('sympy')}\n".encode())
    for name, root in [*_own_roots(), *(_plugin_roots() if plugins else ())]:
        found.update(f"{name}\n".encode())
        for path in sorted(_files(root)):
            content = Path(path).read_bytes()
            found.update(f"{os.path.relpath(path, root)}\0{len(content)}\n".encode() + content)
    return found.hexdigest()


def _path(place: Path, state: str, name: str) -> Path:
    return place / state / f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.json"


def _read(path: Path, name: str) -> dict[str, Any] | None:
    try:
        outer: Any = json.loads(path.read_bytes())
        body = str(outer["content"])
        if outer["name"] == name and outer["sha256"] == hashlib.sha256(body.encode()).hexdigest():
            return json.loads(body.replace(_RELATIVE, _HERE))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    return None


def _write(place: Path, state: str, name: str, found: dict[str, Any]) -> None:
    path = _path(place, state, name)
    path.parent.mkdir(exist_ok=True)
    body = json.dumps(found).replace(_HERE, _RELATIVE)
    outer = {"name": name, "content": body, "sha256": hashlib.sha256(body.encode()).hexdigest()}
    write_whole(path, json.dumps(outer).encode())
    os.utime(path.parent)
    states = sorted((p for p in place.iterdir() if p.is_dir() and p.name[0] != "."), key=lambda p: p.stat().st_mtime)
    for old in states[:-STATES]:
        shutil.rmtree(old, ignore_errors=True)


def _version(package: str) -> str:
    try:
        return version(package)
    except ModuleNotFoundError:
        return ""


def _own_roots() -> list[tuple[str, Path]]:
    """The package, and what lies beside it in a checkout and within it in an installation."""
    beside = [(inside, PACKAGE.parent / outside) for inside, outside in _BESIDE.items()]
    return [("boundcheck", PACKAGE), *((name, root) for name, root in beside if not (PACKAGE / name).is_dir())]


def _plugin_roots() -> list[tuple[str, Path]]:
    """The top-level packages of plug-ins; none is imported."""
    found: list[tuple[str, Path]] = []
    for top in sorted({p.module.partition(".")[0] for group in _GROUPS for p in entry_points(group=group)}):
        spec = importlib.util.find_spec(top)
        if spec is not None and spec.submodule_search_locations is not None:
            found += [(top, Path(place)) for place in spec.submodule_search_locations]
        elif spec is not None and spec.origin is not None:
            found.append((top, Path(spec.origin)))
    return found


def _files(root: Path) -> Iterator[str]:
    if root.is_file():
        yield str(root)
    for folder, below, names in os.walk(root):
        below[:] = [b for b in below if not b.startswith((".", "__pycache__")) and b != SHIPPED.name]
        yield from (os.path.join(folder, n) for n in names if n.endswith(_ENDINGS))
