"""The diabetes data of Efron, Hastie, Johnstone and Tibshirani (Least Angle Regression, 2004).

442 patients, 10 features (age, sex, body mass index, blood pressure, six serum measurements) and a measure
of disease progression after a year; as shipped by scikit-learn, read from the installed package's own files.
Each column, the target too, is standardised and rounded to six decimals.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from boundcheck.core.numbers import parse_number
from boundcheck.problems._data import UNIT, UNLABELLED, Samples, package_text, standardise, standardised

NAMES = ("age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6")
FILES = {
    "diabetes_data_raw.csv.gz": "7fc0ded571454b1982210d3bb43f0aca44eae01a0b8654a3b24022bdb6b38009",
    "diabetes_target.csv.gz": "8e53f65eb811df43c206f3534bb3af0e5fed213bc37ed6ba36310157d6023803",
}
LICENCE = "BSD-3-Clause, in the package scikit-learn"


def _lines(name: str) -> list[list[Fraction]]:
    lines = package_text("diabetes", FILES, name).splitlines()
    return [[parse_number(word, name) for word in line.split()] for line in lines]


@cache
def load() -> Samples:
    """The standardised data. Raises DataNotFetched where the files are missing or other than known."""
    raw, target = (_lines(name) for name in FILES)
    fitted = tuple(Fraction(v, UNIT) for v in standardise([row[0] for row in target]))
    return standardised(NAMES, raw, labels=UNLABELLED, target=fitted, sort_by="bmi")
