"""The three arithmetics of the exact engine behind one small interface.

Matrices are `fmpq_mat` (rational), `arb_mat` (balls) or float64 arrays; vectors are (k, 1) matrices. All of
them know `+`, `-`, `.transpose()` and `[i, j]`; the rest is here.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, arb_mat, fmpq_mat

from boundcheck.core.linalg import balls, floats, identity, nearest_float, rational
from boundcheck.engines.curve import Arithmetic
from boundcheck.errors import Unsupported

__all__ = ["MAX_DIGITS", "BallRing", "FloatRing", "Matrix", "RationalRing", "Ring", "power"]

Matrix = Any  # fmpq_mat, arb_mat or a float64 array, by the ring

# Digits of one number at which exact rational arithmetic gives up.
MAX_DIGITS = 100_000


class RationalRing:
    """Exact fractions, refused beyond `MAX_DIGITS` digits a number."""

    arithmetic = Arithmetic.RATIONAL

    def lift(self, m: fmpq_mat) -> Matrix:
        """The matrix in this arithmetic."""
        return m

    def scalar(self, value: Fraction) -> Any:
        """A number in this arithmetic."""
        return rational(value)

    def mul(self, a: Matrix, b: Matrix) -> Matrix:
        """Matrix product. Raises Unsupported where a number becomes too long (rational only)."""
        product: fmpq_mat = a * b
        if product.numer_denom()[1].bit_length() > 3.33 * MAX_DIGITS:
            raise Unsupported(
                f"exact rational arithmetic met numbers of more than {MAX_DIGITS} digits; "
                "use fewer rounds, or arithmetic = 'ball', whose enclosures are rigorous too."
            )
        return product

    def from_columns(self, columns: Sequence[Sequence[Any]]) -> Matrix:
        """The matrix with the given columns of numbers of this arithmetic."""
        return fmpq_mat([list(row) for row in zip(*columns, strict=True)])

    def zeros(self, rows: int, columns: int) -> Matrix:
        """A new zero matrix, to be written to."""
        return fmpq_mat(rows, columns)

    def visits(self, generators: Sequence[Matrix], eta: Fraction, repeats: int) -> Sequence[Matrix]:
        """(I - eta G_i)^repeats for every G_i."""
        if not generators:
            return []
        one, step = self.lift(identity(_size(generators[0]))), self.scalar(eta)
        return [power(self, one - g * step, repeats) for g in generators]


class BallRing(RationalRing):
    """Rigorous balls at flint's working precision."""

    arithmetic = Arithmetic.BALL

    def lift(self, m: fmpq_mat) -> Matrix:
        return balls(m)

    def scalar(self, value: Fraction) -> Any:
        return arb(rational(value))

    def mul(self, a: Matrix, b: Matrix) -> Matrix:
        return a * b

    def from_columns(self, columns: Sequence[Sequence[Any]]) -> Matrix:
        return arb_mat([list(row) for row in zip(*columns, strict=True)])

    def zeros(self, rows: int, columns: int) -> Matrix:
        return arb_mat(rows, columns)


class FloatRing(RationalRing):
    """Plain double precision."""

    arithmetic = Arithmetic.FLOAT64

    def lift(self, m: fmpq_mat) -> Matrix:
        return floats(m)

    def scalar(self, value: Fraction) -> Any:
        return nearest_float(value)

    def mul(self, a: Matrix, b: Matrix) -> Matrix:
        return a @ b

    def from_columns(self, columns: Sequence[Sequence[Any]]) -> Matrix:
        return np.array(columns, dtype=np.float64).transpose()

    def zeros(self, rows: int, columns: int) -> Matrix:
        return np.zeros((rows, columns))

    def visits(self, generators: Sequence[Matrix], eta: Fraction, repeats: int) -> Sequence[Matrix]:
        if not generators:
            return []
        stack = np.asarray(generators)
        return list(np.linalg.matrix_power(np.eye(stack.shape[1]) - nearest_float(eta) * stack, repeats))


Ring = RationalRing


def _size(m: Matrix) -> int:
    return m.shape[0] if isinstance(m, np.ndarray) else int(m.nrows())


def power(ring: Ring, m: Matrix, exponent: int) -> Matrix:
    """m**exponent by repeated squaring; exponent >= 1."""
    result: Matrix | None = None
    while True:
        if exponent & 1:
            result = m if result is None else ring.mul(result, m)
        exponent >>= 1
        if not exponent:
            return result
        m = ring.mul(m, m)
