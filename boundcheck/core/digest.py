"""Digests of specifications and of the code that computes them: the names of the runs in the result store."""

from __future__ import annotations

import functools
import hashlib
import json
import numbers
from collections.abc import Iterable, Mapping
from enum import Enum
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, entry_points, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from boundcheck.core.numbers import format_exact, parse_number
from boundcheck.errors import BadInput

_MAX_DEPTH = 100
_PLAIN_BITS = 1990  # longer integers are written in hexadecimal, which Python converts at any length
_TAGS = ("$float", "$fraction", "$int", "$dict")
_GROUPS = ("papers", "derivations", "problems", "methods", "parts", "data")
_FACES = ("cli/", "report/", "adapters/", "pytest_plugin.py")


class Undigestible(BadInput):
    """A specification or module without a digest; its run is carried out, but not stored."""


def _refuse(where: str, what: str) -> Undigestible:
    return Undigestible(f"{where} {what} cannot be digested, so it is not stored.")


def encode(value: Any, where: str = "the specification") -> Any:
    """`value` as a tree of JSON values that keeps every number exactly; `decode` restores it.

    Allowed are None, bool, int, float (kept as its hexadecimal text), Fraction, text, enumerations (their
    values), lists and tuples (both become lists) and mappings with text as keys, nested at most 100 deep;
    NumPy's integers and floats count as such. Raises Undigestible for anything else, `where` and the path to it named.
    """
    return _encode(value, where, 0)


def _encode(value: Any, where: str, depth: int) -> Any:
    if depth > _MAX_DEPTH:
        raise _refuse(where, f"is nested more than {_MAX_DEPTH} deep, which")
    if isinstance(value, Enum):
        value = value.value
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, numbers.Integral):
        whole = int(value)
        return whole if whole.bit_length() <= _PLAIN_BITS else {"$int": hex(whole)}
    if isinstance(value, Fraction):
        return {"$fraction": format_exact(value)}
    if isinstance(value, float):
        return {"$float": float(value).hex()}
    if isinstance(value, list | tuple):
        items = cast("Iterable[Any]", value)
        return [_encode(v, f"{where}[{i}]", depth + 1) for i, v in enumerate(items)]
    if isinstance(value, Mapping):
        tree: dict[str, Any] = {}
        for key, v in cast("Mapping[Any, Any]", value).items():
            if not isinstance(key, str):
                raise _refuse(where, f"has the key {key!r}, which is no text and")
            tree[str(key)] = _encode(v, f"{where}.{key}", depth + 1)
        return {"$dict": tree} if any(tag in tree for tag in _TAGS) else tree
    kind: type[Any] = type(value)
    prefix = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    raise _refuse(where, f"is of type {prefix}{kind.__qualname__}, which")


def decode(tree: Any) -> Any:
    """Inverse of `encode` (tuples come back as lists, enumerations as their values)."""
    if isinstance(tree, list):
        return [decode(v) for v in cast("list[Any]", tree)]
    if not isinstance(tree, dict):
        return tree
    members = cast("dict[str, Any]", tree)
    if len(members) == 1:
        ((tag, content),) = members.items()
        if tag == "$float":
            return float.fromhex(content)
        if tag == "$fraction":
            return parse_number(content, "a stored fraction", max_text=len(content))
        if tag == "$int":
            return int(content, 16)
        if tag == "$dict":
            return {k: decode(v) for k, v in content.items()}
    return {k: decode(v) for k, v in members.items()}


def canonical(value: Any) -> str:
    """The one JSON text (ASCII, sorted keys, no spaces) of `value`, as `encode` writes it."""
    return json.dumps(encode(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(value: Any) -> str:
    """SHA-256 (64 hexadecimal digits) of the canonical text of `value`; raises Undigestible."""
    return hashlib.sha256(canonical(value).encode("ascii")).hexdigest()


def run_key(spec: Any, modules: Iterable[str] = ()) -> str:
    """The name of a run in the store: the digest of its specification and of the code that computes it."""
    return digest({"spec": spec, "code": code_digest(modules)})


def code_digest(modules: Iterable[str] = (), rooms: tuple[str, ...] = ()) -> str:
    """SHA-256 of the sources of boundcheck, of plug-ins and of the top-level packages of `modules`, and of versions.

    rooms: the folders of boundcheck that count, such as ("core", "engines"); all but the faces by default. Nothing is
    imported. Sources are read once per process, as Python itself does: after an edit, start a new process.
    Raises Undigestible for a module without readable source (such as `__main__`).
    """
    tops = sorted({"boundcheck", *plugins(), *(name.partition(".")[0] for name in modules)})
    versions = {name: package_version(name) for name in ("numpy", "numba")}
    return digest({"sources": {top: sources_digest(top, rooms) for top in tops}, "versions": versions})


@functools.cache
def plugins() -> dict[str, str]:
    """Top-level package -> distribution of everything that boundcheck loads by entry point."""
    points = [point for group in _GROUPS for point in entry_points(group=f"boundcheck.{group}")]
    named = {p.module.partition(".")[0]: p.dist.name for p in points if p.dist is not None}
    return {top: name for top, name in sorted(named.items()) if name != "boundcheck"}


@functools.cache
def sources_digest(top: str, rooms: tuple[str, ...] = ()) -> str:
    """SHA-256 of names and bytes of the sources of a top-level package, which is not imported.

    The faces of boundcheck are left out: they call what computes and compute nothing. rooms: see `code_digest`. Raises
    Undigestible.
    """
    try:
        spec = None if top == "__main__" else find_spec(top)
        folders = [] if spec is None else sorted(map(Path, spec.submodule_search_locations or ()))
        files = {path.relative_to(f).as_posix(): path for f in folders for path in f.rglob("*.py")}
        if spec is not None and not folders:
            files = {"": Path(spec.origin or "")}
        if top == "boundcheck":
            files = {name: path for name, path in files.items() if not name.startswith(_FACES)}
            files = {name: path for name, path in files.items() if not rooms or name.partition("/")[0] in rooms}
        found = hashlib.sha256()
        for name, path in sorted(files.items()):
            source = path.read_bytes()
            found.update(f"{name}\0{len(source)}\0".encode() + source)
    except (OSError, ValueError) as error:  # ValueError: a module that was not found in the usual way
        raise _refuse(f"the module '{top}'", "has no readable Python source; it") from error
    if not files:
        raise _refuse(f"the module '{top}'", "has no source file that Python finds; it")
    return found.hexdigest()


def package_version(package: str) -> str | None:
    """The version of an installed package, read without importing it; None where it is absent."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
