"""What the tests of the result store share."""

import os
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from boundcheck.core.arrays import pack_arrays
from boundcheck.core.digest import digest
from boundcheck.core.store import Store

SPEC = {"method": {"kind": "scgd", "E": 4, "eta": Fraction(1, 3)}, "seeds": [0, 1], "x": 0.1}
KEY = digest(SPEC)
ARRAYS = {"rounds": np.arange(5), "dist2": np.array([1.0, 0.5, 0.25, -0.0, np.nan])}
META = {"exact": True, "worst": 0.1}


def same(left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    return pack_arrays(left) == pack_arrays(right)


def checkpoint_file(store: Store, key: str = KEY) -> Path:
    return store.path / ".checkpoint" / key


def partials(store: Store) -> list[str]:
    folder = store.path / ".partial"
    return sorted(os.listdir(folder)) if folder.exists() else []
