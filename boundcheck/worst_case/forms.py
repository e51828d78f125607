"""Linear forms in the unknowns of a worst case: the Gram matrix of basis vectors, and values of functions.

A row is a vector as a combination of basis vectors, {index: number}. A form is
    sum of quad[a, b] G[a, b] over a <= b  +  sum of lin[k] v[k]  +  const,
with G the Gram matrix of the basis and v the values; all numbers are fractions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

Row = Mapping[int, Fraction]
ZERO = Fraction(0)


def combined(parts: Iterable[tuple[Fraction | int, Row]]) -> dict[int, Fraction]:
    """The sum of multiples of rows."""
    found: dict[int, Any] = {}
    for factor, row in parts:
        own = short(Fraction(factor))
        for k, c in row.items():
            found[k] = found.get(k, 0) + own * c
    return {k: short(c) for k, c in found.items() if c}


def short(number: Fraction) -> Fraction:
    """The same number, as an integer where it is one: Python computes with integers ten times as fast."""
    whole: Any = number.numerator
    return whole if number.denominator == 1 else number


def minus(a: Row, b: Row) -> dict[int, Fraction]:
    """a - b."""
    return combined(((1, a), (-1, b)))


@dataclass(frozen=True)
class Form:
    """See the module."""

    quad: Mapping[tuple[int, int], Fraction] = field(default_factory=dict[tuple[int, int], Fraction])
    lin: Mapping[int, Fraction] = field(default_factory=dict[int, Fraction])
    const: Fraction = ZERO

    def __add__(self, other: Form) -> Form:
        return total(((1, self), (1, other)))

    def __sub__(self, other: Form) -> Form:
        return total(((1, self), (-1, other)))

    def __mul__(self, factor: Fraction | int) -> Form:
        return total(((factor, self),))

    __rmul__ = __mul__


def total(parts: Iterable[tuple[Fraction | int, Form]]) -> Form:
    """The sum of multiples of forms."""
    quad: dict[tuple[int, int], Any] = {}
    lin: dict[int, Any] = {}
    const = ZERO
    for factor, form in parts:
        own = short(Fraction(factor))
        if own == 1:
            for pair, c in form.quad.items():
                quad[pair] = quad.get(pair, 0) + c
        else:
            for pair, c in form.quad.items():
                quad[pair] = quad.get(pair, 0) + own * c
        for k, c in form.lin.items():
            lin[k] = lin.get(k, 0) + own * c
        const += own * form.const
    return Form({p: c for p, c in quad.items() if c}, {k: c for k, c in lin.items() if c}, const)


def number(value: Fraction | int) -> Form:
    """A form that is a number."""
    return Form(const=Fraction(value))


def inner(a: Row, b: Row) -> Form:
    """<a, b>."""
    quad: dict[tuple[int, int], Any] = {}
    for i, c in a.items():
        for j, d in b.items():
            pair = (i, j) if i <= j else (j, i)
            quad[pair] = quad.get(pair, 0) + c * d
    return Form({p: c for p, c in quad.items() if c})


def square(a: Row) -> Form:
    """|a|^2."""
    own = sorted(a.items())
    quad: dict[tuple[int, int], Any] = {}
    for k, (i, c) in enumerate(own):
        quad[i, i] = c * c
        for j, d in own[k + 1 :]:
            quad[i, j] = 2 * c * d
    return Form(quad)
