"""What a room contributes to the rooms below it: problems, data sets, engines, studies, kinds of evidence, by name.

A room registers the dotted names of its modules when the package is imported (`boundcheck/__init__.py`). The room below
imports such a module when it is used, so that no import points upwards and nothing heavy is loaded before.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from boundcheck.errors import UnknownName

# Groups, and what the modules of each have.
PROBLEMS = "problems"  # `build(**parameters)`; DATA, the data sets that it takes, if it takes any
DATA = "data"  # FILES, LICENCE, `load()`, see `problems._data`
ENGINES = "engines"  # see `engines.trained.TrainingEngine`
STATEMENTS = "statements"  # of the room of theory: what finds and restores statements
STUDIES = "studies"  # `Spec`, `check(spec)`, `study(spec, on_progress, store)`, see `evidence.studies`
NAMES = "names"  # that statements may use: "methods" has `kinds()` and `kind_of(name)`, "metrics" has `meanings()`
EVIDENCE = "evidence"  # KIND, a column of the catalogue, see `evidence.standing.Kind`
CURVES = "curves"  # "external", see `evidence.external_curve`: what makes a `Curve` of numbers from elsewhere

_GROUPS = (PROBLEMS, DATA, ENGINES, STATEMENTS, NAMES, STUDIES, EVIDENCE, CURVES)
_REGISTERED: dict[str, dict[str, str]] = {group: {} for group in _GROUPS}


def register(group: str, name: str, module: str) -> None:
    """Name the module, such as "package.module", that provides `name` to a group. It is not imported here.

    Raises UnknownName for a group that does not exist, ValueError for a name that another module provides.
    """
    if group not in _REGISTERED:
        raise UnknownName("the group of providers", group, _REGISTERED)
    known = _REGISTERED[group].setdefault(name, module)
    if known != module:
        raise ValueError(f"{group}: '{name}' is provided by {known}; {module} cannot provide it as well.")


def names(group: str) -> tuple[str, ...]:
    """The names that are registered, in the order of their registration."""
    return tuple(_REGISTERED[group])


def module_name(group: str, name: str) -> str | None:
    """The dotted name of the module that provides a name; None if none is registered."""
    return _REGISTERED[group].get(name)


def load(group: str, name: str) -> Any:
    """The module that provides a name, imported now. Raises UnknownName if none is registered."""
    if name not in _REGISTERED[group]:
        raise UnknownName(f"the provider of {group}", name, names(group))
    found: ModuleType = importlib.import_module(_REGISTERED[group][name])
    return found
