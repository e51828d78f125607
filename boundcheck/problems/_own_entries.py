"""Entries of data that users give: numbers, exactly, and the values of a label or a client."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput, shown

LARGEST = 1e100  # of a number, so that squares and sums stay finite in double precision


def numbers_of(values: NDArray[Any], where: str, names: Iterable[str]) -> NDArray[Any]:
    """Float64 where that is exact, otherwise Fractions. Raises BadInput for an entry that is no number."""
    kind = values.dtype.kind
    if kind in "fiub" and values.dtype.itemsize <= 8:
        if kind == "f" or values.dtype.itemsize < 8 or np.all(np.abs(values.astype(np.float64)) <= 2**53):
            doubles = values.astype(np.float64)
            bad = ~np.isfinite(doubles) | (np.abs(doubles) > LARGEST)
            if bad.any():
                i, *j = np.argwhere(bad)[0].tolist()
                at, value = _entry(where, names, i, j), doubles[(i, *j)]
                raise BadInput(f"{at} is {value}; numbers must be finite and at most {LARGEST:g} in absolute value.")
            return doubles
    elif kind not in "OUSiu":
        raise BadInput(f"{where}: entries of type {values.dtype} are not allowed; they must be numbers.")
    found = np.empty(values.shape, dtype=object)
    for place in np.ndindex(*values.shape):
        at = _entry(where, names, place[0], list(place[1:]))
        value = values[place]
        if isinstance(value, bytes | bool | np.bool_):
            value = value.decode("latin-1") if isinstance(value, bytes) else int(value)
        number = _number(value, at)
        if abs(number) > LARGEST:
            raise BadInput(f"{at} is beyond {LARGEST:g} in absolute value; numbers must be at most that.")
        found[place] = number
    return found


def _entry(where: str, names: Iterable[str], i: int, j: list[int]) -> str:
    return f"{where}: row {i + 1}" + (f" of '{list(names)[j[0]]}'" if j else "")


@lru_cache(maxsize=1 << 16)
def _text_number(text: str) -> Fraction | None:
    try:
        return as_fraction(text)
    except BadInput:
        return None


def _number(value: Any, at: str) -> Fraction:
    if isinstance(value, str):
        found = _text_number(value)
    else:
        try:
            found = as_fraction(value)
        except BadInput:
            found = None
    if found is None:
        empty = value is None or (isinstance(value, str) and not value) or _is_nan(value)
        what = "missing" if empty else shown(repr(value))
        raise BadInput(f"{at} is {what}; it must be a finite number.")
    return found


def _is_nan(value: Any) -> bool:
    """Whether a value is NaN, or stands for a missing one (pandas' NA)."""
    return type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and math.isnan(value))


def codes_of(values: NDArray[Any], where: str, what: str) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Numbers 0..k-1 for the different values, integers in increasing order and then text; and the values' names."""
    texts: list[str] = []
    for i, value in enumerate(values.tolist()):
        text = value.decode("latin-1") if isinstance(value, bytes) else value
        number = _text_number(text.strip()) if isinstance(text, str) else None
        if isinstance(text, bool | int):
            number = Fraction(int(text))
        elif isinstance(text, float | Fraction):
            number = Fraction(text) if isinstance(text, Fraction) or math.isfinite(text) else None
            if number is None or number.denominator != 1:
                raise BadInput(f"{where}: {what} of row {i + 1} is {shown(text)}; it must be an integer or text.")
        elif not isinstance(text, str) or not text.strip():
            missing = text is None or isinstance(text, str) or _is_nan(text)
            shown_value = "missing" if missing else shown(repr(text))
            raise BadInput(f"{where}: {what} of row {i + 1} is {shown_value}; it must be an integer or text.")
        if number is not None and number.denominator != 1:
            raise BadInput(f"{where}: {what} of row {i + 1} is {shown(text)}; it must be an integer or text.")
        texts.append(str(int(number)) if number is not None else str(text).strip())

    def place(text: str) -> tuple[int, int, str]:
        number = _text_number(text)
        return (1, 0, text) if number is None else (0, int(number), text)

    known = sorted(set(texts), key=place)
    index = {text: k for k, text in enumerate(known)}
    return np.array([index[t] for t in texts], dtype=np.int64), tuple(known)
