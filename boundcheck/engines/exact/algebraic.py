"""The largest absolute value of a rational polynomial's roots: an exact number where its factors are small enough."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from boundcheck.core.linalg import float_down, float_up, precision
from boundcheck.core.numbers import exact_root, format_exact

BITS = 512
MAX_FACTOR = 1000  # common factors up to this are cancelled in texts


@dataclass(frozen=True)
class Modulus:
    """The number plain + sqrt(square) >= 0; a rational root is taken."""

    plain: Fraction
    square: Fraction = Fraction(0)

    def simple(self) -> Modulus:
        """The same with a rational root taken."""
        root = exact_root(self.square, 2)
        return self if root is None else Modulus(self.plain + root)

    def compare(self, other: int) -> int:
        """-1, 0 or 1: below, at or above a whole number."""
        rest = other - self.plain  # sqrt(square) against it
        found = self.square - rest * rest if rest >= 0 else Fraction(1)
        return (found > 0) - (found < 0)

    def ball(self) -> arb:
        """An enclosure at the current precision."""
        return _ball(self.plain) + _ball(self.square).sqrt()

    def text(self) -> str:
        """In exact numbers, such as "sqrt(3/2)" and "(17 + sqrt(281))/40"."""
        if not self.square:
            return format_exact(self.plain)
        if not self.plain:
            return f"sqrt({format_exact(self.square)})"
        below = math.lcm(self.plain.denominator, self.square.denominator)
        first, under = int(self.plain * below), int(self.square * below**2)
        for factor in range(2, MAX_FACTOR):
            while first % factor == 0 and below % factor == 0 and under % factor**2 == 0:
                first, below, under = first // factor, below // factor, under // factor**2
        top = f"{first} + sqrt({under})"
        return top if below == 1 else f"({top})/{below}"


@dataclass(frozen=True)
class Power:
    """The k-th root of a modulus: the factor of one of k rounds."""

    modulus: Modulus
    k: int

    def exact(self) -> str:
        """In exact numbers: roots of rationals in lowest terms."""
        m, k = self.modulus, self.k
        if m.plain and m.square:
            return m.text() if k == 1 else f"({m.text()})^(1/{k})"
        value = m.square if m.square else m.plain
        k = 2 * k if m.square else k
        for divisor in range(k, 1, -1):
            root = exact_root(value, divisor) if k % divisor == 0 else None
            if root is not None:
                value, k = root, k // divisor
                break
        if k == 1:
            return format_exact(value)
        return f"sqrt({format_exact(value)})" if k == 2 else f"({format_exact(value)})^(1/{k})"

    def text(self) -> str:
        """The exact number, with its decimals where it is no fraction."""
        exact = self.exact()
        with precision(BITS):
            near = self.modulus.ball()
            decimals = float(near.mid()) ** (1 / self.k)
        return exact if "(" not in exact else f"{exact} = {decimals:.6g}"


@dataclass(frozen=True)
class Radius:
    """A spectral radius. modulus: None where it is enclosed in [low, high] alone."""

    modulus: Modulus | None
    low: float
    high: float

    @property
    def below_one(self) -> bool | None:
        """Whether it is below 1; None where the enclosure does not tell."""
        if self.modulus is not None:
            return self.modulus.compare(1) < 0
        return True if self.high < 1 else (False if self.low >= 1 else None)

    @property
    def above_one(self) -> bool:
        """Whether it is known to be above 1."""
        return self.low > 1 if self.modulus is None else self.modulus.compare(1) > 0

    def text(self) -> str:
        """The exact number, or its enclosure, or that to ten digits where they do not show its width."""
        if self.modulus is not None:
            return Power(self.modulus, 1).text()
        low, high = f"{self.low:.10g}", f"{self.high:.10g}"
        return f"about {low}" if low == high else f"in [{low}, {high}]"


def radius_of(polynomial: Any) -> Radius:
    """The largest absolute value of the roots of a polynomial over the rationals (`flint.fmpq_poly`), not constant.

    Factors of degree 1 and 2 have exact ones. A larger factor is enclosed; where it has the largest root, or one that
    cannot be separated from it, so is the result.
    """
    exact: list[Modulus] = []
    others: list[arb] = []
    with precision(BITS):
        for factor, _ in polynomial.factor()[1]:
            if factor.degree() <= 2:
                exact += _moduli(factor)
            else:
                others += [root.abs_upper().union(root.abs_lower()) for root, _ in factor.complex_roots()]
        best: Modulus | None = None
        for m in exact:
            if best is None or bool(m.ball() > best.ball()):  # equal numbers are not separated, and need not be
                best = m
        top = max([float_up(v.upper()) for v in others], default=-math.inf)
        if best is not None and all(bool(v < best.ball()) for v in others):
            ball = best.ball()
            return Radius(best, float_down(ball.lower()), float_up(ball.upper()))
        least = max(float_down(v.lower()) for v in others)
        if best is not None:
            ball = best.ball()
            least, top = max(least, float_down(ball.lower())), max(top, float_up(ball.upper()))
        return Radius(None, least, top)


def _moduli(factor: Any) -> list[Modulus]:
    """The largest absolute value of the root or roots of an irreducible factor of degree 1 or 2."""
    c = [Fraction(int(v.numer()), int(v.denom())) if hasattr(v, "numer") else Fraction(int(v)) for v in factor.coeffs()]
    if len(c) == 2:
        return [Modulus(abs(c[0] / c[1]))]
    b, a = c[1] / c[2], c[0] / c[2]
    if b * b < 4 * a:
        return [Modulus(Fraction(0), a).simple()]
    return [Modulus(abs(b) / 2, b * b / 4 - a).simple()]


def _ball(value: Fraction) -> arb:
    return arb(value.numerator) / value.denominator
