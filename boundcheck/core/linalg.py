"""Exact linear algebra over the rationals, and rigorous balls, on python-flint.

Matrices of rationals are `flint.fmpq_mat`, matrices of balls `flint.arb_mat`. What is called certified here
is proved by exact elimination; floating point only proposes.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat, fmpz
from numpy.typing import NDArray

from boundcheck.core.numbers import as_fraction, dyadic, float_below, nearest_float, next_down, next_up
from boundcheck.errors import BadInput

# --- conversions ------------------------------------------------------------------------------------------


def rational(value: Any, name: str = "entry") -> fmpq:
    """The exact value of an int, float (its binary value), Fraction or text; BadInput for anything else."""
    exact = value if isinstance(value, Fraction) else as_fraction(value, name)
    return fmpq(exact.numerator, exact.denominator)


def fraction(value: fmpq) -> Fraction:
    """The same number as a Fraction."""
    return Fraction(int(value.p), int(value.q))


def matrix(rows: Sequence[Sequence[Any]] | NDArray[Any], name: str = "matrix") -> fmpq_mat:
    """Exact matrix from nested sequences or a 2-D array of numbers; BadInput where rows differ in length."""
    table = [[rational(v, f"an entry of {name}") for v in row] for row in rows]
    if len({len(row) for row in table}) > 1:
        raise BadInput(f"{name} has rows of different lengths; all must have the same.")
    return fmpq_mat(len(table), len(table[0]) if table else 0, [v for row in table for v in row])


def column(values: Sequence[Any] | NDArray[Any], name: str = "vector") -> fmpq_mat:
    """Exact (d, 1) matrix."""
    return matrix([[v] for v in values], name)


def identity(d: int) -> fmpq_mat:
    """The d x d identity."""
    return fmpq_mat(d, d, [int(i == j) for i in range(d) for j in range(d)])


def to_fractions(m: fmpq_mat) -> NDArray[Any]:
    """Object array of Fractions, of the shape of the matrix."""
    out = np.empty((m.nrows(), m.ncols()), dtype=object)
    for i, row in enumerate(m.tolist()):
        out[i] = [fraction(v) for v in row]
    return out


def floats(m: fmpq_mat) -> NDArray[np.float64]:
    """Nearest doubles, of the shape of the matrix."""
    flat = [nearest_float(fraction(v)) if v else 0.0 for v in m.entries()]
    return np.array(flat, dtype=np.float64).reshape(m.nrows(), m.ncols())


# --- balls ------------------------------------------------------------------------------------------------

_flint_context = threading.RLock()

# between them a double has all its bits
_LEAST_NORMAL, _MOST_NORMAL = 1e-290, 1e300


@contextmanager
def precision(bits: int) -> Generator[None]:
    """Flint's working precision inside the block; one thread at a time, since flint keeps it globally."""
    with _flint_context:
        before = ctx.prec
        ctx.prec = bits
        try:
            yield
        finally:
            ctx.prec = before


def balls(m: fmpq_mat) -> arb_mat:
    """Enclosures of the entries at the working precision."""
    return arb_mat(m)


def float_down(value: arb | Fraction) -> float:
    """The largest double below every point of a ball, or at most a fraction."""
    if isinstance(value, Fraction):
        return float_below(value)
    if not value.is_finite():
        return -math.inf
    with precision(128):  # rounds downwards, so that more bits would only tighten it beyond a double's
        low = value.lower()
    mantissa, exponent = map(int, low.man_exp())
    top = abs(mantissa).bit_length() + exponent
    if mantissa and not -1100 < top < 1100:  # beyond the doubles; the fraction may be far too long to write
        beyond = (0.0, sys.float_info.max) if mantissa > 0 else (-5e-324, -math.inf)
        return beyond[top > 0]
    return float_below(dyadic(low))


