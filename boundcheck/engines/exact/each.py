"""Numbers of a method that differ from one instance of a batch to the next."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.core.linalg import nearest_float
from boundcheck.engines.curve import Floats


class Each(Fraction):
    """A number with a value for each instance, `values` (B,).

    Where code asks whether it is above or below another, it is the one fraction that stands for all. It equals no other
    number, not even 0 or 1, so that nothing is left out.
    """

    values: Floats

    def __new__(cls, one: Fraction, values: Floats) -> Each:  # pyright: ignore[reportIncompatibleMethodOverride]
        self = super().__new__(cls, one)
        self.values = values
        return self

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = Fraction.__hash__

    def __bool__(self) -> bool:
        return True

    def __neg__(self) -> Each:
        return Each(-Fraction(self.numerator, self.denominator), -self.values)


def values_of(value: Any) -> Any:
    """The values (B,) of a number of each instance, a float for one number."""
    return value.values if isinstance(value, Each) else nearest_float(value)


def _taking(name: str, *, swapped: bool) -> Callable[[Each, Any], Any]:
    own, apply = getattr(Fraction, name), getattr(operator, name.replace("__r", "__") if swapped else name)

    def method(self: Each, other: Any) -> Any:
        if not isinstance(other, int | Fraction):
            return NotImplemented
        with np.errstate(all="ignore"):
            pair = (values_of(other), self.values) if swapped else (self.values, values_of(other))
            return Each(own(self, other), apply(*pair))

    return method


for _name in ("add", "sub", "mul", "truediv"):
    setattr(Each, f"__{_name}__", _taking(f"__{_name}__", swapped=False))
    setattr(Each, f"__r{_name}__", _taking(f"__r{_name}__", swapped=True))


@dataclass(frozen=True)
class EachStep:
    """Step sizes of every instance that change with the round. of: the values (B,) of round 0, 1, ..."""

    of: Callable[[int], Floats]
    rounds_per_cycle: int = 1

    def step(self, cycle: int) -> Fraction:
        """See `Schedule`."""
        return Each(Fraction(1), self.of(cycle - 1))

    def is_constant(self) -> bool:
        """See `Schedule`."""
        return False
