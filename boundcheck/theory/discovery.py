"""Finding statements: `boundcheck/papers/<paper>/<statement>.py`, and packages of users by entry point.

A module exports `theorem`, a `Theorem` with all its readings; a table of a paper, or a module that holds a whole paper,
exports `theorems`, a mapping from names of statements to Theorems. The statements of a table have names that begin with
its own: `table_2.py` holds table_2_async_tau. Files whose names begin with "_", `definitions.py`, `quantities.py`
(metrics of a round, `setting.quantities`) and `theories.py` or a folder `theories` (`setting.theories`) hold no
statements.
An entry point of the group `boundcheck.papers` is named after its paper and points to a package of such modules, or to
one module with `theorems`. Only the module that an id needs is imported. `theory.loading` adds papers by path.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from importlib.metadata import entry_points
from types import ModuleType

from boundcheck.core import offered
from boundcheck.core.index import kept
from boundcheck.core.loaded import LOADED
from boundcheck.errors import BadInput, UnknownName, nearest
from boundcheck.theory.quantities import is_measured
from boundcheck.theory.statement import Statement
from boundcheck.theory.theorem import Theorem

GROUP = "boundcheck.papers"
HOME = "boundcheck.papers"
PLACEHOLDER = "TYPE_THE_FORMULA_HERE"  # what a skeleton has where the formula belongs
SHARED = "definitions"  # of a paper: its notation, not a statement
NO_STATEMENTS = (SHARED, "quantities", "theories")


@cache
def papers() -> dict[str, str]:
    """Paper name -> module that holds its statements: the shipped ones, installed ones, and those given by path."""
    home = importlib.import_module(HOME)
    found = {m.name: f"{HOME}.{m.name}" for m in pkgutil.iter_modules(home.__path__) if m.ispkg}
    for point in entry_points(group=GROUP):
        if point.name in found:
            raise BadInput(
                f"the entry point '{point.name}' of group {GROUP} ({point.value}) repeats the paper "
                f"{found[point.name]}; choose another name."
            )
        found[point.name] = point.module
    return found | {name: name for name in LOADED}  # of `theory.loading`


@cache
def _modules(paper: str) -> dict[str, str]:
    """Name of the file -> module, nothing imported; "" -> module where a paper is one module."""
    module = papers()[paper]
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:  # a parent package is missing
        spec = None
    if spec is None:
        raise BadInput(f"the paper '{paper}' points to the module '{module}', which cannot be imported.")
    if spec.submodule_search_locations is None:
        return {"": module}
    found = pkgutil.iter_modules(list(spec.submodule_search_locations))
    return {m.name: f"{module}.{m.name}" for m in found if not m.name.startswith("_")}


def _statements(paper: str) -> dict[str, str]:
    """The files of `_modules` that hold statements."""
    return {name: module for name, module in _modules(paper).items() if name not in NO_STATEMENTS}


def beside(name: str) -> Iterator[ModuleType]:
    """The modules of this name that papers hold beside their statements; of a paper in one file that file.

    Papers that cannot be found are left out: what lists statements names them.
    """
    for paper in papers():
        own: Mapping[str, str] = {}
        with _broken(_skip):
            own = _modules(paper)
            yield from (imported(module) for module in (own.get(""),) if module is not None)
        if name in own:
            yield imported(own[name])


def module_of(paper: str, name: str) -> str:
    """The module that holds a statement, if the paper has it: the one of its name, or else the table of its name.

    Nothing is imported. Raises KeyError where no module can hold it.
    """
    own = _statements(paper)
    return own[max((m for m in own if m in ("", name) or name.startswith(f"{m}_")), key=len, default=name)]


def imported(module: str) -> ModuleType:
    """A module of statements. Raises BadInput with the line at fault where its import raises anything."""
    try:
        return importlib.import_module(module)
    # A plug-in's code may raise anything while it is imported, and may ask to end the process.
    except (Exception, SystemExit) as error:
        raise BadInput(_fault(module, error)) from error


def _fault(module: str, error: BaseException) -> str:
    """Why a module cannot be imported: its name, the last line of its own file that was reached, the exception."""
    if isinstance(error, SyntaxError):
        line = error.lineno
    else:
        file = _file(module)
        line = next((f.lineno for f in reversed(traceback.extract_tb(error.__traceback__)) if f.filename == file), None)
    where = f"the module '{module}' of statements" + ("" if line is None else f", line {line},")
    if isinstance(error, NameError) and error.name == PLACEHOLDER:
        return f"{where} cannot be imported: the formula is not typed yet ({PLACEHOLDER})."
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{where} cannot be imported: {type(error).__name__}: {text.rstrip('.')}."


def _file(module: str) -> str | None:
    try:
        spec = importlib.util.find_spec(module)
    except ImportError:
        return None
    return None if spec is None else spec.origin


@cache
def _exported(module: str) -> Mapping[str, tuple[Statement, ...]]:
    """Statement name -> its readings, the best first, of one module."""
    found = imported(module)
    theorem, several = getattr(found, "theorem", None), getattr(found, "theorems", None)
    if theorem is None and several is None and any(hasattr(found, export) for export in offered.EXPORTS):
        return {}
    if isinstance(theorem, Theorem) and several is None:
        several = {module.rpartition(".")[2]: theorem}
    if not isinstance(several, Mapping) or not several or not all(isinstance(t, Theorem) for t in several.values()):
        raise BadInput(
            f"{module} must export `theorem`, a Theorem, or `theorems`, a mapping from names of statements to Theorems."
        )
    exported = {name: each.statements() for name, each in several.items()}
    for name, own in exported.items():
        for s in own:
            if s.algorithm is None and not s.any_method and is_measured(s):
                raise BadInput(
                    f"{module}: {name}/{s.reading} names no algorithm; name one (Algorithm), or write any_method=True "
                    "if it is about the runs of every method."
                )
    return exported


@cache
def readings(paper: str, name: str) -> tuple[Statement, ...]:
    """All readings of one numbered statement, the best first. Raises KeyError where the paper has none of this name."""
    own = _exported(module_of(paper, name))[name]
    return tuple(replace(s, name=name, id=f"{paper}/{name}/{s.reading}") for s in own)


def statement(id: str | Statement) -> Statement:
    """The statement of a full id, or the best reading of `<paper>/<statement>`; a Statement is returned as it is.

    Raises UnknownName, with the nearest ids, when there is none.
    """
    if isinstance(id, Statement):
        return id
    paper, _, rest = id.strip().strip("/").partition("/")
    name, _, reading = rest.partition("/")
    try:
        own = readings(paper, name) if paper in papers() else ()
    except KeyError:
        own = ()
    if not own:
        raise _unknown(id, paper, name)
    if not reading:
        return own[0]
    for s in own:
        if s.reading == reading:
            return s
    raise UnknownName("the statement", id, [s.id for s in own])


def is_registered(given: Statement) -> bool:
    """Whether a statement is the one that its id finds."""
    try:
        return bool(given.id) and statement(given.id) == given
    except BadInput:
        return False


def _unknown(id: str, paper: str, name: str) -> BadInput:
    """The error for an id that does not exist: the nearest ids, or else the papers, or the paper's statements."""
    known = lasting_names() | {p: _names(p, _skip) for p in papers() if p in LOADED}
    own = ", ".join(f"{paper}/{n}" for n in known.get(paper, ()))
    if own and not name:
        return BadInput(f"the statement '{id}' is unknown: {paper} is a paper; its statements: {own}.")
    ids = [f"{p}/{n}" for p, names in known.items() for n in names]
    if nearest(f"{paper}/{name}", ids):
        return UnknownName("the statement", id, ids)
    if paper not in papers():
        return UnknownName("the paper", paper, papers())
    return BadInput(f"the statement '{id}' is unknown; {paper} has: {own}.")


def lasting_names() -> dict[str, list[str]]:
    """Paper -> the names of its statements, of papers that are installed; from the index where that is in use."""
    return kept("names of statements", lambda: {p: _names(p, _skip) for p in papers() if p not in LOADED}) or {}


def _skip(error: BadInput) -> None:
    """What a message about another statement does with a module that cannot be read."""


def _names(paper: str, on_broken: Callable[[BadInput], None] | None = None) -> list[str]:
    """The names of all statements of a paper, sorted; on_broken as in `all_statements`."""
    found: list[str] = []
    with _broken(on_broken):
        for module in _statements(paper).values():
            with _broken(on_broken):
                found += _exported(module)
    return sorted(found)


@contextmanager
def _broken(on_broken: Callable[[BadInput], None] | None) -> Generator[None]:
    """Gives the error of a module that cannot be read to `on_broken`, where there is one."""
    try:
        yield
    except BadInput as error:
        if on_broken is None:
            raise
        on_broken(error)


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
            yield from readings(p, name)


def forget() -> None:
    """Lets the next question look at papers and modules anew."""
    for remembered in (papers, _modules, _exported, readings):
        remembered.cache_clear()


def all_ids() -> list[str]:
    """All full ids."""
    return [s.id for s in all_statements()]