def float_up(value: arb | Fraction) -> float:
    """The smallest double above every point of a ball, or at least a fraction."""
    with precision(128):  # the sign change rounds outwards too
        return 0.0 - float_down(-value)  # no negative zero


def outward(value: arb, *, nonnegative: bool = False) -> tuple[float, float, float]:
    """(low, middle, high) doubles of a ball, rounded outwards; low is at least 0 for a quantity that is.

    The middle lies in [low, high] and is 0 where a nonnegative quantity is only known to be below 1e-300.
    """
    near = float(value.mid())
    if _LEAST_NORMAL < near < _MOST_NORMAL:  # the doubles beside the middle mostly are the ends: three comparisons tell
        middle = arb(near)
        low = near if middle <= value else next_down(near)
        high = near if middle >= value else next_up(near)
        if arb(low) <= value <= arb(high):
            return low, near, high
    low, high = float_down(value), float_up(value)
    if nonnegative:
        low = max(low, 0.0)
        if low == 0.0 and high < 1e-300:
            return 0.0, 0.0, high
    middle = float(value.mid()) if value.is_finite() else (math.inf if high == math.inf else math.nan)
    return low, (middle if math.isinf(middle) else min(max(middle, low), high)), high


# --- symmetric matrices -----------------------------------------------------------------------------------


def is_symmetric(a: fmpq_mat) -> bool:
    """Whether a square matrix equals its transpose, exactly."""
    return a.nrows() == a.ncols() and a == a.transpose()


def is_psd(a: fmpq_mat) -> bool:
    """Whether a rational symmetric matrix is positive semidefinite, by fraction-free exact LDL^T.

    A pivot 0 is allowed only over a zero column, which is then left out. Raises BadInput where it is not symmetric.
    """
    if not is_symmetric(a):
        raise BadInput("only a symmetric matrix can be tested for definiteness.")
    rows: list[list[fmpz]] = a.numer_denom()[0].tolist()
    d = len(rows)
    previous = fmpz(1)
    for k in range(d):
        top = rows[k]
        pivot = top[k]
        if pivot < 0:
            return False
        if pivot == 0:
            if any(top[j] != 0 for j in range(k + 1, d)):
                return False
            continue
        for i in range(k + 1, d):
            row, factor = rows[i], top[i]
            for j in range(i, d):
                row[j] = (row[j] * pivot - factor * top[j]) // previous
        previous = pivot
    return True


def range_projector(a: fmpq_mat) -> fmpq_mat:
    """The orthogonal projector onto the range of a symmetric (or skew) rational matrix; it is rational too."""
    d = a.nrows()
    basis, rank = a.rref()
    if rank == d:
        return identity(d)
    rows = fmpq_mat(rank, d, [v for row in basis.tolist()[:rank] for v in row])  # row space = range, a symmetric
    if rank == 0:
        return fmpq_mat(d, d)
    return rows.transpose() * (rows * rows.transpose()).solve(rows)


def solve_any(a: fmpq_mat, b: fmpq_mat) -> fmpq_mat | None:
    """One exact solution x (d, 1) of a x = b with free variables 0; None when there is none."""
    m, d = a.nrows(), a.ncols()
    right = b.entries()
    rows = a.tolist()
    joined = fmpq_mat(m, d + 1, [v for i in range(m) for v in [*rows[i], right[i]]])
    echelon, rank = joined.rref()
    x = fmpq_mat(d, 1)
    for row in echelon.tolist()[:rank]:
        lead = next(j for j, v in enumerate(row) if v != 0)
        if lead == d:
            return None
        x[lead, 0] = row[d]
    return x


def nearest_solution(a: fmpq_mat, b: fmpq_mat, start: fmpq_mat) -> fmpq_mat | None:
    """The solution of a x = b nearest to the start (d, 1), or None; the rows and columns of a span the same space."""
    found = solve_any(a, b)
    if found is None or a.rank() == a.nrows():
        return found
    return start + range_projector(a) * (found - start)
