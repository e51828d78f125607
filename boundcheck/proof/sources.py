"""What the outcome of a derivation depends on, as digests of syntax trees: statement, derivation and this package.

`sources.json` beside the derivations keeps the digests of the sources as they were when all records were last written,
each with the SHA-256 of the file's bytes. A file with these bytes is not parsed again, any other is.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from boundcheck.core.digest import digest
from boundcheck.core.places import write_whole
from boundcheck.core.syntax import imported_modules, syntax_digest
from boundcheck.errors import BadInput
from boundcheck.proof.discovery import folder
from boundcheck.theory.discovery import module_of

SCHEMA = 1
KERNEL = Path(__file__).resolve().parent
PACKAGE = KERNEL.parent
KINDS = PACKAGE / "methods" / "kinds"  # the forms of methods, from which facts are generated
# a statement is what its module and these packages say; how it is evaluated changes no proof
_OF_STATEMENTS = ("boundcheck.papers.", "boundcheck.theory.")


@dataclass(frozen=True)
class _Source:
    """A file: SHA-256 of its bytes, digest of its syntax tree, and the modules that it imports to state something."""

    sha256: str
    digest: str
    imports: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"sha256": self.sha256, "digest": self.digest, "imports": list(self.imports)}


def kernel_digest() -> str:
    """Digest of this package, the checker, and of the forms of methods."""
    return digest([_package(KERNEL), _package(KINDS)])


def derivation_digest(name: str) -> str:
    """Digest of the file of a derivation, `<paper>/<statement>`; BadInput where it cannot be read."""
    return _source(folder() / f"{name}.py", f"derivations/{name}.py").digest


def statement_digest(name: str) -> str:
    """Digest of the module of a statement, `<paper>/<statement>`, and of what it imports from papers and theory.

    Raises BadInput where a source cannot be read.
    """
    return _statement(_module(name))


def file_digest(path: Path) -> str:
    """SHA-256 of the bytes of a file, read once while it stays as it is; "" where it cannot be read."""
    try:
        found = path.stat()
        return _bytes_digest(path, found.st_mtime_ns, found.st_size)
    except OSError:
        return ""


@cache
def _bytes_digest(path: Path, changed: int, size: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_sources(names: Iterable[str]) -> None:
    """Writes `sources.json` for the checker and the derivations of these names, `<paper>/<statement>`."""
    found = {_label(p, where): _read(p) for where in (KERNEL, KINDS) for p in _files(where)}
    for name in names:
        found[f"derivations/{name}.py"] = _read(folder() / f"{name}.py")
        for module in _modules(_module(name)):
            path = _module_file(module)
            if path is not None:
                found[path.relative_to(PACKAGE).as_posix()] = _read(path)
    table = {label: source.to_dict() for label, source in sorted(found.items())}
    text = json.dumps({"schema": SCHEMA, "sources": table}, indent=1)
    write_whole(folder() / "sources.json", (text + "\n").encode())


def _module(name: str) -> str:
    """The module of a statement, `<paper>/<statement>`; BadInput where there is none."""
    try:
        return module_of(*name.split("/"))
    except KeyError as error:
        raise BadInput(f"the statement {name} has no source file.") from error


@cache
def _package(where: Path) -> str:
    return digest({p.relative_to(where).as_posix(): _source(p, _label(p, where)).digest for p in _files(where)})


def _files(where: Path) -> list[Path]:
    return sorted(where.rglob("*.py"))


def _label(path: Path, where: Path) -> str:
    return f"{where.name}/{path.relative_to(where).as_posix()}"


@cache
def _statement(module: str) -> str:
    return digest(_modules(module))


def _modules(module: str) -> dict[str, str]:
    """Module of a statement, or one that it imports to state it -> digest."""
    found: dict[str, str] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = _module_file(name)
        if path is None and name == module:
            raise BadInput(f"the module {module} of a statement has no source file.")
        if path is not None and name not in found:
            source = _source(path, path.relative_to(PACKAGE).as_posix())
            found[name] = source.digest
            waiting += source.imports
    return found


def _module_file(name: str) -> Path | None:
    """The source of a module of boundcheck, found without importing it."""
    path = PACKAGE.joinpath(*name.split(".")[1:])
    found = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return found if found.is_file() else None


@cache
def _source(path: Path, label: str) -> _Source:
    """Read once in a process, as Python does with modules."""
    known = _known(folder()).get(label)
    return _read(path, known)


def _read(path: Path, known: _Source | None = None) -> _Source:
    """The source of a file; `known` where that is of the same bytes."""
    try:
        content = path.read_bytes()
        sha256 = hashlib.sha256(content).hexdigest()
        if known is not None and known.sha256 == sha256:
            return known
        tree = ast.parse(content)
        imports = tuple(sorted({n for n in imported_modules(tree) if n.startswith(_OF_STATEMENTS)}))
        return _Source(sha256, syntax_digest(tree), imports)
    except (OSError, SyntaxError, ValueError, RecursionError) as error:
        raise BadInput(f"{path} has no readable Python source.") from error


@cache
def _known(where: Path) -> dict[str, _Source]:
    """Label of a file -> what `sources.json` has of it; empty without a readable table."""
    try:
        table: Any = json.loads((where / "sources.json").read_bytes())
        if table["schema"] != SCHEMA:
            return {}
        return {
            k: _Source(str(v["sha256"]), str(v["digest"]), tuple(v["imports"])) for k, v in table["sources"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
