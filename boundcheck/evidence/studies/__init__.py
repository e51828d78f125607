"""Studies: tables and pictures about instances that are no single claim, each asked for by a table of a specification.

`[[methods_compared]]` compares the bounds of all papers on one instance; `[[proximal_weight]]` shows which proximal
weights a theorem allows beside those that were tuned over; `[[schemes]]` what a schedule of clients costs;
`[[cycles]]` where methods lead, with exact factors; `[[training]]` trains methods and compares them in a paper's order.
A study carries no verdict: claims do.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import BaseModel

from boundcheck.core import providers
from boundcheck.core.toml_lines import TomlFile
from boundcheck.core.toml_models import validate
from boundcheck.errors import BoundcheckError, SpecError
from boundcheck.evidence.not_run import NotRun, is_absence
from boundcheck.evidence.studies.placed import Placed
from boundcheck.evidence.studies.study import Panel, Series, Study, StudyTable
from boundcheck.problems._own_data import load_specification

if TYPE_CHECKING:
    from boundcheck.core.store import Store

__all__ = ["Asked", "Panel", "Series", "Study", "StudyTable", "carry_out_study", "kinds", "load_studies"]

# Table of a specification -> module of this package with `Spec`, `check(spec)` and `study(spec, on_progress)`; what
# `check` raises has the line of the table, or that of its key where it is `placed.Placed`.
OWN = ("methods_compared", "proximal_weight", "schemes", "cycles")

Progress = Callable[[float], None]


class TableModule(Protocol):
    """What the module of a kind of table has."""

    Spec: type[BaseModel]

    def check(self, spec: Any) -> None: ...


class StudyModule(TableModule, Protocol):
    """What the module of a kind of study has."""

    def study(self, spec: Any, on_progress: Progress | None) -> Study: ...


class Asked:
    """A validated table and the module that carries it out."""

    def __init__(self, kind: str, spec: BaseModel) -> None:
        self.kind, self.spec = kind, spec

    @property
    def runs_long(self) -> bool:
        """Whether it trains methods, which takes longer than anything else that a report shows."""
        return self.kind not in OWN

    @property
    def name(self) -> str:
        """As the table has it."""
        spec: Any = self.spec
        return spec.name

    @property
    def neural(self) -> Mapping[str, Any] | None:
        """The settings of the neural engine that it runs on; None where it runs on none."""
        return getattr(self.spec, "training_settings", None)


def module_of(kind: str) -> StudyModule:
    """The module that carries out a kind of study."""
    if kind not in OWN:
        return providers.load(providers.STUDIES, kind)
    found: Any = importlib.import_module(f"boundcheck.evidence.studies.{kind}")
    return found


def kinds() -> tuple[str, ...]:
    """The kinds of studies: those of this folder and those that other rooms provide (`core.providers`)."""
    return (*OWN, *providers.names(providers.STUDIES))


def load_studies(path: Path | str | TomlFile, not_run: list[NotRun] | None = None) -> list[Asked]:
    """The tables of studies of a specification file, validated; [] where it has none. See `load_tables`."""
    return [Asked(kind, spec) for kind, spec in load_tables(path, kinds(), module_of, not_run)]


def load_tables(
    path: Path | str | TomlFile, kinds: Iterable[str], module: Callable[[str], Any], not_run: list[NotRun] | None = None
) -> list[tuple[str, Any]]:
    """(kind, table) for the tables of these kinds in a specification file, validated; [] where it has none.

    module: of a kind of table, as `TableModule`. not_run: where given, tables whose data set or optional package is not
    on this machine are appended to it and left out of the result.
    Raises BadInput where the file cannot be read, SpecError with every mistake and its line.
    """
    file = path if isinstance(path, TomlFile) else load_specification(path)
    found: list[tuple[str, Any]] = []
    mistakes: list[tuple[int, str]] = []
    for kind in kinds:
        tables = file.data.get(kind)
        if tables is None:
            continue
        if not isinstance(tables, list):
            mistakes.append((file.line_of((kind,)), f"{kind} must be [[{kind}]] tables."))
            continue
        own: TableModule = module(kind)
        for k in range(len(tables)):
            try:
                spec = validate(own.Spec, file, (kind, k))
                own.check(spec)
                found.append((kind, spec))
            except SpecError as error:
                mistakes += error.problems
            except BoundcheckError as error:
                if not_run is not None and is_absence(error):
                    not_run.append(NotRun(kind, str(tables[k].get("name", kind)), str(error)))
                    continue
                keys = error.keys if isinstance(error, Placed) else ()
                mistakes.append((file.line_of((kind, k, *keys)), str(error)))
    if mistakes:
        raise SpecError(file.path, mistakes)
    return found


def carry_out_study(asked: Asked, on_progress: Progress | None = None, store: Store | None = None) -> Study:
    """The study of a validated table; the runs of those that run long go through the store where one is given."""
    module: Any = module_of(asked.kind)
    if asked.runs_long:
        return module.study(asked.spec, on_progress, store)
    return module.study(asked.spec, on_progress)
