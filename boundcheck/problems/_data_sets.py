"""The data sets by name: their modules, which kinds of problem take them, and the papers' sets that are absent."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from boundcheck.errors import BadInput, UnknownName

# The data sets. The names are written out in each import, so that the code of a data set counts in a run's digest.
DATA: Mapping[str, Callable[[], ModuleType]] = {
    "diabetes": lambda: importlib.import_module("boundcheck.problems.diabetes"),
    "breast_cancer": lambda: importlib.import_module("boundcheck.problems.breast_cancer"),
    "digits": lambda: importlib.import_module("boundcheck.problems.digits"),
    "mnist_5k": lambda: importlib.import_module("boundcheck.problems.mnist_5k"),
    "mnist": lambda: importlib.import_module("boundcheck.problems.mnist"),
    "fashion_mnist": lambda: importlib.import_module("boundcheck.problems.fashion_mnist"),
    "cifar10": lambda: importlib.import_module("boundcheck.problems.cifar10"),
    "shakespeare": lambda: importlib.import_module("boundcheck.problems.shakespeare"),
    "imdb": lambda: importlib.import_module("boundcheck.problems.imdb"),
}
# Data sets of the papers that no package ships, and what to take instead.
ABSENT: Mapping[str, str] = {
    "cifar100": "ships in no package that boundcheck knows; take 'cifar10' with 500 clients and split = 'dirichlet' "
    "instead",
    "femnist": "ships in no package that boundcheck knows, not with its writers; take 'shakespeare' with its roles as "
    "clients (split = 'owners') instead, or 'cifar10' with 500 clients and split = 'dirichlet'",
}
# The data sets that each kind of problem takes.
TAKEN_BY: Mapping[str, tuple[str, ...]] = {
    "least_squares": ("diabetes", "breast_cancer", "digits"),
    "logistic_regression": ("breast_cancer", "digits", "mnist"),
    "softmax_regression": ("breast_cancer", "digits", "mnist", "mnist_5k"),
    "neural": ("digits", "mnist_5k", "mnist", "fashion_mnist", "cifar10", "shakespeare", "imdb"),
}


def module(name: str, known: tuple[str, ...] = tuple(DATA)) -> Any:
    """The module of a data set: FILES (name -> sha256), LICENCE, `load()`.

    Where data are fetched also `fetch(source)` and `size()`, see `_fetching`. Raises UnknownName outside `known`,
    BadInput for a set of `ABSENT`.
    """
    refuse_absent(name)
    refuse_unknown(name, known, "this problem")
    return DATA[name]()


def refuse_unknown(name: str, known: tuple[str, ...], what: str) -> None:
    """Raises UnknownName for no data set at all, BadInput for one that other kinds of problem take and `what` not."""
    if name in known:
        return
    if name not in DATA:
        raise UnknownName("the data set", name, known)
    kinds = [kind for kind, taken in TAKEN_BY.items() if name in taken]
    others = " or ".join(f"kind = '{kind}'" for kind in kinds)
    raise BadInput(f"the data set '{name}' goes with {others}, not with {what}; known: {', '.join(known)}.")


def refuse_absent(name: str) -> None:
    """Raises BadInput for a data set that is not to be had, which says what to take instead."""
    plain = name.lower().replace("-", "").replace("_", "")
    if plain in ABSENT:
        raise BadInput(f"the data set '{name}' is not to be had: it {ABSENT[plain]}.")
