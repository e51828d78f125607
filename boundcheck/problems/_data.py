"""What the data sets share: their names, the samples of a labelled set, and files with known checksums."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core import providers
from boundcheck.core.places import data_dir
from boundcheck.errors import BadInput, DataNotFetched, UnknownName

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
# Kinds of problem of this room that take data sets; DATA of their modules says which.
_TAKERS = ("least_squares", "logistic_regression", "softmax_regression")
LABEL = "label"  # what a labelled set is sorted by where no feature is named
KNOWN = "scikit-learn==1.9.1"  # a version whose files have the checksums that the data sets pin


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
    found: dict[str, tuple[str, ...]] = {
        kind: importlib.import_module(f"boundcheck.problems.{kind}").DATA for kind in _TAKERS
    }
    for kind in providers.names(providers.PROBLEMS):
        found[kind] = getattr(providers.load(providers.PROBLEMS, kind), "DATA", ())
    return found


def refuse_absent(name: str) -> None:
    """Raises BadInput for a data set that is not to be had, which says what to take instead."""
    plain = name.lower().replace("-", "").replace("_", "")
    if plain in ABSENT:
        raise BadInput(f"the data set '{name}' is not to be had: it {ABSENT[plain]}.")


@dataclass(frozen=True, eq=False)
class Samples:
    """A labelled data set: N samples of p features, exactly.

    names: of the features (p). numbers, denominator: feature j of sample i is numbers[i, j] / denominator, both
    integers. labels: (N,) integers in 0..classes-1. meanings: of the classes. regression: what least squares fits
    (N exact numbers); empty where it is not offered.
    """

    names: tuple[str, ...]
    numbers: NDArray[Any]
    denominator: int
    labels: NDArray[np.int64]
    meanings: tuple[str, ...]
    regression: tuple[Fraction, ...] = ()
    sort_by: str = LABEL

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.meanings)

    @property
    def target(self) -> tuple[Fraction, ...]:
        """What least squares fits."""
        return self.regression

    @property
    def count(self) -> int:
        """Number of samples N."""
        return len(self.labels)

    def features(self) -> NDArray[np.float64]:
        """The doubles nearest to the features; (N, p), made anew at each call."""
        return self.numbers / np.float64(self.denominator)

    @cached_property
    def rows(self) -> tuple[tuple[Fraction, ...], ...]:
        """The features as exact numbers; N tuples of p."""
        known = {v: Fraction(v, self.denominator) for v in map(int, np.unique(self.numbers))}
        return tuple(tuple(known[v] for v in row) for row in self.numbers.tolist())


def column_of(table: Any, data: str, feature: str) -> list[Fraction] | list[int]:
    """The values that a sorted split orders rows by: a feature's, or the labels. Raises UnknownName."""
    labels = getattr(table, "labels", None)
    if feature == LABEL and labels is not None:
        return [int(v) for v in labels]
    if feature not in table.names:
        raise UnknownName(f"the data set '{data}': feature", feature, table.names)
    j = table.names.index(feature)
    if labels is None:
        return [row[j] for row in table.rows]
    return [int(v) for v in table.numbers[:, j]]


def package_folder(name: str, files: Mapping[str, str]) -> Path:
    """The data cache where `data fetch --from` has put the files, otherwise the folder of scikit-learn's data.

    Raises DataNotFetched where the package is not installed.
    """
    cached = data_dir() / name
    if all((cached / file).is_file() for file in files):
        return cached
    found = importlib.util.find_spec("sklearn")  # locates the package without importing it
    if found is None or not found.submodule_search_locations:
        raise DataNotFetched(
            f"the data set '{name}' is read from the package scikit-learn, which is not installed; "
            "install it with 'pip install scikit-learn'."
        )
    return Path(next(iter(found.submodule_search_locations))) / "datasets" / "data"


def package_file(name: str, folder: Path, file: str, digest: str) -> bytes:
    """A file of scikit-learn's data with the known checksum. Raises DataNotFetched where it is missing or another."""
    path = folder / file
    if not path.is_file():
        raise DataNotFetched(
            f"the data set '{name}' needs {file} of the package scikit-learn, which the installed one has not; "
            f"install another with 'pip install {KNOWN}'."
        )
    packed = path.read_bytes()
    found = hashlib.sha256(packed).hexdigest()
    if found != digest:
        raise DataNotFetched(
            f"{path} has the sha256 {found[:16]}..., not the expected "
            f"{digest[:16]}...; get the known one with 'pip install {KNOWN}'."
        )
    return packed
