"""What the data sets share: their names, the samples of a labelled set, and files with known checksums."""

from __future__ import annotations

import gzip
import hashlib
import importlib
import importlib.util
import math
from collections.abc import Mapping, Sequence
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
UNIT = 10**6  # of standardised columns
UNLABELLED = np.empty(0, dtype=np.int64)
KNOWN = "scikit-learn==1.9.1"  # a version whose files have the checksums that the data sets pin


@dataclass(frozen=True, eq=False)
class Samples:
    """A table of N samples of p features, exactly: a data set, or data of a user.

    names: of the features (p). numbers, denominator: feature j of sample i is numbers[i, j] / denominator; integers, or
    with the denominator 1 doubles or Fractions. labels: (N,) integers in 0..classes-1; meanings: of the classes; both
    are empty without classes. target: what least squares fits (N exact numbers); empty where it is not offered.
    sort_by: the feature that sorted splits go by where none is named.
    """

    names: tuple[str, ...]
    numbers: NDArray[Any]
    denominator: int
    labels: NDArray[np.int64]
    meanings: tuple[str, ...] = ()
    target: tuple[Fraction, ...] = ()
    sort_by: str = LABEL

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.meanings)

    @property
    def count(self) -> int:
        """Number of samples N."""
        return len(self.numbers)

    def features(self) -> NDArray[np.float64]:
        """The doubles nearest to the features; (N, p), made anew at each call."""
        return self.numbers / np.float64(self.denominator)

    @cached_property
    def rows(self) -> tuple[tuple[Fraction, ...], ...]:
        """The features as exact numbers; N tuples of p."""
        known = {v: Fraction(v) / self.denominator for v in set(self.numbers.ravel().tolist())}
        return tuple(tuple(known[v] for v in row) for row in self.numbers.tolist())

    def column(self, feature: str, words: str) -> list[Any]:
        """What a sorted split orders rows by: a feature, or the labels or targets. Raises UnknownName."""
        if feature == LABEL and feature not in self.names:
            return self.labels.tolist() if self.meanings else list(self.target)
        if feature not in self.names:
            raise UnknownName(f"{words}: feature", feature, self.names)
        return self.numbers[:, self.names.index(feature)].tolist()


def standardise(values: Sequence[Fraction]) -> list[int]:
    """Mean 0 and standard deviation 1 (divisor N), rounded to six decimals: times 10^6.

    In exact arithmetic but for one square root, so that every entry is a short rational.
    """
    mean = sum(values, Fraction(0)) / len(values)
    variance = sum(((v - mean) ** 2 for v in values), Fraction(0)) / len(values)
    deviation = Fraction(math.sqrt(variance))
    return [round((v - mean) / deviation * UNIT) for v in values]


def standardised(names: tuple[str, ...], rows: Sequence[Sequence[Fraction]], **more: Any) -> Samples:
    """The table of rows (N, p), each column standardised."""
    columns = [standardise(column) for column in zip(*rows, strict=True)]
    return Samples(names, np.array(columns, dtype=np.int64).T.copy(), UNIT, **more)


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


def package_text(name: str, files: Mapping[str, str], file: str) -> str:
    """The text of such a file, a .gz file unpacked. Raises DataNotFetched."""
    packed = package_file(name, package_folder(name, files), file, files[file])
    return (gzip.decompress(packed) if file.endswith(".gz") else packed).decode("ascii")
