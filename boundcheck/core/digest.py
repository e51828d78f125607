"""Digests of specifications and of the code that computes them: the names of the runs in the result store."""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.machinery
import importlib.metadata
import json
import numbers
import pkgutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from boundcheck.core.numbers import format_exact, parse_number
from boundcheck.core.syntax import syntax_digest
from boundcheck.errors import BadInput

_MAX_DEPTH = 100
_PLAIN_BITS = 1990  # longer integers are written in hexadecimal, which Python converts at any length
_TAGS = ("$float", "$fraction", "$int", "$dict")


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


def run_key(spec: Any, modules: Iterable[str]) -> str:
    """The name of a run in the store: the digest of its specification and of the code that computes it."""
    return digest({"spec": spec, "code": code_digest(modules)})


def code_digest(modules: Iterable[str], packages: Iterable[str] = ("numpy", "numba")) -> str:
    """SHA-256 of the syntax of `modules`, of what they import, and of the versions of `packages`.

    White space, comments and docstrings change nothing.
    The walk follows every import statement (inside functions too, `if TYPE_CHECKING:` aside) and every
    `import_module` of a literal name, as long as it stays within boundcheck or the top-level packages of
    `modules`. The `__init__` of a package on the way counts with what it imports when it is imported itself,
    not with what its functions import. Nothing is imported. Modules found in any other way (a name computed
    at run time) must be named in `modules`.
    Sources are read once per process, as Python itself does: after an edit, start a new process.
    Raises Undigestible for a module without readable source (such as `__main__`).
    """
    return _code_digest(tuple(sorted(set(modules))), tuple(sorted(set(packages))))


@functools.cache
def _code_digest(modules: tuple[str, ...], packages: tuple[str, ...]) -> str:
    inside = {"boundcheck"} | {name.partition(".")[0] for name in modules}
    closure: dict[str, str] = {}
    seen: set[tuple[str, bool]] = set()
    waiting: list[tuple[str, bool]] = []  # a module and whether its functions count
    for name in modules:
        if name == "__main__" or _find(name) is None:
            raise _refuse(f"the module '{name}'", "has no source file that Python finds; it")
        waiting.append((name, True))
    while waiting:
        name, whole = waiting.pop()
        if (name, whole) in seen or (name, True) in seen or name.partition(".")[0] not in inside:
            continue
        seen.add((name, whole))
        found = _module(name, whole)
        if found is None:
            continue
        closure[name], imports = found
        waiting.extend(imports)
        if "." in name:
            waiting.append((name.rpartition(".")[0], False))
    return digest({"modules": closure, "packages": {p: package_version(p) for p in packages}})


def package_version(package: str) -> str | None:
    """The version of an installed package, read without importing it; None where it is absent."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


@functools.cache
def _find(name: str) -> importlib.machinery.ModuleSpec | None:
    """The spec of a module, found without importing its parents (which `importlib.util.find_spec` does)."""
    parent, _, _ = name.rpartition(".")
    if not parent:
        known = getattr(sys.modules.get(name), "__spec__", None)
        return known if known is not None else _first_found(name)
    above = _find(parent)
    if above is None or above.submodule_search_locations is None:
        return None
    folders: list[str] = []  # of a package without __init__, which may lie in several places
    for location in above.submodule_search_locations:
        finder = pkgutil.get_importer(location)
        found = None if finder is None else finder.find_spec(name, None)
        if found is not None and found.loader is not None:
            return found
        if found is not None:
            folders.extend(found.submodule_search_locations or ())
    if not folders:
        return None
    namespace = importlib.machinery.ModuleSpec(name, None, is_package=True)
    namespace.submodule_search_locations = folders
    return namespace


def _first_found(name: str) -> importlib.machinery.ModuleSpec | None:
    for finder in sys.meta_path:  # all of them: an editable installation may bring its own
        find_spec = getattr(finder, "find_spec", None)
        found = None if find_spec is None else find_spec(name, None)
        if found is not None:
            return found
    return None


@functools.cache
def _module(name: str, whole: bool) -> tuple[str, tuple[tuple[str, bool], ...]] | None:
    """The digest of a module's syntax tree and what it imports; None where there is no such module."""
    spec = _find(name)
    if spec is None:
        return None
    if spec.origin is None and spec.submodule_search_locations is not None:
        return "namespace", ()  # a folder without __init__
    try:
        source = Path(spec.origin or "").read_bytes()
        tree = ast.parse(source)
        imports = tuple(_imports(_executed(tree, whole), name, spec.submodule_search_locations is not None))
        found = _syntax_or_bytes(tree, source)
    except (OSError, SyntaxError, ValueError, RecursionError) as error:
        raise _refuse(f"the module '{name}'", "has no readable Python source; it") from error
    return found, imports


def _syntax_or_bytes(tree: ast.AST, source: bytes) -> str:
    try:
        return syntax_digest(tree)
    except RecursionError:  # expressions that are nested too deep to be walked
        return hashlib.sha256(source).hexdigest()


def _imports(nodes: Iterable[ast.AST], name: str, is_package: bool) -> Iterator[tuple[str, bool]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, True) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = name.split(".") if is_package else name.split(".")[:-1]
                parts = parts[: len(parts) - node.level + 1]
                base = ".".join([*parts, base] if base else parts)
            submodules = [f"{base}.{a.name}" for a in node.names if _find(f"{base}.{a.name}") is not None]
            yield from ((submodule, True) for submodule in submodules)
            yield base, len(submodules) < len(node.names)
        elif isinstance(node, ast.Call) and node.args:
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            literal = node.args[0]
            if called == "import_module" and isinstance(literal, ast.Constant) and isinstance(literal.value, str):
                yield literal.value, True


def _executed(tree: ast.AST, whole: bool) -> Iterator[ast.AST]:
    """The nodes that run: not what only a type checker sees, and bodies of functions only if `whole`."""
    waiting = [tree]  # a stack: trees may be deep
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            waiting.extend(node.orelse)
        elif whole or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))
