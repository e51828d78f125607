"""Small checks of what users write in a problem's specification."""

from __future__ import annotations

from typing import Any

from boundcheck.core.numbers import as_fraction, format_short
from boundcheck.errors import BadInput


def whole(value: Any, name: str, low: int, high: int) -> int:
    """An integer in [low, high], or BadInput."""
    number = as_fraction(value, name)
    if number.denominator != 1 or not low <= number <= high:
        raise BadInput(f"{name} = {format_short(number)} is not allowed; it must be an integer from {low} to {high}.")
    return int(number)
