"""What the data sets share: their names, the samples of a labelled set, and files with known checksums."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.extras import missing
from boundcheck.core.places import data_dir
from boundcheck.errors import DataNotFetched, UnknownName

LABEL = "label"  # what a labelled set is sorted by where no feature is named
KNOWN = "scikit-learn==1.9.1"  # a version whose files have the checksums that the data sets pin


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
    own = getattr(table, "column", None)  # data of users, whose numbers are not those of a data set
    if own is not None:
        return own(feature)
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
        raise DataNotFetched(missing("sklearn", f"the data set '{name}'"))
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
