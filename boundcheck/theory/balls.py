"""Conversions between fractions and flint balls."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from boundcheck.core.numbers import dyadic

RANGE = 1 << 17  # an end beyond 2**RANGE is none, one nearer to 0 than 2**-RANGE becomes 0 or that power of two

# (log2 u, log2 v, the distinct roots as (node, index)); see theory.decide
Separation = tuple[int, int, frozenset[tuple[int, int]]]


def root_bound(base: Separation, i: int, q: int) -> Separation:
    """The separation data of the q-th root, taken at node i, of a value with the given data."""
    u, v, roots = base
    if q == 1:
        return base
    if u >= v:
        u = -(-(u + (q - 1) * v) // q)
    else:
        v = -(-((q - 1) * u + v) // q)
    return u, v, roots | {(i, q)}


def as_ball(value: Fraction) -> Any:
    """The ball around a fraction at the current precision."""
    from flint import arb, fmpq

    return arb(fmpq(value.numerator, value.denominator))


def ends(ball: Any, bits: int) -> tuple[Fraction | None, Fraction | None]:
    """Dyadic ends around a ball; an end beyond 2^131072 is None, one too close to 0 is 0 or a power of two outward."""
    from flint import ctx

    if not ball.is_finite():
        return None, None
    with ctx.workprec(bits):
        return _end(ball.lower(), up=False), _end(ball.upper(), up=True)


def _end(exact_ball: Any, *, up: bool) -> Fraction | None:
    mantissa, exponent = (int(part) for part in exact_ball.man_exp())
    if mantissa == 0:
        return Fraction(0)
    top = abs(mantissa).bit_length() + exponent  # |value| < 2^top
    if top > RANGE:
        return None
    if top < -RANGE:
        away = (mantissa > 0) == up
        return Fraction(mantissa // abs(mantissa), 1 << RANGE) if away else Fraction(0)
    return dyadic(exact_ball)
