"""What the tests of the result store share."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.core.arrays import pack_arrays
from boundcheck.core.digest import digest
from boundcheck.core.store import Store

SPEC = {"method": {"kind": "scgd", "E": 4, "eta": Fraction(1, 3)}, "seeds": [0, 1], "x": 0.1}
KEY = digest(SPEC)
FILE = f"{KEY}.npz"
ARRAYS = {"rounds": np.arange(5), "dist2": np.array([1.0, 0.5, 0.25, -0.0, np.nan])}
META = {"exact": True, "worst": 0.1}


def same(left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    return pack_arrays(left) == pack_arrays(right)


def partials(store: Store) -> list[str]:
    """The files that are being written, or were when their writer was killed."""
    return sorted(path.name for path in (store.path / ".partial").glob("*"))
