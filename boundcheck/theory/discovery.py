"""Finding statements: `boundcheck/papers/<paper>/<statement>.py`, and packages of users by entry point.

A module exports `STATEMENTS`, a tuple of all readings, and `BEST`, the reading that a bare id means.
An entry point of the group `boundcheck.papers` is named after its paper and points to a package of such
modules, or to one module whose statements carry a `name` (and, with several readings, `BEST` as a mapping).
Only the module that an id needs is imported.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from importlib.metadata import entry_points
from types import ModuleType

from boundcheck.errors import BadInput, UnknownName, nearest
from boundcheck.theory.statement import Statement

__all__ = ["PREFERENCE", "all_ids", "all_statements", "papers", "readings", "statement"]

GROUP = "boundcheck.papers"
HOME = "boundcheck.papers"
PLACEHOLDER = "TYPE_THE_FORMULA_HERE"  # what a skeleton has where the formula belongs
# A bare id takes a module's BEST; without one, the first of these readings that is there.
PREFERENCE = ("corrected", "sharp", "as_printed")


@cache
def papers() -> dict[str, str]:
    """Paper name -> module that holds its statements, the shipped ones first."""
    home = importlib.import_module(HOME)
    found = {m.name: f"{HOME}.{m.name}" for m in pkgutil.iter_modules(home.__path__) if m.ispkg}
    for point in entry_points(group=GROUP):
        if point.name in found:
            raise BadInput(
                f"the entry point '{point.name}' of group {GROUP} ({point.value}) repeats the paper "
                f"{found[point.name]}; choose another name."
            )
        found[point.name] = point.module
    return found


@cache
def _groups(paper: str) -> dict[str, str]:
    """Statement name -> module, without importing the statements of a package."""
    module = papers()[paper]
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:  # a parent package is missing
        spec = None
    if spec is None:
        raise BadInput(f"the paper '{paper}' points to the module '{module}', which cannot be imported.")
    if spec.submodule_search_locations is not None:
        found = pkgutil.iter_modules(list(spec.submodule_search_locations))
        return {m.name: f"{module}.{m.name}" for m in found if not m.name.startswith("_")}
    exported = _exported(_imported(module))
    if not all(s.name for s in exported):
        raise BadInput(f"{module} is one module for a whole paper, so each of its statements needs a name.")
    return {s.name: module for s in exported}


def _imported(module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    # A plug-in's code may raise anything while it is imported; its fault is told as that module's, not as ours.
    except Exception as error:
        raise BadInput(_fault(module, error)) from error


def _fault(module: str, error: Exception) -> str:
    """Why a module cannot be imported: its name, the last line of its own file that was reached, the exception."""
    if isinstance(error, SyntaxError):
        line = error.lineno
    else:
        file = _file(module)
        line = next((f.lineno for f in reversed(traceback.extract_tb(error.__traceback__)) if f.filename == file), None)
    where = f"the module '{module}' of statements" + ("" if line is None else f", line {line},")
    if isinstance(error, NameError) and error.name == PLACEHOLDER:
        return f"{where} cannot be imported: the formula is not typed yet ({PLACEHOLDER})."
    return f"{where} cannot be imported: {type(error).__name__}: {str(error).rstrip('.')}."


def _file(module: str) -> str | None:
    try:
        spec = importlib.util.find_spec(module)
    except ImportError:
        return None
    return None if spec is None else spec.origin


def _exported(module: ModuleType) -> tuple[Statement, ...]:
    exported = getattr(module, "STATEMENTS", None)
    if not isinstance(exported, tuple) or not exported or not all(isinstance(s, Statement) for s in exported):
        raise BadInput(f"{module.__name__} must export STATEMENTS, a non-empty tuple of Statement objects.")
    return exported


@cache
def readings(paper: str, name: str) -> tuple[Statement, ...]:
    """All readings of one numbered statement, the best first."""
    module = _imported(_groups(paper)[name])
    own = [replace(s, name=name, id=f"{paper}/{name}/{s.reading}") for s in _exported(module) if s.name in ("", name)]
    known = [s.reading for s in own]
    if len(set(known)) != len(known):
        raise BadInput(f"{paper}/{name}: a reading is there twice.")
    best = getattr(module, "BEST", None)
    if isinstance(best, dict):
        best = best.get(name)
    if best is None:
        best = next((r for r in PREFERENCE if r in known), known[0])
    if best not in known:
        raise UnknownName(f"{paper}/{name}: BEST reading", str(best), known)
    return tuple(sorted(own, key=lambda s: s.reading != best))


def statement(id: str) -> Statement:
    """The statement of a full id, or the best reading of `<paper>/<statement>`.

    Raises UnknownName, with the nearest ids, when there is none.
    """
    paper, _, rest = id.strip().strip("/").partition("/")
    name, _, reading = rest.partition("/")
    if paper not in papers() or name not in _groups(paper):
        raise _unknown(id, paper, name)
    own = readings(paper, name)
    if not reading:
        return own[0]
    for s in own:
        if s.reading == reading:
            return s
    raise UnknownName("the statement", id, [s.id for s in own])


def _unknown(id: str, paper: str, name: str) -> BadInput:
    """The error for an id that does not exist: the nearest ids, or else the papers, or the paper's statements."""
    if paper in papers() and not name:
        there = ", ".join(f"{paper}/{n}" for n in sorted(_groups(paper)))
        return BadInput(f"the statement '{id}' is unknown: {paper} is a paper; its statements: {there}.")
    broken: list[BadInput] = []
    known = [f"{p}/{n}" for p in papers() for n in _names(p, broken.append)]
    if nearest(f"{paper}/{name}", known):
        return UnknownName("the statement", id, known)
    if paper not in papers():
        return UnknownName("the paper", paper, papers())
    there = ", ".join(f"{paper}/{n}" for n in sorted(_groups(paper)))
    return BadInput(f"the statement '{id}' is unknown; {paper} has: {there}.")


def _names(paper: str, on_broken: Callable[[BadInput], None] | None = None) -> list[str]:
    try:
        return sorted(_groups(paper))
    except BadInput as error:
        if on_broken is None:
            raise
        on_broken(error)
        return []


def all_statements(
    paper: str | None = None, on_broken: Callable[[BadInput], None] | None = None
) -> Iterator[Statement]:
    """Every reading of every statement (of one paper), papers and statements in alphabetical order.

    on_broken: gets the error of every module that cannot be read, and the others follow; without it the first such
    error is raised (BadInput).
    """
    if paper is not None and paper not in papers():
        raise UnknownName("the paper", paper, papers())
    for p in sorted(papers()) if paper is None else [paper]:
        for name in _names(p, on_broken):
            try:
                own = readings(p, name)
            except BadInput as error:
                if on_broken is None:
                    raise
                on_broken(error)
                continue
            yield from own


def all_ids() -> list[str]:
    """All full ids."""
    return [s.id for s in all_statements()]
