"""Finding derivations: `derivations/<paper>/<statement>.py`, at the path of the statement that they prove.

The module exports `READINGS`, the names of the readings that it derives, and `derivation(statement)`, which returns
the `Derivation` of one of them. In a checkout the folder `derivations` lies beside the package; a wheel carries it as
`boundcheck/_derivations`; other packages name theirs by an entry point of the group `boundcheck.derivations`, named
after the paper and pointing to a package with one module a statement.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, TypeGuard

from boundcheck.errors import BadInput
from boundcheck.proof.derivation import Derivation
from boundcheck.theory.discovery import statement

__all__ = ["derivation", "derived_readings", "folder", "record_file", "recorded"]

GROUP = "boundcheck.derivations"


def folder() -> Path:
    """The folder of the shipped derivations: inside an installed package, beside it in a checkout."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "_derivations"
    return inside if inside.is_dir() else package.parent / "derivations"


@cache
def _module(paper: str, name: str) -> ModuleType | None:
    path = folder() / paper / f"{name}.py"
    if path.is_file():
        spec = importlib.util.spec_from_file_location(f"boundcheck_derivations.{paper}.{name}", path)
        if spec is None or spec.loader is None:
            raise BadInput(f"the derivation {path} cannot be loaded as a Python module.")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return _checked(module, str(path))
    for point in entry_points(group=GROUP, name=paper):
        full = f"{point.value}.{name}"
        if importlib.util.find_spec(point.value) is None:
            raise BadInput(f"the entry point '{paper}' of group {GROUP} points to '{point.value}', which is not there.")
        if importlib.util.find_spec(full) is not None:
            return _checked(importlib.import_module(full), full)
    return None


def _checked(module: ModuleType, where: str) -> ModuleType:
    readings: Any = getattr(module, "READINGS", None)
    if not isinstance(readings, tuple) or not callable(getattr(module, "derivation", None)):
        raise BadInput(f"{where} must export READINGS, a tuple of names, and derivation(statement).")
    return module


def derived_readings(paper: str, name: str) -> tuple[str, ...]:
    """The readings of one numbered statement that have a derivation; empty when there is none.

    A shipped file whose READINGS are written out is read, not carried out: a list of all statements asks here for each.
    """
    path = folder() / paper / f"{name}.py"
    written = _written(path) if path.is_file() else None
    if written is not None:
        return written
    module = _module(paper, name)
    return () if module is None else tuple(module.READINGS)


@cache
def _written(path: Path) -> tuple[str, ...] | None:
    """The READINGS of a file as a tuple of texts, or None where they are not written out as one."""
    try:
        body = ast.parse(path.read_bytes()).body
        found = [ast.literal_eval(node.value) for node in body if _names_readings(node)]
    except (SyntaxError, ValueError):  # what is wrong is told when the module is loaded
        return None
    if len(found) != 1 or not isinstance(found[0], tuple):
        return None
    return found[0]


def _names_readings(node: ast.stmt) -> TypeGuard[ast.Assign]:
    """Whether this is READINGS = ..."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return False
    return isinstance(node.targets[0], ast.Name) and node.targets[0].id == "READINGS"


def record_file(paper: str, name: str) -> Path:
    """Where the outcome of the last `derive --record` of a shipped derivation lies, beside the derivation."""
    return folder() / paper / f"{name}.json"


def recorded(paper: str, name: str) -> Mapping[str, Mapping[str, Any]]:
    """Reading -> status, counts and failing steps as recorded; empty without a record. A test holds it fresh."""
    path = record_file(paper, name)
    return json.loads(path.read_text())["readings"] if path.is_file() else {}


def derivation(statement_id: str) -> Derivation:
    """The derivation of a statement, by its id or, with a bare id, of its best reading.

    Raises UnknownName for an unknown statement and BadInput for one without a derivation.
    """
    found = statement(statement_id)
    paper, name, reading = found.id.split("/")
    module = _module(paper, name)
    if module is None:
        raise BadInput(f"{found.id} has no derivation; one would be the file derivations/{paper}/{name}.py.")
    if reading not in module.READINGS:
        there = ", ".join(module.READINGS)
        raise BadInput(f"{found.id} has no derivation; {paper}/{name} has one for the readings {there}.")
    built = module.derivation(found)
    if not isinstance(built, Derivation):
        raise BadInput(f"the derivation of {found.id} returns {type(built).__name__} instead of a Derivation.")
    return built
