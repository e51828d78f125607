"""Points that took long to compute, kept in the data cache under the digest of what they belong to and of the code."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from boundcheck.core.arrays import pack_arrays, unpack_arrays
from boundcheck.core.digest import Undigestible, run_key
from boundcheck.core.places import data_dir, prepare, write_whole
from boundcheck.errors import StoreError
from boundcheck.problems.problem import Floats

LONG = 1.0  # seconds from which a point is kept


def put(folder: str, name: str, packed: bytes) -> None:
    """Write a file of the data cache whole; a cache that cannot be written costs only the time."""
    try:
        place = prepare(data_dir()) / folder
        place.mkdir(exist_ok=True)
        write_whole(place / name, packed)
    except (OSError, StoreError):
        pass


def recall(key: Mapping[str, Any], dim: int, compute: Callable[[], Floats], module: str) -> Floats:
    """The kept point (dim,) of `key`, or `compute()`, kept where that takes long.

    `compute` must be a function of the key and of the code of `module` alone; both name the file.
    Whoever asks must check what it gets: the cache is not trusted. A cache that cannot be read or written costs only
    the time.
    """
    try:
        path = data_dir() / "points" / f"{run_key(key, [module])}.npz"
    except Undigestible:  # such as code without source
        return compute()
    try:
        known = unpack_arrays(path.read_bytes())
    except OSError:
        known = None
    point = None if known is None else known.get("point")
    if point is not None and point.shape == (dim,) and point.dtype == np.float64 and np.isfinite(point).all():
        return point
    began = time.perf_counter()
    point = compute()
    if time.perf_counter() - began >= LONG:
        put("points", path.name, pack_arrays({"point": point}))
    return point
