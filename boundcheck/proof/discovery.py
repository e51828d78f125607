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
from collections import Counter
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import fields
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeGuard

from boundcheck.errors import BadInput
from boundcheck.theory.discovery import statement

if TYPE_CHECKING:
    from boundcheck.proof.derivation import Derivation
    from boundcheck.theory.statement import Statement


GROUP = "boundcheck.derivations"
ENDLESS = 50  # calls of one function of a derivation's file that are open at once

_building: ContextVar[tuple[str, ...]] = ContextVar("derivations that are being built", default=())
_built: dict[str, tuple[Any, Statement, Derivation]] = {}  # id -> function that built it, of what, and the result
_built_from: dict[str, set[str]] = {}  # id -> ids of the derivations that were asked for while its own was built


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


def derivation(asked: Statement | str) -> Derivation:
    """The derivation of a statement, by its id or, with a bare id, of its best reading.

    Raises UnknownName for an unknown statement and BadInput for one without a derivation, for an object that is not
    the statement of its id, for a derivation that is built from itself, and for one that carries another statement
    than the one asked for.
    """
    found = statement(asked if isinstance(asked, str) else asked.id)
    changed = "" if isinstance(asked, str) else _changed(asked, found)
    if changed:
        raise BadInput(
            f"the statement given as {found.id} is another one, which differs in {changed}; it has no derivation."
        )
    outer = _building.get()
    if outer:
        _built_from[outer[-1]].add(found.id)
    if found.id in outer:
        raise BadInput(f"{found.id} is cited in its own derivation: {' -> '.join((*outer, found.id))}.")
    token = _building.set((*outer, found.id))
    try:
        return _build(found)
    finally:
        _building.reset(token)


def _build(found: Statement) -> Derivation:
    from boundcheck.proof.derivation import Derivation

    paper, name, reading = found.id.split("/")
    module = _module(paper, name)
    if module is None:
        raise BadInput(f"{found.id} has no derivation; one would be the file derivations/{paper}/{name}.py.")
    if reading not in module.READINGS:
        there = ", ".join(module.READINGS)
        raise BadInput(f"{found.id} has no derivation; {paper}/{name} has one for the readings {there}.")
    known = _built.get(found.id)
    if known is not None and known[:2] == (module.derivation, found):
        return known[2]
    _built_from[found.id] = set()
    try:
        built = module.derivation(found)
    except RecursionError as error:
        function = _endless(error, str(module.__file__))
        if not function:
            raise
        raise BadInput(
            f"the derivation of {found.id} cannot be built: the function '{function}' of its file calls itself "
            "without end."
        ) from error
    if type(built) is not Derivation:
        raise BadInput(f"the derivation of {found.id} returns {type(built).__name__} instead of a Derivation.")
    changed = _changed(built.statement, found)
    if changed:
        raise BadInput(
            f"the derivation of {found.id} carries another statement, which differs in {changed}; it must carry the "
            "statement that it is given."
        )
    _built[found.id] = (module.derivation, found, built)
    return built


def _endless(error: RecursionError, file: str) -> str:
    """The function of this file with the most open calls, where these are too many to be meant; empty otherwise."""
    calls: Counter[str] = Counter()
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == file:
            calls[code.co_name] += 1
        trace = trace.tb_next
    return next((name for name, count in calls.most_common(1) if count >= ENDLESS), "")


def _changed(carried: Any, found: Statement) -> str:
    """The parts in which a statement differs from the one that discovery found; empty where it is the same."""
    if type(carried) is not type(found):
        return f"its type, {type(carried).__name__}"
    return ", ".join(f.name for f in fields(found) if getattr(carried, f.name) != getattr(found, f.name))


def citations(statement_id: str) -> tuple[str, ...]:
    """Full ids of all readings on whose derivations that of a statement rests, directly or through others, sorted.

    These are the statements that its steps cite, and those whose derivations it is built from.
    """
    first = statement(statement_id).id
    found: set[str] = set()
    waiting = [first]
    while waiting:
        proof = derivation(waiting.pop())
        own = {statement(id).id for step in proof.steps for id in _cited_by(step.by)}
        own |= _built_from[proof.statement.id]
        waiting += own - found
        found |= own
    return tuple(sorted(found - {first}))


def _cited_by(method: Any) -> Iterator[str]:
    """The id that a method cites, or the one inside it."""
    while method is not None:
        cited: Any = getattr(method, "statement", None)
        if isinstance(cited, str):
            yield cited
        method = getattr(method, "by", None)


def shipped_readings() -> list[str]:
    """Full ids of all readings with a shipped derivation, by paper and statement."""
    files = sorted(path for path in folder().glob("*/*.py"))
    return [f"{p.parent.name}/{p.stem}/{r}" for p in files for r in derived_readings(p.parent.name, p.stem)]
