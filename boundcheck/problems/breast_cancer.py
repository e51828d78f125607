"""The breast cancer data of Street, Wolberg and Mangasarian (Wisconsin, diagnostic, 1993).

569 tumours, 30 measurements of their cell nuclei (mean, standard error and worst of ten), labels malignant (0)
and benign (1); as shipped by scikit-learn, read from the installed package's own files. Each column is
standardised and rounded to six decimals. Least squares fits +1 (benign) or -1 (malignant).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np

from boundcheck.core.numbers import parse_number
from boundcheck.problems._data import Samples, package_text, standardised

_MEASURED = (
    *("radius", "texture", "perimeter", "area", "smoothness"),
    *("compactness", "concavity", "concave points", "symmetry", "fractal dimension"),
)
NAMES = (*(f"mean {m}" for m in _MEASURED), *(f"{m} error" for m in _MEASURED), *(f"worst {m}" for m in _MEASURED))
MEANINGS = ("malignant", "benign")
FILES = {"breast_cancer.csv": "fed3eb72d0575ef6192293f5093c6e801b1476b577d0386bf4455504522172ed"}
LICENCE = "BSD-3-Clause, in the package scikit-learn"


@cache
def load() -> Samples:
    """The standardised data. Raises DataNotFetched where the file is missing or other than known."""
    (file,) = FILES
    lines = [line.split(",") for line in package_text("breast_cancer", FILES, file).splitlines()[1:]]
    rows = [[parse_number(word, file) for word in line[:-1]] for line in lines]
    labels = np.array([int(line[-1]) for line in lines], dtype=np.int64)
    fitted = tuple(Fraction(2 * int(y) - 1) for y in labels)
    return standardised(NAMES, rows, labels=labels, meanings=MEANINGS, target=fitted)
