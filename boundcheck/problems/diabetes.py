"""The diabetes data of Efron, Hastie, Johnstone and Tibshirani (Least Angle Regression, 2004).

442 patients, 10 features (age, sex, body mass index, blood pressure, six serum measurements) and a measure
of disease progression after a year; as shipped by scikit-learn, read from the installed package's own files.

Standardised as follows, in exact arithmetic but for one square root a column: each column (the target too)
has its mean subtracted, is divided by its standard deviation (divisor 442), and is rounded to six decimals, so
that every entry is a short rational.
"""

from __future__ import annotations

import gzip
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path

from boundcheck.core.numbers import parse_number
from boundcheck.problems._data import package_file, package_folder

NAMES = ("age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6")
FILES = {
    "diabetes_data_raw.csv.gz": "7fc0ded571454b1982210d3bb43f0aca44eae01a0b8654a3b24022bdb6b38009",
    "diabetes_target.csv.gz": "8e53f65eb811df43c206f3534bb3af0e5fed213bc37ed6ba36310157d6023803",
}
LICENCE = "BSD-3-Clause, in the package scikit-learn"
DECIMALS = 6


@dataclass(frozen=True)
class Table:
    """A data set: rows (N of d exact numbers), target (N), feature names (d), and the feature to sort by."""

    names: tuple[str, ...]
    rows: tuple[tuple[Fraction, ...], ...]
    target: tuple[Fraction, ...]
    sort_by: str


def _folder() -> Path:
    return package_folder("diabetes", FILES)


def _lines(folder: Path, name: str) -> list[list[Fraction]]:
    text = gzip.decompress(package_file("diabetes", folder, name, FILES[name])).decode("ascii")
    return [[parse_number(word, name) for word in line.split()] for line in text.splitlines()]


def standardise(values: list[Fraction]) -> list[Fraction]:
    """Mean 0 and standard deviation 1 (divisor N), rounded to six decimals."""
    mean = sum(values, Fraction(0)) / len(values)
    variance = sum(((v - mean) ** 2 for v in values), Fraction(0)) / len(values)
    deviation = Fraction(math.sqrt(variance))
    return [Fraction(round((v - mean) / deviation * 10**DECIMALS), 10**DECIMALS) for v in values]


@cache
def load() -> Table:
    """The standardised data. Raises DataNotFetched where the files are missing or other than known."""
    folder = _folder()
    raw = _lines(folder, "diabetes_data_raw.csv.gz")
    target = _lines(folder, "diabetes_target.csv.gz")
    columns = [standardise([row[j] for row in raw]) for j in range(len(NAMES))]
    return Table(
        names=NAMES,
        rows=tuple(tuple(c[i] for c in columns) for i in range(len(raw))),
        target=tuple(standardise([row[0] for row in target])),
        sort_by="bmi",
    )
