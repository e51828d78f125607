"""The three arithmetics of the exact engine behind one small interface.

Matrices are `fmpq_mat` (rational), `arb_mat` (balls) or float64 arrays; vectors are (k, 1) matrices. All of
them know `+`, `-`, `.transpose()`, `* scalar` and `[i, j]`; the rest is here.

A symmetric (D, D) matrix M is packed into the D(D+1)/2 entries of its upper triangle, row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from flint import arb, arb_mat, fmpq, fmpq_mat

from boundcheck.certified.definite import is_positive_semidefinite
from boundcheck.core.linalg import (
    balls,
    floats,
    fraction,
    identity,
    is_symmetric,
    nearest_float,
    range_projector,
    rational,
    solve_any,
)
from boundcheck.engines.curve import Arithmetic
from boundcheck.errors import Unsupported

Matrix = Any  # fmpq_mat, arb_mat or a float64 array, by the ring
Pairs = Sequence[tuple[Matrix, Matrix]]

# Digits of one number at which exact rational arithmetic gives up.
MAX_DIGITS = 100_000


@lru_cache(maxsize=64)
def triangle(size: int) -> list[tuple[int, int]]:
    """The positions (a, b), a <= b, of a packed symmetric matrix, in order."""
    return [(a, b) for a in range(size) for b in range(a, size)]


class RationalRing:
    """Exact fractions, refused beyond `MAX_DIGITS` digits a number."""

    arithmetic = Arithmetic.RATIONAL
    _kind: Any = fmpq_mat

    def __init__(self) -> None:
        self._ones: dict[int, Matrix] = {}

    def lift(self, m: fmpq_mat) -> Matrix:
        """The matrix in this arithmetic."""
        return m

    def one(self, size: int) -> Matrix:
        """The identity, not to be written to."""
        if size not in self._ones:
            self._ones[size] = self.lift(identity(size))
        return self._ones[size]

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

    def shape(self, m: Matrix) -> tuple[int, int]:
        """Rows and columns."""
        return int(m.nrows()), int(m.ncols())

    def zeros(self, rows: int, columns: int) -> Matrix:
        """A new zero matrix, to be written to."""
        return self._kind(rows, columns)

    def rows(self, m: Matrix) -> Sequence[Any]:
        """The rows, as `from_rows` takes them back."""
        return m.tolist()

    def from_rows(self, rows: Sequence[Any]) -> Matrix:
        """The matrix with the given rows."""
        return self._kind([list(row) for row in rows])

    def placed(self, blocks: Iterable[tuple[int, Matrix]], height: int, width: int) -> Matrix:
        """The matrix with these blocks of rows from these rows on, 0 elsewhere."""
        found: list[Any] = [self.rows(self.zeros(1, width))[0]] * height
        for first, m in blocks:
            for k, row in enumerate(self.rows(m)):
                found[first + k] = row
        return self.from_rows(found)

    def sum(self, matrices: Sequence[Matrix]) -> Matrix:
        """The sum of at least one matrix."""
        total = matrices[0]
        for m in matrices[1:]:
            total = total + m
        return total

    def dot(self, a: Matrix, b: Matrix) -> Any:
        """The sum of the products of equal positions."""
        zero: Any = fmpq(0) if self._kind is fmpq_mat else arb(0)
        return sum((x * y for x, y in zip(a.entries(), b.entries(), strict=True)), zero)

    def row_dots(self, a: Matrix, b: Matrix) -> list[Any]:
        """`dot` of the rows of two matrices, one by one."""
        zero: Any = fmpq(0) if self._kind is fmpq_mat else arb(0)
        return [
            sum((x * y for x, y in zip(r, s, strict=True)), zero) for r, s in zip(a.tolist(), b.tolist(), strict=True)
        ]

    def pack(self, m: Matrix) -> Matrix:
        """The upper triangle as a column."""
        entries, size = m.entries(), int(m.nrows())
        return self._kind(size * (size + 1) // 2, 1, [entries[a * size + b] for a, b in triangle(size)])

    def unpack(self, column: Matrix, size: int) -> Matrix:
        """The symmetric matrix of a packed column."""
        values = column.entries()
        flat: list[Any] = [None] * (size * size)
        for v, (a, b) in zip(values, triangle(size), strict=True):
            flat[a * size + b] = flat[b * size + a] = v
        return self._kind(size, size, flat)

    def weights(self, q: Matrix) -> Matrix:
        """The row w with trace(q M) = w * pack(M), q (D, D) not necessarily symmetric."""
        entries, size = q.entries(), int(q.nrows())
        own = [entries[a * size + b] if a == b else entries[a * size + b] + entries[b * size + a] for a, b in
               triangle(size)]  # fmt: skip
        return self._kind(1, len(own), own)

    def form(self, row: Matrix, size: int) -> Matrix:
        """The symmetric q of `weights`."""
        half = self.scalar(Fraction(1, 2))
        flat: list[Any] = [None] * (size * size)
        for v, (a, b) in zip(row.entries(), triangle(size), strict=True):
            flat[a * size + b] = flat[b * size + a] = v if a == b else v * half
        return self._kind(size, size, flat)

    def operator(self, pairs: Pairs) -> Matrix:
        """The matrix K with pack(sum of P M Q') = K pack(M) for symmetric M, where that sum is symmetric.

        One product gives all entries P[a, p] Q[b, q], summed over the pairs; the rest picks and adds.
        """
        out, size = self.shape(pairs[0][0])
        joint: Any = None
        for first in range(0, len(pairs), 256):  # lists of entries take much more memory than the product
            some = pairs[first : first + 256]
            left = self._kind([p.entries() for p, _ in some]).transpose()
            product = left * self._kind([q.entries() for _, q in some])
            joint = product if joint is None else joint + product
        r = joint.entries()
        wide = out * size
        flat: list[Any] = []
        for a, b in triangle(out):
            top = a * size * wide + b * size
            for p in range(size):
                flat.append(r[top + p * wide + p])
                row, column = top + p * wide, top + p
                flat.extend([r[row + q] + r[column + q * wide] for q in range(p + 1, size)])
        count = out * (out + 1) // 2
        return self._kind(count, size * (size + 1) // 2, flat)

    def visits(self, generators: Sequence[Matrix], eta: Fraction, repeats: int) -> list[Matrix]:
        """(I - eta G_i)^repeats for every G_i."""
        one, step = self.one(self.shape(generators[0])[0]), self.scalar(eta)
        return [power(self, one - g * step, repeats) for g in generators]

    def solve(self, a: Matrix, b: Matrix) -> Matrix:
        """x with a x = b. Raises ZeroDivisionError where a is singular (or not known to be regular)."""
        return a.solve(b)

    def vanishes(self, m: Matrix) -> bool:
        """Whether a matrix is certainly 0."""
        return all(v == 0 for row in self.rows(m) for v in row)

    def number(self, value: Any) -> Any:
        """A number that was computed from the data."""
        return self.scalar(fraction(value))

    # of the data of a problem, which are fractions in each of these arithmetics

    def symmetric(self, a: fmpq_mat) -> bool:
        """Whether a map is a gradient."""
        return is_symmetric(a)

    def convex(self, a: fmpq_mat) -> bool:
        """Whether a Hessian is positive definite."""
        return a.rank() == a.nrows() and is_positive_semidefinite(a)

    def lowest(self, a: fmpq_mat, o: fmpq_mat, start: fmpq_mat) -> Matrix:
        """The minimiser of u'a u/2 - o'u that is nearest to the start. Raises ZeroDivisionError if there is none."""
        u = solve_any(a, o)
        if u is None or not is_positive_semidefinite(a):
            raise ZeroDivisionError
        return self.lift(u if a.rank() == a.nrows() else start + range_projector(a) * (u - start))


class BallRing(RationalRing):
    """Rigorous balls at flint's working precision."""

    arithmetic = Arithmetic.BALL
    _kind: Any = arb_mat

    def lift(self, m: fmpq_mat) -> Matrix:
        return balls(m)

    def scalar(self, value: Fraction) -> Any:
        return arb(rational(value))

    def mul(self, a: Matrix, b: Matrix) -> Matrix:
        return a * b


class FloatRing(RationalRing):
    """Plain double precision."""

    arithmetic = Arithmetic.FLOAT64

    def lift(self, m: fmpq_mat) -> Matrix:
        return floats(m)

    def scalar(self, value: Fraction) -> Any:
        return nearest_float(value)

    def mul(self, a: Matrix, b: Matrix) -> Matrix:
        return a @ b

    def shape(self, m: Matrix) -> tuple[int, int]:
        return m.shape

    def zeros(self, rows: int, columns: int) -> Matrix:
        return np.zeros((rows, columns))

    def rows(self, m: Matrix) -> Sequence[Any]:
        return m

    def from_rows(self, rows: Sequence[Any]) -> Matrix:
        return np.array(rows, dtype=np.float64)

    def placed(self, blocks: Iterable[tuple[int, Matrix]], height: int, width: int) -> Matrix:
        found = np.zeros((height, width))
        for first, m in blocks:
            found[first : first + len(m)] = m
        return found

    def dot(self, a: Matrix, b: Matrix) -> Any:
        return float((a * b).sum())

    def row_dots(self, a: Matrix, b: Matrix) -> list[Any]:
        return list((a * b).sum(axis=1))

    def pack(self, m: Matrix) -> Matrix:
        return m[np.triu_indices(len(m))][:, None]

    def unpack(self, column: Matrix, size: int) -> Matrix:
        full = np.zeros((size, size))
        full[np.triu_indices(size)] = column[:, 0]
        return np.triu(full, 1).T + full

    def weights(self, q: Matrix) -> Matrix:
        both = q + q.T
        both[np.diag_indices(len(q))] /= 2
        return both[np.triu_indices(len(q))][None]

    def form(self, row: Matrix, size: int) -> Matrix:
        full = np.zeros((size, size))
        full[np.triu_indices(size)] = row[0]
        return (full + full.T) / 2

    def operator(self, pairs: Pairs) -> Matrix:
        out, size = pairs[0][0].shape
        left = np.array([p for p, _ in pairs]).reshape(len(pairs), -1)
        right = np.array([q for _, q in pairs]).reshape(len(pairs), -1)
        r = (left.T @ right).reshape(out, size, out, size).transpose(0, 2, 1, 3)
        r = r[np.triu_indices(out)]
        p, q = np.triu_indices(size)
        return r[:, p, q] + np.where(p == q, 0.0, r[:, q, p])

    def visits(self, generators: Sequence[Matrix], eta: Fraction, repeats: int) -> list[Matrix]:
        stack = np.asarray(generators)
        return list(np.linalg.matrix_power(np.eye(stack.shape[1]) - nearest_float(eta) * stack, repeats))

    def solve(self, a: Matrix, b: Matrix) -> Matrix:
        try:
            return np.linalg.solve(a, b)
        except np.linalg.LinAlgError as singular:
            raise ZeroDivisionError from singular


Ring = RationalRing


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


def powers_sum(ring: Ring, h: Matrix, count: int, c: Matrix | None = None) -> tuple[Matrix, Matrix, Matrix | None]:
    """(h^count, sum of h^t over t < count, sum of h^t c h^t' over t < count), count >= 0, by doubling."""
    size = ring.shape(h)[0]
    one = ring.one(size)
    if count == 0:
        return one, ring.zeros(size, size), None if c is None else ring.zeros(size, size)
    p, s, a = h, one, c
    for bit in bin(count)[3:]:
        # from t to 2 t steps, then perhaps one more
        s = s + ring.mul(p, s)
        a = None if a is None else a + ring.mul(ring.mul(p, a), p.transpose())
        p = ring.mul(p, p)
        if bit == "1":
            s = one + ring.mul(h, s)
            a = None if a is None else c + ring.mul(ring.mul(h, a), h.transpose())
            p = ring.mul(p, h)
    return p, s, a


def picked(ring: Ring, m: Matrix, rows: Sequence[int], columns: Sequence[int]) -> Matrix:
    """The matrix of the given rows and columns."""
    found = ring.rows(m)
    return ring.from_rows([[found[a][b] for b in columns] for a in rows])


def after_steps(
    step: Any, start: Any, wanted: Sequence[int], few: int, square: Callable[[Any], Any],
    move: Callable[[Any, list[Any]], Sequence[Any]], progress: Callable[[float], None] = lambda _: None,
) -> dict[int, Any]:  # fmt: skip
    """What a start becomes after each of the wanted numbers of steps, increasing.

    The numbers' leading binary digits first: after v * 2^b steps it is what it was after (v // 2) * 2^(b+1), moved by
    2^b more for odd v. The levels end where at most `few` applications of a map are left. square: a map twice;
    move: a map applied to several at once.
    """
    last, powers = wanted[-1], [step]
    while last >> (len(powers) - 1) > few:
        powers.append(square(powers[-1]))
    top = len(powers) - 1
    needed = [sorted({v >> b for v in wanted}) for b in range(top + 1)]
    found, now, chosen = dict[int, Any](), start, set(needed[top])
    for v in range((last >> top) + 1):
        if v in chosen:
            found[v] = now
        if v < last >> top:
            (now,) = move(powers[top], [now])
    for b in range(top - 1, -1, -1):
        odd = [v for v in needed[b] if v & 1]
        moved = move(powers[b], [found[v >> 1] for v in odd]) if odd else []
        found = {v: found[v >> 1] for v in needed[b] if not v & 1} | dict(zip(odd, moved, strict=True))
        progress((top - b) / (top + 1))
    return found
