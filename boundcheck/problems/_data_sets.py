"""The data sets by name: their modules, which kinds of problem take them, and the papers' sets that are absent."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from boundcheck.core import providers
from boundcheck.errors import BadInput, UnknownName

# The data sets of this room. The names are written out in each import, so that the code of a data set counts in a
# run's digest.
_DATA: Mapping[str, Callable[[], ModuleType]] = {
    "diabetes": lambda: importlib.import_module("boundcheck.problems.diabetes"),
    "breast_cancer": lambda: importlib.import_module("boundcheck.problems.breast_cancer"),
    "digits": lambda: importlib.import_module("boundcheck.problems.digits"),
    "mnist_5k": lambda: importlib.import_module("boundcheck.problems.mnist_5k"),
    "mnist": lambda: importlib.import_module("boundcheck.problems.mnist"),
}
# Data sets of the papers that no package ships, and what to take instead.
ABSENT: Mapping[str, str] = {
    "cifar100": "ships in no package that boundcheck knows; take 'cifar10' with 500 clients and split = 'dirichlet' "
    "instead",
    "femnist": "ships in no package that boundcheck knows, not with its writers; take 'shakespeare' with its roles as "
    "clients (split = 'owners') instead, or 'cifar10' with 500 clients and split = 'dirichlet'",
}
# The data sets that each kind of problem of this room takes.
TAKEN_BY: Mapping[str, tuple[str, ...]] = {
    "least_squares": ("diabetes", "breast_cancer", "digits"),
    "logistic_regression": ("breast_cancer", "digits", "mnist"),
    "softmax_regression": ("breast_cancer", "digits", "mnist", "mnist_5k"),
}


def data_sets() -> tuple[str, ...]:
    """The names of the data sets: those of this room and those that other rooms provide (`core.providers`)."""
    return (*_DATA, *providers.names(providers.DATA))


def module_name(data: str) -> str:
    """The dotted name of the module of a data set, which need not exist."""
    return providers.module_name(providers.DATA, data) or f"boundcheck.problems.{data}"


def module(name: str, known: tuple[str, ...] | None = None) -> Any:
    """The module of a data set: FILES (name -> sha256), LICENCE, `load()`.

    If data are fetched, also `fetch(source)` and `size()`, see `_fetching`. Raises UnknownName outside `known`
    (default: `data_sets()`), BadInput for a set of `ABSENT`.
    """
    refuse_absent(name)
    refuse_unknown(name, data_sets() if known is None else known, "this problem")
    return _DATA[name]() if name in _DATA else providers.load(providers.DATA, name)


def refuse_unknown(name: str, known: tuple[str, ...], what: str) -> None:
    """Raises UnknownName for no data set at all, BadInput for one that other kinds of problem take and `what` not."""
    if name in known:
        return
    if name not in data_sets():
        raise UnknownName("the data set", name, known)
    kinds = [kind for kind, taken in _takers().items() if name in taken]
    others = " or ".join(f"kind = '{kind}'" for kind in kinds)
    raise BadInput(f"the data set '{name}' goes with {others}, not with {what}; known: {', '.join(known)}.")


def _takers() -> dict[str, tuple[str, ...]]:
    """Kinds of problem and the data sets of each; for a sentence alone, so that their code is not part of a run's."""
    found = dict(TAKEN_BY)
    for kind in providers.names(providers.PROBLEMS):
        found[kind] = getattr(providers.load(providers.PROBLEMS, kind), "DATA", ())
    return found


def refuse_absent(name: str) -> None:
    """Raises BadInput for a data set that is not to be had, which says what to take instead."""
    plain = name.lower().replace("-", "").replace("_", "")
    if plain in ABSENT:
        raise BadInput(f"the data set '{name}' is not to be had: it {ABSENT[plain]}.")
