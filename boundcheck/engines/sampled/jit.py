"""Compilation options of the compiled path."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numba

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}

# What only compiled code calls needs no way in from the interpreter either, which would be compiled for each.
INLINED: dict[str, Any] = {"forceinline": True, "no_cpython_wrapper": True}

# Code that makes no arrays may do without counting references to them: an atomic operation for each is dear.
UNCOUNTED: dict[str, Any] = OPTIONS | {"_nrt": False}


def jit(function: Any, options: dict[str, Any] = OPTIONS) -> Any:
    """Compile without the interpreter lock, cached on disk where a place for the cache can be written.

    No fast-math flag is set: operations happen in the order written. numba's cache notices changes of a function's
    own file and of the values it closes over, so that whatever such a function compiles with it stands in the same
    file, or it closes over the `stamp` of the other one.
    """
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba found no writable place
        return numba.njit(**options)(function)


def inlined(function: Any) -> Any:
    """Compile as a part of each function that calls it."""
    return numba.njit(**INLINED, **OPTIONS)(function)


def bare(function: Any) -> Any:
    """`jit` for a function that makes no arrays."""
    return jit(function, UNCOUNTED)


def bare_inlined(function: Any) -> Any:
    """`inlined` for a function that makes no arrays."""
    return numba.njit(**INLINED, **UNCOUNTED)(function)


def stamp(*names: str) -> int:
    """A number that changes with these files of this folder."""
    whole = b"".join((Path(__file__).parent / name).read_bytes() for name in names)
    return int.from_bytes(hashlib.sha256(whole).digest()[:7], "big")
