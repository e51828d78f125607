"""Compilation options of the compiled path."""

from __future__ import annotations

from typing import Any

import numba

__all__ = ["OPTIONS", "inlined", "jit"]

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


def jit(function: Any) -> Any:
    """Compile without the interpreter lock, cached on disk where a place for the cache can be written.

    No fast-math flag is set: operations happen in the order written. numba's cache notices changes of a function's
    own file only, so that whatever such a function compiles with it stands in the same file.
    """
    try:
        return numba.njit(cache=True, **OPTIONS)(function)
    except RuntimeError:  # numba found no writable place
        return numba.njit(**OPTIONS)(function)


def inlined(function: Any) -> Any:
    """Compile as a part of each function that calls it."""
    return numba.njit(forceinline=True, **OPTIONS)(function)
