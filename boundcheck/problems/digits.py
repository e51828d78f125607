"""The handwritten digits of Alpaydin and Kaynak (optical recognition of handwritten digits, 1998; its test part).

1797 images of 8 x 8 pixels with 17 grey levels, labels 0 to 9; as shipped by scikit-learn, read from the installed
package's own files. A feature is the grey level over 16. Least squares fits the digit, standardised.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np

from boundcheck.problems._data import UNIT, Samples, package_text, standardise

NAMES = tuple(f"pixel_{i}_{j}" for i in range(8) for j in range(8))
MEANINGS = tuple(str(k) for k in range(10))
FILES = {"digits.csv.gz": "09f66e6debdee2cd2b5ae59e0d6abbb73fc2b0e0185d2e1957e9ebb51e23aa22"}
LICENCE = "BSD-3-Clause, in the package scikit-learn"
LEVELS = 16  # the brightest grey level


@cache
def load() -> Samples:
    """The data. Raises DataNotFetched where the file is missing or other than known."""
    (file,) = FILES
    table = np.loadtxt(package_text("digits", FILES, file).splitlines(), delimiter=",", dtype=np.int64)
    labels = table[:, -1].copy()
    return Samples(
        names=NAMES,
        numbers=table[:, :-1].copy(),
        denominator=LEVELS,
        labels=labels,
        meanings=MEANINGS,
        target=tuple(Fraction(v, UNIT) for v in standardise([Fraction(int(y)) for y in labels])),
    )
