"""How constants are computed, by the names that they are reported under."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from boundcheck.certified.constant import Constant, Known

Maker = Callable[[], Constant]
Makers = dict[str, Maker]


def exact(value: Fraction | int, how: str) -> Constant:
    """The value itself."""
    return Constant(Fraction(value), Known.EXACT, "exact", how)


def make_exact(value: Fraction | int, how: str) -> Maker:
    """A maker of a value that is known already."""
    return partial(exact, value, how)
